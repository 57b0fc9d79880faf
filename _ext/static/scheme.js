// Settled before the first paint: light, dark, or as the reader's system says.
document.body.dataset.theme = "auto";
try {
  document.body.dataset.theme = localStorage.getItem("theme") || "auto";
} catch {
  // A browser that keeps nothing.
}

// A button goes on to the next. Furo's own listener is not asked: it stops where the browser keeps nothing, or is full.
addEventListener("click", (event) => {
  if (!event.target.closest(".theme-toggle")) return;
  event.stopPropagation();
  const schemes = matchMedia("(prefers-color-scheme: dark)").matches ? ["light", "dark"] : ["dark", "light"];
  const next = schemes[schemes.indexOf(document.body.dataset.theme) + 1] ?? "auto";
  document.body.dataset.theme = next;
  try {
    localStorage.setItem("theme", next);
  } catch {
    // It holds for this visit.
  }
}, true);

if (document.currentScript.dataset.figures) {
  // While figures start, each has the room that it will take (book.css), so that nothing below it jumps.
  document.documentElement.classList.add("figures-start");
  setTimeout(() => document.documentElement.classList.remove("figures-start"), 20000); // at the latest

  // A reader's answers stand again once the page is read (ask.js); what they would push down is shown with them.
  try {
    document.documentElement.classList.toggle("answers-come", localStorage.getItem("mha") !== null);
  } catch {
    // A browser that keeps nothing.
  }
  const come = () => document.documentElement.classList.remove("answers-come");
  addEventListener("DOMContentLoaded", () => setTimeout(come));

  // Who reloads, or comes back, finds the page as tall as it was: figures that take their height would move the place.
  const key = () => `heights ${location.pathname} ${innerWidth}`; // a phone may have been turned
  const keep = () => {
    const boxes = [...document.querySelectorAll(".live-figure.is-live > [data-model]")];
    const heights = boxes.map((box) => [box.dataset.model, box.offsetHeight]);
    try {
      sessionStorage.setItem(key(), JSON.stringify(Object.fromEntries(heights)));
    } catch {
      // It is full.
    }
  };
  try {
    const known = Object.entries(JSON.parse(sessionStorage.getItem(key()) ?? "{}"));
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(known.map(([of, height]) => (
      `.live-figure:not(.is-live) > [data-model="${of}"] { min-height: ${height}px; }`)).join("\n"));
    document.adoptedStyleSheets = [sheet];
    addEventListener("pagehide", keep);
  } catch {
    // A browser that keeps nothing.
  }
}

// Makes each sentence that asks the reader to try something a button, which does it in the live figure before it, and
// marks it when the figure stands so, whoever brought it there (_ext/figure_buttons.py). What the sentence does not ask
// for is as the figure opened, so that it does the same whatever was done before.
(() => {
  "use strict";
  const RINGED = 5000; // milliseconds
  const behind = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
  const smooth = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");
  const figures = [...document.querySelectorAll(".live-figure")];

  function wake(sentence) {
    const figure = figures.filter((one) => behind(one, sentence)).at(-1) ?? figures[0];
    const wanted = JSON.parse(sentence.dataset.set);
    if (!figure?.settings?.knows(wanted)) return;
    const button = sentence; // a <button> would be one block, and a sentence breaks where its line ends
    Object.assign(button, { role: "button", tabIndex: 0 });

    const found = () => {
      if (!figure.settings.holds(wanted) || button.classList.contains("is-found")) return;
      button.classList.add("is-found");
      button.append(Object.assign(document.createElement("span"), { className: "try-found", textContent: " (tried)" }));
    };
    let rest; // a value that is only passed on the way to another was not tried
    figure.settings.watch(wanted, () => {
      clearTimeout(rest);
      rest = setTimeout(found, 300);
    });
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      button.click();
    });
    button.addEventListener("click", () => {
      const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => show(figure, button)));
      const waits = figure.querySelector("[data-see]"); // what to look at is another thing on the way
      figure.settings.glide(wanted, () => {
        found();
        if (waits) drawn();
      });
      if (!waits) drawn();
      ring(figure, button.textContent);
    });
  }

  // A number that the reader is asked to drag is ringed for a while, where there is only one such
  function ring(figure, sentence) {
    const [, number] = /\bdrag the ([\d.\u2212]+)/.exec(sentence) ?? [];
    const alike = [...figure.querySelectorAll("[role=spinbutton]:not([aria-readonly])")]
      .filter((cell) => cell.textContent === number);
    if (alike.length !== 1) return;
    alike[0].dataset.meant = "";
    setTimeout(() => delete alike[0].dataset.meant, RINGED);
  }

  // What changes is seen: where the figure is out of sight the page goes to it, and a button leads back
  let back = null;
  function show(figure, button) {
    const foot = figure.querySelector(".show-steps + .live-controls"); // of a stage: it and the drawing are both seen
    const what = foot ?? figure.querySelector("[data-see]") ?? figure; // a figure may say what to look at
    const first = foot ? figure.querySelector(".staged") : what;
    const from = foot ? Math.floor(parseFloat(getComputedStyle(first).top)) : 0;
    const { top } = first.getBoundingClientRect();
    const { bottom } = what.getBoundingClientRect();
    if (top >= from && (bottom < innerHeight || (what === figure && top < innerHeight / 2))) return;
    back?.remove();
    back = Object.assign(document.createElement("button"), { type: "button", className: "try-back" });
    back.textContent = "Back to the text";
    const leave = () => {
      button.scrollIntoView({ block: "center", behavior: smooth() });
      button.focus({ preventScroll: true });
      back.remove();
    };
    back.addEventListener("click", leave);
    (figure.querySelector(".live-controls") ?? figure).append(back);
    figure.dispatchEvent(new Event("sought"));
    const fits = foot && from + first.offsetHeight + foot.offsetHeight <= innerHeight;
    const block = fits ? "nearest" : foot ? "end" : what === figure ? "start" : "center";
    what.scrollIntoView({ block, behavior: smooth() });
    back.focus({ preventScroll: true });
  }

  addEventListener("figureslive", () => document.querySelectorAll("span.try").forEach(wake));
})();

// What is cared for on every page.
(() => {
  // What is wider than the page can be scrolled, and so must be reached by keyboard, and say there what it is.
  const WIDE = { "div.math": "Formula", pre: "Text", ".table-wrapper": "Table" };
  const reach = () => {
    for (const [kind, name] of Object.entries(WIDE)) {
      document.querySelectorAll(`article ${kind}`).forEach((el, i) => {
        if (el.closest(".numbers")) return;
        const isWide = el.scrollWidth > el.clientWidth;
        const told = { tabindex: 0, role: "region", "aria-label": `${name} ${i + 1}, wider than the page` };
        for (const [attribute, value] of Object.entries(told)) {
          if (isWide) el.setAttribute(attribute, value);
          else el.removeAttribute(attribute);
        }
      });
    }
  };

  // A button that copies a cell's code. Not a stop of the keyboard: there are dozens on a page.
  const copyButtons = () =>
    document.querySelectorAll("article .cell_input pre").forEach((code) => {
      const button = Object.assign(document.createElement("button"), { className: "copy", textContent: "Copy" });
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 2000);
      });
      button.tabIndex = -1;
      code.parentElement.append(button);
    });

  // What the glossary says of a word is put away by Escape; a first touch opens it, a second follows the link.
  const term = (event) => event.target.closest?.(".term");
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    document.querySelectorAll(".term:is(:hover, :focus-within)").forEach((el) => el.classList.add("is-closed"));
  });
  for (const leaving of ["pointerout", "focusout"])
    addEventListener(leaving, (event) => {
      if (!term(event)?.contains(event.relatedTarget)) term(event)?.classList.remove("is-closed");
    });
  let touched = null;
  addEventListener("click", (event) => {
    if (event.pointerType === "touch" && term(event) && term(event) !== touched) event.preventDefault();
    touched = term(event);
  });

  // The two drawers. While one is open nothing else has the focus. By keyboard Enter opens it too, the focus goes into
  // it, and Escape closes it. It closes when a place in it is chosen.
  const drawers = [["__navigation", ".sidebar-drawer"], ["__toc", ".toc-drawer"]]
    .map(([id, place]) => [document.getElementById(id), document.querySelector(place)]).filter(([box]) => box);
  const around = (el) => (el === document.body ? [] : [...el.parentElement.children, ...around(el.parentElement)]
    .filter((other) => other !== el && !other.matches(".overlay")));
  const hold = () => {
    document.querySelectorAll("[inert]").forEach((el) => (el.inert = false));
    for (const [box, drawer] of drawers) {
      if (!box.checked || !box.checkVisibility()) continue; // a wide window has no drawers
      for (const el of around(drawer)) el.inert = true;
    }
  };
  for (const [box, drawer] of drawers) {
    const close = () => {
      box.checked = false;
      hold();
    };
    box.addEventListener("keydown", (event) => event.key === "Enter" && box.click());
    box.addEventListener("change", () => {
      const byKeyboard = box.matches(":focus-visible");
      hold();
      if (!box.checked || !byKeyboard) return;
      [...drawer.querySelectorAll("a, input, button")].find((el) => el.checkVisibility())?.focus();
    });
    addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !box.checked) return;
      close();
      box.focus();
    });
    drawer.addEventListener("click", ({ target }) => target.closest("a") && close());
    drawer.addEventListener("submit", close);
  }
  addEventListener("resize", hold);
  addEventListener("pageshow", hold); // on the way back a browser opens what was left open

  // The list of chapters shows the one that is read.
  const here = document.querySelector(".sidebar-scroll .current-page");
  const showHere = () => {
    for (let list = here?.parentElement; list?.closest(".sidebar-container"); list = list.parentElement) {
      const [mine, seen] = [here.getBoundingClientRect(), list.getBoundingClientRect()];
      if (list.scrollHeight <= list.clientHeight || (mine.top >= seen.top && mine.bottom <= seen.bottom)) continue;
      const top = list.scrollTop + (mine.top + mine.bottom - seen.top - seen.bottom) / 2;
      list.scrollTo({ top, behavior: "instant" });
    }
  };

  // How far the reader is: the section in words below that list, and a line there and in the bar of a small window.
  const sections = [...document.querySelectorAll("article > section > section:has(> h2)")];
  const howFar = () => {
    const begun = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 2).length;
    const words = begun ? `Section ${begun} of ${sections.length}` : `${sections.length} sections`;
    const { scrollTop, scrollHeight } = document.documentElement;
    document.querySelectorAll(".how-far").forEach((place) => {
      place.lastElementChild.textContent = words;
      place.firstElementChild.style.scale = `${Math.min(1, scrollTop / (scrollHeight - innerHeight || 1))} 1`;
    });
  };
  let frame = 0;
  const howFarSoon = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      howFar();
    });
  };

  showHere();
  addEventListener("resize", showHere);
  if (sections.length) {
    howFar();
    addEventListener("scroll", howFarSoon, { passive: true });
  }
  if (navigator.clipboard) copyButtons();
  addEventListener("resize", reach);
  addEventListener("uncovered", reach);
  addEventListener("toggle", reach, true); // what was folded has a width now
  addEventListener("load", async () => {
    await document.fonts.ready;
    reach();
    showHere();
  });
})();

// Two cares of every page, once its formulas are set.
(() => {
  // What is wider than the page can be scrolled, and so must be reached by keyboard.
  const WIDE = ".bd-article :is(div.math, pre, .pst-scrollable-table-container)";
  const reach = () =>
    document.querySelectorAll(WIDE).forEach((el) => {
      if (el.scrollWidth > el.clientWidth) el.tabIndex = 0;
      else if (!el.closest(".numbers")) el.removeAttribute("tabindex");
    });

  addEventListener("resize", reach);
  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    // Tables with formulas were waiting: their rows take their height from them.
    document.documentElement.classList.remove("formulas-wait");
    reach();
  });
})();

// What is wider than the page can be scrolled, and so must be reachable by keyboard.
(() => {
  const WIDE = ".bd-article :is(div.math, pre, .pst-scrollable-table-container)";
  const reach = () =>
    document.querySelectorAll(WIDE).forEach((el) => {
      if (el.scrollWidth > el.clientWidth) el.tabIndex = 0;
      else if (!el.closest(".numbers")) el.removeAttribute("tabindex");
    });
  addEventListener("load", () => (window.MathJax?.startup?.promise ?? Promise.resolve()).then(reach));
  addEventListener("resize", reach);
})();

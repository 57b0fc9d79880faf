// What Sphinx's search shows of a page it found: prose, without the TeX beside each formula, without figures and code.
/* global Search */
(() => {
  const toText = Search.htmlToText;
  Search.htmlToText = (source, anchor) => {
    const page = new DOMParser().parseFromString(source, "text/html");
    page.querySelectorAll("annotation, figure, .cell, .on-paper").forEach((el) => el.remove());
    return toText(page.documentElement.outerHTML, anchor);
  };
})();

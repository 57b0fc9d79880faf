// What Sphinx's search shows of a page that it found: the section that says most of it, by its name and as the place to
// go to, and an excerpt of that section's prose, not of its formulas, figures, code and lists of links.
/* global Search */
(() => {
  const NO_PROSE = "annotation, figure, table, .cell, .on-paper, .headerlink, .toctree-wrapper, nav, aside, details, "
    + "noscript, .where-head, .where-start, .you-are-here, [hidden]:not(.bet-cover)";
  const EXCERPT = 240;
  const countOf = (text, word) => text.split(word).length - 1;

  function read(section) {
    const own = [...section.querySelectorAll("p, li, dt, dd")].filter((el) => el.closest("section") === section);
    const inner = own.filter((el) => !own.some((other) => other !== el && el.contains(other)));
    const text = inner.map((el) => el.textContent.trim().replace(/\s+/g, " ")).join(" ");
    return { id: section.id, title: section.querySelector("h1, h2, h3, h4")?.textContent.trim() ?? "", text };
  }

  // All words count before any counts twice; a word of the title counts as three
  function fits({ title, text }, words) {
    const found = words.map((word) => 3 * countOf(title.toLowerCase(), word) + countOf(text.toLowerCase(), word));
    return 100 * found.filter(Boolean).length + found.reduce((a, b) => a + Math.min(b, 9), 0);
  }

  function excerpt(text, words) {
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
    const start = Math.max(0, Math.min(...places, text.length) - EXCERPT / 3);
    const from = start && places.length ? text.indexOf(" ", start) + 1 : 0;
    const [before, after] = [from > 0, from + EXCERPT < text.length].map((cut) => (cut ? "\u2026" : ""));
    return before + text.slice(from, from + EXCERPT).trim() + after;
  }

  Search.makeSearchSummary = (source, keywords, anchor) => {
    const page = new DOMParser().parseFromString(source, "text/html");
    page.querySelectorAll(NO_PROSE).forEach((el) => el.remove());
    const words = [...keywords].map((word) => word.toLowerCase());
    const sections = [...page.querySelectorAll("article section[id]")].map(read);
    const given = sections.find(({ id }) => `#${id}` === anchor);
    const best = given ?? [...sections].sort((a, b) => fits(b, words) - fits(a, words))[0];
    if (!best) return null;
    const summary = Object.assign(document.createElement("p"), { className: "context" });
    summary.textContent = excerpt(best.text, words);
    // Sphinx puts the summary into the result at once; then its link is in reach.
    if (!given && best !== sections[0]) {
      queueMicrotask(() => {
        const link = summary.closest("li").querySelector("a");
        link.href += `#${best.id}`;
        link.append(` > ${best.title}`);
      });
    }
    return summary;
  };
})();

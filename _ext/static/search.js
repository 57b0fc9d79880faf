// What Sphinx's search shows of a page that it found: the section that says most of it, by its name and as the place to
// go to, and an excerpt of that section's prose, not of its formulas, figures, code and lists of links. Where a word of
// the glossary is looked for, _ext/terms.py has said which section explains it.
/* global Documentation, Search */
(() => {
  const NO_PROSE = "annotation, figure, table, .cell, .on-paper, .headerlink, .toctree-wrapper, nav, aside, details, "
    + "noscript, .where-head, .where-start, .you-are-here, .meaning, .bet-only, .bet-came, .bet-count, "
    + "[hidden]:not(.bet-cover)";
  const NO_TEXT = "annotation, .headerlink, .meaning, .claim-came";
  // A formula of more than one line says nothing in one
  const NO_LINE = "math:has(mfrac, msqrt, msup, msubsup, munder, munderover, mtable)";
  const EXCERPT = 240;
  const countOf = (text, word) => text.split(word).length - 1;

  function read(section) {
    const own = [...section.querySelectorAll("p, li, dt, dd")].filter((el) => el.closest("section") === section);
    const inner = own.filter((el) => !own.some((other) => other !== el && el.contains(other)));
    const text = inner.map((el) => el.textContent.trim().replace(/\s+/g, " ")).join(" ");
    return { id: section.id, title: section.querySelector("h1, h2, h3, h4")?.textContent.trim() ?? "", text };
  }

  // An entry of the glossary
  const readTerm = (term) => ({ id: term.id, title: term.textContent.trim(),
    text: term.nextElementSibling.textContent.trim().replace(/^\u2026\W*/, "") });

  // All words count before any counts twice; a word of the title counts as three
  function fits({ title, text }, words) {
    const found = words.map((word) => 3 * countOf(title.toLowerCase(), word) + countOf(text.toLowerCase(), word));
    return 100 * found.filter(Boolean).length + found.reduce((a, b) => a + Math.min(b, 9), 0);
  }

  function excerpt(text, words) {
    const phrase = new URLSearchParams(location.search).get("q").trim().toLowerCase();
    const places = [phrase, ...words].map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
    if (text.toLowerCase().includes(phrase)) places.splice(1); // the words as they were written, before any of them
    const start = Math.max(0, Math.min(...places, text.length) - EXCERPT / 3);
    const from = start && places.length ? text.indexOf(" ", start) + 1 : 0;
    const [before, after] = [from > 0, from + EXCERPT < text.length].map((cut) => (cut ? "\u2026" : ""));
    return before + text.slice(from, from + EXCERPT).trim() + after;
  }

  function parse(source, without) {
    const page = new DOMParser().parseFromString(source, "text/html");
    page.querySelectorAll(without).forEach((el) => el.remove());
    page.querySelectorAll(NO_LINE).forEach((el) => el.replaceWith("\u2026"));
    return [page, [...page.querySelectorAll("article section[id]")].map(read)];
  }

  Search.makeSearchSummary = (source, keywords, anchor) => {
    const words = [...keywords].map((word) => word.toLowerCase());
    let [page, sections] = parse(source, NO_PROSE);
    if (!anchor && !sections.some((one) => fits(one, words))) [page, sections] = parse(source, NO_TEXT); // in a table
    const term = anchor && page.querySelector(`dt${anchor}`);
    const given = term ? readTerm(term) : sections.find(({ id }) => `#${id}` === anchor);
    const best = given ?? [...sections].sort((a, b) => fits(b, words) - fits(a, words))[0];
    if (!best) return null;
    const summary = Object.assign(document.createElement("p"), { className: "context" });
    summary.textContent = excerpt(best.text, words);
    // Sphinx puts the summary into the result at once; then its link is in reach.
    queueMicrotask(() => {
      const link = summary.closest("li").querySelector("a");
      if (best === sections[0] || link.textContent.endsWith(best.title)) return;
      link.hash = best.id;
      link.append(` > ${best.title}`);
    });
    return summary;
  };

  // One page or many
  const found = "Search finished, found ${resultCount} page(s) matching the search query.";
  Documentation.TRANSLATIONS[found] = "Pages found: ${resultCount}.";

  // ---- what is asked ---------------------------------------------------------------------------------
  // The title says it, and a screen reader is told what came of it.
  const perform = Search.performSearch;
  Search.performSearch = (query) => {
    if (!query.trim()) return;
    document.title = `${query.trim()} - ${document.title}`;
    perform(query);
    Search.status.role = "status";
  };
  if (!new URLSearchParams(location.search).get("q")?.trim()) {
    document.getElementById("search-results").append("Nothing is asked for yet. "
      + "Write one or more words into \u201cSearch the book\u201d, above the list of chapters.");
  }

  // ---- what is found ---------------------------------------------------------------------------------
  // A page that is found by the place that explains a word is not found a second time as a whole, nor by that place.
  const look = Search._performSearch;
  Search._performSearch = (...asked) => {
    const results = look(...asked);
    const placed = new Set(results.filter(([, , anchor]) => anchor).map(([name]) => name));
    if (!results.length) queueMicrotask(() => sayNothingFound(asked[0])); // after Sphinx has said so in its way
    const places = results.map(([name, , anchor]) => name + anchor); // the best comes last
    return results.filter(([name, , anchor], i) => (anchor ? places.lastIndexOf(places[i]) === i : !placed.has(name)));
  };

  // Sphinx keeps the words that were looked for; in a browser that keeps nothing it would stop there.
  try {
    localStorage.setItem("sphinx_highlight_terms", "");
  } catch {
    const nothing = { getItem: () => null, setItem() {}, removeItem() {} };
    Object.defineProperty(window, "localStorage", { value: nothing });
  }

  function sayNothingFound(query) {
    const known = Object.keys(Search._index.indexentries);
    const [near] = known.map((name) => [distance(query.trim().toLowerCase(), name), name]).sort(([a], [b]) => a - b);
    const link = (href, text) => Object.assign(document.createElement("a"), { href, textContent: text });
    const said = near && near[0] <= Math.max(1, near[1].length / 3)
      ? ["Did you mean ", link(`search.html?q=${encodeURIComponent(near[1])}`, near[1]), "?"]
      : ["Try fewer or other words, or look at the words of the ", link("chapters/glossary.html", "glossary"), "."];
    Search.status.replaceChildren(`No page has all the words of \u201c${query.trim()}\u201d. `, ...said);
  }

  // How many letters are to be put in, taken out or changed (Levenshtein)
  function distance(a, b) {
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
      }
      row = next;
    }
    return row[b.length];
  }
})();

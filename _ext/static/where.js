// Where the reader is: what is done in this chapter, which section was read last, what is left (_ext/where.py).
(() => {
  "use strict";
  const KEY = "mha-where"; // {page, anchor, title} of the section that was read last
  const page = location.pathname.split("/").pop();
  const chapter = page.replace(/\.html$/, "");
  const items = (window.exercises ?? []).find(([name]) => name === chapter)?.[1] ?? [];
  const core = items.filter(([, , onPath]) => onPath);
  const count = (some) => some.filter(([id]) => window.mhaExercises.done(id)).length;

  function show() {
    const head = document.querySelector(".where-head");
    if (!head) return;
    const path = core.length ? `, ${count(core)} of ${core.length} on the core path` : "";
    if (count(items)) head.textContent = `${count(items)} of ${items.length} exercises done${path}`;
    const bets = document.querySelector(".bet-sum")?.textContent ?? "";
    document.querySelector(".where-won").textContent = bets
      ? `Bets: ${bets} Exercises: ${count(items)} of ${items.length} done${path}.`
      : `${count(items)} of ${items.length} exercises done${path}.`;
    const open = core.filter(([id]) => !window.mhaExercises.done(id));
    const left = document.querySelector(".where-open");
    left.replaceChildren(...(open.length ? ["Open on the core path: ", ...open.flatMap(linked), "."] : []));
  }

  function linked([id], i) {
    const link = Object.assign(document.createElement("a"), { textContent: id });
    link.href = `#exercise-${id.replace(".", "-")}`;
    return i ? [", ", link] : [link];
  }

  function remember(section) {
    const heading = section.querySelector("h2");
    const title = [...heading.childNodes].filter((node) => !node.classList?.contains("headerlink"));
    const kept = { page, anchor: section.id, title: title.map((node) => node.textContent).join("") };
    kept.of = document.querySelector("h1").firstChild.textContent;
    try {
      localStorage.setItem(KEY, JSON.stringify(kept));
    } catch {
      // A browser that keeps nothing.
    }
  }

  const line = document.querySelector(".where-start");
  const start = [...(line?.childNodes ?? [])];

  function goOn() {
    let last = null;
    try {
      last = JSON.parse(localStorage.getItem(KEY));
    } catch {
      // A browser that keeps nothing.
    }
    if (!line || !/^[\w.]+\.html$/.test(last?.page ?? "")) return line?.replaceChildren(...start);
    const link = Object.assign(document.createElement("a"), { href: `${last.page}#${last.anchor}` });
    link.textContent = `Go on: ${last.title} · in ${last.of}`;
    line.replaceChildren(link);
  }

  goOn();
  show();
  addEventListener("progressed", goOn); // all may be forgotten
  for (const name of ["progressed", "uncovered", "DOMContentLoaded"]) addEventListener(name, show);
  if (!document.querySelector(".where-head")) return;
  const seen = new IntersectionObserver((entries) => {
    const reading = entries.filter((entry) => entry.isIntersecting).pop();
    if (reading && scrollY > 0) remember(reading.target);
  }, { rootMargin: "-45% 0px -50% 0px" }); // the section that lies across the middle of the window
  document.querySelectorAll("article > section > section").forEach((section) => {
    if (section.querySelector(":scope > h2")) seen.observe(section);
  });
})();

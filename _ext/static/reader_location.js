// Where the reader is: what is done in this chapter, which section was read last, what is left
// (_ext/reader_location.py).
(() => {
  "use strict";
  const { store, element, done } = window.mha;
  const page = location.pathname.split("/").pop();
  const chapter = page.replace(/\.html$/, "");
  const items = (window.exercises ?? []).find(([name]) => name === chapter)?.[1] ?? [];
  const core = items.filter(([, , onPath]) => onPath);
  const count = (some) => some.filter(([id]) => done(id)).length;

  function show() {
    const head = document.querySelector(".where-head");
    if (!head) return;
    const isPart = core.length && core.length < items.length;
    const path = isPart ? `, ${count(core)} of ${core.length} on the core path` : "";
    if (count(items)) head.textContent = `${count(items)} of ${items.length} exercises done${path}`;
    const bets = document.querySelector(".bet-sum")?.textContent ?? "";
    document.querySelector(".where-won").textContent = bets
      ? `Bets: ${bets} Exercises: ${count(items)} of ${items.length} done${path}.`
      : `${count(items)} of ${items.length} exercises done${path}.`;
    const open = core.filter(([id]) => !done(id));
    const left = document.querySelector(".where-open");
    const lead = isPart ? "Open on the core path: " : "Open: ";
    left.replaceChildren(...(open.length ? [lead, ...open.flatMap(linked), "."] : []));
  }

  function linked([id], i) {
    const link = element("a", { href: `#exercise-${id.replace(".", "-")}` }, id);
    return i ? [", ", link] : [link];
  }

  function remember(section) {
    const heading = section.querySelector("h2");
    const title = [...heading.childNodes].filter((node) => !node.classList?.contains("headerlink"));
    const words = title.map((node) => node.textContent).join("");
    const of = document.querySelector("h1").firstChild.textContent;
    store.put("place", { page, anchor: section.id, title: words, of });
  }

  const line = document.querySelector(".where-start");
  const start = [...(line?.childNodes ?? [])];

  function goOn() {
    const last = store.get("place");
    if (!line || !/^[\w.]+\.html$/.test(last.page ?? "")) return line?.replaceChildren(...start);
    const words = `Go on: ${last.title} · in ${last.of}`;
    line.replaceChildren(element("a", { href: `${last.page}#${last.anchor}` }, words));
  }

  goOn();
  show();
  addEventListener("keptelsewhere", goOn);
  for (const name of ["progressed", "keptelsewhere", "uncovered", "DOMContentLoaded"]) addEventListener(name, show);
  if (!document.querySelector(".where-head")) return;
  const seen = new IntersectionObserver((entries) => {
    const reading = entries.filter((entry) => entry.isIntersecting).sort((one, other) => one.time - other.time).pop();
    if (reading && scrollY > 0) remember(reading.target);
  }, { rootMargin: "-45% 0px -50% 0px" }); // the section that lies across the middle of the window
  document.querySelectorAll("article > section > section").forEach((section) => {
    if (section.querySelector(":scope > h2")) seen.observe(section);
  });
})();

// Keeps what a reader did: in this browser, and nowhere else. All other scripts ask `mha.store`.
(() => {
  "use strict";
  const KEY = "mha";
  const VERSION = 2; // of {version, PART: {...}, ...}
  const UNREAD = "mha-unreadable"; // what stood under KEY and could not be read
  const noted = (ids) => Object.fromEntries(ids.map((id) => [id, 1]));
  // What version 1 kept, in a key for each part; solved ids in a list
  const FIRST = {
    "mha-progress": ({ version, solved }) => !(version > 1) && { solved: noted(solved) },
    "mha-bets": (bets) => ({ bets }), // "01_soft_lookup:3f2a9c": what was said, null where it was shown; "6.7+": 1
    "mha-bets-off": () => ({ settings: { bets: "off" } }),
    "mha-claims": (claims) => ({ claims }), // "12": "wrong"
    "mha-words": (words) => ({ words }), // "2.9": as the page has it; "2.9+": as it was judged last, or what is ticked
    "mha-blanks": (blanks) => ({ blanks }), // "2.1": [tries, fragments]; "2.1+": the fragments judged last
    "mha-where": (place) => ({ place }), // page, anchor, title, of: the section that was read last
  };
  const isPart = (found) => typeof found === "object" && found !== null && !Array.isArray(found);
  let parts = {};
  let keeps = true; // not where the browser keeps nothing for a page, or what a newer version of the book wrote
  let behind = false; // what is kept lacks something of `parts`
  let recent = []; // [when, changes] of the last second: another tab that had not seen them may write over them

  function stored() {
    let text = null;
    try {
      text = localStorage.getItem(KEY);
      const found = JSON.parse(text ?? "{}");
      if (found.version > VERSION) keeps = false;
      if (isPart(found)) return found.version > VERSION ? {} : found;
    } catch {
      keeps &&= text !== null;
    }
    write(UNREAD, text);
    return {};
  }

  function write(key, text) {
    try {
      if (keeps) localStorage.setItem(key, text);
    } catch {
      behind = true; // it holds for this visit
    }
  }

  function merge(found) {
    for (const [name, part] of Object.entries(found)) if (isPart(part)) parts[name] = { ...parts[name], ...part };
  }

  // What another tab has kept
  function refresh() {
    const found = stored();
    if (keeps && !behind) parts = {};
    merge(found);
  }

  function save() {
    behind = false;
    write(KEY, JSON.stringify({ ...parts, version: VERSION }));
  }

  const lately = () => recent.filter(([when]) => performance.now() - when < 1000);

  const store = {
    keeps: () => keeps,
    get: (part) => parts[part] ?? {},
    put(part, changes) {
      refresh();
      merge({ [part]: changes }); // what becomes undefined is not kept
      save();
      recent = [...lately(), [performance.now(), { [part]: changes }]];
    },
    forget() {
      [parts, recent] = [{}, []];
      try {
        for (const key of [KEY, UNREAD, ...Object.keys(FIRST)]) localStorage.removeItem(key);
      } catch {
        // A browser that keeps nothing.
      }
      dispatchEvent(new Event("keptelsewhere"));
    },
  };

  // What version 1 kept goes where it is kept now. It stays where it is if it cannot be read, or not be written.
  function takeOver() {
    refresh();
    for (const [key, parted] of Object.entries(FIRST)) {
      try {
        const found = JSON.parse(localStorage.getItem(key));
        const read = found && parted(found);
        if (!read || !Object.values(read).every(isPart)) continue;
        merge(read);
        save();
        if (keeps && !behind) localStorage.removeItem(key);
      } catch {
        // It stays.
      }
    }
  }

  takeOver();
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== KEY && key !== null) return;
    refresh();
    const found = JSON.stringify(parts);
    if (newValue !== null) lately().forEach(([, changes]) => merge(changes));
    if (JSON.stringify(parts) !== found) save();
    dispatchEvent(new Event("keptelsewhere"));
  });

  function solve(...ids) {
    store.put("solved", noted(ids));
    dispatchEvent(new Event("progressed"));
  }

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // A program that was completed from choices is kept as "c2.1", apart from one that was written, "2.1".
  const solved = (id) => Boolean(store.get("solved")[id]);
  const completed = (id) => `c${id}`;
  const done = (id) => solved(id) || solved(completed(id));

  window.mha = { store, solve, element, solved, completed, done };
})();

// Lets the questions of a page answer, and keeps what was solved: in this browser, and nowhere else.
//
// The build wrote each question as a disabled form with its data beside it (_ext/exercise_pages.py). The replies are
// those of mha.exercises.check, word for word; a browser test holds the two together.
(() => {
  "use strict";
  const KEY = "mha-progress";
  const VERSION = 1;
  const chapters = window.exercises ?? [];
  const everyItem = chapters.flatMap(([, items]) => items);
  const predicted = new Set(everyItem.filter(([, kind]) => kind === "predict").map(([id]) => id));

  // ---- judging -------------------------------------------------------------------------------------
  // judge(data, answer) -> {ok, done, verdict, lines, mistakes}, as the reports of mha.exercises are.
  const JUDGES = { number: judgeNumber, choice: judgeChoice, explain: judgeWords };
  const judge = (data, answer) => JUDGES[data.kind](data, answer);

  const shown = (number) => String(Number.isInteger(number) ? number : Number(number.toPrecision(6)));

  function judgeNumber(data, text) {
    const number = window.mhaBets.readNumber(text);
    if (number === null) return notANumber(text);
    const close = (value) => Math.abs(number - value) <= Math.max(data.tolerance * Math.abs(value), 1e-9);
    if (close(data.answer)) return reply(true, [], [data.note]);
    const mistakes = data.mistakes.filter((mistake) => close(mistake.value));
    const ids = mistakes.map((mistake) => mistake.id);
    const known = mistakes[0];
    if (known) return reply(false, ids, [known.says, known.asks]);
    return reply(false, ids, [`${shown(number)} is too ${number > data.answer ? "large" : "small"}.`]);
  }

  function notANumber(text) {
    const what = text.trim()
      ? "A number is asked for, such as 3, 0.25 or \u201c1/4\u201d, in digits alone, with a point before the decimals; "
        + `this is \u2018${text}\u2019.`
      : "Write a number first.";
    return notTried(["not-a-number"], what);
  }

  function judgeChoice(data, picked) {
    if (!picked) return notTried(["not-an-option"], data.several ? "Pick at least one option." : "Pick an option.");
    if (picked === data.right) return reply(true, [], [data.note]);
    const wrong = [...picked].filter((letter) => !data.right.includes(letter));
    const missed = [...data.right].filter((letter) => !picked.includes(letter));
    const lines = wrong.map((letter) => `${letter}: ${data.says[letter]}`);
    if (data.several && missed.length) {
      const belong = missed.length === 1 ? "belongs" : "belong";
      lines.push(`${missed.length} of the options that you did not pick ${belong} to the answer.`);
    }
    const ids = wrong.map((letter) => data.ids[letter]);
    return reply(false, ids.length ? ids : ["incomplete"], lines);
  }

  function judgeWords(data, words) {
    if (!words.trim()) return notTried([], "Write a few words first, or say it aloud and write that you did.");
    const lines = ["Did you say each of these? Nobody else can tell."];
    return reply(true, [], lines, { verdict: "written.", done: false, checklist: data.checklist });
  }

  function reply(ok, mistakes, lines, more = {}) {
    const verdict = ok ? "right." : "not yet.";
    return { ok, mistakes, lines: lines.filter(Boolean), verdict, done: ok, tried: true, ...more };
  }

  const notTried = (mistakes, line) => reply(false, mistakes, [line], { tried: false });

  // ---- what is solved ------------------------------------------------------------------------------
  // Kept for the session when the browser keeps nothing, or when a newer version of the book wrote it.
  // A program that was completed from choices is kept as "c2.1", apart from one that was written, "2.1".
  let solved = new Set();
  let keeps = true;
  const completed = (id) => `c${id}`;
  const done = (id) => solved.has(id) || solved.has(completed(id));

  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY) ?? "null");
      if (found?.version > VERSION) keeps = false;
      else if (Array.isArray(found?.solved)) {
        for (const id of found.solved) if (typeof id === "string") solved.add(id);
      }
    } catch {
      keeps = false;
    }
  }

  function solve(ids) {
    load(); // another tab may have solved more
    for (const id of ids) solved.add(id);
    save();
  }

  function save() {
    try {
      if (keeps) localStorage.setItem(KEY, JSON.stringify({ version: VERSION, solved: [...solved] }));
    } catch {
      keeps = false;
    }
    show();
  }

  // What is solved as a code to carry to another browser: for each chapter its number and a bit for each exercise
  function encode(ids) {
    const bits = {};
    for (const id of ids) {
      const [chapter, number] = id.split(".");
      bits[chapter] = (bits[chapter] ?? 0) | (1 << (number - 1));
    }
    const parts = Object.keys(bits).sort().map((chapter) => `${chapter}.${bits[chapter].toString(16)}`);
    const body = ["mha1", ...parts].join("-");
    return `${body}-${sign(body)}`;
  }

  function decode(written) {
    // It may have been pasted as progress("mha1-..."), or with dashes for its hyphens
    const hyphens = written.replace(/[\u2013\u2014\u2212]/g, "-").replace(/mha1/i, "mha1");
    const code = /mha1[-\w.]*/.exec(hyphens)?.[0] ?? written;
    const at = code.lastIndexOf("-");
    const [body, end] = [code.slice(0, at), code.slice(at + 1)];
    if (!/^mha1(-\w+\.[0-9a-f]+)*$/.test(body)) {
      const like = encode(["1.1", "2.1"]);
      if (!written.trim()) throw new Error(`Paste a code first. It looks like ${like}.`);
      throw new Error(`A code looks like ${like}; this is \u201c${code}\u201d.`);
    }
    const lost = `\u201c${code}\u201d was not copied whole: its last two signs do not fit the rest.`;
    if (end !== sign(body)) throw new Error(lost);
    return body.split("-").slice(1).flatMap((part) => {
      const [chapter, mask] = part.split(".");
      const bits = [...Array(31).keys()].filter((bit) => (parseInt(mask, 16) >> bit) & 1);
      return bits.map((bit) => `${chapter}.${bit + 1}`);
    });
  }

  // Two signs that change when a sign of the code is lost, altered or moved
  function sign(body) {
    const weighed = [...body].map((character, i) => (i + 1) * character.codePointAt(0));
    const total = weighed.reduce((a, b) => a + b, 0) % 1296;
    return Math.floor(total / 36).toString(36) + (total % 36).toString(36);
  }

  // ---- what the page shows -------------------------------------------------------------------------
  function show() {
    document.querySelectorAll("section.exercise").forEach(showExercise);
    for (const [chapter, items] of chapters) {
      const count = items.filter(([id]) => done(id)).length;
      showChapter(chapter, count, items.length);
    }
    const out = document.getElementById("progress-out");
    const ids = everyItem.flatMap(([id]) => [id, completed(id)]);
    if (out) out.value = encode(ids.filter((id) => solved.has(id)));
    dispatchEvent(new Event("progressed"));
  }

  function showExercise(section) {
    const heading = section.querySelector("h3");
    const id = heading.textContent.split(" ")[0];
    section.classList.toggle("is-solved", solved.has(id));
    heading.querySelector(".done")?.remove();
    const mark = !solved.has(id) ? " ◐ completed" : predicted.has(id) ? " ✓ guessed" : " ✓ solved";
    if (done(id)) heading.append(element("span", "done", mark));
  }

  function showChapter(chapter, count, all) {
    for (const link of document.querySelectorAll(".sidebar-tree a")) {
      if (!link.pathname.endsWith(`/${chapter}.html`)) continue;
      link.querySelector(".done")?.remove();
      if (!count) continue;
      const mark = element("span", "done", count === all ? " ✓" : ` ${count}/${all}`);
      mark.title = `${count} of ${all} exercises done`;
      link.append(mark);
    }
    const cell = document.querySelector(`article [data-chapter="${chapter}"]`);
    if (cell) cell.textContent = `${count} of ${all}`;
  }

  function element(tag, name, text = "") {
    const made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    return made;
  }

  // `code`, addresses and symbols (_ext/formulas.py) are marked up; everything else is text.
  const SYMBOL = String.raw`\bW_[A-Z]{1,2}(?!\w)|\b[dhqkvwxR]_(?:model|kv|ij|-?\d+|[a-z]|\([^()]*\))(?!\w)`
    + String.raw`|\^(?:(?:T|\{-1\}|\d+|[a-z])(?!\w)|\([^()]+\))`;
  const MARKED = new RegExp(String.raw`(\x60[^\x60]+\x60|https:\/\/[^\s<)]+[^\s<).,:;]|${SYMBOL})`);

  function paragraph(text, tag = "p") {
    const made = element(tag, "");
    text.split(MARKED).forEach((part, i) => {
      if (i % 2 === 0) made.append(part);
      else if (part.startsWith("`")) made.append(element("code", "", part.slice(1, -1)));
      else if (part.startsWith("https://")) made.append(Object.assign(element("a", "", part), { href: part }));
      else made.append(symbol(part));
    });
    return made;
  }

  function symbol(typed) {
    const made = element("i", "formula");
    made.dataset.typed = typed;
    const index = typed.replace(/^\w?[_^]/, "").replace(/[(){}]/g, "").replaceAll("-", "\u2212");
    if (typed.startsWith("^")) made.append(element("sup", "", typed === "^T" ? "\u22a4" : index));
    else made.append(typed[0], element(typed[0] === "W" ? "sup" : "sub", index === "model" ? "word" : "", index));
    return made;
  }

  function say(place, found) {
    place.className = `ask-reply ${found.ok ? "is-right" : "is-wrong"}`;
    const sentence = found.verdict[0].toUpperCase() + found.verdict.slice(1);
    const verdict = element("p", "ask-verdict", `${found.ok ? "✓" : "×"} ${sentence}`);
    place.replaceChildren(verdict, ...found.lines.map((line) => paragraph(line)));
  }

  // What was answered, and chosen for blanks (complete.js), is kept in this browser too: "2.9" as the page has it now,
  // and "2.9+" as it was judged last, of what is written in one's own words which lines of the checklist are ticked.
  const WORDS = "mha-words";
  const BLANKS = "mha-blanks";

  function kept(name) {
    try {
      return Object(JSON.parse(localStorage.getItem(name)));
    } catch {
      return {};
    }
  }

  function keep(name, id, value) {
    try {
      localStorage.setItem(name, JSON.stringify({ ...kept(name), [id]: value })); // another tab may have kept more
    } catch {
      // A browser that keeps nothing.
    }
  }

  function put(form, kind, answer) {
    if (typeof answer !== "string") return;
    if (kind === "number") form.elements.number.value = answer;
    else if (kind === "explain") form.elements.words.value = answer;
    else for (const field of form.querySelectorAll("input")) field.checked = answer.includes(field.value);
  }

  function answerOf(form, kind) {
    if (kind === "number") return form.elements.number.value;
    if (kind === "explain") return form.elements.words.value;
    return [...form.querySelectorAll("input:checked")].map((field) => field.value).join("");
  }

  function wake(form) {
    const data = JSON.parse(form.querySelector("script").textContent);
    const place = form.querySelector(".ask-reply");
    const { id, kind } = data;
    const { [id]: before, [`${id}+`]: judged } = kept(WORDS);
    function tell(answer, ticked) {
      const found = judge(data, answer);
      say(place, found);
      if (found.checklist) place.append(...ticks(data, found.checklist, ticked));
      if (!found.ok && found.tried && data.more) place.append(paragraph("The hints say more."));
      return found;
    }
    form.querySelector("fieldset").disabled = false;
    put(form, kind, before);
    if (kind === "explain" && Array.isArray(judged)) tell(answerOf(form, kind), judged);
    if (kind !== "explain" && typeof judged === "string") tell(judged);
    form.addEventListener("change", ({ target }) => {
      if (!place.contains(target)) keep(WORDS, id, answerOf(form, kind));
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const answer = answerOf(form, kind);
      const found = tell(answer, []);
      keep(WORDS, id, answer); // Enter comes before a change
      if (found.tried) keep(WORDS, `${id}+`, kind === "explain" ? [] : answer);
      if (found.done) solve([id]);
      place.scrollIntoView({ block: "nearest" });
    });
  }

  // The learner ticks what was said; all ticked is done.
  function ticks(data, lines, ticked) {
    const list = element("ul", "ask-checklist");
    lines.forEach((line, i) => {
      const field = Object.assign(document.createElement("input"), { type: "checkbox", id: `tick-${data.id}-${i}` });
      field.checked = ticked.includes(i);
      const label = Object.assign(paragraph(line, "label"), { htmlFor: field.id });
      const item = element("li", "");
      item.append(field, label);
      list.append(item);
    });
    list.addEventListener("change", () => {
      const now = [...list.querySelectorAll("input")].flatMap((field, i) => (field.checked ? [i] : []));
      keep(WORDS, `${data.id}+`, now);
      if (now.length === lines.length) solve([data.id]);
    });
    const invitation = paragraph("Tick those that you did. When all are ticked, it counts as solved.");
    return [invitation, list, paragraph(data.note)];
  }

  function wakePanel(panel) {
    const form = panel.querySelector("form");
    const place = form.querySelector(".ask-reply");
    const tell = (ok, verdict, ...lines) => say(place, { ok, verdict, lines });
    form.querySelector("fieldset").disabled = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        const ids = decode(form.querySelector("#progress-in").value);
        solve(ids);
        tell(true, "added.", `${ids.length} ${ids.length === 1 ? "exercise is" : "exercises are"} in the code.`);
      } catch (error) {
        tell(false, "not added.", error.message, "Nothing was changed.");
      }
    });

    async function copy() {
      const out = form.querySelector("#progress-out");
      out.select();
      try {
        await navigator.clipboard.writeText(out.value);
        tell(true, "copied.");
      } catch {
        tell(false, "not copied.", "The code is marked: copy it by keyboard.");
      }
    }
    function forget() {
      if (!confirm("Forget all that was solved, bet, judged and written in this browser?")) return;
      solved = new Set();
      try {
        const names = [KEY, WORDS, BLANKS, "mha-bets", "mha-bets-off", "mha-claims", "mha-where"];
        for (const name of names) localStorage.removeItem(name);
      } catch {
        // A browser that keeps nothing.
      }
      show();
      tell(true, "forgotten.");
    }
    form.addEventListener("click", (event) => {
      if (event.target.dataset.do === "copy") copy();
      if (event.target.dataset.do === "forget") forget();
    });

    if (keeps) return;
    tell(false, "for now only.", "This browser keeps nothing for this page, so progress lasts until you close it.");
  }

  load();
  show();
  document.querySelectorAll("form.ask[data-kind]").forEach(wake);
  document.querySelectorAll(".progress-panel").forEach(wakePanel);
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    load();
    show();
  });
  const exposed = { done, judge, encode, decode, element, paragraph, solve, BLANKS, kept, keep };
  window.mhaExercises = { ...exposed, completed: (id) => solve([completed(id)]) };
})();

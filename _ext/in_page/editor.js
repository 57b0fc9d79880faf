// The editor under an exercise: a text area that indents, Run, Check and Stop, what Python prints, what the checker
// says. A text area, since it is native to phones, screen readers and undo, and weighs nothing.
import { ask, stop, isBusy, onChange } from "./python.js";

const { store, solve, element } = window.mha;
const STEP = 4; // spaces
const LONG = 10; // seconds, after which a page says that something runs
const SIGNS = { right: "\u2713", wrong: "\u00d7" };

// ---- the text area ------------------------------------------------------------------------------------------------

const lineStart = (text, at) => text.lastIndexOf("\n", at - 1) + 1;
const indentOf = (line) => /^ */.exec(line)[0].length;

// As typed, so that undo knows of it
function put(area, text, from = area.selectionStart, to = area.selectionEnd) {
  area.setSelectionRange(from, to);
  if (from === to && !text) return;
  if (!document.execCommand(text ? "insertText" : "delete", false, text)) area.setRangeText(text, from, to, "end");
}

function shiftLines(area, by) {
  const { value, selectionStart, selectionEnd } = area;
  const from = lineStart(value, selectionStart);
  const lines = value.slice(from, selectionEnd).split("\n");
  const moved = lines.map((line) => (by > 0 ? " ".repeat(by) + line : line.slice(Math.min(-by, indentOf(line)))));
  put(area, moved.join("\n"), from, selectionEnd);
  const [first, all] = [moved[0].length - lines[0].length, moved.join("\n").length - lines.join("\n").length];
  area.setSelectionRange(Math.max(from, selectionStart + first), selectionEnd + all);
}

// Tab indents, until Esc was pressed: then it leaves
function edits(area) {
  let leaves = false;
  area.addEventListener("keydown", (event) => {
    const { value, selectionStart: at, selectionEnd: end } = area;
    const before = value.slice(lineStart(value, at), at);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
    if (event.key === "Escape") {
      leaves = true;
      return;
    }
    if (event.key === "Shift") return;
    if (event.key === "Tab" && plain && !leaves) {
      event.preventDefault();
      if (event.shiftKey) shiftLines(area, -STEP);
      else if (value.slice(at, end).includes("\n")) shiftLines(area, STEP);
      else put(area, " ".repeat(STEP - (before.length % STEP)));
    } else if (event.key === "Enter" && plain && !event.shiftKey) {
      event.preventDefault();
      const deeper = /:\s*(#.*)?$/.test(before) ? STEP : 0;
      put(area, `\n${" ".repeat(indentOf(before) + deeper)}`);
    } else if (event.key === "Backspace" && plain && at === end && before && !before.trim()) {
      event.preventDefault();
      put(area, "", at - ((before.length - 1) % STEP) - 1, at);
    }
    leaves = false;
  });
  area.addEventListener("blur", () => { leaves = false; });
}

// ---- words ----------------------------------------------------------------------------------------------------------

const paragraph = (text, className = "") => element("p", { className }, text);
const html = (words) => element("template", { innerHTML: words }).content;

// A line of a report: code and addresses are marked already; what begins with a space keeps its shape
function reported(words) {
  if (/^\s/.test(words)) return element("pre", {}, html(words));
  return element("p", {}, html(words));
}

// ---- one editor -----------------------------------------------------------------------------------------------------

export function open(form, pressed) {
  const { stub, name, colab } = JSON.parse(form.querySelector("script").textContent);
  const id = form.dataset.exercise;
  const kept = { source: stub, tries: 0, given: [], said: null, ...store.get("written")[id] };
  const keep = (changes) => {
    Object.assign(kept, changes, { height: Math.round(form.getBoundingClientRect().height) });
    store.put("written", { [id]: { ...kept } });
  };

  const area = element("textarea", { value: kept.source, spellcheck: false, autocomplete: "off", wrap: "off",
    ariaLabel: name ? `Your code for ${name}` : "Your code" });
  area.setAttribute("autocapitalize", "off");
  area.setAttribute("autocorrect", "off");
  const gutter = element("pre", { className: "write-gutter", ariaHidden: "true" });
  const button = (words, act, className = "") => {
    const made = element("button", { type: "button", className, onclick: () => made.ariaDisabled !== "true" && act() },
      words);
    return made;
  };
  const toRun = button("Run", () => run());
  const toCheck = button("Check", () => check());
  const toStop = button("Stop", () => {
    stop("Stopped.");
    area.focus();
  }, "quiet");
  const toHint = button("Hint", () => hint(), "quiet");
  const toReset = button("Start over", () => reset(), "quiet");
  const status = element("span", { className: "write-status", role: "status" });
  const printed = element("pre", { className: "write-printed", tabIndex: 0, ariaLabel: "What it printed" });
  const reply = element("div", { className: "ask-reply", role: "status" });
  const hints = element("div", { className: "write-hints" });
  const keys = paragraph(`Tab indents; Esc, then Tab leaves. Shift + Enter runs${name ? ", Ctrl + Enter checks" : ""}.`,
    "write-keys");
  const buttons = element("p", { className: "ask-send" }, ...(name ? [toCheck] : []), toRun, toStop,
    ...(name ? [toHint] : []), toReset, status);
  const desk = element("div", { className: "write-desk" }, gutter, area);

  let left = null; // what "Start over" has put away, until something else is written
  function grow() {
    const count = area.value.split("\n").length;
    area.rows = Math.max(5, count + 1);
    gutter.textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
    const fresh = area.value === stub;
    if (!fresh) left = null;
    toReset.hidden = fresh && left === null;
    toReset.textContent = fresh ? "Take it back" : "Start over";
  }

  // ---- what Python says
  function clear() {
    printed.textContent = "";
    reply.replaceChildren();
    reply.classList.remove("is-wrong");
  }
  // A line of the reader's own leads there
  function atLine({ line, code }) {
    const go = button(`Line ${line}`, () => {
      const lines = area.value.split("\n");
      const from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(from, from + (lines[line - 1] ?? "").length);
    }, "quiet write-line");
    return element("p", {}, go, " ", element("code", {}, code.trim()));
  }
  function show(said) {
    const lines = [];
    const { failure, notHere, undefined: unknown } = said;
    if (said.stopped) lines.push(paragraph(said.stopped, "ask-verdict"));
    if (failure) {
      lines.push(paragraph(`${SIGNS.wrong} It stops with an error.`, "ask-verdict"));
      for (const line of failure.through ?? []) lines.push(atLine(line));
      if (failure.line) lines.push(atLine(failure));
      lines.push(element("p", {}, element("code", {}, failure.says)));
    }
    if (notHere) {
      const what = notHere.join(", ");
      lines.push(paragraph(`${said.line ? "This line" : "This"} is beyond this page: ${what}.`, "ask-verdict"));
      if (said.line) lines.push(atLine(said));
      lines.push(element("p", {}, "Whether it is right or a slip, only the whole torch can say: ",
        ...(colab ? [element("a", { href: colab }, "on Colab"), "."]
          : [element("code", {}, "python3 book.py lab"), " where the book was cloned."])));
    }
    if (unknown) {
      lines.push(paragraph(`${SIGNS.wrong} There is no ${unknown} in it.`, "ask-verdict"));
      lines.push(element("p", {}, "The checker calls a function of that name; keep the first line of the stub."));
    }
    if (said.html) {
      const [first, ...rest] = said.html.filter((_, i) => !said.text[i].startsWith("hint("));
      const sign = said.ok ? SIGNS.right : said.started ? SIGNS.wrong : "\u25cb";
      lines.push(element("p", { className: "ask-verdict" }, `${sign} `, html(first)), ...rest.map(reported));
    }
    if (said.value !== undefined && said.value !== null) {
      printed.append(printed.textContent && !printed.textContent.endsWith("\n") ? "\n" : "", said.value);
    }
    reply.classList.toggle("is-wrong", Boolean(failure || unknown || (said.html && !said.ok)));
    reply.replaceChildren(...lines);
  }

  // ---- what the reader asks
  let wanted = null; // by a key, while Python still comes
  async function asked(act, more, words) {
    if (isBusy()) return null;
    if (act === "run" || act === "check") {
      clear();
      keep({ source: area.value, said: null });
    }
    const began = performance.now();
    status.textContent = words;
    const clock = setInterval(() => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      if (isBusy() === "run" && seconds >= LONG) status.textContent = `It has run for ${seconds} s; Stop ends it.`;
    }, 1000);
    try {
      return await ask(act, more, {
        printed: (text) => printed.append(text),
        told: (text) => { status.textContent = text; },
      });
    } catch (error) {
      return { stopped: error.message };
    } finally {
      clearInterval(clock);
      status.textContent = "";
    }
  }
  async function run() {
    const said = await asked("run", { source: area.value }, "Running \u2026");
    if (!said) return;
    show(said);
    if (!printed.textContent && !reply.textContent) status.textContent = "It ran and printed nothing.";
  }
  async function check() {
    if (!name) return run();
    const record = { tries: kept.tries, hints: kept.given.length };
    const said = await asked("check", { id, source: area.value, record }, "Checking \u2026");
    if (!said) return;
    show(said);
    if (said.html) keep({ tries: said.tries, said });
    if (said.ok) solve(id);
    reply.scrollIntoView({ block: "nearest" });
  }
  async function hint() {
    const said = await asked("hint", { id, record: { tries: kept.tries, hints: kept.given.length } }, "");
    if (!said?.hint) return;
    keep({ given: [...kept.given, said.hint] });
    giveHint(said.hint);
    toHint.hidden = said.hints >= said.of;
  }
  function giveHint(words) {
    const [first, ...code] = words.split("\n");
    hints.append(paragraph(first), ...(code.length ? [element("pre", {}, code.join("\n"))] : []));
  }
  // To the stub, or back from it
  function reset() {
    const source = left ?? stub;
    const before = left === null ? area.value : null;
    area.focus();
    put(area, source, 0, area.value.length);
    left = before;
    grow();
    clear();
    keep({ source, said: null });
  }

  // ---- it opens
  form.querySelector(".ask-send").replaceWith(desk, keys, buttons, printed, reply, hints);
  edits(area);
  area.addEventListener("input", () => {
    grow();
    keep({ source: area.value });
  });
  area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    const act = event.shiftKey ? run : check;
    if (isBusy() === "start") wanted = act;
    else act();
  });
  onChange(() => {
    for (const one of [toRun, toCheck, toHint]) one.setAttribute("aria-disabled", Boolean(isBusy()));
    toStop.hidden = isBusy() !== "run";
    if (isBusy() || !wanted) return;
    setTimeout(wanted);
    wanted = null;
  });
  grow();
  if (kept.said) show(kept.said);
  kept.given.forEach(giveHint);
  if (!pressed) return;
  keep({});
  area.focus();
  area.setSelectionRange(area.value.length, area.value.length);
  asked("ready", {}, "Python is coming \u2026").then((said) => {
    if (said?.stopped) show(said);
    else if (!name && said) keys.append(element("br"), `Known here: ${said.known.join(", ")}.`);
  });
}

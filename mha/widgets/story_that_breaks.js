const BINS = 60; // cells of a map on a side, at most: of longer texts each shows the largest weight of its part
const LONGEST = 200; // tokens
const [ZERO, MEAN] = [1, 2]; // what a head gives out that is off
const NAME_HEAD = 31; // head 5.1
const WITHOUT = "This copy of the book was built without the model\u2019s weights: what is shown is stored.";
const STORED = "It is stories15M, which knows the words of small children. Until it runs, what you see is stored. "
  + "Nothing that you type leaves this page.";
const LENT = { "the values of the chosen head": ["values"], "all values": ["values"], "all keys": ["keys"],
  "all keys and values": ["keys", "values"] };

const GAP = 12; // pixels between the tokens of two lines
const MARGIN = 5; // at the left of all tokens

const two = (value) => value.toFixed(2);
const quoted = (word) => `\u201c${word}\u201d`;
const ofLender = (lent, all, word) =>
  `${comma(lent)} of the ${comma(all)} numbers in the cache are now those of a text with ${quoted(word)}.`;
const nameOf = (head, heads) => `${Math.floor(head / heads)}.${head % heads}`;

// A piece as a word of a sentence, and as it stands in the text
const plainly = (piece) => ({ "\n<s>\n": "the end", "\n": "a new line", "<unk>": "\u25a1" }[piece] ?? piece.trim())
  || "a space";
const asToken = (piece) => ({ "\n<s>\n": "\u25b8", "\n": "\u21b5", "<unk>": "\u25a1" }[piece] ?? piece.trim())
  || "\u2423";

// ---- the model, which runs beside the page ------------------------------------------------------------------------

// A file of the site: from the browser's own store, where it is kept by its name, which has the sha256 in it
async function fetched(address) {
  const store = await ownStore();
  const kept = await store?.match(address);
  if (kept) return kept.arrayBuffer();
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the site answers ${answer.status}`);
  for (const old of (await store?.keys()) ?? []) await store.delete(old);
  await store?.put(address, answer.clone()).catch(() => null); // a full store keeps nothing, and nothing is lost
  return answer.arrayBuffer();
}

// Not every page may keep something
async function ownStore() {
  try {
    return await caches.open("mha-story");
  } catch {
    return null;
  }
}

// What a kernel sends: the program of the worker as text, and the file
function fromKernel(model) {
  return new Promise((resolve, reject) => {
    const wait = setTimeout(() => reject(new Error("no kernel answers; run this cell")), 60000);
    function hear(content, buffers) {
      clearTimeout(wait);
      model.off("msg:custom", hear);
      if (content.error) return reject(new Error(content.error));
      const { buffer, byteOffset, byteLength } = buffers[0];
      return resolve([URL.createObjectURL(new Blob([content.worker], { type: "text/javascript" })),
        buffer.slice(byteOffset, byteOffset + byteLength)]);
    }
    model.on("msg:custom", hear);
    model.send({ ask: "model" });
  });
}

// ask(act, more): one question after the other, in order
async function startWorker(model) {
  const site = globalThis.storyModel;
  const [program, bytes] = site ? [site.worker, await fetched(site.file)] : await fromKernel(model);
  const worker = new Worker(program);
  const waiting = new Map();
  let ticket = 0;
  worker.onmessage = ({ data }) => {
    const [resolve, reject] = waiting.get(data.ticket);
    waiting.delete(data.ticket);
    if (data.error) reject(new Error(data.error));
    else resolve(data);
  };
  const failed = new Promise((_, reject) => { worker.onerror = () => reject(new Error("its worker does not start")); });
  failed.catch(() => null);
  const ask = (act, more = {}) => Promise.race([failed, new Promise((resolve, reject) => {
    ticket += 1;
    waiting.set(ticket, [resolve, reject]);
    worker.postMessage({ ticket, act, ...more });
  })]);
  await ask("load", { bytes });
  return { ask, stop: () => worker.terminate() };
}

// A line through points, with rounded corners
function rounded(points) {
  const towards = ([x, y], [a, b], most) => {
    const long = Math.hypot(a - x, b - y) || 1;
    const share = Math.min(most, long / 2) / long;
    return [x + share * (a - x), y + share * (b - y)];
  };
  const corners = points.slice(1, -1).map((point, k) =>
    `L${towards(point, points[k], 5)}Q${point} ${towards(point, points[k + 2], 5)}`);
  return `M${points[0]}${corners.join("")}L${points.at(-1)}`;
}

// ---- the text, and where a token looks ----------------------------------------------------------------------------

// Each token is one stop of the text, which is one stop of the page
function textOf(choose) {
  const arcs = drawing({ class: "arcs" });
  const words = h("div", { class: "words", role: "group", "aria-label": "The text, token by token" });
  const box = h("div", { class: "story glance" }, h("div", { class: "lines" }, arcs, words));
  const tokens = [];
  let shown = { n: 0 };

  function add(j) {
    const token = h("button", { type: "button" }, h("code")); // as the model has it, with straight quotation marks
    token.addEventListener("click", () => j < shown.n && choose(j));
    token.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: j - 1, ArrowUp: j - 1, ArrowRight: j + 1, ArrowDown: j + 1, Home: 0,
        End: shown.n - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (to < 0 || to >= shown.n) return;
      choose(to);
      tokens[to].focus();
    });
    return token;
  }

  // No line parts the pieces of a word, or what stands at its end; of long ones it must
  let arranged = "";
  function arrange(pieces) {
    if (arranged === pieces.join("|")) return;
    arranged = pieces.join("|");
    const groups = [];
    tokens.forEach((token, j) => {
      const isNew = !j || /^[ \n]/.test(pieces[j]) || pieces[j - 1] === "\n" || groups.at(-1).childElementCount > 11;
      if (isNew) groups.push(h("span"));
      groups.at(-1).append(token);
    });
    words.replaceChildren(...groups);
  }

  function show({ pieces, given, n, hidden, lent }, row, asks) {
    shown = { n };
    while (tokens.length < pieces.length) tokens.push(add(tokens.length));
    tokens.splice(pieces.length);
    arrange(pieces);
    tokens.forEach((token, j) => {
      const looks = { spaced: /^ /.test(pieces[j]), breaks: pieces[j] === "\n", written: j >= given, asks: j === asks,
        gone: hidden.has(j), lent: lent.has(j) };
      write(token.firstChild, asToken(pieces[j]));
      const weight = row[j] ?? 0;
      set(token, { class: ["token", ...Object.keys(looks).filter((name) => looks[name])].join(" "),
        tabindex: j === asks ? 0 : -1, "aria-current": j === asks, "aria-disabled": j >= n,
        title: j < n ? `token ${j}, weight ${two(weight)}` : `token ${j}, written` });
      token.style.setProperty("--share", `${(100 * Math.sqrt(weight)).toFixed(1)}%`);
    });
    drawArcs(row, asks);
  }

  // From the token that asks to those that it gives a twentieth or more
  function drawArcs(row, asks) {
    const places = tokens.map((token) => [token.offsetLeft + token.offsetWidth / 2, token.offsetTop,
      token.offsetTop + token.offsetHeight]);
    if (!places[asks]) return;
    const paths = [...row].map((weight, j) => [weight, j]).filter(([weight, j]) => weight >= 0.05 && j !== asks)
      .map(([weight, j]) => h("path", { d: wayOf(places[asks], places[j]), class: "arc",
        "stroke-width": (1 + 4 * weight).toFixed(2), opacity: (0.35 + 0.65 * weight).toFixed(2) }));
    arcs.replaceChildren(...paths);
  }

  // In one line an arc above it. To an earlier line a way between the lines, and past others at the left edge: through
  // no word
  function wayOf([x, y], [a, top, bottom]) {
    const rise = Math.min(20, 10 + Math.abs(a - x) / 12);
    if (Math.abs(top - y) < 5) return `M${x},${y + 2}C${x},${y - rise} ${a},${top - rise} ${a},${top + 2}`;
    const [from, to] = [y - GAP / 2, bottom + GAP / 2];
    if (from - to < GAP) return rounded([[x, y + 1], [x, from], [a, from], [a, bottom - 1]]);
    return rounded([[x, y + 1], [x, from], [MARGIN, from], [MARGIN, to], [a, to], [a, bottom - 1]]);
  }
  const toEnd = () => { box.scrollTop = box.scrollHeight; };
  return { box, show, toEnd };
}

// ---- all heads ----------------------------------------------------------------------------------------------------

// One stop of the page; arrows choose inside it. A press on the chosen head switches it.
function gridOf(layers, heads, choose, toggle) {
  const svg = drawing({ viewBox: `0 0 ${heads} ${layers}` });
  const maps = mapsUnder(svg);
  const places = tabulate(layers * heads, (i) => (
    { x: (i % heads) + 0.03, y: Math.floor(i / heads) + 0.03, width: 0.94, height: 0.94 }));
  const buttons = tabulate(layers * heads, () => h("button", { type: "button", class: "head" }));
  let chosen = 0;
  buttons.forEach((button, i) => {
    function take() {
      chosen = i;
      choose(i);
    }
    button.addEventListener("focus", () => chosen !== i && take());
    button.addEventListener("click", ({ detail }) => {
      if (chosen !== i) take();
      else if (!detail) toggle(i); // by a key; who points at a map only chooses it
    });
    button.addEventListener("keydown", (event) => {
      const to = placeInGrid(event, Math.floor(i / heads), i % heads, layers, heads);
      if (to) buttons[to[0] * heads + to[1]].focus();
    });
  });
  const name = (i) => h("span", {}, i);
  const axis = (way, text) => h("span", { class: `side ${way}`, "aria-hidden": "true" }, text);
  const box = h("div", { class: "grid" }, axis("across", "head"), axis("down", "layer"),
    h("div", { class: "columns", "aria-hidden": "true" }, ...tabulate(heads, name)),
    h("div", { class: "rows", "aria-hidden": "true" }, ...tabulate(layers, name)),
    h("div", { class: "atlas" }, maps.box, h("div", { class: "heads", role: "group", "aria-label":
      "All heads, layer by layer; arrows go from head to head, Enter switches one" }, ...buttons)));

  let drawn = null;
  function show(view, head, off) {
    chosen = head;
    buttons.forEach((button, i) => set(button, {
      class: `head${off.has(i) ? " off hatched" : ""}${i === head ? " chosen" : ""}`, tabindex: i === head ? 0 : -1,
      "aria-pressed": !off.has(i), "aria-label": `head ${nameOf(i, heads)}, ${off.has(i) ? "off" : "on"}` }));
    if (drawn === view) return;
    drawn = view;
    const side = Math.min(view.n, BINS);
    maps.show(heads, pooled(view, side), side, places);
  }
  return { box, show };
}

// All maps one after the other, on `side` cells a side, the largest weight of each
function pooled({ rows, n }, side) {
  const out = new Float32Array(rows.length * side * side);
  rows.forEach((map, k) => map.forEach((row, i) => {
    const line = (k * side + Math.floor((i * side) / n)) * side;
    for (let j = 0; j <= i; j++) {
      const at = line + Math.floor((j * side) / n);
      if (row[j] > out[at]) out[at] = row[j];
    }
  }));
  return out;
}

// ---- what comes next ----------------------------------------------------------------------------------------------

function nextOf(count) {
  const lines = tabulate(count, () => {
    const [name, now, before, p, q] = [h("code"), h("i", { class: "bar" }),
      h("i", { class: "bar before" }), h("td", { class: "number" }), h("td", { class: "number" })];
    const row = h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "bars" }, now, before), p, q);
    return { name, now, before, p, q, row };
  });
  const head = h("tr", {}, h("td"), h("td"), ...["now", "whole"].map((text) =>
    h("th", { scope: "col", class: "number" }, text)));
  const box = h("table", { class: "next" }, h("thead", {}, head), h("tbody", {}, ...lines.map(({ row }) => row)));
  function show(next) {
    lines.forEach(({ name, now, before, p, q }, k) => {
      write(name, plainly(next[k].piece));
      [[now, p, next[k].p], [before, q, next[k].before]].forEach(([bar, number, chance]) => {
        bar.style.width = `${100 * chance}%`;
        write(number, two(chance));
      });
    });
  }
  return { box, show };
}

// ---- the cache ----------------------------------------------------------------------------------------------------

// A column a token: in each of all heads how long its key is, and below how long its value
function cacheOf(heads) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const inks = ["key", "value"].map((hue) => h("b", { class: `hue-${hue}` }, `${hue}s`));
  const fullest = "200 tokens \u00d7 2 \u00d7 6 layers \u00d7 6 heads \u00d7 48 = 691,200 numbers, 2,765 KB";
  const count = roomFor(fullest, "p");
  const ofLentInk = h("b", { class: "hue-query" }, "lent");
  const title = h("div", { class: "plane-title" }, h("b", {}, "The cache"), " heads by tokens: ", inks[0], ", ",
    inks[1], ", ", ofLentInk);
  const box = h("div", { class: "cache" }, title, canvas, count);
  let shown = null;

  function paint() {
    const pen = canvas.getContext("2d");
    const { n, kept, hidden, lent } = shown ?? { n: 0 };
    const [width, height] = [canvas.width, canvas.height];
    pen.clearRect(0, 0, width, height);
    if (!width || !n) return;
    const [ofKeys, ofValues, ofLent] = [...inks, ofLentInk].map((ink) => getComputedStyle(ink).color);
    const half = height / 2;
    const wide = Math.min(width / n, height / 6);
    const most = [0, 1].map((k) => kept?.reduce((top, value, i) => (i % 2 === k ? Math.max(top, value) : top), 0));
    const high = (half - 3) / heads;
    const rowOf = (j, k, i, tall) => pen.fillRect(j * wide, Math.min(k * half + i * high, (k + 1) * half - 3 - tall),
      Math.max(1, wide - 1), tall);
    for (let j = 0; j < n; j++) for (let k = 0; k < 2; k++) for (let i = 0; i < heads; i++) {
      const share = kept ? kept[2 * (j * heads + i) + k] / most[k] : 0.4;
      pen.globalAlpha = hidden.has(j) ? 0.06 : 0.08 + 0.8 * share;
      pen.fillStyle = [ofKeys, ofValues][k];
      rowOf(j, k, i, high);
    }
    // What is lent lies over its neighbours: one row alone would hardly be seen
    pen.fillStyle = ofLent;
    for (const [j, both] of lent) for (const [k, some] of both.entries()) for (const i of some) {
      pen.globalAlpha = hidden.has(j) ? 0.06 : 1;
      rowOf(j, k, i, Math.max(10, high));
    }
    pen.globalAlpha = 1;
  }
  painters.set(canvas, paint);
  new ResizeObserver(([{ contentRect: { width, height } }]) => {
    set(canvas, { width: Math.round(2 * width), height: Math.round(2 * height) });
    paint();
  }).observe(canvas);
  function show(view, { layers, d }) {
    if (shown === view) return;
    shown = view;
    const numbers = view.n * 2 * layers * d;
    say(count, `${view.n} tokens \u00d7 2 \u00d7 ${layers} layers \u00d7 ${heads / layers} heads \u00d7 `
      + `${(d * layers) / heads} = ${comma(numbers)} numbers, ${comma(Math.round((4 * numbers) / 1000))} KB`);
    paint();
  }
  return { box, show };
}

// ---- what the reader does with the model --------------------------------------------------------------------------

const button = (text, act, attributes = {}) => {
  const made = h("button", { type: "button", class: "do", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
};
const field = (tag, attributes, ...children) => h(tag, { class: "typed", ...attributes }, ...children);
const named = (name, control) => h("label", {}, h("span", {}, name), control);
const chooser = (name, options) => field("select", { "aria-label": name },
  ...options.map((text) => h("option", {}, text)));

// Fields and the button that does what they say, as Enter does in each of them
function formThat(act, name, ...fields) {
  const form = h("form", { class: "act" }, ...fields, h("button", { type: "submit", class: "do" }, name));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
  return form;
}

// The rows of controls of a model that runs
function controlRows(act) {
  const text = field("input", { type: "text", "aria-label": "The beginning of a story", spellcheck: false });
  const temperature = field("input", { type: "range", min: 0, max: 1.5, step: 0.1, value: 0 });
  const shown = h("output", {}, "0");
  const seed = field("input", { type: "number", min: 0, max: 9999, value: 1 });
  const writing = button("Write on", () => act.writeOn());
  const kind = chooser("What a head gives that is off", ["zeros", "its mean"]);
  const [from, to] = ["Whose place in the cache", "Who lends"].map((name) =>
    field("input", { type: "text", size: 6, "aria-label": name, spellcheck: false }));
  const what = chooser("What is lent", Object.keys(LENT));
  const hide = button("Hide the chosen token", () => act.hide());
  temperature.addEventListener("input", () => write(shown, temperature.value));
  seed.addEventListener("change", () => act.again());
  kind.addEventListener("change", () => act.again());
  const form = formThat(() => act.readText(text.value), "Read it", text);
  const lending = formThat(() => act.lend(), "Lend", h("span", {}, "In the cache,"), from, h("span", {}, "gets"), what,
    h("span", {}, "of"), to);
  const first = h("div", { class: "act own" }, button("Write a token", () => act.step()), writing,
    button("Take back what was written", () => act.takeBack()), named("temperature", temperature), shown,
    named("seed", seed));
  const box = h("div", { class: "own" }, form,
    h("div", { class: "act" }, button("Undo every change", () => act.allOn()), named("a head that is off gives", kind),
      hide), lending);
  return { box, first, text, temperature, seed, writing, kind, from, to, what, hide };
}

export default figure((data, { root, now, change, when, redraw, model }) => {
  const { layers, heads, pieces, firstOff, megabytes } = data;
  const [count, own] = [layers * heads, firstOff + layers * heads];
  const chance = float16(data.chance);
  const site = globalThis.storyModel;
  const size = { layers, d: 288 };

  // ---- what is stored -----------------------------------------------------------------------------------------------
  const openings = data.openings.map((one) => {
    const n = one.tokens.length;
    const maps = unpacked(one.maps, data.steps);
    const rows = tabulate(count, (k) => tabulate(n, (i) => maps.subarray((k * n + i) * n, (k * n + i) * n + i + 1)));
    return { ...one, n, rows };
  });
  const allHeads = () => new Set(tabulate(count, (i) => i));
  const pairOf = (i) => [Math.floor(i / heads), i % heads];
  const storedViews = new Map();
  function storedView(opening, wanted) {
    const kind = wanted % own;
    const key = `${opening},${kind}`;
    if (storedViews.has(key)) return storedViews.get(key);
    const { tokens, written, next, n, rows, word, other } = openings[opening];
    const from = 20 * (opening * own + kind);
    const lent = new Map();
    let said = "";
    if (kind && kind < firstOff) {
      const some = kind === 1 ? new Set([NAME_HEAD]) : allHeads();
      tokens.forEach((id, j) => pieces[id] === ` ${word}`
        && lent.set(j, kind === 3 ? [some, new Set()] : [new Set(), some]));
      said = ofLender(lent.size * some.size * (size.d / heads), n * 2 * layers * size.d, other);
    }
    const view = { pieces: [...tokens, ...written[kind]].map((id) => pieces[id]), given: n, n, rows, lent, said,
      hidden: new Map(), kept: null, off: new Map(kind < firstOff ? [] : [[kind - firstOff, ZERO]]),
      next: next[kind].map((id, k) => ({ piece: pieces[id], p: chance[from + k], before: chance[from + 10 + k] })) };
    storedViews.set(key, view);
    return view;
  }

  // ---- the model that runs ------------------------------------------------------------------------------------------
  let engine = null;
  let live = null; // its view
  let [isMine, isWriting, isBusy] = [false, false, false];
  // What the model is to read, and how it is changed. It isNew until the model has read it; `change` is its name.
  const plan = { ids: [], given: 0, off: new Map(), hidden: new Map(), lends: [], change: 0, isNew: false,
    opening: 0, text: "" };

  // Acts change the plan, one after the other. When none waits, the model reads it: of many choices, the newest.
  const waiting = [];
  let working = null;
  let note = "";
  function inTurn(act) {
    waiting.push(act);
    working ??= work();
    return working;
  }
  async function work() {
    set(status, { "aria-busy": "true" }); // what is said is said once, at the end
    while (waiting.length) {
      try {
        note = "";
        await waiting.shift()();
        showStale();
        if (!waiting.length) await readPlan();
        if (!waiting.length) nameIt();
      } catch (error) {
        isWriting = false;
        note = `That did not work: ${error.message}.`;
      }
      if (isWriting && !waiting.length) waiting.push(step);
    }
    working = null;
    status.removeAttribute("aria-busy");
    redraw();
  }
  // What is shown is no longer what was asked for
  function showStale() {
    [story.box, planes].forEach((box) => box.classList.toggle("stale", plan.isNew));
    redraw();
  }

  function take(answer) {
    if (answer.first === 0) live = { rows: tabulate(count, () => []), kept: [] };
    const rows = live.rows;
    let m = answer.first;
    for (const { rows: some, weights } of answer.parts) {
      m += some;
      rows.forEach((map, k) => {
        for (let i = 0; i < some; i++) {
          const at = (k * some + i) * m;
          map.push(weights.subarray(at, at + m - some + i + 1));
        }
      });
    }
    const lent = new Map();
    for (const { places, what, numbers } of plan.lends) for (const j of places) {
      const both = lent.get(j) ?? [new Set(), new Set()];
      what.forEach((name) => numbers.forEach((i) => both[name === "keys" ? 0 : 1].add(i)));
      lent.set(j, both);
    }
    plan.ids = answer.ids;
    live = { rows, kept: [...live.kept, ...answer.kept], pieces: answer.shown, given: plan.given, n: answer.ids.length,
      next: answer.next, hidden: plan.hidden, off: new Map(plan.off), lent, text: answer.text };
    toTheEnd = true;
    redraw();
  }
  let toTheEnd = false;
  async function readPlan() {
    if (!plan.isNew) return;
    const kind = controls.kind.selectedIndex === 1 ? MEAN : ZERO;
    const answer = await engine.ask("begin", { tokens: plan.ids, off: [...plan.off.keys()].map((i) => [i, kind]),
      hidden: [...plan.hidden], seed: Number(controls.seed.value),
      lends: plan.lends.map((one) => ({ ...one, heads: one.numbers.map(pairOf) })) });
    plan.isNew = false;
    take(answer);
    showStale();
  }
  function clear() {
    plan.off.clear();
    plan.hidden.clear();
    plan.lends = [];
    Object.assign(plan, { change: 0, isNew: true });
  }
  // A change of the reader's own: the control says what it is, where it has a name for it
  function changed() {
    const one = plan.off.size === 1 && controls.kind.selectedIndex === 0 ? [...plan.off.keys()][0] : null;
    const isOther = plan.lends.length || plan.hidden.size || (plan.off.size && one === null);
    Object.assign(plan, { change: isOther ? own : one === null ? 0 : firstOff + one, isNew: true });
  }
  function nameIt() {
    if (now().change === plan.change && now().opening === plan.opening) return;
    isMine = true;
    change({ opening: plan.opening, change: plan.change, asks: -1 });
    isMine = false;
  }

  async function readText(text, opening = openings.length) {
    isWriting = false;
    Object.assign(plan, { opening, text });
    const { ids, unknown } = await engine.ask("encode", { text });
    plan.ids = ids.slice(0, LONGEST);
    plan.given = plan.ids.length;
    clear();
    controls.text.value = text;
    const strange = unknown.length ? `The model has no piece for ${unknown.map(quoted).join(", ")}: it reads an `
      + "unknown token, \u25a1, in its place." : "";
    const over = ids.length - LONGEST;
    note = `${over > 0 ? `It reads ${LONGEST} tokens: the last ${over} are left out.` : ""} ${strange}`.trim();
  }
  async function lendTo(from, to, what, numbers) {
    const [own, other] = await Promise.all([from, to].map((text) => engine.ask("word", { text })));
    const before = plan.ids.length - 1;
    const places = plan.ids.map((id, j) => [id, j]).filter(([id, j]) => id === own.id && j < before).map(([, j]) => j);
    const missing = [[own, from], [other, to]].find(([{ id }]) => id === null);
    if (missing) {
      note = `${quoted(missing[1])} is more than one piece; lending takes a word that is one, as Ben or Anna.`;
    } else if (!places.length) note = `${quoted(from)} stands nowhere in the cache.`;
    if (note) return;
    plan.lends.push({ before, from: own.id, to: other.id, what, numbers, places });
    changed();
    const lent = places.length * what.length * numbers.length * (size.d / heads);
    const all = plan.ids.length * 2 * layers * size.d;
    note = ofLender(lent, all, to);
  }
  // The controls ask for an opening or a change that has a name
  async function obey({ opening, change: wanted }) {
    const isOwn = opening === openings.length && plan.opening === opening;
    const { tokens, word, other } = isOwn ? { word: controls.from.value, other: controls.to.value }
      : openings[opening % openings.length];
    const text = isOwn ? plan.text : tokens.map((id) => pieces[id]).slice(1).join("").replace(/^ /, "");
    await readText(text, isOwn ? opening : opening % openings.length);
    Object.assign(controls.from, { value: word });
    Object.assign(controls.to, { value: other });
    if (wanted >= firstOff && wanted < own) {
      plan.off.set(wanted - firstOff, ZERO);
    } else if (wanted && wanted < own) {
      await lendTo(word, other, [wanted === 3 ? "keys" : "values"], wanted === 1 ? [NAME_HEAD] : [...allHeads()]);
    }
    plan.change = wanted % own;
  }
  when(["opening", "change"], (setting) => {
    if (isMine) return { asks: -1 };
    const isOfOnesOwn = setting.opening === openings.length || setting.change === own;
    note = engine || !isOfOnesOwn ? "" : "For anything of your own, let the model run first.";
    if (engine) inTurn(() => obey(setting));
    return { asks: -1 };
  });

  async function step() {
    await readPlan();
    if (plan.ids.length >= LONGEST || (plan.ids.length > 1 && plan.ids.at(-1) === 1)) {
      isWriting = false;
      note = plan.ids.length < LONGEST ? "The story is at its end." : `That is all it reads: ${LONGEST} tokens.`;
      return;
    }
    take(await engine.ask("step", { temperature: Number(controls.temperature.value) }));
  }
  const act = {
    readText: (text) => inTurn(() => readText(text)),
    again: () => inTurn(changed),
    step: () => inTurn(step),
    takeBack: () => inTurn(() => {
      isWriting = false;
      plan.ids = plan.ids.slice(0, plan.given);
      plan.lends = plan.lends.filter(({ before }) => before < plan.given);
      plan.hidden.forEach((_, j) => j >= plan.given && plan.hidden.delete(j));
      changed();
    }),
    allOn: () => inTurn(clear),
    lend: () => {
      const what = LENT[controls.what.value];
      const numbers = controls.what.selectedIndex ? [...allHeads()] : [now().head];
      return inTurn(() => lendTo(controls.from.value.trim(), controls.to.value.trim(), what, numbers));
    },
    hide: () => {
      const token = now().asks;
      return inTurn(() => {
        if (token < 0 || token >= plan.ids.length - 1) {
          note = "Choose a token before the last one, in the text.";
          return;
        }
        if (!plan.hidden.delete(token)) plan.hidden.set(token, plan.ids.length - 1);
        changed();
      });
    },
    writeOn: () => inTurn(() => { isWriting = !isWriting; }),
  };

  // ---- the drawing --------------------------------------------------------------------------------------------------
  const load = button(`Let the model run here: ${(site ? site.bytes / 1e6 : megabytes).toFixed(1)} MB`, () => begins());
  const says = roomFor(site === null ? WITHOUT : STORED, "span");
  const press = h("div", { class: "press" }, site === null ? "" : load, says);
  say(says, site === null ? WITHOUT : STORED);
  const story = textOf((j) => change({ asks: j }));
  const controls = controlRows(act);
  const grid = gridOf(layers, heads, (head) => change({ head }), toggle);
  const turn = button("", () => toggle(now().head));
  const next = nextOf(10);
  const cache = cacheOf(count);
  const longest = sentenceOf("something", 0.99, "something", "5.5", "something", 0.99, "something", true);
  const status = statusLine(`${ofLender(10368, 691200, "Lucy")} ${longest}`);
  const headTitle = h("div", { class: "plane-title" }, h("b", {}, "Every head\u2019s weights"),
    " in each map, rows look");
  const nextTitle = h("div", { class: "plane-title" }, h("b", {}, "What comes next"), " now, and of the whole model");
  const planes = h("div", { class: "planes" },
    h("div", { class: "plane left" }, headTitle, grid.box, turn),
    h("div", { class: "plane right" }, nextTitle, next.box, cache.box));

  async function begins() {
    if (isBusy) return;
    isBusy = true;
    set(load, { "aria-disabled": true });
    say(says, "Loading \u2026");
    try {
      engine = await startWorker(model);
      await inTurn(() => obey(now()));
      const isHeld = document.activeElement === load;
      press.replaceWith(controls.first);
      if (isHeld) controls.first.querySelector("button").focus({ preventScroll: true });
      status.after(controls.box);
    } catch (error) {
      load.removeAttribute("aria-disabled");
      say(says, `The model could not be loaded: ${error.message}.`);
    }
    isBusy = false;
  }

  function toggle(head) {
    if (!engine) {
      const wanted = firstOff + head;
      return change({ change: now().change === wanted ? 0 : wanted, head });
    }
    return inTurn(() => {
      if (!plan.off.delete(head)) plan.off.set(head, ZERO);
      changed();
    });
  }

  // Stored maps are those of the whole model, whatever is changed
  function sentenceOf(top, p, before, name, asked, weight, asking, isWhole, isOff) {
    return `Next comes ${quoted(top)}, with a chance of ${two(p)}; the whole model says ${quoted(before)}. `
      + `${isWhole ? "The maps are still the whole model\u2019s: there, head" : "Head"} ${name} `
      + `${isOff ? "is off; it would give" : "gives"} ${two(weight)} of its weight to ${quoted(asked)}, `
      + `seen from ${quoted(asking)}.`;
  }

  function draw(setting) {
    const view = live ?? storedView(setting.opening % openings.length, setting.change);
    const { n } = view;
    const asks = setting.asks < 0 || setting.asks >= n ? n - 1 : setting.asks;
    const row = view.rows[setting.head][asks];
    const full = tabulate(n, (j) => row[j] ?? 0);
    story.show(view, row, asks);
    if (toTheEnd) story.toEnd();
    toTheEnd = false;
    grid.show(view, setting.head, view.off);
    write(turn, `Switch head ${nameOf(setting.head, heads)} ${view.off.has(setting.head) ? "on" : "off"}`);
    next.show(view.next);
    cache.show(view, size);
    write(controls.writing, isWriting ? "Stop" : "Write on");
    const word = (j) => (j ? plainly(view.pieces[j]) : "the start");
    write(controls.hide, view.hidden.has(asks) ? `Show ${quoted(word(asks))} again` : `Hide ${quoted(word(asks))}`);
    const top = view.next.reduce((best, one) => (one.p > best.p ? one : best));
    const before = view.next.reduce((best, one) => (one.before > best.before ? one : best));
    const most = indexOfLargest(full);
    const sentence = sentenceOf(plainly(top.piece), top.p, plainly(before.piece), nameOf(setting.head, heads),
      word(most), full[most], word(asks), !live && setting.change % own, live && view.off.has(setting.head));
    say(status, plan.isNew ? "Computing \u2026" : `${note || (view.said ?? "")} ${sentence}`.trim());
    return {
      numbers: { next: view.next.map(({ p }) => p), whole: view.next.map((one) => one.before), weight: full },
      tables: () => [
        ["What comes next", ["now", "whole model"], view.next.map(({ piece, p, before: b }) => [plainly(piece), p, b])],
        [`Head ${nameOf(setting.head, heads)}, seen from ${quoted(word(asks))}`, ["weight"],
          full.map((weight, j) => [word(j), weight])],
      ],
    };
  }
  root.addEventListener("click", ({ target }) => {
    if (engine && target.matches(".reset")) inTurn(() => obey(now()));
  });
  return { parts: [story.box, press, planes, status], draw, stop: () => engine?.stop() };
});

// What stands around the maps, and the figure as a whole; maps.js stands before this file.

// Scroll a box, and not the page, until it shows one of the things in it
function keepInSight(box, { offsetTop, offsetHeight }) {
  const top = offsetTop - box.offsetTop;
  const most = top + offsetHeight - box.clientHeight;
  if (box.scrollTop <= top && box.scrollTop >= most) return;
  box.scrollTop = Math.max(0, top - (box.clientHeight - offsetHeight) / 2);
}

// The text as words in a row, each tinted and numbered by what `show` says of it
function wordsOf(names, begins, hue, pick) {
  const words = names.map((name, i) => {
    const number = plain("span", "under");
    const word = h("span", { class: "word" }, plain("span", "token", name.replace(/^##/, "")), number);
    word.addEventListener("click", () => pick?.(i));
    return { word, number, gap: begins[i] ? "gap" : "" };
  });
  let seen = -1;
  const box = h("div", { class: `text hue-${hue}`, "aria-hidden": "true" }, ...words.map(({ word }) => word));
  // tints from 0 to 1; a number where it counts
  function show(tints, numbers, marked = -1, unseen = () => false) {
    words.forEach(({ word, number, gap }, i) => {
      const tint = `${(42 * Math.min(1, tints[i])).toFixed(1)}%`;
      if (word.style.getPropertyValue("--tint") !== tint) word.style.setProperty("--tint", tint);
      set(word, { class: `word ${gap} ${i === marked ? "is-query" : ""} ${unseen(i) ? "is-unseen" : ""}` });
      write(number, numbers[i]);
    });
    if (marked >= 0 && marked !== seen) keepInSight(box, words[marked].word);
    seen = marked;
  }
  return { box, show, words };
}

// The scores of one head as bars, with a line where a head would be that knows nothing
function scoresOf(all) {
  const rows = all.scores.map(({ label, against }) => {
    const [bar, line] = [h("i", { class: "bar" }), h("i", { class: "baseline" })];
    const numbers = tabulate(3, () => h("td", { class: "number" }));
    const track = h("td", { class: "measure" }, h("span", { class: "track" }, bar, line));
    const name = h("th", { scope: "row" }, label);
    return { row: h("tr", {}, name, track, ...numbers), bar, line, numbers, against };
  });
  const heads = ["score", "baseline", "rank"].map((name) => h("th", { scope: "col", class: "number" }, name));
  const table = h("table", { class: "scores" }, h("thead", {}, h("tr", {}, h("td", { colspan: 2 }), ...heads)),
    h("tbody", {}, ...rows.map(({ row }) => row)));
  const note = `Of ${all.count} heads. Baseline: a head that looks evenly`
    + (all.scores.some(({ key }) => key === "induction") ? "; of induction, the shuffled text." : ".");

  function show(head) {
    rows.forEach(({ bar, line, numbers }, k) => {
      const { values, baselines } = all.scores[k];
      bar.style.width = `${100 * values[head]}%`;
      line.style.left = `${100 * baselines[head]}%`;
      const rank = 1 + values.filter((value) => value > values[head]).length;
      [two(values[head]), two(baselines[head]), rank].forEach((text, i) => write(numbers[i], text));
    });
  }
  return { box: h("div", { class: "panel" }, h("h2", {}, "Scores"), table, plain("p", "note", note)), show };
}

// The mean weight by offset as bars, with the line of an even head
function offsetsOf({ offsets: { asked, values, even }, heads }) {
  const [wide, tall, foot] = [330, 120, 22];
  const step = wide / asked.length;
  const y = (weight) => (tall - foot) * (1 - Math.sqrt(weight));
  const bars = asked.map((_, i) => h("rect", { x: i * step + step * 0.14, width: step * 0.72, class: "offset" }));
  const ticks = asked.map((k, i) => h("text", { x: (i + 0.5) * step, y: tall - 6, class: "tick" },
    k % (asked.length < 15 ? 2 : 4) ? "" : signed(k, 0)));
  const line = h("path", { class: "line soft" });
  const svg = h("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img" }, ...bars, line, ...ticks);
  function show(head, name) {
    const own = asked.map((_, i) => values[head * asked.length + i]);
    const evenly = asked.map((_, i) => even[Math.floor(head / heads) * asked.length + i]);
    bars.forEach((bar, i) => set(bar, { y: y(own[i]), height: tall - foot - y(own[i]) }));
    set(line, { d: `M${evenly.map((value, i) => `${i * step},${y(value)}h${step}`).join("L")}` });
    const most = indexOfLargest(own);
    set(svg, { "aria-label": `Mean weight of head ${name} by offset; most, ${two(own[most])}, at ${asked[most]}` });
  }
  const note = "Mean weight on the key so many tokens away, on a root scale; the line is an even head.";
  return { box: h("div", { class: "panel" }, h("h2", {}, "By offset"), svg, plain("p", "note", note)), show };
}

// A head switched off, and what becomes of the text and of the next token
function switchOf(all, choose) {
  const { writes, mean, whole, without } = all.gone;
  const button = h("button", { type: "button", role: "switch", class: "switch" }, h("i"), h("span"));
  button.addEventListener("click", () => choose({ gone: button.getAttribute("aria-checked") === "true" }));
  const table = h("tbody");
  const line = (token, before, after) => {
    const bars = Object.entries({ before, after }).filter(([, share]) => share !== undefined).map(([look, share]) => {
      const one = h("i", { class: `bar ${look}` });
      one.style.width = `${100 * share}%`;
      return one;
    });
    const track = h("td", { class: "measure" }, h("span", { class: "track two" }, ...bars));
    const number = (value) => h("td", { class: "number" }, value === undefined ? "" : toldOf(value));
    return h("tr", {}, Object.assign(h("th", { scope: "row" }), { textContent: token }), track, number(before),
      number(after));
  };
  const heads = ["whole", "head off"].map((name) => h("th", { scope: "col", class: "number" }, name));
  const next = writes ? [h("div", {}, h("h3", {}, "Next token"), h("table", { class: "scores next" },
    h("thead", {}, h("tr", {}, h("td", { colspan: 2 }), ...heads)), table))] : [];
  const told = all.tokens.slice(writes ? 1 : 0);
  const words = wordsOf(told, all.begins.slice(writes ? 1 : 0), "loss");
  const said = plain("p", "note");
  const text = h("div", {}, h("h3", {}, writes ? "What each token of the text loses, in nats" :
    "How far each token\u2019s output vector turns: 1 \u2212 cosine"), words.box, said);
  const costs = all.orders.find(({ key }) => key === "gone").values;

  function show({ head, gone: asked }) {
    const [name, changes, never] = [all.name(head), all.changes(head), all.off.includes(head)];
    const gone = asked && !never; // what is off in the whole figure is off on both sides
    set(button, { "aria-checked": !gone && !never });
    button.disabled = never;
    write(button.lastChild, `Head ${name} is ${never ? "off throughout" : gone ? "off" : "on"}`);
    const counts = (value) => !isNumber(value) || Math.abs(value) >= (writes ? 0.05 : 0.005);
    words.show(changes.map((value) => (gone ? Math.abs(value) / (writes ? 2 : 0.3) : 0)),
      changes.map((value) => (gone && counts(value) ? toldOf(value) : "")));
    const rank = 1 + costs.filter((value) => value > costs[head]).length;
    words.words.forEach(({ word }, i) => word.classList.toggle("is-gain", gone && writes && changes[i] < 0));
    const lost = `On average ${toldOf(costs[head], 3)}${writes ? " nats a token" : ""}, rank ${rank} of ${all.count}.`;
    const most = tabulate(told.length, (i) => i).filter((i) => isNumber(changes[i]))
      .sort((a, b) => changes[b] - changes[a]).slice(0, 3)
      .map((i) => `\u201c${told[i]}\u201d ${signed(changes[i])}`).join(", ");
    const sign = writes ? " Above 0 (ochre), a token is less likely than in the whole model." : "";
    const throughout = "This head is off in the whole figure, so it cannot be switched.";
    const lack = changes.every(isNumber) ? "" : " A token has no number where its probability is 0.";
    said.textContent = gone ? `${lost}${most && ` Most: ${most}.`}${sign}${lack}`
      : never ? throughout : "Switch the head off to see.";
    if (!writes) return;
    const before = new Map(whole.map(([, share, number]) => [number, share])); // names may be shared, numbers not
    const rows = gone ? without[head].map(([token, after, number]) => [token, before.get(number), after])
      : whole.map(([token, share]) => [token, share]);
    const seen = rows.filter(([, own, after], i) => i < 3 || own >= 0.005 || after >= 0.005);
    table.replaceChildren(...seen.map(([token, own, after]) => line(token, own, after)));
  }
  const off = mean ? "that it puts out its mean over this text." : "that it puts out 0, as it never did in training. "
    + "With off_is=\"mean\" in its place stands the head\u2019s mean over this text.";
  const many = `Off means ${off} What several heads do together is no sum: in a notebook, `
    + "figure.without((layer, head), \u2026) runs the model without them.";
  return { box: h("div", { class: "panel gone" }, h("h2", {}, "Without this head"), button, h("div", { class: "pair" },
    ...next, text), h("p", { class: "note" }, many)), show };
}

// The score that heads are sorted by, or what is most telling of a head: by what it is furthest above its baseline
function sentenceOf(all, head, order) {
  const leads = all.scores.map(({ values, baselines }) => values[head] - baselines[head]);
  const asked = all.scores.find(({ key }) => key === order.key);
  const best = asked ?? all.scores[indexOfLargest(leads)];
  if (!asked && Math.max(...leads) < 0.1) return `Head ${all.name(head)} stands near its baselines in every score.`;
  const to = { previous: "the token before", itself: "the token itself",
    first: `the first token, \u201c${all.tokens[0]}\u201d`,
    induction: "what stood behind the same token in an earlier copy of the text" }[best.key];
  const against = best.key === "induction" ? "if that copy is shuffled, the place gets"
    : "a head that looks evenly would give";
  return `Head ${all.name(head)} gives ${two(best.values[head])} of its weight to ${to}; ${against} `
    + `${two(best.baselines[head])}.`;
}

// The heads whose keys and values are this one's too
function sharedBy({ heads, kv, name }, head) {
  const layer = Math.floor(head / heads);
  const size = heads / kv[layer];
  if (size === 1) return "";
  const begin = head - ((head % heads) % size);
  const others = tabulate(size, (i) => begin + i).filter((other) => other !== head);
  return `Shares keys and values with ${others.map(name).join(", ")}.`;
}

function header(all, choose, repaint) {
  const { layers, heads, tokens, block, causal, off, kv, name } = all;
  const sorted = h("select", { id: "order" }, ...all.orders.map(({ key, label }) =>
    Object.assign(h("option", { value: key }), { textContent: label })));
  sorted.addEventListener("change", () => {
    const order = all.orders[sorted.selectedIndex];
    choose(order.values ? { order, head: indexOfLargest(order.values) } : { order });
  });
  const dark = h("button", { type: "button", class: "scheme" }, "Light or dark");
  dark.addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.style.colorScheme = now === "dark" ? "light" : "dark";
    repaint();
  });
  const facts = [`${layers} layers of ${heads} heads, counted from 0`, `${tokens.length} tokens`,
    causal ? "each attends to itself and those before" : "",
    kv[0] < heads ? `${heads / kv[0]} neighbouring heads share keys and values` : "",
    block > 1 ? `a cell stands for ${block} by ${block} tokens: what ${block} queries give, on average, to ${block} keys
      together` : "",
    off.length ? `off: ${off.map(name).join(", ")}` : ""].filter(Boolean).join("; ");
  return h("header", {}, h("div", { class: "row" }, plain("h1", "", `Every head of ${all.model}`), dark),
    plain("p", "note", `${facts}.`), h("label", { class: "sort", for: "order" }, "Sort heads by ", sorted));
}

function build(all) {
  const root = h("main", { class: "mha-figure look" });
  const leads = tabulate(all.count, (head) => Math.max(...all.scores.filter(({ key }) => key !== "first")
    .map(({ values, baselines }) => values[head] - baselines[head])));
  const state = { head: indexOfLargest(leads), row: all.size - 1, order: all.orders[0], gone: false };
  const status = h("p", { class: "status", "aria-live": "polite" });
  const title = h("h2");
  const choose = (some) => {
    Object.assign(state, some);
    draw();
  };
  const small = board(all, choose);
  const large = largeMap(all, choose);
  const starts = all.block === 1 ? all.begins : all.rows.map(() => 1);
  const words = wordsOf(all.rows, starts, "weight", (row) => choose({ row }));
  const panels = [scoresOf(all), offsetsOf(all)];
  const off = all.gone ? [switchOf(all, choose)] : [];
  let image = null;
  let ink = "";
  let rooms = null; // the widths of both maps, which are asked for when they change: to ask costs a layout

  function measure() {
    rooms = [small.box.clientWidth - 6, Math.min(640, large.box.clientWidth)];
    draw();
  }
  function repaint() {
    const pixel = pixelsIn(root);
    if (!pixel) return;
    ink = getComputedStyle(root).color;
    image = imageOf(all, Uint32Array.from(tabulate(256, (step) => pixel((step / 255) ** 2))));
    small.repaint(image);
    draw();
  }
  function draw() {
    if (!image || !rooms) return;
    const { head, row } = state;
    small.show(state, image, rooms[0]);
    title.textContent = `Head ${all.name(head)}`;
    status.textContent = `${sentenceOf(all, head, state.order)} ${sharedBy(all, head)}`;
    large.show(state, image, rooms[1], ink);
    const weights = all.rows.map((_, j) => all.weight(head, row, j));
    words.show(weights.map(Math.sqrt), weights.map((value) => (value >= 0.05 ? two(value) : "")), row,
      (j) => all.causal && j > row);
    panels.forEach((panel) => panel.show(head, all.name(head)));
    off.forEach((panel) => panel.show(state));
    root.shown = { ...state, order: state.order.key, name: all.name(head), weights };
  }
  large.point(draw);
  const help = "Rows are queries, columns keys. Click a word or a row to make it the query.";
  root.append(header(all, choose, repaint), words.box, h("div", { class: "columns" },
    h("section", { class: "side", "aria-label": "All heads" }, small.box, colourKey()),
    h("section", { class: "main", "aria-label": "One head" }, title, status, large.box, plain("p", "note", help)),
    h("section", { class: "panels", "aria-label": "Its scores" }, ...panels.map(({ box }) => box))),
  ...off.map(({ box }) => box),
  plain("p", "note", "Weights are kept in 256 steps and may be off by 0.004; scores are exact. Heads are layer.head."));
  document.body.append(root);
  painters.set(root, repaint);
  new ResizeObserver(measure).observe(root);
  repaint();
  measure();
}

async function open() {
  const said = JSON.parse(document.getElementById("data").textContent);
  if (!window.DecompressionStream) {
    document.body.append(plain("p", "", "This browser is too old to unpack the maps; those of 2023 and later can."));
    return;
  }
  build({ ...known(said, await unzipped(document.getElementById("maps").textContent)), model: said.name });
}
open();

// ---- the layer: every matrix of the picture from those that are given ---------------------------------

const HEADS = [1, 2];
const rounded = (value) => Math.round(value * 1e9) / 1e9;

// Q1, K1, V1, S1 (scores), Z1 (divided, and -Infinity where the mask hides), A1 (weights), M1 (mixtures); the same of
// head 2; C (the mixtures side by side), O (written), Y (after); and what is drawn a second time, turned or not
function compute(given, on, masked, scaled) {
  const all = { ...given };
  for (const head of HEADS) {
    const [Q, K, V] = ["Q", "K", "V"].map((kind) => times(given.x, given[`W${kind}${head}`]));
    const S = times(Q, transposed(K));
    const root = scaled ? Math.sqrt(Q[0].length) : 1;
    const Z = S.map((row, i) => row.map((score, j) => (masked && j > i ? -Infinity : score / root)));
    const A = Z.map(softmax);
    const M = times(A, V).map((row) => row.map((value) => (on[head - 1] ? value : 0)));
    Object.entries({ Q, K, V, S, Z, A, M, KT: transposed(K), V_: V })
      .forEach(([name, matrix]) => { all[name + head] = matrix; });
  }
  all.C = all.M1.map((row, i) => [...row, ...all.M2[i]]);
  all.O = times(all.C, given.WO);
  all.Y = given.x.map((row, i) => row.map((value, c) => value + all.O[i][c]));
  return { ...all, x_: given.x, Y_: all.Y };
}

// ---- what there is to see ------------------------------------------------------------------------------

const LAST = 11;
const LIMIT = 4;
const NUDGE = 0.5;

// name -> { hue, step: when it is made, says: its name aloud, given: may be changed, left and top: its two factors }
function blocksOf() {
  const blocks = {
    x: { hue: "stream", step: 1, says: "words before", given: true },
    Y: { hue: "stream", step: 11, says: "words after" },
    C: { hue: "sides", step: 9, says: "mixtures side by side" },
    WO: { hue: "sides", step: 10, says: "W_O", given: true },
    O: { hue: "stream", step: 10, says: "written by the heads", left: "C", top: "WO" },
    x_: { hue: "stream", step: 11, says: "words before, again" },
    Y_: { hue: "stream", step: 11, says: "words after, again" },
  };
  for (const head of HEADS) {
    const add = (name, hue, step, says, more) => {
      blocks[name + head] = { hue, step, says: `${says}, head ${head}`, head, ...more };
    };
    [["Q", "query", 2, "queries"], ["K", "key", 3, "keys"], ["V", "value", 4, "values"]].forEach(
      ([kind, hue, step, says]) => {
        add(`W${kind}`, hue, step, `W_${kind}`, { given: true });
        add(kind, hue, step, says, { left: "x", top: `W${kind}${head}` });
      });
    add("KT", "key", 5, "keys, turned");
    add("S", "weight", 5, "scores", { left: `Q${head}`, top: `KT${head}` });
    add("Z", "weight", 6, "scores, divided");
    add("A", "weight", 7, "weights");
    add("V_", "value", 8, "values, again");
    add("M", `head-${head}`, 8, "mixtures", { left: `A${head}`, top: `V_${head}` });
  }
  return blocks;
}
const BLOCKS = blocksOf();

// The rows and columns that a step uses and makes, for the word t: [[name, row or null for all], ...]
function involvedIn(step, t) {
  const ofHeads = (...parts) => HEADS.flatMap((head) => parts.map(([name, row]) => [name + head, row]));
  return [
    { uses: [["x", t]], makes: [["Y", t]] },
    { uses: [], makes: [["x", t]] },
    { uses: [["x", t], ...ofHeads(["WQ", null])], makes: ofHeads(["Q", t]) },
    { uses: [["x", null], ...ofHeads(["WK", null])], makes: ofHeads(["K", null]) },
    { uses: [["x", null], ...ofHeads(["WV", null])], makes: ofHeads(["V", null]) },
    { uses: ofHeads(["Q", t], ["KT", null]), makes: ofHeads(["S", t]) },
    { uses: ofHeads(["S", t]), makes: ofHeads(["Z", t]) },
    { uses: ofHeads(["Z", t]), makes: ofHeads(["A", t]) },
    { uses: ofHeads(["A", t], ["V_", null]), makes: ofHeads(["M", t]) },
    { uses: ofHeads(["M", t]), makes: [["C", t]] },
    { uses: [["C", t], ["WO", null]], makes: [["O", t]] },
    { uses: [["O", t], ["x_", t]], makes: [["Y_", t], ["Y", t]] },
  ][step];
}

// What flies in a step, from cells to those that they make: [from, to, delay, share]. [name, row] is a row, [name,
// null, column] a column, [name, row, columns] a part of a row. A head that is off sends none, nor does a weight of 0
function flightsIn(step, { t, on }, all) {
  const each = (make) => HEADS.filter((head) => on[head - 1]).flatMap(make);
  const rows = (make) => all.x.map((_, i) => make(i));
  const one = (from, to) => each((k) => [[[from + k, t], [to + k, t]]]);
  return {
    2: () => each((k) => [[["x", t], [`Q${k}`, t]]]),
    3: () => each((k) => rows((i) => [["x", i], [`K${k}`, i], 50 * i])),
    4: () => each((k) => rows((i) => [["x", i], [`V${k}`, i], 50 * i])),
    5: () => each((k) => [[[`Q${k}`, t], [`S${k}`, t]],
      ...rows((j) => [[`KT${k}`, null, j], [`S${k}`, t, [j]], 100 + 50 * j])]),
    6: () => one("S", "Z"),
    7: () => one("Z", "A"),
    8: () => each((k) => [[[`A${k}`, t], [`M${k}`, t]],
      ...rows((j) => [[`V_${k}`, j], [`M${k}`, t], 100 + 50 * j, all[`A${k}`][t][j]]).filter((one) => one[3] > 0)]),
    9: () => each((k) => [[[`M${k}`, t], ["C", t, [2 * k - 2, 2 * k - 1]]]]),
    10: () => [[["C", t], ["O", t]]],
    11: () => [[["x_", t], ["Y_", t]], [["O", t], ["Y_", t], 50], [["Y_", t], ["Y", t], 300]],
  }[step]?.() ?? [];
}

// Where the ribbons grow from in a step, as the share of their place that is hidden at first, and when
const GROWTH = { 0: ["100%", 0], 7: ["100%", 300], 10: ["48%", 300] };

// What moves when a step is taken, on or to the whole, but not for who is in a hurry; and when a head is switched,
// whose ribbons grow or draw back. Whatever is drawn ends it.
const HURRY = 150; // ms
function motionOf(cells, { flow, ofHead }, { fly, land, animate }) {
  const cellsAt = ([name, r, c]) => (r === null ? cells[name].map((line) => line[c])
    : c ? c.map((i) => cells[name][r][i]) : cells[name][r]);
  const unrolled = (hidden) => ({ clipPath: `inset(-12px ${hidden} -12px 0)`, visibility: "visible" });
  const grow = (el, hidden, delay, direction = "normal") => animate(el, [unrolled(hidden), unrolled("0")],
    { duration: FLIGHT, delay, easing: "ease-out", direction });
  let [last, lastOn, since] = [null, null, 0];
  return (state, all) => {
    land();
    const { step, on } = state;
    const switched = lastOn ? HEADS.filter((_, i) => on[i] !== lastOn[i]) : [];
    lastOn = on;
    if (step === last) {
      if (isStill()) return;
      for (const head of switched) {
        ofHead[head - 1].filter(({ dataset }) => dataset.drawn)
          .forEach((ribbon) => grow(ribbon, "100%", 0, on[head - 1] ? "normal" : "reverse"));
      }
      return;
    }
    const taken = last !== null && (step > last || step === 0) && performance.now() - since > HURRY;
    [last, since] = [step, performance.now()];
    if (!taken || isStill()) return;
    fly(flightsIn(step, state, all).map(([from, to, delay, share]) =>
      ({ from: cellsAt(from), to: cellsAt(to), delay, share })));
    if (GROWTH[step]) grow(flow, ...GROWTH[step]);
  };
}

// ---- words ----------------------------------------------------------------------------------------------

// What is given and what sums of it make is exact, and written short; what went through a root or a softmax has two
// decimals
const minus = (text) => text.replace("-", "\u2212");
const short = (value) => (value === -Infinity ? "\u2212\u221e" : minus(String(rounded(value) || 0)));
const two = (value) => (value === -Infinity || Math.abs(value) < 5e-13 ? short(value) : signed(value));
const exact = (name) => /^(x|W|Q|K|V|S)/.test(name);
const print = (name, value) => (exact(name) && short(value).length < 6 ? short(value) : two(value));
const vector = (row, write = two) => `(${row.map((value) => write(value)).join(", ")})`;
const named = (row, names) => row.map((value, i) => `${names[i]} ${brief(value)}`).join(", ");
const brief = (value) => (short(value).length < 6 ? short(value) : two(value));

// Weights with as few digits as make the printed sum come out
const addsUp = (row, digits) => Math.abs(sum(row.map((w) => Number(w.toFixed(digits)))) - 1) < 1e-9;
const digitsOfOne = (row) => [2, 3, 4].find((digits) => addsUp(row, digits)) ?? 2;
function sumOfOne(row) {
  const digits = digitsOfOne(row);
  return `${row.map((w) => w.toFixed(digits)).join(" + ")} = 1${addsUp(row, digits) ? "" : ", before rounding"}`;
}

// A sum of products whose printed terms make the printed result: with as many digits as that takes
function productsOf(row, column, result) {
  const written = (digits) => (value) => (short(value).length < 6 ? short(value) : signed(value, digits));
  const read = (text) => Number(text.replace("\u2212", "-"));
  const holds = (digits) => {
    const write = written(digits);
    const total = sum(row.map((a, i) => read(write(a)) * read(write(column[i]))));
    return Math.abs(total - result) < 0.005 && signed(total) === signed(result);
  };
  const write = written([2, 3, 4].find(holds) ?? 4);
  return row.map((a, i) => `${write(a)} \u00d7 ${write(column[i])}`).join(" + ");
}

// The sentence of a step. "{query|W_Q}" is a word in the colour of queries.
function sentenceOf(step, all, { words, features, asks, brings, t, on, masked, scaled }) {
  const name = (i) => `\u201c${words[i]}\u201d`;
  const lead = on[0] || !on[1] ? 1 : 2;
  const row = (part) => all[part + lead][t];
  const most = (head) => {
    const weights = all[`A${head}`][t];
    const best = indexOfLargest(weights);
    const ties = weights.filter((weight) => weight > weights[best] - 1e-9).length;
    if (ties > 1) return `most from ${ties} words alike, ${two(weights[best])} each`;
    return `most from ${best === t ? "itself" : name(best)}, ${two(weights[best])}`;
  };
  const heads = HEADS.filter((head) => on[head - 1]);
  const each = (part, names) => words.map((_, j) => `${name(j)}: ${named(all[part + lead][j], names[lead - 1])}`);
  const sizes = all.O[t].map(Math.abs);
  const moved = indexOfLargest(sizes);
  const change = all.O[t][moved];
  const ties = features.filter((_, i) => i !== moved && sizes[i] > sizes[moved] - 1e-9);
  return [
    () => (heads.length
      ? `${name(t)} looks around. ${heads.map((head) => `{head-${head}|Head ${head}} takes ${most(head)}. `).join("")}`
        + `Its ${features[0]} was ${brief(all.x[t][0])}, and is ${two(all.Y[t][0])}.`
      : "Both heads are off: every word stays what it was."),
    () => `A word is a row of four numbers: its mood, and whether it says no, is an adjective, is a noun. ${name(t)}: `
      + `${named(all.x[t], features)}.`,
    () => `Row times {query|W_Q} makes the {query|query}: what ${name(t)} looks for. Head 1 looks for: `
      + `${named(all.Q1[t], asks[0])}. Head 2 looks for: ${named(all.Q2[t], asks[1])}.`,
    () => `Row times {key|W_K} makes a {key|key} for every word: what it is found by. In head ${lead}, `
      + `${each("K", asks).join("; ")}.`,
    () => `Row times {value|W_V} makes a {value|value} for every word: what it hands on. In head ${lead}, `
      + `${each("V", brings).join("; ")}.`,
    () => `{query|Query} times {key|key}, number by number, and added: the score, how well they match. In head ${lead} `
      + `${name(t)} scores ${words.map((_, j) => `${brief(row("S")[j])} with ${name(j)}`).join(", ")}.`,
    () => `${scaled ? "Divided by \u221a2, for keys of 2 numbers: chapter 2 says why" : "Not divided"}`
      + `${masked ? "; words that come later are struck out" : ""}. Head ${lead}: ${vector(row("Z"))}.`,
    () => `The softmax makes {weight|weights} of the ${scaled ? "divided " : ""}scores: e to the power of each, over `
      + "the sum of all, so shares of 1. "
      + `Head ${lead}: ${sumOfOne(row("A"))}.`,
    () => (on[lead - 1]
      ? `{weight|Weights} times {value|values}, added: the mixture. Head ${lead}: `
        + `${row("A").map((w, j) => `${w.toFixed(digitsOfOne(row("A")))} \u00d7 ${vector(all[`V${lead}`][j], brief)}`)
          .join(" + ")} = `
        + `${vector(row("M"))}.`
      : "Both heads are off, and their mixtures are left out."),
    () => `The mixtures of the two heads stand side by side: ${vector(all.C[t])}.`,
    () => `Times W_O: what the heads write about ${name(t)} is ${vector(all.O[t])}.`,
    () => (sizes[moved] > 5e-13
      ? `Added to what ${name(t)} was. Most moved: ${features[moved]}, ${brief(all.x[t][moved])} `
        + `${change < 0 ? "\u2212" : "+"} ${two(Math.abs(change))} = ${two(all.Y[t][moved])}`
        + (ties.length ? `. Just as far moved: ${ties.map((tie) => `\u201c${tie}\u201d`).join(" and ")}.` : ".")
      : "Nothing was written, and nothing moved."),
  ][step]();
}

// Where a number comes from: the sum in words, and the cells in it as [name, row, column]
function originOf(name, r, c, all, { words, scaled, on }) {
  const block = BLOCKS[name];
  const { head } = block;
  const value = all[name][r][c];
  const cell = (other, i = r, j = c) => [other, i, j];
  if (block.given) return { text: `${brief(value)}, given: drag it to the side, or press + and \u2212`, cells: [] };
  if (name[0] === "M" && !on[head - 1]) return { text: `head ${head} is off`, cells: [] };
  if (block.left) {
    const row = all[block.left][r];
    const column = all[block.top].map((line) => line[c]);
    return {
      text: `${productsOf(row, column, value)} = ${print(name, value)}`,
      cells: [...row.map((_, i) => cell(block.left, r, i)), ...column.map((_, i) => cell(block.top, i, c))],
    };
  }
  if (name[0] === "Z") {
    const score = brief(all[`S${head}`][r][c]);
    const divided = scaled ? `${score} \u00f7 \u221a2 = ${two(value)}` : `${score}, not divided`;
    return { text: value === -Infinity ? "hidden: the word comes later" : divided, cells: [cell(`S${head}`)] };
  }
  if (name[0] === "A") {
    const parts = all[`Z${head}`][r];
    const e = (score) => (score === -Infinity ? "0" : `e^${two(score)}`);
    const text = `${e(parts[c])} \u00f7 (${parts.map(e).join(" + ")}) = ${two(value)}`;
    return { text, cells: parts.map((_, j) => cell(`Z${head}`, r, j)) };
  }
  if (name[0] === "Y") {
    const text = `${brief(all.x[r][c])} + ${two(all.O[r][c])} = ${two(value)}`.replace("+ \u2212", "\u2212 ");
    return { text, cells: [cell("x_"), cell("O")] };
  }
  if (name === "C") {
    const from = c < 2 ? 1 : 2;
    return { text: `from head ${from}${on[from - 1] ? "" : ", which is off"}`, cells: [cell(`M${from}`, r, c % 2)] };
  }
  if (name.startsWith("KT")) return { text: `the key of \u201c${words[c]}\u201d`, cells: [cell(`K${head}`, c, r)] };
  if (name.startsWith("V_")) return { text: `the value of \u201c${words[r]}\u201d`, cells: [cell(`V${head}`)] };
  return { text: `${brief(value)}, as it was`, cells: [cell("x")] };
}

// "{query|W_Q}" -> a word in the colour of queries
const rich = (text) => text.split(/(\{[\w-]+\|[^}]*\})/).flatMap((part) => {
  const [, hue, word] = /^\{([\w-]+)\|(.*)\}$/.exec(part) ?? [];
  return hue ? h("b", { class: `ink hue-${hue}` }, word) : typeset(part);
});
const plain = (text) => text.replace(/\{[\w-]+\|([^}]*)\}/g, "$1");

// ---- words of the picture -------------------------------------------------------------------------------

// Which row and which column of a matrix, in words
function placeOf(name, r, c, { words, features, asks, brings }) {
  const word = (i) => `\u201c${words[i]}\u201d`;
  if (/^(x|Y|O)/.test(name)) return `${word(r)}, ${features[c]}`;
  if (/^(S|Z|A)/.test(name)) return `${word(r)} and ${word(c)}`;
  const brought = (i) => `${brings[i < 2 ? 0 : 1][i % 2]} of head ${i < 2 ? 1 : 2}`;
  if (name === "WO") return `${brought(r)} to ${features[c]}`;
  if (name === "C") return `${word(r)}, ${brought(c)}`;
  const names = (/^W?[QK]/.test(name) ? asks : brings)[BLOCKS[name].head - 1];
  if (name[0] === "W") return `${features[r]} to ${names[c]}`;
  return name.startsWith("KT") ? `${word(c)}, ${names[r]}` : `${word(r)}, ${names[c]}`;
}
const inWords = ([name, r, c], named) => `${BLOCKS[name].says}, ${placeOf(name, r, c, named)}`;

const group = (look, ...children) => h("div", { class: `group ${look}` }, ...children);
const caption = (hue, word, role) =>
  h("div", { class: "caption" }, h("b", { class: `ink hue-${hue}` }, word), h("span", {}, role));
const above = (...children) => h("div", { class: "above" }, ...children);
const letter = (name, index) => h("i", { class: "formula" }, name, ...(index ? [h("sup", {}, index)] : []));
const namesAbove = (look, texts) => h("div", { class: `names ${look}` }, ...texts.map((text) => h("span", {}, text)));
const wordNames = (words) => h("div", { class: "names words" }, ...words.map((word, i) =>
  h("span", { "data-word": i }, word)));
const rowNames = (words, look = "") => group(`labels ${look}`, wordNames(words), h("div", { class: "caption" }));
const newLine = (words) => [h("i", { class: "break" }), rowNames(words, "again")];

// ---- the matrices: blocks of cells ----------------------------------------------------------------------

// Which cells the step, or the number that is pointed at, uses and makes: place -> "used" or "made"
function marksOf(cells, all, { pointed, step, t, ...more }) {
  const marks = new Map();
  const put = (look) => ([name, row]) => cells[name]?.forEach((line, r) => {
    if (row === null || r === row) line.forEach((_, c) => marks.set(`${name} ${r} ${c}`, look));
  });
  if (pointed) {
    for (const place of originOf(...pointed, all, more).cells) marks.set(place.join(" "), "used");
    marks.set(pointed.join(" "), "made");
  } else {
    const { uses, makes } = involvedIn(step, t);
    uses.forEach(put("used"));
    makes.forEach(put("made"));
  }
  return marks;
}

function lookOf(name, r, value, mark, { pointed, step, t, on }) {
  const { head, given, step: made } = BLOCKS[name];
  const nothing = Math.abs(value) < 5e-13;
  if (step && made > step) return "blank";
  return [
    mark,
    r === t && !given && !/^(KT|V_)/.test(name) && "row",
    nothing && "zero",
    step && !pointed && !mark && "dim",
    head && !on[head - 1] && "off",
    value === -Infinity && "hidden",
  ].filter(Boolean).join(" ");
}

// `matrix` makes a block of cells, and `show` writes the numbers of the layer into all that were made
function matricesOf(named) {
  const cells = {}; // name -> its cells, row by row
  const drawn = {}; // place of a cell -> how it was drawn last

  function matrix(name, rows, columns) {
    const { hue, given } = BLOCKS[name];
    const hueOf = (r, c) => (hue === "sides" ? `head-${(name === "C" ? c : r) < 2 ? 1 : 2}` : hue);
    const role = given ? { "aria-valuemin": -LIMIT, "aria-valuemax": LIMIT } : { "aria-readonly": true };
    cells[name] = tabulate(rows, (r) => tabulate(columns, (c) =>
      h("span", {
        role: "spinbutton", ...role, class: `entry hue-${hueOf(r, c)}`, "data-at": `${name} ${r} ${c}`, tabindex: -1,
        "aria-label": inWords([name, r, c], named),
      })));
    return h("div", { class: `matrix wide-${columns}${given ? " given" : ""}` }, ...cells[name].flat());
  }

  function drawCell(cell, name, value, look) {
    const place = cell.dataset.at;
    const seen = `${look}|${value}`;
    if (drawn[place] === seen) return;
    drawn[place] = seen;
    const share = name[0] === "A" ? value : Math.min(1, Math.abs(value) / 2);
    const tint = /zero|hidden/.test(look) ? 0 : 8 + 14 * share; // so that the numbers stand out as 7 to 1
    set(cell, { class: `${cell.className.split(" ").slice(0, 2).join(" ")} ${look}` });
    cell.style.setProperty("--tint", `${tint}%`);
    write(cell, print(name, value));
    const said = look === "blank" ? "not yet made" : print(name, value);
    set(cell, { "aria-valuenow": Number.isFinite(value) ? value : 0, "aria-valuetext": said });
  }

  function show(all, state) {
    const marks = marksOf(cells, all, state);
    for (const [name, rows] of Object.entries(cells)) {
      rows.forEach((line, r) => line.forEach((cell, c) => {
        const value = all[name][r][c];
        drawCell(cell, name, value, lookOf(name, r, value, marks.get(cell.dataset.at), state));
      }));
    }
  }
  return { cells, matrix, show };
}

// ---- the parts: a product has its left factor at its left and its right factor above ---------------------

// Before, the two heads, after
function glanceOf({ words, features }, matrix) {
  const flow = drawing({ class: "flow" });
  const end = (text) => h("b", { class: "end-name" }, text);
  const box = h("div", { class: "glance" },
    group("first", end("before"), namesAbove("features", features),
      h("div", { class: "line" }, wordNames(words), matrix("x", 3, 4))),
    h("div", { class: "middle" }, h("div", { class: "from", "aria-hidden": "true" }, wordNames(words)), flow),
    group("last", end("after"), namesAbove("features", features), matrix("Y", 3, 4)));
  return { box, flow };
}

function laneOf(head, { words, features, asks, brings }, matrix) {
  const takes = h("span", { class: "takes" });
  const factor = (kind, hue, role) => group("factor", above(letter("W", kind)),
    namesAbove("pair", (kind === "V" ? brings : asks)[head - 1]), matrix(`W${kind}${head}`, 4, 2),
    matrix(kind + head, 3, 2), caption(hue, hue, role));
  const divide = caption("weight", "", "");
  const box = h("section", { class: "lane", "aria-label": `head ${head}` },
    h("div", { class: "lane-title" }, h("b", { class: `ink hue-head-${head}` }, `head ${head}`), takes),
    h("div", { class: "products" },
      group("labels", namesAbove("features", features), wordNames(words), h("div", { class: "caption" })),
      factor("Q", "query", "looks for"), factor("K", "key", "is found by"), factor("V", "value", "hands on"),
      ...newLine(words),
      group("score", above(letter("K"), " turned"), matrix(`KT${head}`, 2, 3), matrix(`S${head}`, 3, 3),
        caption("weight", "score", "query \u00b7 key")),
      group("divided", matrix(`Z${head}`, 3, 3), divide),
      ...newLine(words),
      group("weights", matrix(`A${head}`, 3, 3), caption("weight", "weight", "softmax: shares")),
      group("mixture", above(letter("V")), matrix(`V_${head}`, 3, 2), matrix(`M${head}`, 3, 2),
        caption(`head-${head}`, "mixture", "brings"))));

  function show({ on, scaled, masked }) {
    box.classList.toggle("is-off", !on[head - 1]);
    write(takes, on[head - 1] ? "" : "switched off: it brings nothing");
    write(divide.firstChild, scaled ? "\u00f7 \u221a2" : "as it is");
    write(divide.lastChild, masked ? "and masked" : scaled ? "scaled" : "not divided");
  }
  return { box, show };
}

function togetherOf({ words, features, brings }, matrix) {
  const rowsOfHeads = h("div", { class: "rows-of" },
    ...HEADS.map((head) => h("b", { class: `ink hue-head-${head}` }, `head ${head}`)));
  const ofFeatures = () => namesAbove("features", features);
  return h("section", { class: "lane", "aria-label": "together" },
    h("div", { class: "lane-title" }, h("b", {}, "together"),
      h("span", { class: "takes" }, "what the heads bring is written into the word")),
    h("div", { class: "products" },
      rowNames(words),
      group("sides", namesAbove("features", brings.flat()), matrix("C", 3, 4),
        caption("stream", "side by side", "head 1, head 2")),
      ...newLine(words),
      group("written", above(letter("W", "O")), h("div", { class: "with-names" }, rowsOfHeads, matrix("WO", 4, 4)),
        ofFeatures(), matrix("O", 3, 4), caption("stream", "written", "by the heads")),
      ...newLine(words),
      h("span", { class: "sign" }, "+"),
      group("was", ofFeatures(), matrix("x_", 3, 4), caption("stream", "before", "what it was")),
      ...newLine(words),
      h("span", { class: "sign" }, "="),
      group("is", ofFeatures(), matrix("Y_", 3, 4), caption("stream", "after", "what it is now"))));
}

// Ribbons from the words to the heads, as thick as the weights, and from the heads to what comes after
function ribbonsOf(flow, words) {
  const add = (tag, look, more = {}) => flow.appendChild(h(tag, { class: look, ...more }));
  const stays = add("path", "stays"); // what the word keeps of itself
  const ribbons = HEADS.map((head) => tabulate(words.length + 1, () => add("path", `ribbon hue-head-${head}`)));
  const pills = HEADS.map((head) => ({
    pill: add("rect", `pill hue-head-${head}`, { height: 22, rx: 11 }),
    name: add("text", "pill-name"),
  }));
  let measured = 0; // the width of the figure for which the ribbons' place was measured
  let size = [160, 96]; // of that place

  const curve = (from, fromY, to, toY) => {
    const bend = (to - from) * 0.6;
    return `M${from} ${fromY} C${from + bend} ${fromY} ${to - bend} ${toY} ${to} ${toY}`;
  };
  function drawPill({ pill, name }, i, half, on) {
    const [middle, here] = [size[0] / 2, size[1] / 6 + (i * size[1] * 2) / 3];
    set(pill, { x: middle - half, y: here - 11, width: 2 * half,
      class: `pill hue-head-${HEADS[i]}${on ? "" : " off"}` });
    set(name, { x: middle, y: here + 4.3, class: `pill-name${on ? "" : " off"}` });
    write(name, half < 20 ? HEADS[i] : on ? `head ${HEADS[i]}` : "off");
  }
  function show(all, { t, step, on }, width) {
    if (width !== measured) [measured, size] = [width, [flow.clientWidth, flow.clientHeight]];
    const [wide, high] = size;
    const y = (i) => (high / 3) * (i + 0.5);
    const half = wide < 110 ? 11 : 27;
    set(flow, { viewBox: `0 0 ${wide} ${high}` });
    set(stays, { d: `M0 ${y(t)} H${wide}` });
    HEADS.forEach((head, i) => {
      const [known, here] = [step === 0 || step >= 7, y(2 * i)];
      const side = on[0] && on[1] ? 6 * (2 * i - 1) : 0;
      ribbons[i].forEach((ribbon, j) => {
        const out = j === words.length;
        const weight = out ? 1 : all[`A${head}`][t][j];
        const drawn = out ? step === 0 || step >= 10 : known && weight > 0.004;
        set(ribbon, {
          "data-drawn": drawn ? "yes" : "",
          d: out ? curve(wide / 2 + half, here, wide, y(t) + side)
            : curve(0, y(j) + 3 * (2 * i - 1), wide / 2 - half, here),
          "stroke-width": 0.8 + 11 * weight,
          visibility: on[i] && drawn ? "visible" : "hidden",
        });
      });
      drawPill(pills[i], i, half, on[i]);
    });
  }
  return { show, flow, ofHead: ribbons };
}

// The sentence, with room for the longest of those that the steps begin with
function speechOf(longest) {
  const sentence = roomFor(`${longest} 0.00 0.00`, "p", { class: "says", "aria-live": "polite" });
  function tell(said) {
    if (sentence.dataset.said === said) return;
    set(sentence, { "data-said": said });
    sentence.firstChild.replaceChildren(...rich(said.replace(/^./, (start) => start.toUpperCase())));
  }
  return { sentence, tell };
}
function longestSentence(named, given, steps) {
  const start = { ...named, on: [true, true], masked: true, scaled: true };
  const all = compute(given, start.on, false, true);
  return longestOf(named.words.flatMap((_, t) => tabulate(steps, (step) =>
    plain(sentenceOf(step, all, { ...start, t })))));
}

// The challenge: what is said where one changed number has made the second word, "good", kind again
function challengeOf(first, named) {
  const found = new Set();
  return (given, all, { step, on, masked, scaled }) => {
    if (step % LAST) return "";
    const changed = Object.keys(first).flatMap((name) => first[name].flatMap((row, r) => row.flatMap((value, c) =>
      (given[name][r][c] === value ? [] : [[name, r, c]]))));
    if (changed.length !== 1 || all.Y[1][0] <= 0 || masked || !scaled || !on.every(Boolean)) return "";
    found.add(String(changed[0]));
    const count = found.size > 1 ? ` (${found.size} such numbers found)` : ""; // whoever found one may know of no game
    return `\u201c${named.words[1]}\u201d is kind again, by one number: ${inWords(changed[0], named)}${count}. `;
  };
}

// ---- hands ------------------------------------------------------------------------------------------------

// The number under a node, as [matrix, row, column]
function placeUnder(node) {
  const [name, r, c] = node?.closest?.("[data-at]")?.dataset.at.split(" ") ?? [];
  return name && [name, Number(r), Number(c)];
}
const valueAt = (given, [name, r, c]) => given[name][r][c];

// Over a number the pointer asks for its sum, and it drags one that is given
function takePointer(root, { now, point, give }) {
  let drag = null;
  root.addEventListener("pointerleave", () => drag ?? point(null));
  root.addEventListener("pointerdown", ({ target, clientX, pointerId }) => {
    const place = placeUnder(target);
    if (!place || !BLOCKS[place[0]].given) return;
    drag = { place, clientX, from: valueAt(now().given, place) };
    target.setPointerCapture(pointerId);
  });
  root.addEventListener("pointermove", ({ target, clientX }) => {
    if (drag) give(drag.place, drag.from + Math.round((clientX - drag.clientX) / 12) * NUDGE);
    else point(placeUnder(target)); // not when the page moves under a pointer that rests
  });
  for (const end of ["pointerup", "pointercancel"]) root.addEventListener(end, () => { drag = null; });
}

// Each lane is one stop for the Tab key, the arrows go to the next number in their direction
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
function nearest(from, [right, down]) {
  const middle = (el) => {
    const { left, top, width, height } = el.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  };
  const [x, y] = middle(from);
  const away = (other) => {
    const [dx, dy] = [middle(other)[0] - x, middle(other)[1] - y];
    const [along, aside] = right ? [dx * right, Math.abs(dy)] : [dy * down, Math.abs(dx)];
    return along > 2 ? along + 8 * aside : Infinity;
  };
  const others = [...from.closest(".glance, .lane").querySelectorAll(".entry")].map((other) => [away(other), other]);
  const [distance, best] = others.reduce((a, b) => (b[0] < a[0] ? b : a));
  return distance < Infinity ? best : from;
}
function takeKeys(root, lanes, { now, point, give }) {
  for (const lane of lanes) set(lane.querySelector(".entry"), { tabindex: 0 });
  root.addEventListener("keydown", (event) => {
    const place = placeUnder(event.target);
    if (!place) return;
    const { given } = BLOCKS[place[0]];
    const value = given && valueAt(now().given, place);
    const moved = { "+": NUDGE, "-": -NUDGE, PageUp: 1, PageDown: -1, 0: -value }[event.key];
    if (WAYS[event.key]) {
      const to = nearest(event.target, WAYS[event.key]);
      set(event.target, { tabindex: -1 });
      set(to, { tabindex: 0 });
      to.focus();
    } else if (moved !== undefined && given) give(place, value + moved);
    else return;
    event.preventDefault();
  });
  root.addEventListener("focusin", ({ target }) => point(placeUnder(target)));
  root.addEventListener("focusout", () => point(null));
}

// Scrolls to two cells above the sentence that stays at the foot of the window, no further than it must; where they and
// what lies between them do not fit, to the first alone
function bringInSight(speech, first, last) {
  const { position, bottom: foot } = getComputedStyle(speech);
  if (position !== "sticky") return;
  const upper = parseFloat(getComputedStyle(first).scrollMarginTop); // its column's factor stands above a cell
  const lower = innerHeight - parseFloat(foot) - speech.offsetHeight - 16;
  const [one, other] = [first, last].map((cell) => cell.getBoundingClientRect());
  const both = { top: Math.min(one.top, other.top), bottom: Math.max(one.bottom, other.bottom) };
  const { top, bottom } = both.bottom - both.top <= lower - upper ? both : one;
  if (bottom > lower) scrollBy({ top: bottom - lower });
  else if (top < upper) scrollBy({ top: top - upper });
}

// Two buttons, a step back and a step on, and one that takes all steps, each as long as its sentence takes to read
const READING = { start: 1200, letter: 38 }; // ms
function stepsOf(root, now, change, cells) {
  const button = (look, label, text) => h("button", { type: "button", class: look, "aria-label": label }, text);
  const [back, next] = [button("go", "one step back", "\u2039"), button("go next", "next step", "\u203a")];
  const play = h("button", { type: "button", class: "play" }, h("span"));
  let wanted = null; // the step that is played, or null
  let timer = 0;
  // The next step, and what it makes in sight; where the arrows would leave the window then, they stay instead
  function go(by) {
    const { step: here, follow } = now();
    const step = here + by;
    if (step < 0 || step > LAST) return;
    change({ step, pointed: [] });
    const { makes } = involvedIn(step, follow);
    const cellOf = ([name, row], all) => cells[name].at(row ?? all)[0];
    bringInSight(next.closest(".speech"), cellOf(makes[0], 0), cellOf(makes.at(-1), -1));
  }
  back.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));

  function stop() {
    clearTimeout(timer);
    [wanted, timer] = [null, 0];
    write(play.firstChild, "Play");
  }
  function playOn() {
    timer = 0;
    const { top, bottom } = play.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) return stop(); // who has left is not called back
    wanted = now().step + 1;
    return go(1);
  }
  play.addEventListener("click", () => {
    if (wanted !== null) return stop();
    if (now().step === LAST) change({ step: 0 });
    write(play.firstChild, "Stop");
    return playOn();
  });
  for (const hand of ["pointerdown", "keydown"]) {
    root.addEventListener(hand, ({ target }) => play.contains(target) || stop());
  }
  stop();

  // Not disabled: a button that is loses the focus, and the next Tab starts at the top of the page
  function show({ step }, letters) {
    set(back, { "aria-disabled": step === 0 });
    set(next, { "aria-disabled": step === LAST });
    if (wanted === null) return;
    if (step !== wanted || step === LAST) stop();
    else timer ||= setTimeout(playOn, READING.start + READING.letter * letters);
  }
  return { back, next, play, show, stop };
}

// ---- the figure -------------------------------------------------------------------------------------------

// What stands here holds where a figure has no such control
const stateOf = (named, { follow = 1, step = 0, head_1, head_2, masked = false, scaled = true, pointed }) =>
  ({ ...named, t: follow, step, on: [head_1, head_2], masked, scaled, pointed: pointed.length ? pointed : null });

// With `only_glance` the lanes are left out, as on the front page
export default figure(({ only_glance: glanceOnly, ...named }, { root, now, change }) => {
  const { given: first } = now();
  const { cells, matrix, show: showMatrices } = matricesOf(named);
  const glance = glanceOf(named, matrix);
  const ribbons = ribbonsOf(glance.flow, named.words);
  const lanes = glanceOnly ? [] : HEADS.map((head) => laneOf(head, named, matrix));
  const { sentence, tell } = speechOf(longestSentence(named, first, glanceOnly ? 1 : LAST + 1));
  const steps = stepsOf(root, now, change, cells);
  const flights = flightsOf(root);
  const move = motionOf(cells, ribbons, flights);
  const challenge = challengeOf(first, named);
  const hint = h("p", { class: "soft hint" }, "Point at a number, or go to it with the arrow keys, for its sum. "
    + "What has a dotted line is given: drag it to the side, or press + and \u2212 on a keyboard.");
  const stops = [glance.box, ...lanes.map(({ box }) => box), ...(glanceOnly ? [] : [togetherOf(named, matrix)])];
  const goes = h("div", { class: "goes" }, steps.play, steps.next);
  const speech = glanceOnly ? [sentence] : [hint, h("div", { class: "speech" }, steps.back, sentence, goes)];
  const wordMarks = stops.flatMap((stop) => [...stop.querySelectorAll("[data-word]")]);

  function point(place) {
    const { step, pointed } = now();
    const isMade = place && (!step || BLOCKS[place[0]].step <= step);
    const wanted = isMade ? place : [];
    if (String(wanted) !== String(pointed)) change({ pointed: wanted });
  }
  function give([name, r, c], value) {
    const given = structuredClone(now().given);
    given[name][r][c] = Math.max(-LIMIT, Math.min(LIMIT, Math.round(value / NUDGE) * NUDGE));
    change({ given, pointed: [] }); // the sentence says what has come of it
  }
  takePointer(root, { now, point, give });
  takeKeys(root, stops, { now, point, give });

  // What to look at, for who scrolls there; in the last step the end of its row, which has W_O above it in the window
  function see({ step, t }) {
    root.querySelector("[data-see]")?.removeAttribute("data-see");
    const { makes: [[made, row]] } = involvedIn(step, t);
    set(cells[made][row ?? 0].at(step === LAST ? -1 : 0), { "data-see": "" });
  }

  function draw(setting, width) {
    const state = stateOf(named, setting);
    const { pointed } = state;
    const all = compute(setting.given, state.on, state.masked, state.scaled);
    ribbons.show(all, state, width);
    showMatrices(all, state);
    lanes.forEach(({ show }) => show(state));
    wordMarks.forEach((mark) => mark.classList.toggle("here", Number(mark.dataset.word) === state.t));
    tell(pointed ? `${inWords(pointed, named)}: ${originOf(...pointed, all, state).text}`
      : challenge(setting.given, all, state) + sentenceOf(state.step, all, state));
    see(state);
    steps.show(state, sentence.textContent.length);
    move(state, all);
    const tables = () => tablesOf(all, named).filter(([title]) => !glanceOnly || /weights|After/.test(title));
    return { numbers: numbersOf(all, glanceOnly), tables };
  }
  return { parts: [...stops, ...speech, flights.sky], draw, stop: steps.stop };
});

function numbersOf(all, glanceOnly) {
  const flat = (part) => HEADS.flatMap((head) => all[part + head].flat());
  if (glanceOnly) return { weight: flat("A"), after: all.Y.flat() };
  return {
    query: flat("Q"), key: flat("K"), value: flat("V"), score: flat("S"), scaled: flat("Z"), weight: flat("A"),
    mixture: flat("M"), written: all.O.flat(), after: all.Y.flat(),
  };
}

// Every computed number, for who reads it as text
function tablesOf(all, { words, features, asks, brings }) {
  const titles = (kind, names, head) => names[head - 1].map((name) => `${kind}, ${name}`);
  const table = (title, columns, ...parts) => [title, columns, words.map((word, i) =>
    [word, ...parts.flatMap((part) => all[part][i])])];
  return [
    ...HEADS.flatMap((head) => [
      table(`Head ${head}: query, key, value`, [...titles("query", asks, head), ...titles("key", asks, head),
        ...titles("value", brings, head)],
        `Q${head}`, `K${head}`, `V${head}`),
      table(`Head ${head}: scores, and divided`, [...words, ...words.map((word) => `${word}, divided`)],
        `S${head}`, `Z${head}`),
      table(`Head ${head}: weights and mixture`, [...words, ...titles("mixture", brings, head)],
        `A${head}`, `M${head}`),
    ]),
    table("Written by the heads", features, "O"),
    table("After", features, "Y"),
  ];
}

// ---- the world, as mha/lab/train/words.py tells it -------------------------------------------------------

const N = 8; // tokens that are read; the model guesses the next of each
const WORDS = 18;
const [ADVERB, ADJECTIVE, NOUN, CRY, AND] = [1, 5, 9, 13, 17]; // where each kind of word begins
const [BATCH, DECAY] = [32, 0.1];
const [ROOM, TEXTS] = [200000, 4000]; // random numbers of a run, and where those of its texts begin

// Adverb, adjective, noun, twice, each 0 to 3 -> nine words, the exclamation last
function textOf([a, b, c, d, e, f]) {
  const kind = e < 2 !== (d === 0);
  const cry = CRY + (f < 2 ? 0 : 2) + (kind ? 0 : 1);
  return [0, ADVERB + a, ADJECTIVE + b, NOUN + c, AND, ADVERB + d, ADJECTIVE + e, NOUN + f, cry];
}
const batchOf = (seed, step) => tabulate(BATCH, (t) => textOf(tabulate(6, (k) =>
  Math.floor(4 * uniform(ROOM * seed + TEXTS + 6 * (BATCH * step + t) + k, 0)))));
const TESTED = tabulate(128, (k) => textOf([Math.floor(64 * uniform(k, 0)), k & 63].flatMap((phrase) =>
  [phrase & 3, (phrase >> 2) & 3, phrase >> 4])));

// ---- the model: all its numbers in one array, and each matrix a part of it ---------------------------------

function shapesOf({ heads, d_k, d, hidden, positions, tied }) {
  const shapes = { E: [WORDS, d] };
  if (positions) shapes.P = [N, d];
  for (let i = 1; i <= heads; i++) for (const kind of tied ? "QV" : "QKV") shapes[`W_${kind}${i}`] = [d, d_k];
  if (heads) shapes.W_O = [heads * d_k, d];
  if (hidden) Object.assign(shapes, { W_1: [d, hidden], b: [1, hidden], W_2: [hidden, d] });
  return { ...shapes, U: [d, WORDS] };
}

function matricesOf(shapes, numbers) {
  let at = 0;
  return Object.fromEntries(Object.entries(shapes).map(([name, [rows, columns]]) => {
    at += rows * columns;
    return [name, numbers.subarray(at - rows * columns, at)];
  }));
}

function startOf(shapes, seed) {
  const spread = (name, rows) =>
    ({ E: 0.5, P: 0.5, b: 0 })[name] ?? (/^W_[QK]/.test(name) ? 0.5 : 1) / Math.sqrt(rows);
  const spreads = Object.entries(shapes).flatMap(([name, [rows, columns]]) =>
    Array(rows * columns).fill(spread(name, rows)));
  return Float64Array.from(spreads, (size, i) => size * normal(i, ROOM * seed));
}

const zeros = (count) => new Float64Array(count);

// out (rows, columns) += a (rows, inner) b (inner, columns)
function addProduct(out, a, b, rows, inner, columns) {
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < inner; k++) {
      const value = a[i * inner + k];
      if (value === 0) continue;
      for (let j = 0, o = i * columns, r = k * columns; j < columns; j++) out[o + j] += value * b[r + j];
    }
  }
  return out;
}
const product = (a, b, rows, inner, columns) => addProduct(zeros(rows * columns), a, b, rows, inner, columns);

// The way back through y = a b: da += dy b^T, and db += a^T dy
function goBack(da, db, a, b, dy, rows, inner, columns) {
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < inner; k++) {
      const value = a[i * inner + k];
      let total = 0;
      for (let j = 0, o = i * columns, r = k * columns; j < columns; j++) {
        const slope = dy[o + j];
        total += slope * b[r + j];
        db[r + j] += value * slope;
      }
      da[i * inner + k] += total;
    }
  }
}

// The rows of n tokens of each text: embedding and position
function rowsFor(W, { d, positions }, texts, n) {
  const x = zeros(texts.length * n * d);
  texts.forEach((text, t) => {
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < d; k++) {
        x[(t * n + i) * d + k] = W.E[text[i] * d + k] + (positions ? W.P[i * d + k] : 0);
      }
    }
  });
  return x;
}

// A head: its queries, keys, values and weights; what it brings goes into its columns of C
function lookAround(W, { heads, d_k, d, tied, even }, x, i, n, C, isOn) {
  const rows = x.length / d;
  const [Q, V] = ["Q", "V"].map((kind) => product(x, W[`W_${kind}${i + 1}`], rows, d, d_k));
  const K = tied ? Q : product(x, W[`W_K${i + 1}`], rows, d, d_k);
  const A = zeros(rows * n);
  const root = Math.sqrt(d_k);
  for (let r = 0; r < rows; r++) {
    const first = r - (r % n);
    let [top, total] = [-Infinity, 0];
    for (let j = 0; j <= r % n; j++) {
      let score = 0;
      if (!even) for (let k = 0; k < d_k; k++) score += Q[r * d_k + k] * K[(first + j) * d_k + k];
      A[r * n + j] = score / root;
      top = Math.max(top, score / root);
    }
    for (let j = 0; j <= r % n; j++) {
      A[r * n + j] = Math.exp(A[r * n + j] - top);
      total += A[r * n + j];
    }
    for (let j = 0; j <= r % n; j++) {
      A[r * n + j] /= total;
      if (!isOn) continue;
      for (let k = 0; k < d_k; k++) C[(r * heads + i) * d_k + k] += A[r * n + j] * V[(first + j) * d_k + k];
    }
  }
  return { Q, K, V, A };
}

// Everything that is computed for the first n words of texts, without the head `off`
function forward(W, build, texts, n = N, off = -1) {
  const { heads, d_k, d, hidden } = build;
  const rows = texts.length * n;
  const x = rowsFor(W, build, texts, n);
  const z = x.slice();
  const C = zeros(rows * heads * d_k);
  const each = tabulate(heads, (i) => lookAround(W, build, x, i, n, C, i !== off));
  if (heads) addProduct(z, C, W.W_O, rows, heads * d_k, d);
  const y = z.slice();
  const H = zeros(rows * hidden);
  if (hidden) {
    for (let r = 0; r < rows; r++) H.set(W.b, r * hidden);
    addProduct(H, z, W.W_1, rows, d, hidden);
    for (let i = 0; i < H.length; i++) if (H[i] < 0) H[i] = 0;
    addProduct(y, H, W.W_2, rows, hidden, d);
  }
  const p = product(y, W.U, rows, d, WORDS);
  softmaxRows(p, WORDS);
  return { x, z, C, each, y, H, p, n, rows };
}

// Loss over all words, loss of the last, share of texts whose last word is guessed
function judge({ p, n }, texts) {
  let [all, last, right] = [0, 0, 0];
  texts.forEach((text, t) => {
    for (let i = 0; i < n; i++) {
      const guess = p.subarray((t * n + i) * WORDS, (t * n + i + 1) * WORDS);
      const cost = -Math.log(guess[text[i + 1]]);
      all += cost;
      if (i < n - 1) continue;
      last += cost;
      right += indexOfLargest(guess) === text[i + 1];
    }
  });
  return [all / (texts.length * n), last / texts.length, right / texts.length];
}

// ---- the slope, in every number, of the loss over all words plus that of the last -----------------------------

function backward(W, build, texts, { x, z, C, each, y, H, p, n, rows }, shapes) {
  const { heads, d_k, d, hidden, positions } = build;
  const slopes = zeros(sum(Object.values(shapes).map(([a, b]) => a * b)));
  const G = matricesOf(shapes, slopes);
  const dL = p.slice(); // softmax and logarithm: p, less 1 at the word that came
  texts.forEach((text, t) => {
    for (let i = 0; i < n; i++) {
      const at = (t * n + i) * WORDS;
      const share = 1 / rows + (i === n - 1 ? 1 / texts.length : 0);
      dL[at + text[i + 1]] -= 1;
      for (let w = 0; w < WORDS; w++) dL[at + w] *= share;
    }
  });
  const dy = zeros(rows * d);
  goBack(dy, G.U, y, W.U, dL, rows, d, WORDS);
  const dz = dy.slice(); // the stream passes a slope on as it is
  if (hidden) {
    const dH = zeros(rows * hidden);
    goBack(dH, G.W_2, H, W.W_2, dy, rows, hidden, d);
    for (let i = 0; i < dH.length; i++) {
      if (!H[i]) dH[i] = 0;
      G.b[i % hidden] += dH[i];
    }
    goBack(dz, G.W_1, z, W.W_1, dH, rows, d, hidden);
  }
  const dx = dz.slice();
  if (heads) {
    const dC = zeros(C.length);
    goBack(dC, G.W_O, C, W.W_O, dz, rows, heads * d_k, d);
    each.forEach((head, i) => backThroughHead(dx, G, W, build, x, dC, head, i, n));
  }
  texts.forEach((text, t) => {
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < d; k++) {
        const slope = dx[(t * n + i) * d + k];
        G.E[text[i] * d + k] += slope;
        if (positions) G.P[i * d + k] += slope;
      }
    }
  });
  return slopes;
}

function backThroughHead(dx, G, W, { heads, d_k, d, tied, even }, x, dC, { Q, K, V, A }, i, n) {
  const rows = x.length / d;
  const [dQ, dV] = [zeros(Q.length), zeros(V.length)];
  const dK = tied ? dQ : zeros(K.length);
  const dA = zeros(n);
  const root = Math.sqrt(d_k);
  for (let r = 0; r < rows; r++) {
    const first = r - (r % n);
    let mean = 0;
    for (let j = 0; j <= r % n; j++) {
      dA[j] = 0;
      for (let k = 0; k < d_k; k++) {
        const slope = dC[(r * heads + i) * d_k + k];
        dA[j] += slope * V[(first + j) * d_k + k];
        dV[(first + j) * d_k + k] += A[r * n + j] * slope;
      }
      mean += A[r * n + j] * dA[j];
    }
    for (let j = 0; j <= r % n && !even; j++) { // through the softmax: weight times (own slope - mean slope)
      const dS = (A[r * n + j] * (dA[j] - mean)) / root;
      for (let k = 0; k < d_k; k++) {
        dQ[r * d_k + k] += dS * K[(first + j) * d_k + k];
        dK[(first + j) * d_k + k] += dS * Q[r * d_k + k];
      }
    }
  }
  const parts = [["Q", dQ], ["V", dV], ...(tied ? [] : [["K", dK]])];
  for (const [kind, slope] of parts) {
    const name = `W_${kind}${i + 1}`;
    goBack(dx, G[name], x, W[name], slope, rows, d, d_k);
  }
}

// ---- learning ----------------------------------------------------------------------------------------------

// A run goes on from where it is: `reach` trains until it has made so many steps, or until `isLate`. Its history has
// what there was after 0, `stride`, 2 `stride`, ... steps: { numbers, judged }.
function runOf(build, seed, rate, stride) {
  const shapes = shapesOf(build);
  const numbers = startOf(shapes, seed);
  const W = matricesOf(shapes, numbers);
  const [mean, square] = [zeros(numbers.length), zeros(numbers.length)];
  const history = [];
  const keep = () => history.push({ numbers: numbers.slice(), judged: judge(forward(W, build, TESTED), TESTED) });
  let steps = 0;

  // One step of AdamW: each number moves by about the rate, against its slope, and shrinks a little
  function learn() {
    const texts = batchOf(seed, steps);
    const slopes = backward(W, build, texts, forward(W, build, texts), shapes);
    steps += 1;
    const [sure, known] = [1 - 0.9 ** steps, 1 - 0.99 ** steps];
    for (let i = 0; i < numbers.length; i++) {
      mean[i] += 0.1 * (slopes[i] - mean[i]);
      square[i] += 0.01 * (slopes[i] * slopes[i] - square[i]);
      numbers[i] -= rate * (mean[i] / sure / (Math.sqrt(square[i] / known) + 1e-8) + DECAY * numbers[i]);
    }
    if (steps % stride === 0) keep();
  }
  function reach(wanted, isLate) {
    while (steps < wanted && !isLate()) learn();
  }
  keep();
  return { shapes, history, reach };
}

// ---- what is drawn: where the model's matrices stand -----------------------------------------------------------

const FULL = 1.5; // a number of this size fills its cell
const hueOf = (name) => ({ W_Q: "query", W_K: "key", W_V: "value" })[name.slice(0, 3)] ?? "stream";

// Where each matrix stands, in cells: name -> [left, top, rows, columns, turned]; beside them the heads' own edges
function placesOf(shapes, heads, isNarrow) {
  const places = { E: [0, 7, 18, 8] };
  if (shapes.P) places.P = [10, 7, 8, 8];
  let left = 22;
  for (let i = 1; i <= heads; i++) {
    for (const kind of "QKV") {
      const shape = shapes[`W_${kind}${i}`];
      if (shape) places[`W_${kind}${i}`] = [left, 7, ...shape];
      left += (heads === 1 ? 4 : 2) + 1.2;
    }
    left += 1.2;
  }
  if (heads) places.W_O = [heads === 1 ? 26 : 28.5, 20.8, 4, 8];
  const [mlp, down] = isNarrow ? [0, 30] : [47, 0];
  if (shapes.W_1) {
    places.W_1 = [mlp, down + 7, 8, 24];
    places.b = [mlp, down + 15.6, 1, 24];
    places.W_2 = [mlp, down + 17.2, 24, 8, true];
  }
  places.U = [mlp + 27, down + 7, 8, 18];
  return places;
}

// Two paths through all squares of a matrix: filled ones are above 0, hollow ones below
function squaresOf(numbers, [left, top, rows, columns, turned], cell) {
  let [above, below] = ["", ""];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const value = numbers[i * columns + j];
      const room = value < 0 ? 0.78 : 0.94; // a hollow one has a line around it
      const side = cell * room * Math.min(1, Math.sqrt(Math.abs(value) / FULL));
      const x = (left + (turned ? i : j) + 0.5) * cell - side / 2;
      const y = (top + (turned ? j : i) + 0.5) * cell - side / 2;
      const size = side.toFixed(2);
      const square = `M${x.toFixed(1)},${y.toFixed(1)}h${size}v${size}h-${size}z`;
      if (value < 0) below += square;
      else above += square;
    }
  }
  return [above, below];
}

const BLOCKS = ["E", "P", "W_Q1", "W_K1", "W_V1", "W_Q2", "W_K2", "W_V2", "W_O", "W_1", "b", "W_2", "U"];
const TITLES = { E: "18 words", P: "position", W_O: "W_O", W_1: "MLP", U: "to 18 words" };

function modelIn(add) {
  const stream = [add("path", { class: "stream" }), add("path", { class: "ways" })];
  const says = tabulate(4, () => add("text", { class: "step" }));
  const blocks = Object.fromEntries(BLOCKS.map((name) => [name, { frame: add("rect", { class: "frame" }),
    above: add("path", { class: `above hue-${hueOf(name)}` }),
    below: add("path", { class: `below hue-${hueOf(name)}` }),
    title: add("text", { class: `title hue-${hueOf(name)}` }) }]));
  const headNames = tabulate(2, (i) => add("text", { class: `title hue-head-${i + 1}` }));

  function tell(build, shapes, wide, isNarrow) {
    const cell = Math.min(7.4, wide / (isNarrow ? 46 : 93));
    const places = placesOf(shapes, build.heads, isNarrow);
    const line = 3.6 * cell; // of the stream
    const turn = 32.6 * cell;
    for (const name of BLOCKS) {
      const { frame, title, above, below } = blocks[name];
      const place = places[name];
      for (const el of [frame, title, above, below]) set(el, { visibility: place ? "visible" : "hidden" });
      if (!place) continue;
      const [left, top, rows, columns, turned] = place;
      set(frame, { x: left * cell - 1, y: top * cell - 1, width: (turned ? rows : columns) * cell + 2,
        height: (turned ? columns : rows) * cell + 2 });
      const text = TITLES[name] ?? (/^W_[QKV]/.test(name) ? name.slice(0, 3) : "");
      const middle = /^W_[QKV]/.test(name) ? (columns * cell) / 2 : 0;
      set(title, { x: left * cell + middle, y: top * cell - 5, "text-anchor": middle ? "middle" : "start" });
      write(title, text);
    }
    headNames.forEach((name, i) => {
      const place = places[`W_Q${i + 1}`];
      set(name, { visibility: place ? "visible" : "hidden", x: (place?.[0] ?? 0) * cell, y: 17.5 * cell });
      write(name, `head ${i + 1}`);
    });
    // the stream, and the ways from it and back: words, heads, MLP, guess
    const far = (isNarrow ? 45.5 : 92) * cell;
    const mlp = (places.U[0] - 27) * cell;
    const down = isNarrow ? turn : line;
    const out = (places.U[0] + 14) * cell;
    set(stream[0], { d: isNarrow ? `M0,${line}H${far}M0,${down}H${out}` : `M0,${line}H${out}` });
    const arrow = (x, from, to) => `M${x},${from}V${to}${to < from ? "m-3,5l3,-5l3,5" : "m-3,-5l3,5l3,-5"}`;
    const ways = [arrow(8.9 * cell, 6.4 * cell, line + 2), arrow(out, down, down + 1.6 * cell)];
    if (build.heads) ways.push(arrow(20.6 * cell, line, line + 2.6 * cell), arrow(43.9 * cell, 22.8 * cell, line + 2),
      `M${(places.W_O[0] + 8.5) * cell},${22.8 * cell}H${43.9 * cell}`);
    if (build.hidden) ways.push(arrow(mlp + 8 * cell, down, down + 1.6 * cell),
      arrow(mlp + 25.3 * cell, down + 18 * cell, down + 2), `M${mlp + 24.3 * cell},${down + 18 * cell}h${cell}`);
    set(stream[1], { d: ways.join("") });
    [["the word\u2019s row", 0, line], [build.heads ? "+ what heads bring" : "no attention", 22 * cell, line],
      ["+ what the MLP makes", mlp, down], ["= scores", places.U[0] * cell, down],
    ].forEach(([text, x, y], i) => {
      set(says[i], { x, y: y - 7 });
      write(says[i], text);
    });
    return { cell, places, high: (isNarrow ? 57 : 27) * cell };
  }
  function show(W, { cell, places }) {
    for (const [name, place] of Object.entries(places)) {
      const [above, below] = squaresOf(W[name], place, cell);
      set(blocks[name].above, { d: above });
      set(blocks[name].below, { d: below });
    }
  }
  return { tell, show };
}

// ---- a text, where the last word looks, and the guess ------------------------------------------------------------

const ARCS = 62; // px that the highest arc rises

function readingIn(add) {
  const arcs = tabulate(2, (i) => tabulate(N, () => add("path", { class: `arc hue-head-${i + 1}` })));
  const words = tabulate(N, () => add("text", { "text-anchor": "middle", class: "word" }));
  const names = tabulate(2, (i) => add("text", { class: `title hue-head-${i + 1}` }));
  const bars = tabulate(5, () => [add("rect", { class: "room" }), add("rect", { class: "chance" }), add("text")]);

  function show(text, weights, guess, off, { top, width, left, side, down }) {
    const n = text.length;
    const y = top + ARCS + 16;
    const x = (j) => ((j + 0.5) * width) / N;
    words.forEach((word, j) => {
      set(word, { x: x(j), y, class: j === n - 1 ? "word last" : "word" });
      write(word, text[j] ?? "");
    });
    names.forEach((name, i) => {
      set(name, { x: 0, y: i ? y + 42 : top + 20 });
      write(name, weights[i] ? `head ${i + 1}${off === i ? " is off" : ""}` : "");
    });
    arcs.forEach((list, i) => list.forEach((arc, j) => {
      const weight = off === i ? 0 : weights[i]?.[j] ?? 0;
      const way = i ? 1 : -1;
      const foot = y + (i ? 7 : -15);
      const rise = foot + way * (16 + ((ARCS - 10) * Math.abs(n - 1 - j)) / (N - 1));
      const [from, to] = j === n - 1 ? [x(j) - 9, x(j) + 9] : [x(n - 1), x(j)];
      set(arc, { d: `M${from},${foot}C${from},${rise} ${to},${rise} ${to},${foot}`,
        "stroke-width": (9 * weight).toFixed(2), visibility: weight > 0.02 ? "visible" : "hidden" });
    }));
    guess.forEach(([name, p], k) => {
      const [track, bar, label] = bars[k];
      const place = down + 23 * k;
      set(track, { x: left, y: place, width: side, height: 18 });
      set(bar, { x: left, y: place, width: side * p, height: 18 });
      set(label, { x: left + 5, y: place + 13.5 });
      write(label, `${name} ${Math.round(100 * p)} %`);
    });
  }
  return { show, high: 2 * ARCS + 30 };
}

// ---- the loss ------------------------------------------------------------------------------------------------------

const CURVES = ["all words", "last word"];

function lossIn(add, { last, stride, floor }) {
  const most = 4; // no run begins higher
  const rules = tabulate(most + 1, () => [add("path", { class: "rule" }), add("text", { "text-anchor": "end" })]);
  const ground = [add("path", { class: "floor" }), add("text", { "text-anchor": "end" })];
  const steps = tabulate(3, (i) => add("text", { "text-anchor": ["start", "middle", "end"][i] }));
  const names = CURVES.map((name, k) => add("text", { class: `curve-name curve-${k}` }, `loss, ${name}`));
  const lines = CURVES.map((_, k) => add("path", { class: `curve curve-${k}` }));

  function show(history, { top, left, width, high }) {
    const x = (step) => left + 18 + ((width - 24) * step) / last;
    const y = (loss) => top + high - 18 - ((high - 30) * Math.min(loss, most)) / most;
    rules.forEach(([rule, name], i) => {
      set(rule, { d: `M${x(0)},${y(i)}H${x(last)}` });
      set(name, { x: x(0) - 5, y: y(i) + 4 });
      write(name, i);
    });
    set(ground[0], { d: `M${x(0)},${y(floor)}H${x(last)}` });
    // Under its line, or where fewer points of the curves come to lie on the words
    const late = history.filter((_, i) => x(i * stride) > x(last) - 205).flatMap(({ judged }) => judged.slice(0, 2));
    const onIt = (place) => late.filter((loss) => Math.abs(y(loss) - (place - 4)) < 10).length;
    const free = [15, 27, -6, -20].map((down) => y(floor) + down).reduce((a, b) => (onIt(b) < onIt(a) ? b : a));
    set(ground[1], { x: x(last), y: free, class: "of-floor" });
    write(ground[1], `${floor.toFixed(2)}: no model does better on all words`);
    steps.forEach((step, i) => {
      set(step, { x: x((i * last) / 2), y: top + high - 2 });
      write(step, i === 2 ? `${last} steps` : (i * last) / 2);
    });
    names.forEach((name, k) => set(name, { x: x(last) - 104, y: top + 24 + 14.5 * k })); // between two rules
    lines.forEach((line, k) => {
      const points = history.map(({ judged }, i) => `${x(i * stride).toFixed(1)},${y(judged[k]).toFixed(1)}`);
      set(line, { d: `M${points.join("L")}${history.length === 1 ? "h2" : ""}` });
    });
  }
  return { show };
}

// ---- the figure --------------------------------------------------------------------------------------------

const SLICE = 11; // ms that the page is kept at work at a time

const sayWhat = (steps, [all, last, right], name, heads, off) => name
  + (off < 0 ? "" : `, ${off < heads ? "with" : "which has no"} head ${off + 1}${off < heads ? " off" : ""}`)
  + `, after ${steps} steps: `
  + `loss ${all.toFixed(2)} over all words, ${last.toFixed(2)} for the last. `
  + `It guesses ${Math.round(128 * right)} of 128 last words.`;

// A button that trains on, and pauses
function trainingOf(root, now, change, { last, stride, status }) {
  const play = h("button", { type: "button", class: "goes-on" }, h("span"));
  let [isOn, wanted, frame] = [false, 0, 0];
  function stop() {
    cancelAnimationFrame(frame);
    isOn = false;
    write(play.firstChild, "Train");
    status.removeAttribute("aria-busy");
  }
  // What is shown has come to the steps that were asked for: go on
  function next() {
    if (!isOn) return;
    if (now().steps !== wanted || wanted >= last) {
      stop();
      return;
    }
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const { top, bottom } = play.getBoundingClientRect();
      const isElsewhere = now().steps !== wanted; // the slider was pulled since this frame was asked for
      if (isElsewhere || bottom < -innerHeight || top > 2 * innerHeight) return stop();
      wanted += stride;
      return change({ steps: wanted });
    });
  }
  play.addEventListener("click", () => {
    if (isOn) return stop();
    isOn = true;
    write(play.firstChild, "Pause");
    set(status, { "aria-busy": true }); // what is said is said once, at the end
    wanted = now().steps >= last ? 0 : now().steps;
    if (isStill()) wanted = last;
    if (wanted === now().steps) next();
    else change({ steps: wanted });
    return null;
  });
  root.addEventListener("keydown", ({ target }) => play.contains(target) || stop());
  stop();
  return { play, next, stop, isOn: () => isOn };
}

export default figure((data, { root, now, change, redraw }) => {
  const { models, seeds, texts, words, stride, last } = data;
  const svg = drawing({ class: "learning" });
  const add = into(svg);
  const [matrices, reading, loss] = [modelIn(add), readingIn(add), lossIn(add, data)];
  const status = statusLine(sayWhat(last, [11.11, 11.11, 1], longestOf(models.map(({ name }) => name)), 2, 1));
  const training = trainingOf(root, now, change, { last, stride, status });
  const runs = new Map();
  let before = null; // what was returned last

  function runAt({ model, seed }) {
    const key = `${model},${seed}`;
    if (!runs.has(key)) runs.set(key, runOf(models[model], seeds[seed], models[model].rate, stride));
    return runs.get(key);
  }

  // Of one text: what each head's last word gives to all, and the chances of the four exclamations and of all the rest
  function readText(W, build, text, off) {
    const n = text.length;
    const { each, p } = forward(W, build, [text], n, off);
    const chances = [...p.subarray((n - 1) * WORDS)];
    const cries = chances.slice(CRY, AND);
    return { weights: each.map(({ A }) => [...A.subarray((n - 1) * n)]), guess: [...cries, 1 - sum(cries)] };
  }

  function draw(setting, wide) {
    const run = runAt(setting);
    const wanted = setting.steps / stride;
    const end = performance.now() + SLICE;
    run.reach(setting.steps, () => performance.now() > end);
    const isThere = run.history.length > wanted;
    if (!isThere) {
      redraw();
      set(status, { "aria-busy": true });
      if (isStill() && before) return before; // only what comes of it is drawn
    } else if (!training.isOn()) {
      status.removeAttribute("aria-busy");
    }
    const at = Math.min(wanted, run.history.length - 1);
    const build = models[setting.model];
    const off = setting.off - 1;
    const { numbers, judged } = run.history[at];
    const W = matricesOf(run.shapes, numbers);
    const found = off >= 0 && off < build.heads ? judge(forward(W, build, TESTED, N, off), TESTED) : judged;
    const { weights, guess } = readText(W, build, texts[setting.sentence], off);

    const isNarrow = wide < 600;
    const place = matrices.tell(build, run.shapes, wide, isNarrow);
    matrices.show(W, place);
    const top = place.high + 14;
    const half = isNarrow ? wide : 0.56 * wide;
    const chances = [...data.cries, "another word"].map((name, k) => [name, guess[k]]);
    const bars = isNarrow ? { left: 0, side: wide, down: top + reading.high + 6 }
      : { left: half - 118, side: 118, down: top + 22 };
    reading.show(texts[setting.sentence].map((w) => words[w]), weights, chances, off,
      { top, width: isNarrow ? half : half - 130, ...bars });
    const below = isNarrow ? top + reading.high + 130 : top;
    const curves = isNarrow ? { left: 0, width: wide, high: 150 }
      : { left: half + 22, width: wide - half - 22, high: 160 };
    loss.show(run.history.slice(0, at + 1), { top: below, ...curves });
    set(svg, { viewBox: `0 0 ${wide} ${below + curves.high + 4}`, height: below + curves.high + 4 });
    say(status, sayWhat(at * stride, found, build.name, build.heads, off));
    if (isThere) training.next();

    const curve = (k) => run.history.slice(0, at + 1).map((step) => step.judged[k]);
    before = {
      numbers: { parameter: numbers, judged: found, all: curve(0), last: curve(1), weight: weights.flat(), guess },
      tables: () => [
        ["The loss, and the share of last words guessed", ["all words", "last word", "right"], [["now", ...found]]],
        ["The guess", ["chance"], chances],
        ...(build.heads ? [["Where the last word looks", texts[setting.sentence].map((w) => words[w]),
          weights.map((row, i) => [`head ${i + 1}`, ...row])]] : []),
        ...["E", "W_Q1", "W_K1", "W_V1", "W_O"].filter((name) => W[name]).map((name) => [name,
          tabulate(run.shapes[name][1], (j) => j + 1),
          rowsOf(name === "E" ? words : tabulate(run.shapes[name][0], (i) => `row ${i + 1}`), [...W[name]])]),
        ["The curves", ["all words", "last word"], curve(0).map((value, i) => [i * stride, value, curve(1)[i]])],
      ],
    };
    return before;
  }
  return { parts: [training.play, svg, status], draw, stop: training.stop };
});

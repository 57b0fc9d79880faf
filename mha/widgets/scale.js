// The inside of one histogram, in pixels, and the room for its axis
const WIDE = 200;
const TALL = 110;
const FOOT = 18;

// One histogram: a column for each share, an axis with the given ticks [place, label, side where it stands at an end],
// and marks that can be moved
function histogram(title, note, name, columns, ticks) {
  const step = WIDE / columns;
  const svg = drawing({ viewBox: `0 0 ${WIDE} ${TALL + FOOT}` });
  const column = (i) => h("rect", { x: (i + 0.08) * step, width: 0.84 * step, class: "column", "data-name": name });
  const bars = tabulate(columns, column);
  svg.append(...bars, h("line", { x1: 0, x2: WIDE, y1: TALL, y2: TALL, class: "axis" }));
  for (const [at, label, side] of ticks) {
    svg.append(h("text", { x: at * WIDE, y: TALL + 14, class: `tick ${side ?? ""}` }, label));
  }

  function show(shares) {
    const top = Math.max(...shares);
    shares.forEach((share, i) => {
      const height = (0.87 * TALL * share) / top;
      bars[i].dataset.value = share;
      set(bars[i], { y: TALL - height, height });
    });
  }
  return { box: h("div", { class: "plane" }, planeTitle(title, note), svg), svg, show };
}

// The share of numbers in each column: below the first edge, ..., from the last edge on
function shares(numbers, edges) {
  const counts = new Float64Array(edges.length + 1);
  for (const x of numbers) {
    let column = 0;
    while (column < edges.length && x >= edges[column]) column++;
    counts[column]++;
  }
  return counts.map((count) => count / numbers.length);
}

// Where a gradient stands on its axis, which goes with the logarithm: from 0 at the left to 1 at the right
const onLog = (gradient) => Math.max(0.02, Math.min(0.98, (Math.log10(gradient) * 2 + 9) / 13));

const average = (numbers) => sum(numbers) / numbers.length;

function render({ model, el }) {
  const widths = model.get("widths");
  const counts = model.get("counts");
  const [scoreEdges, weightEdges, gradientEdges] = model.get("edges");
  const [length, across, along, value] = model.get("tables").map(float16);
  const queries = length.length / widths.length;
  const most = counts.at(-1);

  const inside = [-10, 0, 10].map((score) => [(score + 20.5) / 41, signed(score, 0)]);
  const scoreTicks = [[0, "below", "start"], ...inside, [1, "above", "end"]];
  const weightTicks = [0, 0.5, 1].map((weight) => [0.03 + 0.94 * weight, weight]);
  const powers = [[-4, "0.0001"], [-2, "0.01"], [0, "1"], [1, "10"]];
  const gradientTicks = powers.map(([power, label]) => [onLog(10 ** power), label]);
  const scores = histogram("Scores", "after the division", "score_bin", 41, scoreTicks);
  const largest = histogram("Largest weight", "of each query", "weight_bin", 10, weightTicks);
  const pulls = histogram("Gradient", "of each query", "gradient_bin", 13, gradientTicks);
  const marks = ["median", "mean"].map((name) => ({
    line: h("line", { y1: 12, y2: TALL, class: `mark-line ${name}` }),
    name: h("text", { y: 9, class: "mark-name" }, name),
  }));
  pulls.svg.append(...marks.flatMap(({ line, name }) => [line, name]));

  const fact = (name, label) => {
    const number = h("td", { class: "number", "data-name": name });
    return { number, row: h("tr", {}, h("th", { scope: "row" }, label), number) };
  };
  const facts = [
    fact("spread", "spread (standard deviation) of the scores"),
    fact("largest", "largest weight, on average"),
    fact("median", "gradient, median"),
    fact("mean", "gradient, mean"),
  ];
  const status = statusLine();
  const planes = h("div", { class: "planes" }, scores.box, largest.box, pulls.box);
  const table = h("table", {}, h("tbody", {}, ...facts.map(({ row }) => row)));
  el.append(figureBox(model, "score-scale", "scale", planes, status, table));

  // The scores of one random query, its largest weight, and the length of the gradient of its output
  function ask(query, row, n, scale) {
    const size = length[row * queries + query];
    const keys = along.subarray(query * most, query * most + n);
    const values = value.subarray(query * most, query * most + n);
    const scores = Array.from(keys, (key) => scale * size * key);
    const weights = softmax(scores);
    const out = weights.reduce((total, weight, j) => total + weight * values[j], 0);
    let alongQuery = 0;
    let square = 0;
    weights.forEach((weight, j) => {
      const pull = weight * (values[j] - out); // the gradient of out with respect to score j
      alongQuery += pull * keys[j];
      square += pull * pull;
    });
    const gradient = scale * Math.hypot(alongQuery, across[row * queries + query] * Math.sqrt(square));
    return { scores, top: Math.max(...weights), gradient };
  }

  // The larger of the two has its name to its right, so that the names never meet
  function showMarks(median, mean) {
    const place = ({ line, name }, gradient, other) => {
      const at = onLog(gradient) * WIDE;
      const side = gradient >= other ? 1 : -1;
      set(line, { x1: at, x2: at });
      set(name, { x: at + 3 * side, "text-anchor": side > 0 ? "start" : "end" });
    };
    place(marks[0], median, mean);
    place(marks[1], mean, median);
  }

  function showFact({ number }, x) {
    number.dataset.value = x;
    number.textContent = x < 0.01 ? scientific(x) : x.toFixed(2);
  }

  function draw() {
    const row = model.get("d_k");
    const n = counts[model.get("n")];
    const scale = widths[row] ** -model.get("power");
    const asked = tabulate(queries, (query) => ask(query, row, n, scale));
    const all = asked.flatMap((query) => query.scores);
    const tops = asked.map(({ top }) => top);
    const gradients = asked.map(({ gradient }) => gradient);

    scores.show(shares(all, scoreEdges));
    largest.show(shares(tops, weightEdges));
    pulls.show(shares(gradients, gradientEdges));
    const spread = Math.sqrt(average(all.map((score) => score * score)));
    const median = [...gradients].sort((a, b) => a - b)[queries >> 1];
    const mean = average(gradients);
    showMarks(median, mean);
    [spread, average(tops), median, mean].forEach((x, i) => showFact(facts[i], x));

    const percent = (list, holds) => Math.round(100 * (list.filter(holds).length / queries));
    const sure = percent(tops, (weight) => weight > 0.9);
    const dead = percent(gradients, (gradient) => gradient < 0.001);
    status.textContent = `${queries} random queries, ${n} keys each. ${sure} % of them give more than 0.9 of their `
      + `weight to one key; for ${dead} % the gradient is below 0.001, too small to learn from.`;
  }
  return redraw(model, el, ["d_k", "n", "power"], draw);
}

export default { render };

// The inside of one histogram, in pixels, and the room for its axis
const WIDE = 200;
const TALL = 110;
const FOOT = 18;

// One histogram: a column for each share, an axis with the given ticks [place, label, side where it stands at an end],
// and marks that can be moved
function histogram(title, note, columns, ticks) {
  const step = WIDE / columns;
  const svg = drawing({ viewBox: `0 0 ${WIDE} ${TALL + FOOT}` });
  const column = (i) => h("rect", { x: (i + 0.08) * step, width: 0.84 * step, class: "column" });
  const bars = tabulate(columns, column);
  svg.append(...bars, h("line", { x1: 0, x2: WIDE, y1: TALL, y2: TALL, class: "axis" }));
  for (const [at, label, side] of ticks) {
    svg.append(h("text", { x: at * WIDE, y: TALL + 14, class: `tick ${side ?? ""}` }, label));
  }

  function show(shares) {
    const top = Math.max(...shares);
    shares.forEach((share, i) => {
      const height = (0.87 * TALL * share) / top;
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

const SAID = { 0: "not divided", 0.5: "divided by the root of d_k", 1: "divided by d_k" };

// The random queries: how many, and a function that asks one of them
function randomQueries({ widths, counts, lengths, steps, least, seed }) {
  const queries = lengths[0].length / widths.length;
  const most = counts.at(-1);
  const [length, across] = lengths.map((text, missing) => unpacked(text, steps).map((x, i) =>
    x - least + Math.sqrt(widths[Math.floor(i / queries)] - missing)));
  const draw64 = (from) => Float64Array.from({ length: queries * most }, (_, i) => normal(from + i, seed));
  const [along, value] = [draw64(0), draw64(queries * most)];

  // Of one random query: its scores go to `into`; gives its largest weight, and how long the gradient of its output is
  function ask(query, row, n, scale, into) {
    const begin = query * most;
    const size = scale * length[row * queries + query];
    let top = -Infinity;
    for (let j = 0; j < n; j++) {
      into[j] = size * along[begin + j];
      top = Math.max(top, into[j]);
    }
    let total = 0;
    let out = 0;
    for (let j = 0; j < n; j++) {
      weights[j] = Math.exp(into[j] - top);
      total += weights[j];
      out += weights[j] * value[begin + j];
    }
    let alongQuery = 0;
    let square = 0;
    for (let j = 0; j < n; j++) {
      // The gradient of out with respect to score j
      const pull = (weights[j] / total) * (value[begin + j] - out / total);
      alongQuery += pull * along[begin + j];
      square += pull * pull;
    }
    const gradient = scale * Math.hypot(alongQuery, across[row * queries + query] * Math.sqrt(square));
    return { top: 1 / total, gradient };
  }
  const weights = new Float64Array(most);
  return { queries, most, ask };
}

// The histogram of the gradients, with marks at their median and mean
function gradientHistogram() {
  const powers = [[-4, "0.0001"], [-2, "0.01"], [0, "1"], [1, "10"]];
  const ticks = powers.map(([power, label]) => [onLog(10 ** power), label]);
  const pulls = histogram("Gradient", "of each query", 13, ticks);
  const marks = ["median", "mean"].map((name) => ({
    line: h("line", { y1: 12, y2: TALL, class: `mark-line ${name}` }),
    name: h("text", { y: 9, class: "mark-name" }, name),
  }));
  pulls.svg.append(...marks.flatMap(({ line, name }) => [line, name]));

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
  return { ...pulls, showMarks };
}

export default figure((data) => {
  const { widths, counts, edges: [scoreEdges, weightEdges, gradientEdges] } = data;
  const { queries, most, ask } = randomQueries(data);
  const inside = [-10, 0, 10].map((score) => [(score + 20.5) / 41, signed(score, 0)]);
  const scoreTicks = [[0, "below", "start"], ...inside, [1, "above", "end"]];
  const weightTicks = [0, 0.5, 1].map((weight) => [0.03 + 0.94 * weight, weight]);
  const scores = histogram("Scores", "after the division", 41, scoreTicks);
  const largest = histogram("Largest weight", "of each query", 10, weightTicks);
  const pulls = gradientHistogram();
  const fact = (label) => {
    const number = h("td", { class: "number" });
    return { number, label, row: h("tr", {}, h("th", { scope: "row" }, label), number) };
  };
  const facts = [
    fact("spread (standard deviation) of the scores"),
    fact("largest weight, on average"),
    fact("gradient, median"),
    fact("gradient, mean"),
  ];
  const status = statusLine(sentenceFor(most, 100, 100));
  const planes = h("div", { class: "planes" }, scores.box, largest.box, pulls.box);
  const table = h("table", {}, h("tbody", {}, ...facts.map(({ row }) => row)));

  function showFact({ number }, x) {
    write(number, x < 0.01 ? scientific(x) : x.toFixed(2));
  }

  function sentenceFor(n, sure, dead, power = 0.05) {
    const scores = SAID[power] ?? `divided by d_k to the power ${power.toFixed(2)}`;
    return `${queries} random queries, ${n} keys each, scores ${scores}. ${sure} % of them give more than 0.9 of their `
      + `weight to one key; for ${dead} % the gradient is below 0.001.`;
  }

  function draw({ d_k: row, n: many, power }) {
    const n = counts[many];
    const scale = widths[row] ** -power;
    const all = new Float64Array(queries * n);
    const asked = tabulate(queries, (query) => ask(query, row, n, scale, all.subarray(query * n, (query + 1) * n)));
    const tops = asked.map(({ top }) => top);
    const gradients = asked.map(({ gradient }) => gradient);
    const bins = [shares(all, scoreEdges), shares(tops, weightEdges), shares(gradients, gradientEdges)];

    [scores, largest, pulls].forEach((one, i) => one.show(bins[i]));
    const spread = Math.sqrt(all.reduce((total, score) => total + score * score, 0) / all.length);
    const median = [...gradients].sort((a, b) => a - b)[queries >> 1];
    const mean = average(gradients);
    const values = [spread, average(tops), median, mean];
    pulls.showMarks(median, mean);
    values.forEach((x, i) => showFact(facts[i], x));

    const percent = (list, holds) => Math.round(100 * (list.filter(holds).length / queries));
    const sure = percent(tops, (weight) => weight > 0.9);
    const dead = percent(gradients, (gradient) => gradient < 0.001);
    say(status, sentenceFor(n, sure, dead, power));

    const from = (edges) => ["less", ...edges.map((edge) => `from ${readable(edge)}`)];
    const columns = (title, edges, bin) => [title, ["share"], from(edges).map((name, i) => [name, bin[i]])];
    return {
      numbers: {
        score_bin: bins[0], weight_bin: bins[1], gradient_bin: bins[2],
        spread, largest: values[1], median, mean,
      },
      tables: () => [
        ["Over all queries", ["number"], facts.map(({ label }, i) => [label, values[i]])],
        columns("Scores", scoreEdges, bins[0]),
        columns("Largest weight of each query", weightEdges, bins[1]),
        columns("Gradient of each query", gradientEdges, bins[2]),
      ],
    };
  }
  return { parts: [planes, status, table], draw };
});

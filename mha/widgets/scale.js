const WIDE = 200, TALL = 110, FOOT = 18;                           // the inside of one histogram, in pixels; room for its axis

// One histogram: a column for each share, an axis with the given ticks [place, label, side where it stands at an end], and marks that can be moved
function histogram(title, note, name, columns, ticks) {
  const step = WIDE / columns, svg = h("svg", { viewBox: `0 0 ${WIDE} ${TALL + FOOT}`, "aria-hidden": "true" });
  const bars = Array.from({ length: columns }, (_, i) => svg.appendChild(h("rect", { x: (i + 0.08) * step, width: 0.84 * step, class: "column", "data-name": name })));
  svg.append(h("line", { x1: 0, x2: WIDE, y1: TALL, y2: TALL, class: "axis" }));
  for (const [at, label, side] of ticks) svg.append(h("text", { x: at * WIDE, y: TALL + 14, class: `tick ${side ?? ""}` }, label));
  const box = h("div", { class: "plane" }, h("div", { class: "plane-title" }, h("b", {}, title), ` ${note}`), svg);
  function show(shares) {
    const top = Math.max(...shares);
    shares.forEach((share, i) => {
      bars[i].dataset.value = share;
      set(bars[i], { y: TALL - (0.87 * TALL * share) / top, height: (0.87 * TALL * share) / top });
    });
  }
  return { box, svg, show };
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

function render({ model, el }) {
  const widths = model.get("widths"), counts = model.get("counts"), [scoreEdges, weightEdges, gradientEdges] = model.get("edges");
  const [length, across, along, value] = model.get("tables").map(float16);
  const queries = length.length / widths.length, most = counts.at(-1);
  const onLog = (x) => Math.max(0.02, Math.min(0.98, (Math.log10(x) * 2 + 9) / 13));      // where a gradient stands on its axis
  const scores = histogram("Scores", "after the division", "score_bin", 41, [[0, "below", "start"], ...[-10, 0, 10].map((t) => [(t + 20.5) / 41, signed(t, 0)]), [1, "above", "end"]]);
  const largest = histogram("Largest weight", "of each query", "weight_bin", 10, [0, 0.5, 1].map((t) => [0.03 + 0.94 * t, t]));
  const pulls = histogram("Gradient", "of each query", "gradient_bin", 13, [[-4, "0.0001"], [-2, "0.01"], [0, "1"], [1, "10"]].map(([t, label]) => [onLog(10 ** t), label]));
  const marks = ["median", "mean"].map((name) => [h("line", { y1: 12, y2: TALL, class: `mark-line ${name}` }), h("text", { y: 9, class: "mark-name" }, name)]);
  pulls.svg.append(...marks.flat());
  const facts = [["spread", "spread (standard deviation) of the scores"], ["largest", "largest weight, on average"], ["median", "gradient, median"], ["mean", "gradient, mean"]]
    .map(([name, label]) => { const number = h("td", { class: "number", "data-name": name }); return { number, row: h("tr", {}, h("th", { scope: "row" }, label), number) }; });
  const status = h("p", { class: "status", "aria-live": "polite" });
  el.append(h("div", { class: "mha-figure scale", "data-figure": "score-scale", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" }, scores.box, largest.box, pulls.box), status, h("table", {}, h("tbody", {}, ...facts.map((f) => f.row)))));

  function draw() {
    const row = model.get("d_k"), n = counts[model.get("n")], power = model.get("power"), scale = widths[row] ** -power;
    const all = [], tops = [], gradients = [];
    for (let r = 0; r < queries; r++) {
      const size = length[row * queries + r], k = along.subarray(r * most, r * most + n), v = value.subarray(r * most, r * most + n);
      const s = Array.from(k, (x) => scale * size * x), w = softmax(s);
      const out = w.reduce((sum, x, j) => sum + x * v[j], 0);
      let alongQ = 0, square = 0;                                  // u_j = w_j (v_j - out): the gradient of out with respect to score j
      w.forEach((x, j) => { const u = x * (v[j] - out); alongQ += u * k[j]; square += u * u; });
      all.push(...s);
      tops.push(Math.max(...w));
      gradients.push(scale * Math.hypot(alongQ, across[row * queries + r] * Math.sqrt(square)));
    }
    const average = (list) => list.reduce((a, b) => a + b, 0) / list.length;
    const median = [...gradients].sort((a, b) => a - b)[queries >> 1];
    const values = [Math.sqrt(average(all.map((x) => x * x))), average(tops), median, average(gradients)];
    scores.show(shares(all, scoreEdges));
    largest.show(shares(tops, weightEdges));
    pulls.show(shares(gradients, gradientEdges));
    [median, values[3]].forEach((x, i) => {
      const at = onLog(x) * WIDE, side = (x >= [values[3], median][i]) ? 1 : -1;           // the larger one's name to its right
      set(marks[i][0], { x1: at, x2: at });
      set(marks[i][1], { x: at + 3 * side, "text-anchor": side > 0 ? "start" : "end" });
    });
    facts.forEach((fact, i) => { fact.number.dataset.value = values[i]; fact.number.textContent = values[i] < 0.01 ? values[i].toExponential(1).replace("-", "\u2212") : values[i].toFixed(2); });
    const sure = tops.filter((w) => w > 0.9).length / queries, dead = gradients.filter((g) => g < 0.001).length / queries;
    status.textContent = `${queries} random queries, ${n} keys each. ${Math.round(100 * sure)} % of them give more than 0.9 of their weight to one key; ` +
      `for ${Math.round(100 * dead)} % the gradient is below 0.001, too small to learn from.`;
  }
  return redraw(model, el, ["d_k", "n", "power"], draw);
}

export default { render };

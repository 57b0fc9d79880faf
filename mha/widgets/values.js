const REACH = 3.3;                                                // the planes show -REACH..REACH: the longest token stretched twice stays inside

const times = ([a, b], W) => [0, 1].map((axis) => a * W[0][axis] + b * W[1][axis]);      // a row vector times a matrix
const diamond = (x, y, r) => `M${x},${y - r} l${r},${r} l${-r},${r} l${-r},${-r} z`;
const pair = (name) => [0, 1].map(() => h("span", { "data-name": name }));
const bracketed = ([a, b]) => h("span", { class: "numbers" }, "(", a, ", ", b, ")");

// Points, their hull, a disc for each weight and the mixture: both planes are drawn alike
function scene({ svg, x: toX, y: toY }, count) {
  const draw = (tag, attributes, ...inside) => svg.appendChild(h(tag, attributes, ...inside));
  const each = (make) => Array.from({ length: count }, (_, i) => make(i));
  const grid = Array.from({ length: 10 }, () => draw("line", { class: "grid-line" }));
  const area = draw("polygon", { class: "hull" }), pulls = each(() => draw("line", { class: "pull" }));
  const discs = each(() => draw("circle", { class: "disc" })), marks = each(() => draw("circle", { r: 9, class: "mark" }));
  const numbers = each((i) => draw("text", { class: "mark-number" }, i + 1)), mixture = draw("path", { class: "mixture" });
  return {
    marks,
    // W: where the plane goes, as rows of a matrix; the grid goes with it
    show(points, W, weights, mixed) {
      grid.forEach((line, i) => {
        const t = (i >> 1) - 2, [from, to] = (i % 2 ? [[t, -2], [t, 2]] : [[-2, t], [2, t]]).map((end) => times(end, W));
        set(line, { x1: toX(from[0]), y1: toY(from[1]), x2: toX(to[0]), y2: toY(to[1]) });
      });
      set(area, { points: hull(points).map(([x, y]) => `${toX(x)},${toY(y)}`).join(" ") });
      points.forEach(([x, y], i) => {
        set(pulls[i], { x1: toX(x), y1: toY(y), x2: toX(mixed[0]), y2: toY(mixed[1]), "stroke-width": 8 * weights[i] });
        for (const circle of [discs[i], marks[i]]) set(circle, { cx: toX(x), cy: toY(y) });
        set(discs[i], { r: 9 + 16 * Math.sqrt(weights[i]) });
        set(numbers[i], { x: toX(x), y: toY(y) + 4 });
      });
      set(mixture, { d: diamond(toX(mixed[0]), toY(mixed[1]), 9) });
    },
  };
}

// Is a point strictly inside the hull of others? Their corners go round to the left
function among([x, y], points) {
  const corners = hull(points);
  return corners.every(([ax, ay], i) => {
    const [bx, by] = corners[(i + 1) % corners.length];
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 1e-9;
  });
}

function render({ model, el }) {
  const words = model.get("words"), tokens = model.get("tokens"), scores = model.get("scores"), targets = model.get("targets");
  const left = plane("Tokens", "x, and the diamond, their mixture", REACH), right = plane("Values", "x W_V, and their mixture, the output", REACH);
  const { x: toX, y: toY } = right;                                // both planes have the same scale
  const before = scene(left, words.length), after = scene(right, words.length);
  const names = words.map((word, i) => {
    const [x, y] = tokens[i];
    return left.svg.appendChild(h("text", { x: toX(x), y: toY(y) + (y > 0 ? -15 : 24), class: "word" }, word));
  });
  // Each token's target is a ring, named on its outer side; a broken line joins it to the token's output
  const goals = targets.map(([x, y]) => {
    const line = h("line", { x1: toX(x), y1: toY(y) }), ring = h("circle", { cx: toX(x), cy: toY(y) }), end = h("path", {});
    const name = h("text", { x: toX(x) + (x < 0 ? -17 : 17), y: toY(y) + 4, "text-anchor": x < 0 ? "end" : "start" });
    after.marks[0].before(line, ring, end);                        // a value keeps its number where an output comes to lie on it
    right.svg.append(name);
    return { line, ring, end, name };
  });

  const rows = words.map((word, i) => {
    const value = pair("value"), bar = h("span", { class: "bar" }), weight = h("span", {});
    const name = h("th", { scope: "row" }, `${i + 1}  ${word}`);
    const row = h("tr", {}, name, h("td", { class: "number" }, bracketed(value)), h("td", { class: "weight" }, bar, weight));
    return { value, bar, weight, name, row };
  });
  const column = (text, options = {}) => h("th", { scope: "col", ...options }, text);
  const looks = column("weight"), head = h("tr", {}, column("token"), column("value", { class: "number" }), looks);
  const table = h("table", { class: "weights" }, h("thead", {}, head), h("tbody", {}, ...rows.map((r) => r.row)));

  const mixture = pair("mixture"), out = pair("out"), matrix = [0, 1, 2, 3].map(() => h("span", { "data-name": "matrix" }));
  const distance = h("b", { "data-name": "distance" }), mean = h("b", { "data-name": "mean_distance" });
  const line = (text, ...shown) => h("tr", {}, h("th", { scope: "row" }, text), h("td", { class: "number" }, ...shown));
  const sum = h("table", { class: "sum" }, h("tbody", {},
    line("mixture of the tokens", bracketed(mixture)), line("times W_V", h("span", { class: "matrix" }, ...matrix)),
    line("is the mixture of the values", bracketed(out)), line("which misses its target by", distance), line("mean miss of all four", mean)));
  const status = h("p", { class: "status", "aria-live": "polite" });
  el.append(h("div", { class: "mha-figure values", "data-figure": "value-map", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" }, left.box, right.box), status, h("div", { class: "ledger" }, table, sum)));

  const mix = (weights, points) => [0, 1].map((axis) => weights.reduce((sum, w, i) => sum + w * points[i][axis], 0));
  // No minus sign on what is shown as nought
  const put = (span, x) => { span.dataset.value = x; span.textContent = signed(Math.abs(x) < 0.005 ? 0 : x); };

  const ask = (i) => { model.set("asking", i); model.save_changes(); };
  words.forEach((_, i) => { for (const part of [before.marks[i], names[i]]) part.addEventListener("click", () => ask(i)); });

  function draw() {
    const asking = model.get("asking"), first = model.get("first"), second = model.get("second"), angle = (model.get("turn") * Math.PI) / 180;
    const W = [[Math.cos(angle) * first, Math.sin(angle) * second], [-Math.sin(angle) * first, Math.cos(angle) * second]];
    const values = tokens.map((token) => times(token, W));
    const sharpness = model.get("sharpnesses")[model.get("sharpness")];
    const everyWeight = scores.map((row) => softmax(row.map((s) => sharpness * s))), weights = everyWeight[asking];
    const outs = everyWeight.map((w) => mix(w, values)), mixed = mix(weights, tokens);
    const misses = outs.map(([x, y], i) => Math.hypot(x - targets[i][0], y - targets[i][1]));

    before.show(tokens, [[1, 0], [0, 1]], weights, mixed);
    after.show(values, W, weights, outs[asking]);
    words.forEach((word, i) => {
      const chosen = i === asking;
      before.marks[i].classList.toggle("looks", chosen);
      names[i].classList.toggle("looks", chosen);
      rows[i].name.classList.toggle("looks", chosen);
      const { line, ring, end, name } = goals[i], x = toX(outs[i][0]), y = toY(outs[i][1]), kind = chosen ? "" : " other";
      set(line, { x2: x, y2: y, class: `miss${kind}` });
      set(ring, { r: chosen ? 13 : 9, class: `ring${kind}` });
      set(end, { d: diamond(x, y, chosen ? 9 : 5), class: `mixture${kind}` });
      name.textContent = chosen ? `target ${i + 1}` : i + 1;
      name.classList.toggle("looks", chosen);
      rows[i].value.forEach((span, axis) => put(span, values[i][axis]));
      rows[i].bar.style.width = `${64 * weights[i]}%`;
      rows[i].bar.dataset.weight = weights[i];
      rows[i].weight.textContent = weights[i].toFixed(3);
    });
    looks.textContent = `weight for \u201c${words[asking]}\u201d`;
    [0, 1].forEach((axis) => { put(mixture[axis], mixed[axis]); put(out[axis], outs[asking][axis]); });
    matrix.forEach((span, i) => put(span, W[i >> 1][i % 2]));
    put(distance, misses[asking]);
    put(mean, misses.reduce((a, b) => a + b) / misses.length);
    status.textContent = `${what(W, first * second, first || second, sharpness)} ${reached(asking, misses, among(targets[asking], values))}`;
  }

  function what(W, area, any, sharpness) {
    if (!any) return "Both stretches are 0: every value is the same, whatever the token.";
    if (!sharpness) return "All weights are equal, so the four outputs are one point, wherever W_V moves it.";
    if (!area) return "A stretch of 0 flattens the plane to a line: part of every token is lost.";
    const identity = [[1, 0], [0, 1]].every((row, i) => row.every((x, j) => Math.abs(x - W[i][j]) < 1e-9));
    return identity ? "W_V changes nothing: the values are the tokens." : "W_V has moved the values; the weights do not depend on it.";
  }

  function reached(asking, misses, inside) {
    const target = `The target of \u201c${words[asking]}\u201d lies`, by = `The output misses it by ${misses[asking].toFixed(2)}.`;
    if (Math.max(...misses) < 1e-9) return `The output of \u201c${words[asking]}\u201d is on its target, and so are those of the other three.`;
    return inside ? `${target} among the values, so other weights could reach it. ${by}`
      : `${target} outside the shaded values, which no mean leaves: no weights could reach it. ${by}`;
  }
  return redraw(model, el, ["asking", "turn", "first", "second", "sharpness"], draw);
}

export default { render };

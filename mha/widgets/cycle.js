const REACH = 2.6, AFTER = [1, 2, 0], ROOM = 330;                  // the plane shows -REACH..REACH; AFTER[i] beats i

// W = diag(1, second) R(turn), for rows that stand to its left
function matrix(turn, second) {
  const a = (turn * Math.PI) / 180, c = Math.cos(a), s = Math.sin(a);
  return [[c, s], [-second * s, second * c]];
}
const times = ([x, y], W) => [x * W[0][0] + y * W[1][0], x * W[0][1] + y * W[1][1]];

// The places of the three tokens in the picture of who looks at whom
const NODES = [90, 210, 330].map((a) => [ROOM / 2 + 105 * Math.cos((a * Math.PI) / 180), 165 - 105 * Math.sin((a * Math.PI) / 180)]);

// A bent arrow from node i to node j, that ends before the node, bent outwards or inwards; and where its number stands
function bent(i, j, bend) {
  const [x0, y0] = NODES[i], [x1, y1] = NODES[j], middle = [(x0 + x1) / 2, (y0 + y1) / 2], centre = [ROOM / 2, 165];
  const away = [middle[0] - centre[0], middle[1] - centre[1]], size = Math.hypot(...away);
  const via = [middle[0] + (bend * away[0]) / size, middle[1] + (bend * away[1]) / size];
  const towards = ([x, y], gap) => { const d = Math.hypot(via[0] - x, via[1] - y); return [x + (gap * (via[0] - x)) / d, y + (gap * (via[1] - y)) / d]; };
  const [a, b] = [towards([x0, y0], 24), towards([x1, y1], 30)];
  return { d: `M${a} Q${via} ${b}`, end: b, from: via, label: [0, 1].map((c) => (a[c] + 2 * via[c] + b[c]) / 4 + (Math.sign(bend) * 20 * away[c]) / size) };
}

function head([x, y], [fx, fy], size) {                            // the tip of an arrow at (x, y) that comes from (fx, fy)
  const d = Math.hypot(x - fx, y - fy) || 1, ux = (x - fx) / d, uy = (y - fy) / d;
  return `M${x + size * ux},${y + size * uy} L${x - 0.6 * size * uy},${y + 0.6 * size * ux} L${x + 0.6 * size * uy},${y - 0.6 * size * ux} z`;
}

function render({ model, el }) {
  const names = model.get("names"), points = model.get("points"), sharps = model.get("sharps");
  const left = plane("Queries", "(arrows) and keys (discs)", REACH);
  const keys = names.map(() => [h("circle", { r: 13, class: "key-disc" }), h("text", { class: "key-name" })]);
  const queries = names.map(() => [h("line", { x1: left.x(0), y1: left.y(0), class: "query" }), h("path", { class: "query-tip" }), h("text", { class: "query-name" })]);
  left.svg.append(...queries.flat(), ...keys.flat());
  const graph = h("svg", { viewBox: `0 0 ${ROOM} ${ROOM}`, "aria-hidden": "true" });
  const right = h("div", { class: "plane graph" }, h("div", { class: "plane-title" }, h("b", {}, "Weights"), " as thick as they are large"), graph);
  const arrows = [];
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) {
    const kind = i === j ? "self" : AFTER[i] === j ? "forwards" : "backwards", shape = i === j ? null : bent(i, j, kind === "forwards" ? 46 : -26);
    const [x, y] = NODES[i], out = [(x - ROOM / 2) / 105, (y - 165) / 105];
    const line = i === j ? h("circle", { cx: x + 27 * out[0], cy: y + 27 * out[1], r: 15, class: "arrow self" }) : h("path", { d: shape.d, class: `arrow ${kind}` });
    const tip = h("path", { class: `tip ${kind}` }), [lx, ly] = i === j ? [x + 56 * out[0], y + 56 * out[1]] : shape.label;
    const label = h("text", { x: lx, y: ly + 4, class: `arrow-name ${kind}` });
    graph.append(line, tip, label);
    arrows.push({ line, tip, label, shape });
  }
  NODES.forEach(([x, y], i) => graph.append(h("circle", { cx: x, cy: y, r: 22, class: "node" }), h("text", { x, y: y + 4, class: "node-name" }, names[i])));

  const fact = (label, kind) => { const number = h("td", { class: "number" }); return { number, row: h("tr", {}, h("th", { scope: "row", class: kind }, label), number) }; };
  const rows = [fact("forwards, each at the one that beats it: rock, paper, scissors, rock", "forwards"), fact("backwards: rock, scissors, paper, rock", "backwards"), fact("loss, the mean of \u2212ln(weight forwards); to toss a coin costs ln 2 = 0.693", "")];
  const status = h("p", { class: "status", "aria-live": "polite" });
  el.append(h("div", { class: "mha-figure cycle", "data-figure": "beats-cycle", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" }, left.box, right), status,
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "product of the three weights around the cycle"), h("th", { scope: "col", class: "number" }, ""))), h("tbody", {}, ...rows.map((r) => r.row)))));

  function draw() {
    const tied = model.get("tied"), alone = model.get("exclude_self"), second = model.get("second"), sharp = sharps[model.get("sharp")];
    const Q = points.map((p) => times(p, matrix(model.get("turn_q"), second))), K = tied ? Q : points.map((p) => times(p, matrix(model.get("turn_k"), second)));
    const weights = Q.map((q, i) => softmax(K.map((k, j) => (alone && i === j ? -Infinity : sharp * (q[0] * k[0] + q[1] * k[1])))));
    K.forEach(([x, y], i) => {
      set(keys[i][0], { cx: left.x(x), cy: left.y(y) });
      set(keys[i][1], { x: left.x(x), y: left.y(y) + 4 });
      keys[i][1].textContent = names[i][0].toUpperCase();
    });
    Q.forEach(([x, y], i) => {
      const size = Math.hypot(x, y), tip = [left.x(x), left.y(y)], out = size < 0.05 ? [0, 0] : [x / size, -y / size];
      const end = [tip[0] - 19 * out[0], tip[1] - 19 * out[1]];    // the disc of a key on the same spot stays readable
      set(queries[i][0], { x2: end[0], y2: end[1] });
      set(queries[i][1], { d: head(end, [left.x(0), left.y(0)], size < 0.3 ? 0 : 7) });
      set(queries[i][2], { x: tip[0] + 18 * out[0], y: tip[1] + 24 * out[1] + 4, "text-anchor": Math.abs(out[0]) < 0.4 ? "middle" : out[0] > 0 ? "start" : "end" });
      queries[i][2].textContent = names[i];
    });
    weights.flat().forEach((w, index) => {
      const { line, tip, label, shape } = arrows[index];
      set(line, { "stroke-width": Math.max(0.5, 11 * w), "data-weight": w, "stroke-opacity": w < 0.005 ? 0.25 : 0.8 });
      if (shape) set(tip, { d: head(shape.end, shape.from, 5 + 7 * w), "fill-opacity": w < 0.005 ? 0.25 : 0.9 });
      label.textContent = w < 0.005 ? "" : w.toFixed(2);
    });
    const around = [0, 1].map((back) => [0, 1, 2].reduce((product, i) => product * (back ? weights[AFTER[i]][i] : weights[i][AFTER[i]]), 1));
    const loss = -[0, 1, 2].reduce((sum, i) => sum + Math.log(weights[i][AFTER[i]]), 0) / 3;
    [["around", around[0]], ["around", around[1]], ["loss", loss]].forEach(([name, value], i) => {
      rows[i].number.dataset.name = name;
      rows[i].number.dataset.value = value;
      rows[i].number.textContent = value >= 0.001 || value === 0 ? value.toFixed(3) : value.toExponential(1).replace("-", "\u2212");
    });
    const same = Math.abs(Math.log(around[0] / around[1])) < 1e-9;
    const turned = (name) => `${signed(model.get(name), 0)}\u00b0`;
    status.textContent = (tied ? `One matrix, turned by ${turned("turn_q")} (the turn for W_K, ${turned("turn_k")}, waits until you release it). Both ways around the cycle have the same product, whatever you do. `
      : `W_Q is turned by ${turned("turn_q")}, W_K by ${turned("turn_k")}. ${same ? "At this setting both ways have the same product. " : "The two ways differ. "}`)
      + (loss < 0.1 ? "The head knows who beats whom." : loss < Math.LN2 - 1e-9 ? "The head does better than a coin." : "The head does no better than a coin.");
  }
  return redraw(model, el, ["tied", "exclude_self", "turn_q", "turn_k", "second", "sharp"], draw);
}

export default { render };

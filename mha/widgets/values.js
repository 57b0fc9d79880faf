const REACH = 3.3, BAR = 110;                                      // the planes show -REACH..REACH; the longest bar, in pixels

// W_V: a turn, then each coordinate times a number, for rows that stand to its left
function valueMatrix(degrees, first, second) {
  const a = (degrees * Math.PI) / 180, c = Math.cos(a), s = Math.sin(a);
  return [[c * first, s * second], [-s * first, c * second]];
}
const times = ([x, y], W) => [x * W[0][0] + y * W[1][0], x * W[0][1] + y * W[1][1]];
const mix = (weights, points) => [0, 1].map((c) => weights.reduce((sum, w, j) => sum + w * points[j][c], 0));
const gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

// A plane with the hull of four points, their words, the pulls of the weights, and the mixture as a diamond
function scene(title, note, words) {
  const view = plane(title, note, REACH), area = h("polygon", { class: "hull" });
  const pulls = words.map(() => h("line", { class: "pull" })), dots = words.map(() => h("circle", { r: 5, class: "value-dot" }));
  const names = words.map((word) => h("text", { class: "value-name" }, word)), diamond = h("path", { class: "mixture" });
  view.svg.append(area, ...pulls, ...dots, ...names, diamond);
  view.show = (points, weights, mixed) => {
    set(area, { points: hull(points).map(([x, y]) => `${view.x(x)},${view.y(y)}`).join(" ") });
    const centre = mix(points.map(() => 1 / points.length), points), flat = hull(points).length < 3;      // on a line the words would collide
    points.forEach((p, j) => {
      const away = [p[0] - centre[0], p[1] - centre[1]], far = Math.hypot(...away) || 1, x = view.x(p[0]), y = view.y(p[1]);
      set(pulls[j], { x1: x, y1: y, x2: view.x(mixed[0]), y2: view.y(mixed[1]), "stroke-width": 9 * weights[j] });
      set(dots[j], { cx: x, cy: y });
      set(names[j], { x: x + (11 * away[0]) / far, y: flat ? y + [-12, 22, -26, 36][j] : y - (13 * away[1]) / far + 4, "text-anchor": Math.abs(away[0]) < 0.3 * far ? "middle" : away[0] > 0 ? "start" : "end" });
    });
    set(diamond, { d: `M${view.x(mixed[0])},${view.y(mixed[1]) - 8} l8,8 l-8,8 l-8,-8 z` });
  };
  return view;
}

function render({ model, el }) {
  const words = model.get("words"), tokens = model.get("points"), table = model.get("scores"), sharps = model.get("sharps"), wanted = model.get("wanted");
  const goal = valueMatrix(wanted.degrees, wanted.first, wanted.second);
  const left = scene("Tokens", "and their mixture", words), right = scene("Values", "the tokens times W_V", words);
  const ring = right.svg.appendChild(h("circle", { r: 13, class: "target" })), aim = right.svg.appendChild(h("text", { class: "target-name" }, "target"));
  const bars = words.map((word) => {
    const bar = h("span", { class: "bar" }), number = h("span", {});
    return { bar, number, row: h("tr", {}, h("th", { scope: "row" }, word), h("td", { class: "weight numbers" }, bar, number)) };
  });
  const entry = (name) => h("span", { class: "numbers", "data-name": name });
  const entries = [0, 1, 2, 3].map(() => entry("matrix")), out = [entry("out"), entry("out")], distance = entry("distance"), mean = entry("mean_distance");
  const put = (span, value, digits = 2) => { span.dataset.value = value; span.textContent = signed(Math.abs(value) < 5e-3 ? 0 : value, digits); };
  const status = h("p", { class: "status", "aria-live": "polite" });
  const weightsOf = h("th", { scope: "col" }), heading = h("tr", {}, weightsOf, h("th", { scope: "col" }, "weight: where it looks"));
  const facts = h("dl", { class: "facts" },
    h("dt", {}, "W_V"), h("dd", {}, h("span", { class: "matrix" }, ...entries)),
    h("dt", {}, "carried"), h("dd", {}, "(", out[0], ", ", out[1], ")"),
    h("dt", {}, "distance from the target"), h("dd", {}, distance),
    h("dt", {}, "mean over the four tokens"), h("dd", {}, mean));
  el.append(h("div", { class: "mha-figure values", "data-figure": "value-map", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" }, left.box, right.box), status,
    h("div", { class: "planes" }, h("table", { class: "plane" }, h("thead", {}, heading), h("tbody", {}, ...bars.map((b) => b.row))), h("div", { class: "plane" }, facts))));

  function draw() {
    const asks = model.get("asks"), W = valueMatrix(model.get("degrees"), model.get("first"), model.get("second"));
    const weights = table.map((row) => softmax(row.map((s) => sharps[model.get("sharp")] * s)));
    const values = tokens.map((p) => times(p, W)), outs = weights.map((w) => mix(w, values)), goals = weights.map((w) => times(mix(w, tokens), goal));
    left.show(tokens, weights[asks], mix(weights[asks], tokens));
    right.show(values, weights[asks], outs[asks]);
    const [x, y] = [right.x(goals[asks][0]), right.y(goals[asks][1])];
    set(ring, { cx: x, cy: y });
    set(aim, { x, y: y - 18 });
    weights[asks].forEach((w, j) => {
      bars[j].bar.style.width = `${BAR * w}px`;
      bars[j].bar.dataset.weight = w;
      bars[j].number.textContent = w.toFixed(3);
    });
    weightsOf.textContent = `\u201c${words[asks]}\u201d looks at`;
    W.flat().forEach((value, i) => put(entries[i], value));
    outs[asks].forEach((value, i) => put(out[i], value));
    const off = outs.map((o, i) => gap(o, goals[i])), all = off.reduce((a, b) => a + b, 0) / off.length;
    put(distance, off[asks], 3);
    put(mean, all, 3);
    const same = Math.max(...tokens.map((p, j) => gap(p, values[j]))) < 1e-9, line = Math.abs(W[0][0] * W[1][1] - W[0][1] * W[1][0]) < 1e-9;
    status.textContent = same ? "Here W_V changes nothing: the values are the tokens. Whatever the weights, a mixture stays in the shaded hull, and the target lies outside it."
      : all < 1e-9 ? "Every token's mixture sits on its target. The weights are the same as before: W_V changed what is carried, not where the head looks."
      : line ? "The values lie on a line: this W_V has rank 1 or 0, and it drops what the tokens say across that line."
      : off[asks] < 0.15 ? "Close. Now try the other tokens: the same W_V serves them all." : "The values moved, and their mixture moved with them. The weights did not change.";
  }
  return redraw(model, el, ["asks", "sharp", "degrees", "first", "second"], draw);
}

export default { render };

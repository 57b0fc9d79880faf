const [LAYERS, HEADS] = [6, 12];
const ALL = LAYERS * HEADS;
const LEAST = 0.9;
// What the status line calls each order, and where its curve is named: above it or below, where others leave room
const CALLED = ["Greedy order", "By the mean size of the gradient", "One random order",
  "One random order, last layer last", "Costliest heads first"];
const NAMED = [[47, 0.957, 30], [31.5, 0.917, 18], [43, 0.768, 24], [31, 0.863, 20], [25, 0.712, 14]];

export default figure(({ names, orders, cosines }, { change }) => {
  const stored = float16(cosines);
  const curves = names.map((_, i) => Array.from(stored.subarray(i * (ALL + 1), (i + 1) * (ALL + 1))));

  // The layers stand as in the model, the last on top
  const cells = tabulate(ALL, () => h("i", { class: "head" }));
  const rows = tabulate(LAYERS, (layer) => {
    const count = h("span", { class: "tabular" });
    const own = cells.slice(layer * HEADS, (layer + 1) * HEADS);
    const box = h("div", { class: "layer" }, `layer ${layer}`, ...own, count);
    return { count, box };
  });
  const grid = h("div", { class: "grid", "aria-hidden": "true" }, ...rows.map(({ box }) => box).reverse());
  const left = h("div", { class: "plane heads" }, planeTitle("Heads", "that are left, and how many"), grid);
  const right = curvePlane("Cosine", "with the whole model\u2019s vectors", "heads gone", tabulate(7, (i) => 12 * i),
    [0.5, 0.6, 0.7, 0.8, 0.9, 1], (value) => value.toFixed(1));
  const faint = curves.map((cosines) => h("path", { class: "line soft", d: right.path([...cosines.entries()]) }));
  const line = h("path", { class: "line" });
  const limit = h("path", { class: "limit", d: right.path([[0, LEAST], [ALL, LEAST]]) });
  const dot = h("circle", { r: 6, class: "now" });
  const held = grip("circle", "gone", ([x]) => change({ gone: nearestTo([x], stepsOf(0, ALL), (k) => [right.x(k)]) }));
  const words = NAMED.map(([k, cosine, turn], i) => h("text",
    { transform: `translate(${right.x(k)} ${right.y(cosine)}) rotate(${turn})` }, names[i]));
  right.svg.append(...faint, limit, line, ...words, dot, held);
  const status = statusLine(sentenceFor(CALLED[3], 72, 0.999, 32));

  function sentenceFor(name, gone, cosine, last) {
    return `${name}: ${gone} of ${ALL} heads gone, cosine ${cosine.toFixed(3)}. `
      + `With up to ${last} gone it stays at ${LEAST} or above.`;
  }

  function draw({ order, gone }) {
    const off = new Set(orders[order].slice(0, gone));
    const cosine = curves[order];
    const last = cosine.findIndex((value) => value < LEAST) - 1;
    const there = tabulate(ALL, (head) => Number(!off.has(head)));
    cells.forEach((cell, head) => set(cell, { class: there[head] ? "head" : "head hatched" }));
    const counts = rows.map((_, layer) => sum(there.slice(layer * HEADS, (layer + 1) * HEADS)));
    rows.forEach(({ count }, layer) => write(count, counts[layer]));
    words.forEach((word, i) => set(word, { class: i === order ? "curve-name here" : "curve-name" }));
    set(line, { d: right.path([...cosine.entries()]) });
    for (const disc of [dot, held]) set(disc, { cx: right.x(gone), cy: right.y(cosine[gone]) });
    say(status, sentenceFor(CALLED[order], gone, cosine[gone], last));
    return {
      numbers: { cosine, left: there, last },
      tables: () => [
        ["Heads left", tabulate(HEADS, String), rowsOf(rows.map((_, layer) => `layer ${layer}`), there)],
        ["At 0.9 or above", ["heads gone"], [["up to", last]]],
        ["Cosine", ["cosine"], cosine.map((value, k) => [`${k} gone`, value])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, left, right.box), status], draw };
});

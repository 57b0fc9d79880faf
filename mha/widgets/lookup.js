const REACH = 3.8;                                                // the planes show -REACH..REACH

// A disc for each point: area grows with the weight, the number stays readable
function discs({ svg, x: toX, y: toY }, points) {
  return points.map(([x, y], i) => {
    const disc = h("circle", { cx: toX(x), cy: toY(y), class: "disc" });
    svg.append(disc, h("circle", { cx: toX(x), cy: toY(y), r: 9, class: "mark" }), h("text", { x: toX(x), y: toY(y) + 4, class: "mark-number" }, i + 1));
    return disc;
  });
}

function render({ model, el }) {
  const names = model.get("names"), keys = model.get("key_points"), values = model.get("value_points"), temperatures = model.get("temperatures");
  const left = plane("Keys", "and the query: drag it", REACH), right = plane("Values", "and their mixture", REACH);
  const { x: toX, y: toY } = left;                                 // both planes have the same scale
  const arrow = h("line", { x1: toX(0), y1: toY(0), class: "query" }), handle = h("circle", { r: 10, class: "handle" });
  const keyDiscs = discs(left, keys);
  left.svg.append(arrow, handle);
  right.svg.prepend(h("polygon", { points: hull(values).map(([x, y]) => `${toX(x)},${toY(y)}`).join(" "), class: "hull" }));
  const pulls = values.map(([x, y]) => right.svg.appendChild(h("line", { x1: toX(x), y1: toY(y), class: "pull" })));
  const valueDiscs = discs(right, values);
  const mixture = right.svg.appendChild(h("path", { class: "mixture" }));

  const rows = names.map((name, i) => {
    const score = h("td", { class: "number", "data-name": "score" }), bar = h("span", { class: "bar" }), weight = h("span", {});
    const row = h("tr", {}, h("th", { scope: "row" }, `${i + 1}  ${name}`), score, h("td", { class: "weight" }, bar, weight));
    return { row, score, bar, weight };
  });
  const out = [0, 1].map(() => h("span", { "data-name": "out", class: "numbers" })), sentence = h("span", {});
  const status = h("p", { class: "status", "aria-live": "polite" }, sentence, " The mixed value is (", out[0], ", ", out[1], ").");
  const head = h("tr", {}, h("th", { scope: "col" }, "key"), h("th", { scope: "col", class: "number" }, "score"), h("th", { scope: "col" }, "weight"));
  const table = h("table", { class: "lookup-table" }, h("thead", {}, head), h("tbody", {}, ...rows.map((r) => r.row)));
  el.append(h("div", { class: "mha-figure lookup", "data-figure": "soft-lookup", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" }, left.box, right.box), status, table));

  function draw() {
    const query = [model.get("query_x"), model.get("query_y")], T = temperatures[model.get("temperature")];
    const distance = model.get("score") === 1;
    const scores = keys.map((k) => distance ? -((query[0] - k[0]) ** 2 + (query[1] - k[1]) ** 2) / 2 : query[0] * k[0] + query[1] * k[1]);
    const weights = softmax(scores.map((s) => s / T));
    const mixed = [0, 1].map((axis) => values.reduce((sum, v, i) => sum + weights[i] * v[axis], 0));

    set(arrow, { x2: toX(query[0]), y2: toY(query[1]) });
    set(handle, { cx: toX(query[0]), cy: toY(query[1]) });
    set(mixture, { d: `M${toX(mixed[0])},${toY(mixed[1]) - 9} l9,9 l-9,9 l-9,-9 z` });
    weights.forEach((w, i) => {
      for (const discList of [keyDiscs, valueDiscs]) set(discList[i], { r: 9 + 26 * Math.sqrt(w) });
      set(pulls[i], { x2: toX(mixed[0]), y2: toY(mixed[1]), "stroke-width": 8 * w });
      rows[i].score.textContent = signed(scores[i]);
      rows[i].score.dataset.value = scores[i];
      rows[i].bar.style.width = `${64 * w}%`;
      rows[i].weight.textContent = w.toFixed(3);
      rows[i].bar.dataset.weight = w;
    });
    mixed.forEach((x, i) => { out[i].dataset.value = x; out[i].textContent = signed(x); });
    const best = weights.indexOf(Math.max(...weights)), many = Math.exp(-weights.reduce((s, w) => s + (w > 0 ? w * Math.log(w) : 0), 0));
    sentence.textContent = `At temperature ${T} the largest weight, ${weights[best].toFixed(2)}, is on book ${best + 1}, ${names[best]}. ` +
      `The lookup reads as if from ${many.toFixed(1)} books.`;
  }

  function drag(event) {
    const box = left.svg.getBoundingClientRect();
    const place = (fraction) => Math.round(Math.max(-3.5, Math.min(3.5, (fraction - 0.5) * 2 * REACH)) * 10) / 10;
    model.set("query_x", place((event.clientX - box.left) / box.width));
    model.set("query_y", -place((event.clientY - box.top) / box.height));
    model.save_changes();
  }
  left.svg.addEventListener("pointerdown", (event) => { left.svg.setPointerCapture(event.pointerId); drag(event); });
  left.svg.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
  return redraw(model, el, ["query_x", "query_y", "temperature", "score"], draw);
}

export default { render };

const WIDE = 400, HIGH = 300, LEFT = 34, BOTTOM = 30;              // the picture of the errors, in its own units

function render({ model, el }) {
  const counts = model.get("counts"), many = model.get("many"), errors = model.get("errors"), shares = float16(model.get("shares"));
  const runs = errors[0][0].length;
  const starts = {};                                              // where the shares of r, h begin
  const samples = model.get("samples"), sentences = model.get("sentences"), TOKENS = 16, begins = {};        // and where their weights on single sentences do
  let at = 0, from = 0;
  many.forEach((r, i) => counts.forEach((c, j) => {
    starts[[i, j]] = at;
    begins[[i, j]] = from;
    at += runs * c * r;
    from += runs * sentences * c * TOKENS;
  }));

  const x = (j) => LEFT + ((j + 0.5) * (WIDE - LEFT)) / counts.length, y = (error) => 8 + (1 - error) * (HIGH - BOTTOM - 8);
  const left = h("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const band = h("rect", { y: 0, height: HIGH - BOTTOM, width: (WIDE - LEFT) / counts.length, class: "band" });
  left.append(band);
  for (const error of [0, 0.25, 0.5, 0.75, 1])
    left.append(h("line", { x1: LEFT, x2: WIDE, y1: y(error), y2: y(error), class: "axis" }), h("text", { x: LEFT - 6, y: y(error) + 4, class: "tick end" }, error));
  counts.forEach((c, j) => left.append(h("text", { x: x(j), y: HIGH - 12, class: "tick" }, `h = ${c}`)));
  const floors = counts.map(() => h("line", { class: "floor" }));
  const dots = counts.map(() => Array.from({ length: runs }, () => h("circle", { r: 4, class: "run" })));
  left.append(...floors, ...dots.flat());

  const right = h("svg", { "aria-hidden": "true" });
  const title = h("div", { class: "plane-title" });
  const status = h("p", { class: "status", "aria-live": "polite" });
  el.append(h("div", { class: "mha-figure trained", "data-figure": "trained-heads", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" },
      h("div", { class: "plane errors" }, h("div", { class: "plane-title" }, h("b", {}, "Error"), " of eight runs each; bars: the floor"), left),
      h("div", { class: "plane heads" }, title, right, colourKey())), status));

  function draw() {
    const i = model.get("relations"), j = model.get("heads"), r = many[i], c = counts[j], run = model.get("run") - 1;
    set(band, { x: x(j) - (WIDE - LEFT) / counts.length / 2 });
    counts.forEach((count, k) => {
      const low = Math.max(0, 1 - count / r);
      set(floors[k], { x1: x(k) - 24, x2: x(k) + 24, y1: y(low), y2: y(low) });
      errors[i][k].forEach((error, n) => {
        set(dots[k][n], { cx: x(k) + (n - (runs - 1) / 2) * 5, cy: y(error), class: k === j && n === run ? "run shown" : "run" });
        if (k === j) set(dots[k][n], { "data-name": "error", "data-value": error });
        else { delete dots[k][n].dataset.name; delete dots[k][n].dataset.value; }
      });
      if (k === j) set(floors[k], { "data-name": "floor", "data-value": low });
      else { delete floors[k].dataset.name; delete floors[k].dataset.value; }
    });

    const sentence = model.get("sentence"), columns = sentence ? TOKENS : r;
    const mean = starts[[i, j]] + run * c * r, one = begins[[i, j]] + (run * sentences + sentence - 1) * c * TOKENS;
    const weightOf = (head, k) => (sentence ? samples.getUint8(one + head * TOKENS + k) / 255 : shares[mean + head * r + k]);
    const cell = Math.min(46, 300 / Math.max(c, columns)), broad = Math.max(cell, Math.min(46, 260 / columns));
    right.replaceChildren();
    set(right, { viewBox: `0 0 ${64 + columns * broad} ${26 + c * cell}` });
    right.style.maxWidth = `${64 + columns * broad}px`;
    for (let k = 0; k < r; k++) right.append(h("text", { x: 60 + (k + 0.5) * broad, y: 16, class: "tick" }, sentence ? k + 1 : `rel. ${k + 1}`));
    if (sentence) right.append(h("text", { x: 60 + ((r + TOKENS) / 2) * broad, y: 16, class: "tick" }, "unrelated tokens"));
    for (let head = 0; head < c; head++) {
      if (c <= 16 || head % 4 === 3) right.append(h("text", { x: 54, y: 26 + (head + 0.5) * cell + 4, class: "tick end" }, `head ${head + 1}`));
      for (let k = 0; k < columns; k++) {
        const weight = weightOf(head, k);
        right.append(h("rect", { x: 60 + k * broad, y: 22 + head * cell, width: broad - 1, height: Math.max(cell - 1, 1), fill: shade(weight), "data-weight": weight }));
      }
    }
    title.replaceChildren(h("b", {}, "Whom the heads look at"), ` in run ${run + 1}: ${sentence ? "weights on one sentence" : "mean weight"}`);
    const sorted = [...errors[i][j]].sort((a, b) => a - b), middle = (sorted[runs / 2 - 1] + sorted[runs / 2]) / 2, low = Math.max(0, 1 - c / r);
    status.textContent = `${c} head${c > 1 ? "s" : ""} of d_k = ${64 / c} for ${r} relation${r > 1 ? "s" : ""}: errors from ${sorted[0].toFixed(3)} to ${sorted[runs - 1].toFixed(3)}, in the middle ${middle.toFixed(3)}. `
      + (low ? `Heads that choose by names alone cannot get below ${low.toFixed(3)}.` : c === r ? "There is a head for each relation." : "There are more heads than relations, and each is narrower.");
  }
  return redraw(model, el, ["relations", "heads", "run", "sentence"], draw);
}

export default { render };

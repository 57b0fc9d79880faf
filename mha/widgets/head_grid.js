const GAP = 10, TITLE = 17;                                        // pixels around a map, and for its title

// How many columns make `count` square maps largest in a box
function tiling(count, width, height) {
  let best = { side: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const side = Math.min((width - GAP * (columns - 1)) / columns, (height - GAP * (rows - 1)) / rows - 2 * TITLE);
    if (side > best.side) best = { columns, rows, side };
  }
  return best;
}

// One map: n * n cells of size `cell` on a grid of step 1, in a group that is moved and scaled as a whole
function heatMap(svg, cell) {
  const group = h("g"), mark = h("rect", { class: "row-mark" }), cells = [];
  let n = 0, side = 0, x0 = 0, y0 = 0, filled = null;
  return {
    place(x, y, size, count) {
      if (!group.parentNode) svg.append(group, mark);
      [x0, y0, side, n] = [x, y, size, count];
      if (cells.length !== n * n) {
        cells.splice(0, Infinity, ...Array.from({ length: n * n }, (_, i) => h("rect", { x: i % n, y: Math.floor(i / n), width: cell, height: cell })));
        group.replaceChildren(...cells);
        filled = null;
      }
      group.setAttribute("transform", `translate(${x} ${y}) scale(${side / n})`);
    },
    fill(weights, row) {
      if (weights !== filled) weights.forEach((w, i) => { cells[i].setAttribute("fill", shade(w)); cells[i].setAttribute("data-weight", w); });
      filled = weights;
      set(mark, { x: x0 - 1, y: y0 + (row * side) / n - 1, width: side + 2, height: side / n + 2 });
    },
    hide() { group.remove(); mark.remove(); },
    at(x, y) {                                                     // the cell under a point, as [row, column]
      const i = Math.floor(((y - y0) / side) * n), j = Math.floor(((x - x0) / side) * n);
      return group.parentNode && i >= 0 && j >= 0 && i < n && j < n ? [i, j] : null;
    },
  };
}

function render({ model, el }) {
  const cuts = model.get("cuts"), most = model.get("maps"), d = model.get("d_model");
  const sentences = model.get("sentences").map(({ tokens, q, k }) => ({ tokens, Q: float16(q), K: float16(k) }));
  const grid = h("svg", { class: "grid", "aria-hidden": "true" }), large = h("svg", { class: "large", "aria-hidden": "true" });
  const status = h("p", { class: "status", "aria-live": "polite" }), ledger = h("div", { class: "ledger" });
  const root = h("div", { class: "mha-figure head-grid", "data-figure": "head-grid", role: "group", "aria-label": model.get("label") },
    h("div", { class: "maps" }, grid, h("div", { class: "chosen-head" }, large, colourKey(), status)), ledger);
  el.append(root);

  const maps = [], titles = [], tops = [];
  const largeMap = heatMap(large, 0.94), largeTitle = large.appendChild(h("text", { class: "title" }));
  const rowNames = [], columnNames = [];
  const value = (name) => h("b", { "data-name": name });
  const shown = { columns: value("columns"), parameters: value("parameters"), scores: value("scores"), kib: value("kib") };
  const shape = { q: h("code"), s: h("code"), c: h("code") };
  ledger.append(...[
    ["queries, keys, values, each", shape.q, h("span", {}, "h \u00b7 d_k = ", shown.columns, " columns")],
    ["scores, and weights", shape.s, h("span", {}, shown.scores, " numbers, ", shown.kib, " KiB")],
    ["heads side by side, then W_O", shape.c, h("span", {}, shown.parameters, " parameters")],
  ].map(([name, code, rest]) => h("div", {}, h("div", { class: "soft" }, name), code, rest)));

  function list(pool, parent, count, attributes) {
    while (pool.length < count) pool.push(parent.appendChild(h("text", attributes)));
    pool.forEach((text, i) => { if (i >= count) text.textContent = ""; });
  }

  // The maps of a setting; marking another row or another head asks for the same ones again
  let last = "", weights = [];
  function weightsOf(heads, d_k, sentence, count) {
    const { tokens, Q, K } = sentences[sentence], key = [heads, d_k, sentence].join();
    if (key !== last) weights = Array.from({ length: count }, (_, i) =>
      headWeights(Q, K, tokens.length, Array.from({ length: d_k }, (_, c) => (Math.floor((i * d) / heads) + c) % d)));
    last = key;
    return weights;
  }

  function draw() {
    const heads = cuts[model.get("num_heads")], d_k = cuts[model.get("d_k")], { tokens } = sentences[model.get("sentence")];
    const n = tokens.length, count = Math.min(heads, most), chosen = Math.min(model.get("head"), count) - 1, row = Math.min(model.get("word"), n - 1);
    const all = weightsOf(heads, d_k, model.get("sentence"), count);
    const room = root.clientWidth || 700, beside = room >= 560, largeWidth = beside ? Math.min(330, room * 0.43) : room;
    const width = beside ? room - largeWidth - 24 : room, height = beside ? 490 : room * 1.05;

    const { columns, side } = tiling(count, width, height);
    set(grid, { viewBox: `0 0 ${width} ${height}`, width, height });
    list(titles, grid, count, { class: "title" }); list(tops, grid, count, { class: "top soft" });
    while (maps.length < count) maps.push(heatMap(grid, 1.02));
    maps.forEach((map, i) => {
      if (i >= count) return map.hide();
      const x = (i % columns) * (side + GAP), y = Math.floor(i / columns) * (side + GAP + 2 * TITLE);
      map.place(x, y + TITLE, side, n);
      map.fill(all[i], row);
      const strongest = all[i].subarray(row * n, (row + 1) * n), j = strongest.indexOf(Math.max(...strongest));
      set(titles[i], { x, y: y + 12, class: i === chosen ? "title chosen" : "title" });
      titles[i].textContent = side >= 60 ? `head ${i + 1}` : i + 1;
      set(tops[i], { x, y: y + TITLE + side + 13 });
      tops[i].textContent = side >= 76 ? `${tokens[j]} ${strongest[j].toFixed(2)}` : side >= 34 ? tokens[j].slice(0, Math.floor(side / 7)) : "";
    });

    const margin = 62, cell = Math.min(24, (largeWidth - margin - 4) / n), size = cell * n;
    set(large, { viewBox: `0 0 ${largeWidth} ${size + margin + 26}`, width: largeWidth, height: size + margin + 26 });
    largeMap.place(margin, margin + 20, size, n);
    largeMap.fill(all[chosen], row);
    set(largeTitle, { x: 0, y: 12 });
    largeTitle.textContent = `head ${chosen + 1}: rows look, columns are looked at`;
    list(rowNames, large, n, { "text-anchor": "end" }); list(columnNames, large, n, { "text-anchor": "start" });
    tokens.forEach((token, i) => {
      const x = margin + (i + 0.5) * cell + 4, y = margin + 14;
      set(rowNames[i], { x: margin - 6, y: margin + 20 + (i + 0.5) * cell + 4, class: i === row ? "here" : "" });
      set(columnNames[i], { x, y, transform: `rotate(-90 ${x} ${y})` });
      rowNames[i].textContent = columnNames[i].textContent = token;
    });

    const numbers = { columns: heads * d_k, parameters: 4 * d * heads * d_k, scores: heads * n * n, kib: (4 * heads * n * n) / 1024 };
    for (const [name, x] of Object.entries(numbers)) { shown[name].dataset.value = x; shown[name].textContent = x.toLocaleString("en", { maximumFractionDigits: 1 }); }
    shape.q.textContent = `(${heads}, ${n}, ${d_k})`;
    shape.s.textContent = `(${heads}, ${n}, ${n})`;
    shape.c.textContent = `(${n}, ${heads * d_k}) \u2192 (${n}, ${d})`;
    const kind = heads === 12 && d_k === 32 ? "The heads as they were trained." : heads * d_k === d ? "The trained columns, cut another way."
      : heads * d_k < d ? `${d - heads * d_k} of the ${d} trained columns are left out.` : "The heads share columns: more width, no new weights.";
    const sharpest = all[chosen].subarray(row * n, (row + 1) * n), top = sharpest.indexOf(Math.max(...sharpest));
    status.textContent = `h = ${heads}, d_k = ${d_k}. ${kind}${heads > most ? ` The first ${most} of ${heads} heads are drawn.` : ""} ` +
      `In head ${chosen + 1}, \u201c${tokens[row]}\u201d looks most at \u201c${tokens[top]}\u201d: ${sharpest[top].toFixed(2)}.`;
  }

  // With the link on, h and d_k follow each other; the cuts are the divisors of d_model in order, so their partners are mirrored
  const partner = (i) => cuts.length - 1 - i;
  const tie = (moved, follower) => () => {
    if (model.get("linked") && model.get(follower) !== partner(model.get(moved))) { model.set(follower, partner(model.get(moved))); model.save_changes(); }
  };
  model.on("change:num_heads", tie("num_heads", "d_k"));
  model.on("change:d_k", tie("d_k", "num_heads"));
  model.on("change:linked", tie("num_heads", "d_k"));

  const pick = (svg, find) => svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    find(event.clientX - box.left, event.clientY - box.top);
    model.save_changes();
  });
  pick(grid, (x, y) => { const i = maps.findIndex((map) => map.at(x, y)); if (i >= 0) { model.set("head", i + 1); model.set("word", maps[i].at(x, y)[0]); } });
  pick(large, (x, y) => { const at = largeMap.at(x, y); if (at) model.set("word", at[0]); });
  return redraw(model, root, ["num_heads", "d_k", "linked", "sentence", "head", "word"], draw);
}

export default { render };

const GAP = 10; // pixels around a map
const TITLE = 17; // and for its title
const MARGIN = 62; // and for the words at the left of the large map and above it

// How many columns make `count` square maps largest in a box
function tiling(count, width, height) {
  let best = { side: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const across = (width - GAP * (columns - 1)) / columns;
    const down = (height - GAP * (rows - 1)) / rows - 2 * TITLE;
    const side = Math.min(across, down);
    if (side > best.side) best = { columns, side };
  }
  return best;
}

// One map: n * n cells of size `cell` on a grid of step 1, in a group that is moved and scaled as a whole
function heatMap(svg, cell) {
  const group = h("g");
  const mark = h("rect", { class: "row-mark" });
  let cells = [];
  let n = 0;
  let side = 0;
  let x0 = 0;
  let y0 = 0;
  let filled = null;

  function makeCells() {
    cells = tabulate(n * n, (i) => h("rect", { x: i % n, y: Math.floor(i / n), width: cell, height: cell }));
    group.replaceChildren(...cells);
    filled = null;
  }

  return {
    place(x, y, size, count) {
      if (!group.parentNode) svg.append(group, mark);
      [x0, y0, side, n] = [x, y, size, count];
      if (cells.length !== n * n) makeCells();
      group.setAttribute("transform", `translate(${x} ${y}) scale(${side / n})`);
    },
    // Filling the cells is the dear part: the same weights with another row marked leave them alone
    fill(weights, row) {
      if (weights !== filled) {
        weights.forEach((weight, i) => {
          cells[i].setAttribute("fill", shade(weight));
          cells[i].setAttribute("data-weight", weight);
        });
      }
      filled = weights;
      set(mark, { x: x0 - 1, y: y0 + (row * side) / n - 1, width: side + 2, height: side / n + 2 });
    },
    hide() {
      group.remove();
      mark.remove();
    },
    // The cell under a point, as [row, column]
    at(x, y) {
      const i = Math.floor(((y - y0) / side) * n);
      const j = Math.floor(((x - x0) / side) * n);
      return group.parentNode && i >= 0 && j >= 0 && i < n && j < n ? [i, j] : null;
    },
  };
}

// Texts in `parent` that are made when they are first needed, and emptied when they no longer are
function textPool(parent, attributes) {
  const pool = [];
  return (count) => {
    while (pool.length < count) pool.push(parent.appendChild(h("text", attributes)));
    for (const text of pool.slice(count)) text.textContent = "";
    return pool;
  };
}

// What the setting costs: shapes, numbers, parameters
function costLedger() {
  const value = (name) => h("b", { "data-name": name });
  const [columns, scores] = [value("columns"), value("scores")];
  const [parameters, kib] = [value("parameters"), value("kib")];
  const [projected, square, joined] = [h("code"), h("code"), h("code")];
  const line = (name, code, ...rest) => h("div", {}, h("div", { class: "soft" }, name), code, h("span", {}, ...rest));
  const box = h("div", { class: "ledger" },
    line("queries, keys, values, each", projected, "h \u00b7 d_k = ", columns, " columns"),
    line("scores, and weights", square, scores, " numbers, ", kib, " KiB"),
    line("heads side by side, then W_O", joined, parameters, " parameters in all four"));

  function put(place, x) {
    place.dataset.value = x;
    place.textContent = x.toLocaleString("en", { maximumFractionDigits: 1 });
  }
  function show(heads, d_k, n, d) {
    put(columns, heads * d_k);
    put(parameters, 4 * d * heads * d_k);
    put(scores, heads * n * n);
    put(kib, (4 * heads * n * n) / 1024);
    projected.textContent = `(${heads}, ${n}, ${d_k})`;
    square.textContent = `(${heads}, ${n}, ${n})`;
    joined.textContent = `(${n}, ${heads * d_k}) \u2192 (${n}, ${d})`;
  }
  return { box, show };
}

const asTrained = (heads, d_k) => heads === 12 && d_k === 32;

// A trained head is called layer.head, both counted from 0; any other cut of the columns is no trained head
const nameOf = (heads, d_k, i) => (asTrained(heads, d_k) ? `head 0.${i}` : `cut ${i}`);

// What becomes of the d trained columns
function kindOfCut(heads, d_k, d) {
  if (asTrained(heads, d_k)) return "The heads as they were trained.";
  if (heads * d_k === d) return "The trained columns, cut another way.";
  if (heads * d_k < d) return `${d - heads * d_k} of the ${d} trained columns are left out.`;
  return "The cuts share columns: a real layer of this width would have more.";
}

function render({ model, el }) {
  const cuts = model.get("cuts");
  const most = model.get("maps");
  const d = model.get("d_model");
  const sentences = model.get("sentences").map(({ tokens, q, k }) => ({ tokens, Q: float16(q), K: float16(k) }));

  const grid = drawing({ class: "grid" });
  const large = drawing({ class: "large" });
  const status = statusLine();
  const ledger = costLedger();
  const chosenHead = h("div", { class: "chosen-head" }, large, colourKey(), status);
  const root = figureBox(model, "head-grid", "head-grid", h("div", { class: "maps" }, grid, chosenHead), ledger.box);
  el.append(root);

  const maps = [];
  const titlesOf = textPool(grid, { class: "title" });
  const topsOf = textPool(grid, { class: "top soft" });
  const largeMap = heatMap(large, 0.94);
  const largeTitle = large.appendChild(h("text", { class: "title" }));
  const rowNamesOf = textPool(large, { "text-anchor": "end" });
  const columnNamesOf = textPool(large, { "text-anchor": "start" });

  // The maps of a setting; marking another row or another head asks for the same ones again
  let last = "";
  let weights = [];
  function weightsOf(heads, d_k, sentence, count) {
    const key = [heads, d_k, sentence].join();
    if (key === last) return weights;
    const { tokens, Q, K } = sentences[sentence];
    const columnsOf = (i) => tabulate(d_k, (c) => (Math.floor((i * d) / heads) + c) % d);
    weights = tabulate(count, (i) => headWeights(Q, K, tokens.length, columnsOf(i)));
    last = key;
    return weights;
  }

  // The column of the largest weight of a row, and that weight
  function strongestOf(map, row, n) {
    const looks = map.subarray(row * n, (row + 1) * n);
    const j = indexOfLargest(looks);
    return { j, weight: looks[j] };
  }

  // Below a map: its strongest word with the weight, or as much of the word as there is room for
  function shortName(token, weight, side) {
    if (side >= 76) return `${token} ${weight.toFixed(2)}`;
    return side >= 34 ? token.slice(0, Math.floor(side / 7)) : "";
  }

  function drawGrid(all, names, chosen, row, tokens, width, height) {
    const count = all.length;
    const n = tokens.length;
    const { columns, side } = tiling(count, width, height);
    set(grid, { viewBox: `0 0 ${width} ${height}`, width, height });
    const titles = titlesOf(count);
    const tops = topsOf(count);
    while (maps.length < count) maps.push(heatMap(grid, 1.02));
    maps.slice(count).forEach((map) => map.hide());
    all.forEach((map, i) => {
      const x = (i % columns) * (side + GAP);
      const y = Math.floor(i / columns) * (side + GAP + 2 * TITLE);
      maps[i].place(x, y + TITLE, side, n);
      maps[i].fill(map, row);
      const { j, weight } = strongestOf(map, row, n);
      set(titles[i], { x, y: y + 12, class: i === chosen ? "title chosen" : "title" });
      titles[i].textContent = side >= 60 ? names[i] : i;
      set(tops[i], { x, y: y + TITLE + side + 13 });
      tops[i].textContent = shortName(tokens[j], weight, side);
    });
  }

  function drawLarge(map, name, row, tokens, width) {
    const n = tokens.length;
    const cell = Math.min(24, (width - MARGIN - 4) / n);
    const size = cell * n;
    const height = size + MARGIN + 26;
    set(large, { viewBox: `0 0 ${width} ${height}`, width, height });
    largeMap.place(MARGIN, MARGIN + 20, size, n);
    largeMap.fill(map, row);
    set(largeTitle, { x: 0, y: 12 });
    largeTitle.textContent = `${name}: rows look, columns are looked at`;
    const rowNames = rowNamesOf(n);
    const columnNames = columnNamesOf(n);
    tokens.forEach((token, i) => {
      const x = MARGIN + (i + 0.5) * cell + 4;
      const y = MARGIN + 14;
      set(rowNames[i], { x: MARGIN - 6, y: MARGIN + 20 + (i + 0.5) * cell + 4, class: i === row ? "here" : "" });
      set(columnNames[i], { x, y, transform: `rotate(-90 ${x} ${y})` });
      rowNames[i].textContent = token;
      columnNames[i].textContent = token;
    });
  }

  function say(heads, d_k, name, map, row, tokens) {
    const { j, weight } = strongestOf(map, row, tokens.length);
    const kind = kindOfCut(heads, d_k, d);
    const drawn = heads > most ? ` The first ${most} of ${heads} maps are drawn.` : "";
    status.textContent = `h = ${heads}, d_k = ${d_k}. ${kind}${drawn} In ${name}, `
      + `\u201c${tokens[row]}\u201d looks most at \u201c${tokens[j]}\u201d: ${weight.toFixed(2)}.`;
  }

  function draw() {
    const heads = cuts[model.get("num_heads")];
    const d_k = cuts[model.get("d_k")];
    const { tokens } = sentences[model.get("sentence")];
    const n = tokens.length;
    const count = Math.min(heads, most);
    const chosen = Math.min(model.get("head"), count - 1);
    const names = tabulate(count, (i) => nameOf(heads, d_k, i));
    const row = Math.min(model.get("word"), n - 1);
    const all = weightsOf(heads, d_k, model.get("sentence"), count);

    const room = root.clientWidth || 700;
    const beside = room >= 560; // the large map stands beside the small ones, else below them
    const largeWidth = beside ? Math.min(330, room * 0.43) : room;
    const [width, height] = beside ? [room - largeWidth - 24, 490] : [room, room * 1.05];
    drawGrid(all, names, chosen, row, tokens, width, height);
    drawLarge(all[chosen], names[chosen], row, tokens, largeWidth);
    ledger.show(heads, d_k, n, d);
    say(heads, d_k, names[chosen], all[chosen], row, tokens);
  }

  // With the link on, h and d_k follow each other. The cuts are the divisors of d_model in order, so the partner of one
  // stands as far from the end as it stands from the start.
  const partner = (i) => cuts.length - 1 - i;
  const tie = (moved, follower) => () => {
    const wanted = partner(model.get(moved));
    if (model.get("linked") && model.get(follower) !== wanted) change(model, { [follower]: wanted });
  };
  model.on("change:num_heads", tie("num_heads", "d_k"));
  model.on("change:d_k", tie("d_k", "num_heads"));
  model.on("change:linked", tie("num_heads", "d_k"));

  const pick = (svg, chosenAt) => svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    change(model, chosenAt(event.clientX - box.left, event.clientY - box.top));
  });
  pick(grid, (x, y) => {
    const i = maps.findIndex((map) => map.at(x, y));
    return i < 0 ? {} : { head: i, word: maps[i].at(x, y)[0] };
  });
  pick(large, (x, y) => {
    const cell = largeMap.at(x, y);
    return cell ? { word: cell[0] } : {};
  });
  return redraw(model, root, ["num_heads", "d_k", "linked", "sentence", "head", "word"], draw);
}

export default { render };

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

// The mark around the row of a map
const rowMark = (svg) => svg.appendChild(h("rect", { class: "row-mark" }));

function markRow(mark, { x, y, side }, row, n) {
  set(mark, { x: x - 1, y: y + (row * side) / n - 1, width: side + 2, height: side / n + 2 });
}

// Texts in `parent` that are made when they are first needed, and emptied when they no longer are
function textPool(parent, attributes) {
  const pool = [];
  return (count) => {
    while (pool.length < count) pool.push(parent.appendChild(h("text", attributes)));
    for (const text of pool.slice(count)) write(text, "");
    return pool;
  };
}

// What the setting costs: shapes, numbers, parameters; with room for those of `most` heads as wide as the layer
function costLedger(most, n, d) {
  const lines = (heads, d_k, tokens) => {
    const cost = costOf(heads, d_k, tokens, d);
    return [
      `(${heads}, ${tokens}, ${d_k})`, `h \u00b7 d_k = ${comma(cost.columns)} columns`,
      `(${heads}, ${tokens}, ${tokens})`, `${comma(cost.scores)} numbers, ${comma(cost.kib)} KiB`,
      `(${tokens}, ${heads * d_k}) \u2192 (${tokens}, ${d})`, `${comma(cost.parameters)} parameters in all four`,
    ];
  };
  const rooms = lines(most, d, n).map((longest, i) => roomFor(longest, i % 2 ? "span" : "code"));
  const names = ["queries, keys, values, each", "scores, and weights", "heads side by side, then W_O"];
  const part = (name, i) => h("div", {}, h("div", { class: "soft" }, name), rooms[2 * i], rooms[2 * i + 1]);
  const show = (heads, d_k, tokens) => lines(heads, d_k, tokens).forEach((text, i) => say(rooms[i], text));
  return { box: h("div", { class: "ledger" }, ...names.map(part)), show };
}

const costOf = (heads, d_k, n, d) => ({
  columns: heads * d_k, parameters: 4 * d * heads * d_k, scores: heads * n * n, kib: (4 * heads * n * n) / 1024,
});

const asTrained = (heads, d_k) => heads === 12 && d_k === 32;

// A trained head is called layer.head, both counted from 0; any other cut of the columns is no trained head
const nameOf = (heads, d_k, i) => (asTrained(heads, d_k) ? `head 0.${i}` : `cut ${i}`);

// For each query and key their products over the first 0, 1, ..., d columns. A head owns columns in a row, so each of
// its scores is a difference of two of these, however many columns it has.
function runningProducts(Q, K, n, d) {
  const sums = new Float64Array(n * n * (d + 1));
  for (let pair = 0; pair < n * n; pair++) {
    const [q, k, at] = [Math.floor(pair / n) * d, (pair % n) * d, pair * (d + 1)];
    for (let c = 0; c < d; c++) sums[at + c + 1] = sums[at + c] + Q[q + c] * K[k + c];
  }
  return sums;
}

// Weights (n * n, row by row) of the head that owns d_k columns from `first` on; after the last of d comes the first
function headWeights(sums, n, d, first, d_k) {
  const weights = new Float64Array(n * n);
  const end = first + d_k;
  for (let pair = 0; pair < n * n; pair++) {
    const at = pair * (d + 1);
    const score = sums[at + Math.min(end, d)] - sums[at + first] + sums[at + Math.max(end - d, 0)];
    weights[pair] = score / Math.sqrt(d_k);
  }
  softmaxRows(weights, n);
  return weights;
}

// What becomes of the d columns, which stand in each head from the strongest direction to the weakest
function kindOfCut(heads, d_k, d) {
  if (asTrained(heads, d_k)) return "The heads as they were trained.";
  if (heads * d_k === d) return "The same heads, strongest directions first, cut another way.";
  if (heads * d_k < d) return `${d - heads * d_k} of the ${d} columns are left out.`;
  return "The cuts share columns: a real layer of this width would have more.";
}

function render({ model, el }) {
  const cuts = model.get("cuts");
  const most = model.get("maps");
  const d = model.get("d_model");
  const sentences = model.get("sentences");
  const longestSentence = Math.max(...sentences.map(({ tokens }) => tokens.length));
  const longestWord = longestOf(sentences.flatMap(({ tokens }) => tokens));

  const grid = drawing({ class: "grid" });
  const large = drawing({ class: "large" });
  const gridMaps = mapsUnder(grid);
  const largeMap = mapsUnder(large);
  const status = statusLine(sentenceFor(cuts.at(-1), cuts.at(-1), nameOf(2, 2, most), longestWord, longestWord, 0.99));
  const ledger = costLedger(cuts.at(-1), longestSentence, d);
  const chosenHead = h("div", { class: "chosen-head" }, largeMap.box, colourKey(), status);
  const maps = h("div", { class: "maps" }, gridMaps.box, chosenHead);
  const root = figureBox(model, "head-grid", "head-grid", maps, ledger.box);
  el.append(root);

  const marks = tabulate(most, () => rowMark(grid));
  const titlesOf = textPool(grid, { class: "title" });
  const topsOf = textPool(grid, { class: "top soft" });
  const largeMark = rowMark(large);
  const largeTitle = large.appendChild(h("text", { x: 0, y: 12, class: "title" }));
  const rowNamesOf = textPool(large, { "text-anchor": "end" });
  const columnNamesOf = textPool(large, { "text-anchor": "start" });

  // The maps of a setting; marking another row or another head asks for the same ones again
  const products = []; // of each sentence
  let last = "";
  let weights = [];
  function weightsOf(heads, d_k, sentence, count) {
    const key = [heads, d_k, sentence].join();
    if (key === last) return weights;
    const { tokens, q, k } = sentences[sentence];
    const n = tokens.length;
    const sums = (products[sentence] ??= runningProducts(float16(q), float16(k), n, d));
    weights = tabulate(count, (i) => headWeights(sums, n, d, Math.floor((i * d) / heads), d_k));
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

  let places = []; // of the small maps, and of the large one
  let largePlace = {};
  let painted = null;
  let paintedWidth = 0;

  function drawGrid(all, names, chosen, row, tokens, width, height) {
    const n = tokens.length;
    const { columns, side } = tiling(all.length, width, height);
    set(grid, { viewBox: `0 0 ${width} ${height}`, width, height });
    const titles = titlesOf(all.length);
    const tops = topsOf(all.length);
    places = all.map((_, i) => {
      const y = Math.floor(i / columns) * (side + GAP + 2 * TITLE) + TITLE;
      return { x: (i % columns) * (side + GAP), y, side };
    });
    marks.forEach((mark, i) => set(mark, { display: i < all.length ? "inline" : "none" }));
    all.forEach((map, i) => {
      const { x, y } = places[i];
      markRow(marks[i], places[i], row, n);
      const { j, weight } = strongestOf(map, row, n);
      set(titles[i], { x, y: y - TITLE + 12, class: i === chosen ? "title chosen" : "title" });
      write(titles[i], side >= 60 ? names[i] : i);
      set(tops[i], { x, y: y + side + 13 });
      write(tops[i], shortName(tokens[j], weight, side));
    });
    if (all === painted && width === paintedWidth) return; // another row or head is marked: the maps are the same
    [painted, paintedWidth] = [all, width];
    gridMaps.show(width, joined(all), n, places.map(({ x, y }) => ({ x, y, width: side, height: side })));
  }

  // As large with each sentence, so that nothing below it moves
  function drawLarge(weights, name, row, tokens, width) {
    const n = tokens.length;
    const side = Math.min(24 * longestSentence, width - MARGIN - 4);
    const cell = side / n;
    const height = side + MARGIN + 26;
    largePlace = { x: MARGIN, y: MARGIN + 20, side };
    set(large, { viewBox: `0 0 ${width} ${height}`, width, height });
    markRow(largeMark, largePlace, row, n);
    write(largeTitle, `${name}: rows look, columns are looked at`);
    const rowNames = rowNamesOf(n);
    const columnNames = columnNamesOf(n);
    tokens.forEach((token, i) => {
      const x = MARGIN + (i + 0.5) * cell + 4;
      const y = MARGIN + 14;
      set(rowNames[i], { x: MARGIN - 6, y: MARGIN + 20 + (i + 0.5) * cell + 4, class: i === row ? "here" : "" });
      set(columnNames[i], { x, y, transform: `rotate(-90 ${x} ${y})` });
      write(rowNames[i], token);
      write(columnNames[i], token);
    });
    largeMap.show(width, weights, n, [{ ...largePlace, width: side, height: side }], 1);
  }

  function sentenceFor(heads, d_k, name, asking, asked, weight) {
    const drawn = heads > most ? ` The first ${most} of ${heads} maps are drawn.` : "";
    return `h = ${heads}, d_k = ${d_k}. ${kindOfCut(heads, d_k, d)}${drawn} In ${name}, \u201c${asking}\u201d looks `
      + `most at \u201c${asked}\u201d: ${weight.toFixed(2)}.`;
  }

  function draw(room) {
    const heads = cuts[model.get("num_heads")];
    const d_k = cuts[model.get("d_k")];
    const { tokens } = sentences[model.get("sentence")];
    const n = tokens.length;
    const count = Math.min(heads, most);
    const chosen = Math.min(model.get("head"), count - 1);
    const names = tabulate(count, (i) => nameOf(heads, d_k, i));
    const row = Math.min(model.get("word"), n - 1);
    const all = weightsOf(heads, d_k, model.get("sentence"), count);

    const beside = room >= 560; // the large map stands beside the small ones, else below them
    const largeWidth = beside ? Math.min(330, room * 0.43) : room;
    const [width, height] = beside ? [room - largeWidth - 24, 490] : [room, room * 1.05];
    drawGrid(all, names, chosen, row, tokens, width, height);
    drawLarge(all[chosen], names[chosen], row, tokens, largeWidth);
    ledger.show(heads, d_k, n);
    const { j, weight } = strongestOf(all[chosen], row, n);
    say(status, sentenceFor(heads, d_k, names[chosen], tokens[row], tokens[j], weight));

    const cost = costOf(heads, d_k, n, d);
    const strongest = (map) => tokens.map((_, i) => tokens[strongestOf(map, i, n).j]);
    return {
      numbers: { weight: joined([...all, all[chosen]]), ...cost },
      tables: () => [
        [`The weights of ${names[chosen]}: rows look, columns are looked at`, tokens, rowsOf(tokens, all[chosen])],
        ["The strongest key of each query", tokens, all.map((map, i) => [names[i], ...strongest(map)])],
        ["What it costs", Object.keys(cost), [["number", ...Object.values(cost)]]],
      ],
    };
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
    const cells = places.map((place) => cellAt(place, sentences[model.get("sentence")].tokens.length, x, y));
    const head = cells.findIndex(Boolean);
    return head < 0 ? {} : { head, word: cells[head][0] };
  });
  pick(large, (x, y) => {
    const cell = cellAt(largePlace, sentences[model.get("sentence")].tokens.length, x, y);
    return cell ? { word: cell[0] } : {};
  });
  return redraw(model, root, ["num_heads", "d_k", "linked", "sentence", "head", "word"], draw);
}

export default { render };

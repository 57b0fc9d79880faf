const GAP = 10; // pixels around a map
const TITLE = 17; // and for its title
const LINE = 15; // and for each word below it but the first
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
  const rule = (held) => (held ? "held: when h or d_k moves, so does the other" : "not held: h and d_k move apart");
  const ruled = roomFor(rule(true), "div", { class: "soft" });
  const names = ["queries, keys, values, each", "scores, and weights", "heads concatenated, then W_O"];
  const part = (name, i) => h("div", {}, h("div", { class: "soft" }, name), rooms[2 * i], rooms[2 * i + 1]);
  function show(heads, d_k, tokens, held) {
    lines(heads, d_k, tokens).forEach((text, i) => say(rooms[i], text));
    say(ruled, rule(held));
  }
  const parts = names.map(part);
  parts[0].append(ruled);
  return { box: h("div", { class: "ledger" }, ...parts), show };
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
  if (heads * d_k < d) return `${d - heads * d_k} of the ${d} columns are left out.`;
  return heads * d_k > d ? "The cuts share columns." : "";
}

// Where the head of an index has its columns: [first, end], and what of it begins again at the left
function columnsOf(i, heads, d_k, d) {
  const first = Math.floor((i * d) / heads);
  return first + d_k > d ? [[first, d], [0, first + d_k - d]] : [[first, first + d_k]];
}

// The columns as a strip: which are in a cut, which in the one that is drawn large, and whose they are in the model
function columnStrip(d) {
  const svg = drawing({ class: "strip" });
  const owned = h("path", { class: "owned" });
  const starts = h("path", { class: "starts" });
  const chosenOnes = h("path", { class: "chosen" });
  const names = tabulate(12, (i) => h("text", { y: 44, class: "soft", "text-anchor": "middle" }, `0.${i}`));
  const trained = h("path", { class: "starts" });
  svg.append(owned, chosenOnes, starts, trained, ...names);
  function show(heads, d_k, chosen, room) {
    const x = (column) => (column * room) / d;
    const band = ([from, to]) => `M${x(from)},0H${x(to)}V22H${x(from)}z`;
    const all = heads * d_k >= d ? [[0, d]] : tabulate(heads, (i) => columnsOf(i, heads, d_k, d)).flat();
    const lines = (count, top, bottom) =>
      tabulate(count + 1, (i) => `M${x((i * d) / count)},${top}V${bottom}`).join("");
    set(svg, { viewBox: `0 0 ${room} 48`, width: room, height: 48 });
    set(owned, { d: all.map(band).join("") });
    set(chosenOnes, { d: columnsOf(chosen, heads, d_k, d).map(band).join("") });
    set(starts, { d: heads <= 96 ? lines(heads, 0, 22) : "" });
    set(trained, { d: lines(12, 28, 33) });
    names.forEach((name, i) => set(name, { x: x(((i + 0.5) * d) / 12) }));
  }
  const title = planeTitle(`${d} columns`, "of queries and keys, split; below, whose they were in training");
  return { box: h("div", {}, title, svg), show };
}

// The column of the largest weight of a row, and that weight
function strongestOf(map, row, n) {
  const looks = map.subarray(row * n, (row + 1) * n);
  const j = indexOfLargest(looks);
  return { j, weight: looks[j] };
}

// Below a map: the words with the largest weights of a row, or as much of the first as there is room for
function wordsBelow(map, row, tokens, side, lines) {
  const n = tokens.length;
  if (side < 76) return [side >= 34 ? tokens[strongestOf(map, row, n).j].slice(0, Math.floor(side / 7)) : ""];
  const looks = [...map.subarray(row * n, (row + 1) * n).entries()].sort((a, b) => b[1] - a[1]);
  return looks.slice(0, lines).map(([j, weight]) => `${tokens[j]} ${weight.toFixed(2)}`);
}

// The small maps, each with its title and the words below it; headAt says whose row is at a point
function smallMaps(most) {
  const svg = drawing({ class: "grid" });
  const maps = mapsUnder(svg);
  const marks = tabulate(most, () => rowMark(svg));
  const titlesOf = textPool(svg, { class: "title" });
  const topsOf = textPool(svg, { class: "top soft" });
  let places = [];
  let painted = null;
  let paintedWidth = 0;

  function show(all, names, chosen, row, tokens, width, height) {
    const n = tokens.length;
    const { columns, side } = tiling(all.length, width, height);
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const titles = titlesOf(all.length);
    const rows = Math.ceil(all.length / columns);
    const spare = height / rows - (side + 2 * TITLE + GAP); // room for more than one word below a map
    const lines = 1 + Math.max(0, Math.min(3, Math.floor(spare / LINE)));
    const tops = topsOf(lines * all.length);
    places = all.map((_, i) => {
      const y = Math.floor(i / columns) * (side + GAP + 2 * TITLE + (lines - 1) * LINE) + TITLE;
      return { x: (i % columns) * (side + GAP), y, side };
    });
    marks.forEach((mark, i) => set(mark, { display: i < all.length ? "inline" : "none" }));
    all.forEach((map, i) => {
      const { x, y } = places[i];
      markRow(marks[i], places[i], row, n);
      set(titles[i], { x, y: y - TITLE + 12, class: i === chosen ? "title chosen" : "title" });
      write(titles[i], side >= 60 ? names[i] : i);
      const below = wordsBelow(map, row, tokens, side, lines);
      tabulate(lines, (line) => {
        const top = tops[lines * i + line];
        set(top, { x, y: y + side + 13 + LINE * line });
        write(top, below[line] ?? "");
      });
    });
    if (all === painted && width === paintedWidth) return; // another row or head is marked: the maps are the same
    [painted, paintedWidth] = [all, width];
    maps.show(width, joined(all), n, places.map(({ x, y }) => ({ x, y, width: side, height: side })));
  }

  function headAt(n, x, y) {
    const cells = places.map((place) => cellAt(place, n, x, y));
    const head = cells.findIndex(Boolean);
    return head < 0 ? null : { head, word: cells[head][0] };
  }
  return { svg, box: maps.box, show, headAt };
}

// The large map; rowAt says which row is at a point
function largeMap(longest) {
  const svg = drawing({ class: "large" });
  const map = mapsUnder(svg);
  const mark = rowMark(svg);
  const title = svg.appendChild(h("text", { x: 0, y: 12, class: "title" }));
  const rowNamesOf = textPool(svg, { "text-anchor": "end" });
  const columnNamesOf = textPool(svg, { "text-anchor": "start" });
  let place = {};

  // As large with each sentence, so that nothing below it moves
  function show(weights, name, row, tokens, width) {
    const n = tokens.length;
    const side = Math.min(24 * longest, width - MARGIN - 4);
    const cell = side / n;
    const height = side + MARGIN + 26;
    place = { x: MARGIN, y: MARGIN + 20, side };
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    markRow(mark, place, row, n);
    write(title, `${name}: rows look, columns are looked at`);
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
    map.show(width, weights, n, [{ ...place, width: side, height: side }], 1);
  }
  const rowAt = (n, x, y) => cellAt(place, n, x, y)?.[0];
  return { svg, box: map.box, show, rowAt };
}

// The weights of all sentences. `of` those of a setting, of which marking another row or another head asks for the same
// ones again; `meanOf` the mean of the heads as they were trained
function weightsIn(sentences, d) {
  const products = []; // of each sentence
  let last = "";
  let weights = [];
  function weightsOf(heads, d_k, sentence, count) {
    const key = [heads, d_k, sentence].join();
    if (key === last) return weights;
    weights = mapsOf(heads, d_k, sentence, count);
    last = key;
    return weights;
  }
  function mapsOf(heads, d_k, sentence, count) {
    const { tokens, q, k } = sentences[sentence];
    const n = tokens.length;
    const sums = (products[sentence] ??= runningProducts(float16(q), float16(k), n, d));
    return tabulate(count, (i) => headWeights(sums, n, d, Math.floor((i * d) / heads), d_k));
  }
  const means = []; // of each sentence, a list of one map
  function meanOfTrained(sentence) {
    const add = (total, map) => total.map((value, i) => value + map[i] / 12);
    return (means[sentence] ??= [mapsOf(12, 32, sentence, 12).reduce(add, new Float64Array(
      sentences[sentence].tokens.length ** 2))]);
  }
  return { of: weightsOf, meanOf: meanOfTrained };
}

export default figure(({ cuts, maps: most, d_model: d, sentences }, { now, change, when }) => {
  const longestSentence = Math.max(...sentences.map(({ tokens }) => tokens.length));
  const longestWord = longestOf(sentences.flatMap(({ tokens }) => tokens));

  const grid = smallMaps(most);
  const large = largeMap(longestSentence);
  const weights = weightsIn(sentences, d);
  const status = statusLine(sentenceFor(cuts.at(-1), cuts.at(-1), nameOf(2, 2, most), longestWord, longestWord, 0.99));
  const ledger = costLedger(cuts.at(-1), longestSentence, d);
  const strip = columnStrip(d);
  const beside = h("div", { class: "beside" }, colourKey(), status, ledger.box);
  const maps = h("div", { class: "maps" }, grid.box, large.box, beside);

  function sentenceFor(heads, d_k, name, asking, asked, weight) {
    const drawn = heads > most ? ` The first ${most} of ${heads} maps are drawn.` : "";
    const kind = kindOfCut(heads, d_k, d);
    return `h = ${heads}, d_k = ${d_k}.${kind && ` ${kind}`}${drawn} In ${name}, \u201c${asking}\u201d looks `
      + `most at \u201c${asked}\u201d: ${weight.toFixed(2)}.`;
  }

  function draw({ num_heads, d_k: width, linked, head, word, sentence }, room) {
    const [heads, d_k] = [cuts[num_heads], cuts[width]];
    const { tokens } = sentences[sentence];
    const n = tokens.length;
    const count = Math.min(heads, most);
    const chosen = Math.min(head, count - 1);
    const names = tabulate(count, (i) => nameOf(heads, d_k, i));
    const row = Math.min(word, n - 1);
    const all = weights.of(heads, d_k, sentence, count);
    // A single map is drawn large and not a second time: there stands the mean of the heads as they were trained
    const small = heads > 1 ? all : weights.meanOf(sentence);

    const wide = room >= 560; // what is said of the large map stands beside it, else below it
    strip.show(heads, d_k, chosen, room);
    grid.show(small, heads > 1 ? names : ["mean of 0.0 to 0.11"], heads > 1 ? chosen : -1, row, tokens, room,
      wide ? 290 : room * 1.05);
    large.show(all[chosen], names[chosen], row, tokens, wide ? Math.min(340, room * 0.57) : room);
    ledger.show(heads, d_k, n, linked);
    const { j, weight } = strongestOf(all[chosen], row, n);
    say(status, sentenceFor(heads, d_k, names[chosen], tokens[row], tokens[j], weight));

    const cost = costOf(heads, d_k, n, d);
    const strongest = (map) => tokens.map((_, i) => tokens[strongestOf(map, i, n).j]);
    return {
      numbers: { weight: joined([...small, all[chosen]]), ...cost },
      tables: () => [
        [`The weights of ${names[chosen]}: rows look, columns are looked at`, tokens, rowsOf(tokens, all[chosen])],
        ["The strongest key of each query", tokens, all.map((map, i) => [names[i], ...strongest(map)])],
        ...(heads > 1 ? [] : [["The mean of the twelve heads as trained", tokens, rowsOf(tokens, small[0])]]),
        ["What it costs", Object.keys(cost), [["number", ...Object.values(cost)]]],
      ],
    };
  }

  // With the link on, h and d_k follow each other. The cuts are the divisors of d_model in order, so the partner of one
  // stands as far from the end as it stands from the start.
  const partner = (i) => cuts.length - 1 - i;
  const lastOf = ({ num_heads }) => Math.min(cuts[num_heads], most) - 1; // the list of maps ends where they end
  when(["num_heads"], (setting) => ({ head: Math.min(setting.head, lastOf(setting)), head_max: lastOf(setting) }));
  when(["num_heads", "linked"], ({ linked, num_heads }) => (linked ? { d_k: partner(num_heads) } : {}));
  when(["d_k"], ({ linked, d_k }) => (linked ? { num_heads: partner(d_k) } : {}));

  const pick = ({ svg }, at) => svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    change(at(sentences[now().sentence].tokens.length, event.clientX - box.left, event.clientY - box.top));
  });
  pick(grid, (...point) => {
    const found = grid.headAt(...point);
    return found ? { ...found, head: Math.min(found.head, lastOf(now())) } : {};
  });
  pick(large, (...point) => {
    const word = large.rowAt(...point);
    return word === undefined ? {} : { word };
  });
  return { parts: [strip.box, maps], draw };
});

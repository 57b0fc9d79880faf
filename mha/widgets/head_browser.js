const CELL = 26; // of the large map: side of a cell, and the room for its words at the left and at the top
const LEFT = 82;
const TOP = 78;

// The maps of all heads, which change with the sentence alone; a frame marks one, and a click chooses
function allHeads(layers, heads, sentences, choose) {
  const svg = drawing({ viewBox: `0 0 ${heads} ${layers}` });
  const maps = mapsUnder(svg);
  const chosen = h("div", { class: "chosen" });
  const box = h("div", { class: "small" }, maps.box, chosen);
  const places = tabulate(layers * heads, (i) => (
    { x: (i % heads) + 0.02, y: Math.floor(i / heads) + 0.02, width: 0.96, height: 0.96 }));
  box.addEventListener("click", (event) => {
    const { left, top, width, height } = svg.getBoundingClientRect();
    const layer = Math.floor(((event.clientY - top) / height) * layers);
    const head = Math.floor(((event.clientX - left) / width) * heads);
    choose({ layer: Math.min(layers - 1, layer), head: Math.min(heads - 1, head) });
  });

  let drawn = -1;
  function show(sentence, layer, head) {
    const [width, height] = [100 / heads, 100 / layers];
    chosen.style.cssText = `left:${head * width}%;top:${layer * height}%;width:${width}%;height:${height}%`;
    if (drawn === sentence) return;
    drawn = sentence;
    maps.show(heads, sentences[sentence].maps, sentences[sentence].tokens.length, places);
  }
  return { box, show };
}

// The map of one head with its words, as large with each sentence
function largeMap(most) {
  const side = most * CELL;
  const svg = drawing({ viewBox: `0 0 ${LEFT + side} ${TOP + side}` });
  const map = mapsUnder(svg);
  const add = into(svg);
  const rowNames = tabulate(most, () => add("text", { x: LEFT - 6, "text-anchor": "end" }));
  const columnNames = tabulate(most, () => add("text"));
  const mark = add("rect", { x: LEFT - 1, width: side + 1, class: "row-mark" });

  // The weight under the pointer is told as the map's title
  let shown = [];
  map.box.addEventListener("pointermove", (event) => {
    const { left, top, width } = svg.getBoundingClientRect();
    const [tokens, weights] = shown;
    const at = [event.clientX - left, event.clientY - top].map((place) => (place * (LEFT + side)) / width);
    const cell = cellAt({ x: LEFT, y: TOP, side }, tokens.length, ...at);
    const [i, j] = cell ?? [];
    const title = cell ? `${tokens[i]} \u2192 ${tokens[j]}: ${weights[i * tokens.length + j].toFixed(2)}` : "";
    set(map.box, { title });
  });

  function show(tokens, weights, word) {
    shown = [tokens, weights];
    const cell = side / tokens.length;
    for (let i = 0; i < most; i++) {
      const middle = (i + 0.5) * cell + 4;
      set(rowNames[i], { y: TOP + middle, class: i === word ? "mine" : "" });
      set(columnNames[i], { transform: `translate(${LEFT + middle},${TOP - 6}) rotate(-60)` });
      for (const text of [rowNames[i], columnNames[i]]) write(text, tokens[i] ?? "");
    }
    set(mark, { y: TOP + word * cell - 1, height: cell + 1 });
    map.show(LEFT + side, weights, tokens.length, [{ x: LEFT, y: TOP, width: side, height: side }], 1);
  }
  return { box: map.box, show };
}

// The weights of one row as bars; a bar without a word keeps its place, unseen
function rowTable(most) {
  const asks = h("th", { colspan: 2 });
  const rows = tabulate(most, () => {
    const [token, bar, number] = [h("td"), h("span", { class: "bar" }), h("td", { class: "number" })];
    return { row: h("tr", {}, token, h("td", { class: "weight" }, bar), number), token, bar, number };
  });
  const headings = h("thead", {}, h("tr", {}, asks, h("th", { class: "number" }, "weight")));
  const box = h("table", { class: "tabular" }, headings, h("tbody", {}, ...rows.map(({ row }) => row)));

  function show(tokens, asking, weights) {
    write(asks, `\u201c${asking}\u201d looks at`);
    rows.forEach(({ row, token, bar, number }, j) => {
      set(row, { class: tokens[j] === undefined ? "none" : "" });
      write(token, tokens[j] ?? "\u00a0");
      bar.style.width = `${100 * (weights[j] ?? 0)}%`;
      write(number, (weights[j] ?? 0).toFixed(2));
    });
  }
  return { box, show };
}

// The mean weight on the token `offset` places further on, over the rows that have one
function meanAt(offset, n, weights) {
  const lines = tabulate(n, (i) => i).filter((i) => i + offset >= 0 && i + offset < n);
  return sum(lines.map((i) => weights[i * n + i + offset])) / lines.length;
}

function sentenceFor(asking, asked, weight, [before, itself, after, first]) {
  const two = (value) => value.toFixed(2);
  return `Here \u201c${asking}\u201d gives most, ${two(weight)}, to \u201c${asked}\u201d. Averaged `
    + `over the rows that have one: token before ${two(before)}, next ${two(after)}; own ${two(itself)}, `
    + `[CLS] ${two(first)}.`;
}

export default figure(({ steps, layers, heads, ...data }, { change }) => {
  const sentences = data.sentences.map(({ tokens, maps }) => ({ tokens, maps: unpacked(maps, steps) }));
  const most = Math.max(...sentences.map(({ tokens }) => tokens.length));
  const small = allHeads(layers, heads, sentences, change);
  const large = largeMap(most);
  const bars = rowTable(most);
  const name = h("b");
  const largeTitle = h("div", { class: "plane-title" }, name, " rows look, columns are looked at");
  const longestWord = longestOf(sentences.flatMap(({ tokens }) => tokens));
  const status = statusLine(sentenceFor(longestWord, longestWord, 0.99, [0.99, 0.99, 0.99, 0.99]));
  const left = h("div", { class: "plane left" },
    planeTitle("All heads", `${layers} layers, from 0 at the top; click one`), small.box, bars.box);
  const right = h("div", { class: "plane right" }, largeTitle, large.box, colourKey());

  // The weights of one head, row by row
  function weightsOf({ maps, tokens }, layer, head) {
    const size = tokens.length ** 2;
    const begin = (layer * heads + head) * size;
    return maps.subarray(begin, begin + size);
  }

  function draw({ sentence, layer, head, word: wanted }) {
    const { tokens } = sentences[sentence];
    const n = tokens.length;
    const word = Math.min(wanted, n - 1);
    const weights = weightsOf(sentences[sentence], layer, head);
    const row = weights.subarray(word * n, (word + 1) * n);
    small.show(sentence, layer, head);
    write(name, `Head ${layer}.${head}`);
    large.show(tokens, weights, word);
    bars.show(tokens, tokens[word], row);
    const first = sum(tokens.map((_, i) => weights[i * n])) / n;
    const means = [...[-1, 0, 1].map((offset) => meanAt(offset, n, weights)), first];
    const top = indexOfLargest(row);
    say(status, sentenceFor(tokens[word], tokens[top], row[top], means));

    const [before, itself, after] = means;
    return {
      numbers: { weight: weights, row, before, itself, after, first },
      tables: () => [
        [`The weights of head ${layer}.${head}: rows look, columns are looked at`, tokens, rowsOf(tokens, weights)],
        ["Mean weight over all rows that have such a token", ["before", "itself", "next", "[CLS]"],
          [["mean", ...means]]],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, left, right), status], draw };
});

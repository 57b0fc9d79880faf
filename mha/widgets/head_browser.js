const CELL = 26; // of the large map: side of a cell, and the room for its words at the left and at the top
const LEFT = 82;
const TOP = 78;

export default figure(({ steps, layers, heads, ...data }, { change }) => {
  const sentences = data.sentences.map(({ tokens, maps }) => ({ tokens, maps: unpacked(maps, steps) }));

  const small = drawing({ viewBox: `0 0 ${heads} ${layers}` });
  const smallMaps = mapsUnder(small);
  const chosen = h("div", { class: "chosen" });
  const grid = h("div", { class: "small" }, smallMaps.box, chosen);
  const most = Math.max(...sentences.map(({ tokens }) => tokens.length));
  const side = most * CELL; // of the large map, whatever the sentence
  const large = drawing({ viewBox: `0 0 ${LEFT + side} ${TOP + side}` });
  const largeMap = mapsUnder(large);
  const rowNames = tabulate(most, () => large.appendChild(h("text", { x: LEFT - 6, "text-anchor": "end" })));
  const columnNames = tabulate(most, () => large.appendChild(h("text")));
  const mark = large.appendChild(h("rect", { x: LEFT - 1, width: side + 1, class: "row-mark" }));
  const name = h("b");
  const largeTitle = h("div", { class: "plane-title" }, name, " rows look, columns are looked at");
  const rows = tabulate(most, barRow);
  const bars = h("tbody", {}, ...rows.map(({ row }) => row));
  const asks = h("th", { colspan: 2 });
  const longestWord = longestOf(sentences.flatMap(({ tokens }) => tokens));
  const status = statusLine(sentenceFor(longestWord, longestWord, 0.99, [0.99, 0.99, 0.99, 0.99]));
  const headings = h("thead", {}, h("tr", {}, asks, h("th", { class: "number" }, "weight")));
  const left = h("div", { class: "plane left" },
    planeTitle("All heads", `${layers} layers, from 0 at the top; click one`),
    grid,
    h("table", { class: "tabular" }, headings, bars));
  const right = h("div", { class: "plane right" }, largeTitle, largeMap.box, colourKey());
  const planes = h("div", { class: "planes" }, left, right);

  grid.addEventListener("click", (event) => {
    const box = small.getBoundingClientRect();
    const layer = Math.floor(((event.clientY - box.top) / box.height) * layers);
    const head = Math.floor(((event.clientX - box.left) / box.width) * heads);
    change({ layer: Math.min(layers - 1, layer), head: Math.min(heads - 1, head) });
  });

  // The weight under the pointer is told as the large map's title
  let shown = [];
  largeMap.box.addEventListener("pointermove", (event) => {
    const box = large.getBoundingClientRect();
    const unit = (LEFT + side) / box.width;
    const [tokens, weights] = shown;
    const at = [event.clientX - box.left, event.clientY - box.top].map((place) => place * unit);
    const cell = cellAt({ x: LEFT, y: TOP, side }, tokens.length, ...at);
    const [i, j] = cell ?? [];
    const title = cell ? `${tokens[i]} \u2192 ${tokens[j]}: ${weights[i * tokens.length + j].toFixed(2)}` : "";
    set(largeMap.box, { title });
  });

  // The weights of one head, row by row
  function weightsOf({ maps, tokens }, layer, head) {
    const size = tokens.length ** 2;
    const begin = (layer * heads + head) * size;
    return maps.subarray(begin, begin + size);
  }

  // The small maps change with the sentence alone
  const smallPlaces = tabulate(layers * heads, (i) => (
    { x: (i % heads) + 0.02, y: Math.floor(i / heads) + 0.02, width: 0.96, height: 0.96 }));
  let drawn = -1;
  function drawSmall(sentence) {
    if (drawn === sentence) return;
    drawn = sentence;
    const n = sentences[sentence].tokens.length;
    smallMaps.show(heads, sentences[sentence].maps, n, smallPlaces);
  }

  function drawLarge(tokens, weights, word) {
    const n = tokens.length;
    const cell = side / n;
    for (let i = 0; i < most; i++) {
      const middle = (i + 0.5) * cell + 4;
      set(rowNames[i], { y: TOP + middle, class: i === word ? "mine" : "" });
      set(columnNames[i], { transform: `translate(${LEFT + middle},${TOP - 6}) rotate(-60)` });
      for (const text of [rowNames[i], columnNames[i]]) write(text, tokens[i] ?? "");
    }
    set(mark, { y: TOP + word * cell - 1, height: cell + 1 });
    largeMap.show(LEFT + side, weights, n, [{ x: LEFT, y: TOP, width: side, height: side }], 1);
  }

  function barRow() {
    const token = h("td");
    const bar = h("span", { class: "bar" });
    const number = h("td", { class: "number" });
    return { row: h("tr", {}, token, h("td", { class: "weight" }, bar), number), token, bar, number };
  }

  // A row without a word keeps its place, unseen
  function showBar({ row, token, bar, number }, word, weight) {
    row.style.visibility = word === undefined ? "hidden" : "";
    write(token, word ?? "\u00a0");
    bar.style.width = `${70 * (weight ?? 0)}px`;
    write(number, (weight ?? 0).toFixed(2));
  }

  // The mean weight on the token `offset` places further on, over the rows that have one
  function meanAt(offset, n, weights) {
    const lines = tabulate(n, (i) => i).filter((i) => i + offset >= 0 && i + offset < n);
    return sum(lines.map((i) => weights[i * n + i + offset])) / lines.length;
  }

  function sentenceFor(asking, asked, weight, [before, itself, after, first]) {
    const two = (value) => value.toFixed(2);
    return `Here \u201c${asking}\u201d gives most, ${two(weight)}, to \u201c${asked}\u201d. In the mean `
      + `the token before gets ${two(before)}, the next ${two(after)} (of the rows that have one), the row\u2019s own `
      + `${two(itself)}, [CLS] ${two(first)}.`;
  }

  function draw({ sentence, layer, head, word: wanted }) {
    const { tokens } = sentences[sentence];
    const n = tokens.length;
    const word = Math.min(wanted, n - 1);
    const weights = weightsOf(sentences[sentence], layer, head);
    const row = weights.subarray(word * n, (word + 1) * n);
    drawSmall(sentence);
    const [width, height] = [100 / heads, 100 / layers];
    chosen.style.cssText = `left:${head * width}%;top:${layer * height}%;width:${width}%;height:${height}%`;
    write(name, `Head ${layer}.${head}`);
    drawLarge(tokens, weights, word);
    shown = [tokens, weights];
    write(asks, `\u201c${tokens[word]}\u201d looks at`);
    rows.forEach((bar, j) => showBar(bar, tokens[j], row[j]));
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
  return { parts: [planes, status], draw };
});

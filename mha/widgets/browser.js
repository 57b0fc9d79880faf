const THUMB = 26; // pixels of a small map, in the canvas's own units
const CELL = 26; // of the large map: side of a cell, and the room for its words at the left and at the top
const LEFT = 66;
const TOP = 62;

function render({ model, el }) {
  const sentences = model.get("sentences");
  const layers = model.get("layers");
  const heads = model.get("heads");

  const small = h("canvas", { width: heads * THUMB, height: layers * THUMB, "aria-hidden": "true" });
  const chosen = h("div", { class: "chosen" });
  const grid = h("div", { class: "small" }, small, chosen);
  const large = drawing();
  const largeTitle = h("div", { class: "plane-title" });
  const bars = h("tbody", {});
  const asks = h("th", {});
  const status = statusLine();
  const headings = h("thead", {}, h("tr", {}, asks, h("th", {}), h("th", { class: "number" }, "weight")));
  const left = h("div", { class: "plane left" },
    planeTitle("All heads", `${layers} layers, from 0 at the top; click one`),
    grid,
    h("table", { class: "numbers" }, headings, bars));
  const right = h("div", { class: "plane right" }, largeTitle, large, colourKey());
  const planes = h("div", { class: "planes" }, left, right);
  el.append(figureBox(model, "head-browser", "browser", planes, status));

  grid.addEventListener("click", (event) => {
    const box = small.getBoundingClientRect();
    const layer = Math.floor(((event.clientY - box.top) / box.height) * layers);
    const head = Math.floor(((event.clientX - box.left) / box.width) * heads);
    change(model, { layer: Math.min(layers - 1, layer), head: Math.min(heads - 1, head) });
  });

  // weight(i, j) of one head; the maps are stored in steps of 1/255
  function weightOf({ maps, tokens }, layer, head) {
    const n = tokens.length;
    const start = (layer * heads + head) * n;
    return (i, j) => maps.getUint8((start + i) * n + j) / 255;
  }

  // The small maps change with the sentence alone
  let drawn = -1;
  function drawSmall(sentence) {
    if (drawn === sentence) return;
    drawn = sentence;
    const pen = small.getContext("2d");
    pen.clearRect(0, 0, small.width, small.height);
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) drawThumb(pen, sentences[sentence], layer, head);
    }
  }

  function drawThumb(pen, sentence, layer, head) {
    const weight = weightOf(sentence, layer, head);
    const n = sentence.tokens.length;
    const side = (THUMB - 2) / n;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        pen.fillStyle = shade(weight(i, j));
        pen.fillRect(head * THUMB + 1 + j * side, layer * THUMB + 1 + i * side, side + 0.3, side + 0.3);
      }
    }
  }

  function drawLarge(tokens, weight, word) {
    const n = tokens.length;
    const width = LEFT + n * CELL;
    large.replaceChildren();
    set(large, { viewBox: `0 0 ${width} ${TOP + n * CELL}` });
    tokens.forEach((token, i) => {
      const look = i === word ? "mine" : "";
      const turned = `translate(${LEFT + (i + 0.5) * CELL + 4},${TOP - 6}) rotate(-60)`;
      large.append(
        h("text", { x: LEFT - 6, y: TOP + (i + 0.5) * CELL + 4, "text-anchor": "end", class: look }, token),
        h("text", { transform: turned }, token),
        ...tokens.map((_, j) => largeCell(tokens, i, j, weight(i, j))),
      );
    });
    const y = TOP + word * CELL - 1;
    large.append(h("rect", { x: LEFT - 1, y, width: n * CELL + 1, height: CELL + 1, class: "row-mark" }));
  }

  function largeCell(tokens, i, j, weight) {
    const place = { x: LEFT + j * CELL, y: TOP + i * CELL, width: CELL - 1, height: CELL - 1 };
    const name = h("title", {}, `${tokens[i]} \u2192 ${tokens[j]}: ${weight.toFixed(2)}`);
    return h("rect", { ...place, fill: shade(weight), "data-weight": weight }, name);
  }

  function barRow(token, weight) {
    const bar = h("span", { class: "bar", style: `width:${70 * weight}px` });
    const number = h("td", { class: "number", "data-name": "row", "data-value": weight }, weight.toFixed(2));
    return h("tr", {}, h("td", {}, token), h("td", { class: "weight" }, bar), number);
  }

  // The mean weight on the token `offset` places further on, over the rows that have one
  function meanAt(offset, n, weight) {
    let total = 0;
    let count = 0;
    for (let i = Math.max(0, -offset); i < Math.min(n, n - offset); i++) {
      total += weight(i, i + offset);
      count++;
    }
    return total / count;
  }

  function say(tokens, weight, word) {
    const n = tokens.length;
    const row = tokens.map((_, j) => weight(word, j));
    const most = indexOfLargest(row);
    const mean = (name, value) => h("span", { "data-name": name, "data-value": value }, value.toFixed(2));
    status.replaceChildren(
      `Here \u201c${tokens[word]}\u201d gives most, ${row[most].toFixed(2)}, to \u201c${tokens[most]}\u201d. `
        + "Mean weight of all rows on the token before: ", mean("before", meanAt(-1, n, weight)),
      ", on itself: ", mean("itself", meanAt(0, n, weight)),
      ", on the next: ", mean("after", meanAt(1, n, weight)),
      ", on [CLS]: ", mean("first", sum(tokens.map((_, i) => weight(i, 0))) / n),
      ".",
    );
  }

  function draw() {
    const sentence = model.get("sentence");
    const layer = model.get("layer");
    const head = model.get("head");
    const { tokens } = sentences[sentence];
    const word = Math.min(model.get("word"), tokens.length - 1);
    const weight = weightOf(sentences[sentence], layer, head);
    drawSmall(sentence);
    const [width, height] = [100 / heads, 100 / layers];
    const corner = `left:${(100 * head) / heads}%;top:${(100 * layer) / layers}%`;
    set(chosen, { style: `${corner};width:${width}%;height:${height}%` });
    largeTitle.replaceChildren(h("b", {}, `Head ${layer}.${head}`), " rows look, columns are looked at");
    drawLarge(tokens, weight, word);
    asks.textContent = `\u201c${tokens[word]}\u201d looks at`;
    bars.replaceChildren(...tokens.map((token, j) => barRow(token, weight(word, j))));
    say(tokens, weight, word);
  }
  return redraw(model, el, ["sentence", "layer", "head", "word"], draw);
}

export default { render };

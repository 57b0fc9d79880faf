const THUMB = 26;                                                  // pixels of a small map, in the canvas's own units

function render({ model, el }) {
  const sentences = model.get("sentences"), layers = model.get("layers"), heads = model.get("heads");
  const small = h("canvas", { width: heads * THUMB, height: layers * THUMB, "aria-hidden": "true" });
  const frame = h("div", { class: "chosen" }), grid = h("div", { class: "small" }, small, frame);
  const large = h("svg", { "aria-hidden": "true" }), largeTitle = h("div", { class: "plane-title" });
  const bars = h("tbody", {}), asks = h("th", {}), status = h("p", { class: "status", "aria-live": "polite" });
  el.append(h("div", { class: "mha-figure browser", "data-figure": "head-browser", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" },
      h("div", { class: "plane left" },
        h("div", { class: "plane-title" }, h("b", {}, "All heads"), ` ${layers} layers, from 0 at the top; click one`), grid,
        h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, asks, h("th", {}), h("th", { class: "number" }, "weight"))), bars)),
      h("div", { class: "plane right" }, largeTitle, large, colourKey())), status));

  grid.addEventListener("click", (event) => {
    const box = small.getBoundingClientRect();
    model.set("layer", Math.min(layers - 1, Math.floor(((event.clientY - box.top) / box.height) * layers)));
    model.set("head", Math.min(heads - 1, Math.floor(((event.clientX - box.left) / box.width) * heads)));
    model.save_changes();
  });

  const weightOf = (maps, n, layer, head) => (i, j) => maps.getUint8(((layer * heads + head) * n + i) * n + j) / 255;
  let drawn = -1;                                                  // the sentence of the small maps

  function drawSmall(sentence) {
    const { tokens, maps } = sentences[sentence], n = tokens.length, pen = small.getContext("2d"), side = (THUMB - 2) / n;
    pen.clearRect(0, 0, small.width, small.height);
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
      const weight = weightOf(maps, n, layer, head);
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
        pen.fillStyle = shade(weight(i, j));
        pen.fillRect(head * THUMB + 1 + j * side, layer * THUMB + 1 + i * side, side + 0.3, side + 0.3);
      }
    }
    drawn = sentence;
  }

  function drawLarge(tokens, weight, word) {
    const n = tokens.length, cell = 26, left = 66, top = 62;
    large.replaceChildren();
    set(large, { viewBox: `0 0 ${left + n * cell} ${top + n * cell}` });
    tokens.forEach((token, i) => {
      const bold = i === word ? "mine" : "";
      large.append(h("text", { x: left - 6, y: top + (i + 0.5) * cell + 4, "text-anchor": "end", class: bold }, token),
        h("text", { transform: `translate(${left + (i + 0.5) * cell + 4},${top - 6}) rotate(-60)` }, token));
      for (let j = 0; j < n; j++)
        large.append(h("rect", { x: left + j * cell, y: top + i * cell, width: cell - 1, height: cell - 1, fill: shade(weight(i, j)), "data-weight": weight(i, j) },
          h("title", {}, `${token} \u2192 ${tokens[j]}: ${weight(i, j).toFixed(2)}`)));
    });
    large.append(h("rect", { x: left - 1, y: top + word * cell - 1, width: n * cell + 1, height: cell + 1, class: "row-mark" }));
  }

  function draw() {
    const sentence = model.get("sentence"), layer = model.get("layer"), head = model.get("head"), { tokens, maps } = sentences[sentence], n = tokens.length;
    const word = Math.min(model.get("word"), n - 1), weight = weightOf(maps, n, layer, head);
    if (drawn !== sentence) drawSmall(sentence);
    set(frame, { style: `left:${(100 * head) / heads}%;top:${(100 * layer) / layers}%;width:${100 / heads}%;height:${100 / layers}%` });
    largeTitle.replaceChildren(h("b", {}, `Head ${layer}.${head}`), " rows look, columns are looked at");
    drawLarge(tokens, weight, word);
    asks.textContent = `\u201c${tokens[word]}\u201d looks at`;
    bars.replaceChildren(...tokens.map((token, j) => h("tr", {}, h("td", {}, token), h("td", { class: "weight" }, h("span", { class: "bar", style: `width:${70 * weight(word, j)}px` })),
      h("td", { class: "number", "data-name": "row", "data-value": weight(word, j) }, weight(word, j).toFixed(2)))));
    const mean = (k) => { let sum = 0, count = 0; for (let i = 0; i < n; i++) if (tokens[i + k] !== undefined) { sum += weight(i, i + k); count++; } return sum / count; };
    const means = { before: mean(-1), itself: mean(0), after: mean(1), first: tokens.reduce((sum, _, i) => sum + weight(i, 0), 0) / n };
    const best = tokens.map((_, j) => weight(word, j)), most = best.indexOf(Math.max(...best));
    status.replaceChildren(`Here \u201c${tokens[word]}\u201d gives most, ${best[most].toFixed(2)}, to \u201c${tokens[most]}\u201d. Mean weight of all rows on the token before: `, value("before"), ", on itself: ", value("itself"), ", on the next: ", value("after"), ", on [CLS]: ", value("first"), ".");
    function value(name) { return h("span", { "data-name": name, "data-value": means[name] }, means[name].toFixed(2)); }
  }
  return redraw(model, el, ["sentence", "layer", "head", "word"], draw);
}

export default { render };

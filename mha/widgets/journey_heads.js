const [D, D_K, TOWNS, QUESTIONS, FACTS] = [48, 16, 12, 8, 4];
const HEADS = [2, 1]; // of each layer
const BASE = 100; // of the rotary positions
const [SIDE, NAMES, TOP] = [300, 46, 4]; // of the map, in its own units, and the room for names beside it

// ---- the model: W x for each token, as torch keeps its matrices -------------------------------------------------

// The numbers of a state_dict, in its order
function matricesOf(numbers) {
  let at = 0;
  const matrix = (rows, columns) => tabulate(rows, () => numbers.subarray(at, at += columns));
  return {
    embedding: matrix(2 * TOWNS, D),
    layers: HEADS.map((h) => ({ h, Q: matrix(h * D_K, D), K: matrix(h * D_K, D), V: matrix(h * D_K, D),
      O: matrix(D, h * D_K) })),
    readOut: matrix(2 * TOWNS, D),
  };
}
function apply(W, x) {
  return Float64Array.from(W, (row) => {
    let total = 0;
    for (let i = 0; i < row.length; i++) total += row[i] * x[i];
    return total;
  });
}
function norm(x) {
  let squares = 0;
  for (const value of x) squares += value * value;
  const root = Math.sqrt(squares / D + 1e-6);
  return x.map((value) => value / root);
}
// Each half of a head's numbers turned with the other, as far as the position says
function turned(x, position, h) {
  const out = new Float64Array(x.length);
  const half = D_K / 2;
  for (let head = 0; head < h; head++) for (let i = 0; i < half; i++) {
    const angle = position * BASE ** (-i / half);
    const [a, b] = [x[head * D_K + i], x[head * D_K + half + i]];
    out[head * D_K + i] = a * Math.cos(angle) - b * Math.sin(angle);
    out[head * D_K + half + i] = b * Math.cos(angle) + a * Math.sin(angle);
  }
  return out;
}
// One layer added to the stream; the weights of its heads, row by row
function layerOn(stream, { h, Q, K, V, O }, isOn) {
  const inputs = stream.map(norm);
  const [queries, keys] = [Q, K].map((W) => inputs.map((x, i) => turned(apply(W, x), i, h)));
  const values = inputs.map((x) => apply(V, x));
  const maps = tabulate(h, () => []);
  const out = stream.map((x, i) => {
    const heads = new Float64Array(h * D_K);
    maps.forEach((map, head) => {
      const [from, to] = [head * D_K, (head + 1) * D_K];
      const query = queries[i].subarray(from, to);
      const row = softmax(keys.slice(0, i + 1).map((key) => dot(query, key.subarray(from, to)) / Math.sqrt(D_K)));
      map.push(row);
      if (isOn[head]) row.forEach((weight, j) => {
        for (let k = from; k < to; k++) heads[k] += weight * values[j][k];
      });
    });
    const added = apply(O, heads);
    return x.map((value, k) => value + added[k]);
  });
  return [out, maps];
}
function answer(model, tokens, isOn) {
  let stream = tokens.map((token) => model.embedding[token]);
  const maps = model.layers.flatMap((layer, i) => {
    const [next, its] = layerOn(stream, layer, i ? isOn.slice(2) : isOn.slice(0, 2));
    stream = next;
    return its;
  });
  const chances = stream.slice(-QUESTIONS).flatMap((x) => {
    const logits = [...apply(model.readOut, norm(x))];
    return [logits.slice(0, TOWNS), logits.slice(TOWNS)].map(softmax);
  });
  return { maps, said: chances.map(indexOfLargest), chances: chances.map((row) => Math.max(...row)) };
}

export default figure(({ words, numbers, tokens: documents, answers }) => {
  const model = matricesOf(float16(numbers));
  const n = documents[0].length;
  const answered = new Map(); // which heads are on -> all documents, answered
  function allAnswers(isOn) {
    const key = String(isOn);
    if (!answered.has(key)) answered.set(key, documents.map((tokens) => answer(model, tokens, isOn)));
    return answered.get(key);
  }

  const svg = drawing({ viewBox: `0 0 ${NAMES + SIDE} ${TOP + SIDE + 4}` });
  const map = mapsUnder(svg);
  const names = tabulate(n, (i) => svg.appendChild(h("text", { class: "tick end", x: NAMES - 6,
    y: TOP + (i + 0.5) * (SIDE / n) + 4 })));
  const line = TOP + (3 * FACTS * SIDE) / n;
  svg.append(h("path", { class: "asks", d: `M0,${line}H${NAMES + SIDE}` }));
  const title = h("b");
  const mapTitle = h("div", { class: "plane-title" }, title, ": rows look at columns, questions below the line");
  const mapBox = h("div", { class: "plane map" }, mapTitle, map.box, colourKey());

  const facts = tabulate(FACTS, () => h("span"));
  const rows = tabulate(QUESTIONS, () => {
    const [name, from, to] = [h("th", { scope: "row" }), h("td"), h("td")];
    return { name, boxes: [from, to], row: h("tr", {}, name, from, to) };
  });
  const heading = (...texts) => h("thead", {}, h("tr", {}, ...texts.map((text) => h("th", { scope: "col" }, text))));
  const table = h("table", { class: "said" }, heading("asked", "from", "to"),
    h("tbody", {}, ...rows.map(({ row }) => row)));
  const shares = barTable(["from", "to"], [[`right in ${documents.length} documents`, "first", 0, 1,
    (share) => share.toFixed(2)]]);
  const answersBox = h("div", { class: "plane answers" }, planeTitle("The document", ""),
    h("p", { class: "facts" }, ...facts), planeTitle("What it says", "to its questions, struck out where it is wrong"),
    table, shares.box);

  const sentence = (from, to) => `Over ${documents.length} documents, ${from.toFixed(2)} of the answers are right in `
    + `\u201cfrom\u201d and ${to.toFixed(2)} in \u201cto\u201d.`;
  const status = statusLine(sentence(1, 1));

  function draw({ binder, name_head: nameHead, fetches, shown, document }) {
    const all = allAnswers([binder, nameHead, fetches].map(Boolean));
    const { maps, said, chances } = all[document - 1];
    const tokens = documents[document - 1];
    const weights = maps[shown].flatMap((row) => [...row, ...new Array(n - row.length).fill(0)]);
    const isOff = ![binder, nameHead, fetches][shown];
    write(title, `Head ${["0.0", "0.1", "1.0"][shown]}${isOff ? ", off" : ""}`);
    names.forEach((text, i) => write(text, words[tokens[i]]));
    map.show(NAMES + SIDE, weights, n, [{ x: NAMES, y: TOP, width: SIDE, height: SIDE }], 1);
    facts.forEach((fact, k) => write(fact, tokens.slice(3 * k, 3 * k + 3).map((token) => words[token]).join(" ")));
    rows.forEach(({ name, boxes }, k) => {
      write(name, words[tokens[n - QUESTIONS + k]]);
      boxes.forEach((cell, box) => {
        write(cell, words[TOWNS + said[2 * k + box]]);
        set(cell, { class: said[2 * k + box] === answers[document - 1][2 * k + box] ? "" : "wrong" });
      });
    });
    const right = [0, 1].map((box) => sum(all.map((one, i) => sum(one.said.map((town, k) =>
      (k % 2 === box && town === answers[i][k] ? 1 : 0))))) / documents.length / QUESTIONS);
    shares.show(right);
    say(status, sentence(...right));
    return {
      numbers: { weight: weights, chance: chances, right },
      tables: () => [
        ["Right answers", ["share"], [["from", right[0]], ["to", right[1]]]],
        ["Chance of what it says", ["from", "to"], rows.map(({ name, boxes }, k) => [
          [name, ...boxes].map((cell) => cell.textContent).join(" "), ...chances.slice(2 * k, 2 * k + 2)])],
        [title.textContent, tokens.map((token) => words[token]),
          tokens.map((token, i) => [words[token], ...weights.slice(i * n, (i + 1) * n)])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, mapBox, answersBox), status], draw };
});

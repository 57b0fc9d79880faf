const REACH = 3.8; // the planes show -REACH..REACH
const EDGE = 3.5; // and the query stays within -EDGE..EDGE, as its sliders do
const SHOWN_AS_ZERO = 0.0005; // a smaller weight is written 0.000, and draws no line

// A numbered mark for each point, and below it a disc whose area grows with the weight
function discs({ svg, x: toX, y: toY }, points) {
  return points.map(([x, y], i) => {
    const centre = { cx: toX(x), cy: toY(y) };
    const disc = h("circle", { ...centre, class: "disc" });
    const mark = h("circle", { ...centre, r: 9, class: "mark" });
    const number = h("text", { x: toX(x), y: toY(y) + 4, class: "mark-number" }, i + 1);
    svg.append(disc, mark, number);
    return disc;
  });
}

const STEPS = stepsOf(-EDGE, EDGE, 0.1);

export default figure(({ names, keys, values, temperatures }, { change }) => {
  const left = plane("Keys", "and the query: drag it", REACH);
  const right = plane("Values", "and their mixture", REACH);
  const { x: toX, y: toY } = left; // both planes have the same scale
  const arrow = h("line", { x1: toX(0), y1: toY(0), class: "query" });
  const handle = h("circle", { r: 10, class: "handle" });
  const held = grip("circle", "query_x query_y", takeTo);
  left.svg.append(arrow); // the discs' numbers stay above it
  const keyDiscs = discs(left, keys);
  left.svg.append(
    h("text", { x: toX(REACH) - 4, y: toY(0) - 8, class: "tick end" }, "computers \u2192"),
    h("text", { x: toX(0) + 8, y: toY(REACH) + 12, class: "tick start" }, "\u2191 food"),
    handle, held);
  const corners = hull(values).map(([x, y]) => `${toX(x)},${toY(y)}`);
  right.svg.prepend(h("polygon", { points: corners.join(" "), class: "hull" }));
  const pulls = values.map(([x, y]) => right.svg.appendChild(h("line", { x1: toX(x), y1: toY(y), class: "pull" })));
  const valueDiscs = discs(right, values);
  const mixture = right.svg.appendChild(h("path", { class: "mixture" }));

  const rows = names.map((name, i) => {
    const score = h("td", { class: "number" });
    const bar = h("span", { class: "bar" });
    const weight = h("span", {});
    const book = h("th", { scope: "row" }, `${i + 1}  ${name}`);
    const row = h("tr", {}, book, score, h("td", { class: "weight" }, bar, weight));
    return { row, score, bar, weight };
  });
  const headings = h("tr", {},
    h("th", { scope: "col" }, "key"),
    h("th", { scope: "col", class: "number" }, "score"),
    h("th", { scope: "col" }, "weight"));
  const body = h("tbody", {}, ...rows.map(({ row }) => row));
  const table = h("table", { class: "lookup-table" }, h("thead", {}, headings), body);

  const status = statusLine(sentenceFor(0.05, leader(0.99, names.indexOf(longestOf(names))), 5, [-9, -9]));
  const planes = h("div", { class: "planes" }, left.box, right.box);

  const minusHalfSquare = ([x, y], key) => -((x - key[0]) ** 2 + (y - key[1]) ** 2) / 2;

  function drawPlanes(query, weights, mixed) {
    const mixedAt = [toX(mixed[0]), toY(mixed[1])];
    set(arrow, { x2: toX(query[0]), y2: toY(query[1]) });
    for (const disc of [handle, held]) set(disc, { cx: toX(query[0]), cy: toY(query[1]) });
    set(mixture, { d: `M${mixedAt[0]},${mixedAt[1] - 9} l9,9 l-9,9 l-9,-9 z` });
    weights.forEach((weight, i) => {
      const r = 9 + 26 * Math.sqrt(weight);
      set(keyDiscs[i], { r });
      set(valueDiscs[i], { r });
      set(pulls[i], { x2: mixedAt[0], y2: mixedAt[1], "stroke-width": weight < SHOWN_AS_ZERO ? 0 : 8 * weight });
    });
  }

  function writeRow({ score, bar, weight }, scoreNow, weightNow) {
    write(score, signed(scoreNow));
    bar.style.width = `${64 * weightNow}%`;
    write(weight, weightNow.toFixed(3));
  }

  // As many books with equal weights would have the same entropy
  function booksRead(weights) {
    const terms = weights.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0));
    return Math.exp(-sum(terms));
  }

  function leader(weight, book) {
    return `the largest weight, ${weight.toFixed(2)}, is on book ${book + 1}, ${names[book]}`;
  }

  // Books whose scores are equal share the lead, up to rounding
  function whoLeads(weights) {
    const most = Math.max(...weights);
    const share = most.toFixed(2);
    const leading = names.map((name, i) => i).filter((i) => weights[i] > most - 1e-9);
    if (leading.length === names.length) return `all ${names.length} books have the same weight, ${share}`;
    const [first] = leading;
    if (leading.length === 1) return leader(most, first);
    return `books ${leading.map((i) => i + 1).join(" and ")} share the lead, with ${share} each`;
  }

  function sentenceFor(T, leader, books, mixed) {
    return `At temperature ${T} ${leader}. The effective number of books is ${books.toFixed(1)}. The mixed value is `
      + `(${mixed.map((x) => signed(x)).join(", ")}).`;
  }

  function draw({ query_x, query_y, temperature, score }) {
    const query = [query_x, query_y];
    const T = temperatures[temperature];
    const scoreOf = score === 1 ? minusHalfSquare : dot;
    const scores = keys.map((key) => scoreOf(query, key));
    const weights = softmax(scores.map((score) => score / T));
    const [mixed] = times([weights], values);

    drawPlanes(query, weights, mixed);
    rows.forEach((row, i) => writeRow(row, scores[i], weights[i]));
    say(status, sentenceFor(T, whoLeads(weights), booksRead(weights), mixed));
    return {
      numbers: { weight: weights, score: scores, out: mixed },
      tables: () => [
        ["Keys", ["score", "weight"], names.map((name, i) => [`${i + 1} ${name}`, scores[i], weights[i]])],
        ["The mixed value", ["first", "second"], [["coordinate", ...mixed]]],
      ],
    };
  }

  function takeTo([x, y]) {
    change({
      query_x: nearestTo([x], STEPS, (value) => [toX(value)]),
      query_y: nearestTo([y], STEPS, (value) => [toY(value)]),
    });
  }
  // A press in the plane brings it there, and a mouse drags it from anywhere; a finger elsewhere scrolls the page
  const follow = (event) => takeTo(pointOf(event, left.svg));
  left.svg.addEventListener("click", follow);
  onDrag(left.svg, "query_x query_y", (event) => event.pointerType === "mouse" && follow(event));
  return { parts: [planes, status, table], draw };
});

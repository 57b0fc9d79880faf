// The curve's box, in its own units: logarithm of the temperature to the right, books read upwards
const [WIDE, TALL, LEFT, FOOT] = [300, 170, 26, 34];
const [COLDEST, HOTTEST] = [Math.log(0.04), Math.log(25)];
const toX = (T) => LEFT + ((WIDE - LEFT) * (Math.log(T) - COLDEST)) / (HOTTEST - COLDEST);

export default figure(({ names, scores, temperatures, lengths }, { change }) => {
  const toY = (books) => 6 + ((TALL - 6) * (names.length - books)) / (names.length - 1);

  const svg = drawing({ viewBox: `0 0 ${WIDE + 10} ${TALL + FOOT}` });
  const curve = h("path", { class: "curve hue-weight" });
  const [drop, dot] = [h("line", { y2: TALL, class: "drop" }), h("circle", { r: 6, class: "dot hue-weight" })];
  const line = (books) => h("line", { x1: LEFT, x2: WIDE, y1: toY(books), y2: toY(books), class: "axis" });
  svg.append(...names.flatMap((_, i) => [line(i + 1), h("text", { x: LEFT - 8, y: toY(i + 1) + 4, class: "tick end" },
    i + 1)]));
  for (const T of [0.05, 0.2, 1, 5, 20]) svg.append(h("text", { x: toX(T), y: TALL + 16, class: "tick" }, T));
  svg.append(h("text", { x: (LEFT + WIDE) / 2, y: TALL + 31, class: "tick" }, "temperature"), curve, drop, dot);
  const held = svg.appendChild(grip("circle", "temperature", ([x]) => change({
    temperature: nearestTo([x], [...temperatures.keys()], (i) => [toX(temperatures[i])]),
  })));
  const bars = barTable(names, [["weight", "weight", 0, 1, (weight) => weight.toFixed(3)]]);
  const graph = h("div", { class: "plane" }, planeTitle("Books read", "at every temperature"), svg);
  const status = statusLine(sentenceFor(0.05, 0.25, 5));

  function sentenceFor(T, length, books) {
    const said = length === 1 ? "" : `, with a query ${length} times as long,`;
    return `At temperature ${T}${said} the effective number of books is ${books.toFixed(2)}.`;
  }
  const weightsAt = (T, length) => softmax(scores.map((score) => (score * length) / T));
  const read = (weights) => Math.exp(-sum(weights.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0))));

  function draw({ temperature, length: times }) {
    const [T, length] = [temperatures[temperature], lengths[times]];
    const weights = weightsAt(T, length);
    const books = read(weights);
    const points = tabulate(81, (i) => Math.exp(COLDEST + ((HOTTEST - COLDEST) * i) / 80));
    set(curve, { d: `M${points.map((t) => `${toX(t)},${toY(read(weightsAt(t, length)))}`).join("L")}` });
    set(drop, { x1: toX(T), x2: toX(T), y1: toY(books) });
    for (const disc of [dot, held]) set(disc, { cx: toX(T), cy: toY(books) });
    bars.show(weights);
    say(status, sentenceFor(T, length, books));
    return {
      numbers: { weight: weights, read: books },
      tables: () => [
        ["Weights", ["weight"], names.map((name, i) => [name, weights[i]])],
        ["Books read", ["number"], [["e^H", books]]],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, bars.box, graph), status], draw };
});

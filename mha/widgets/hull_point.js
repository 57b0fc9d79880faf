const SIZE = 300;
const UNIT = 150; // pixels of a length of 1
const toX = (value) => 100 + UNIT * value;
const toY = (value) => 200 - UNIT * value;
const WISHES = ["away from all", "longer than all"];

// All scores that the sliders can give, and the weights that they make
const SCORES = stepsOf(-8, 8, 0.5).flatMap((first) => stepsOf(-8, 8, 0.5).map((second) => ({ first, second })));
const weightsOf = ({ first, second }) => softmax([first, second, 0].map((score) => score / Math.sqrt(2)));

export default figure(({ words, values, wished }, { now, change }) => {
  const svg = drawing({ viewBox: `0 0 ${SIZE} ${SIZE}` });
  const add = into(svg);
  add("line", { class: "axis", x1: 0, x2: SIZE, y1: toY(0), y2: toY(0) });
  add("line", { class: "axis", y1: 0, y2: SIZE, x1: toX(0), x2: toX(0) });
  add("polygon", { class: "hull", points: values.map(([x, y]) => `${toX(x)},${toY(y)}`).join(" ") });
  wished.forEach(([x, y], i) => {
    add("circle", { class: "ring", cx: toX(x), cy: toY(y), r: 9 });
    add("text", { x: toX(x), y: toY(y) + (y > 0 ? -15 : 26), "text-anchor": "middle" }, WISHES[i]);
  });
  const pulls = values.map(([x, y]) => add("line", { class: "share", x1: toX(x), y1: toY(y) }));
  values.forEach(([x, y], i) => {
    const [aside, below] = [[0, 26], [0, -16], [12, 20]][i];
    add("circle", { class: "value", cx: toX(x), cy: toY(y), r: 7 });
    add("text", { x: toX(x) + aside, y: toY(y) + below, "text-anchor": i < 2 ? "middle" : "start" }, words[i]);
  });
  const mixture = add("circle", { class: "mixed", r: 8 });
  const placeOf = (setting) => {
    const [[x, y]] = times([weightsOf(setting)], values);
    return [toX(x), toY(y)];
  };
  const held = svg.appendChild(grip("circle", "first second", (point) =>
    change(nearestTo(point, [now(), ...SCORES], placeOf))));

  const weight = smallMatrix("weight", "weights of \u201cgood\u201d", ["share"], words);
  const brought = smallMatrix("head-1", "mixture", ["brings"], ["1", "2"]);
  const NOTHING = "Nearly all for \u201cnews\u201d, whose value is 0: the head brings next to nothing.";
  const told = ([away, long]) => `Inside. From the ring \u201c${WISHES[0]}\u201d it stays ${away.toFixed(2)}, `
    + `from \u201c${WISHES[1]}\u201d ${long.toFixed(2)}.`;
  const status = statusLine(told([0, 0]));
  const text = h("div", { class: "beside" }, weight.box, brought.box, status);

  function draw(setting) {
    const weights = weightsOf(setting);
    const [mixed] = times([weights], values);
    const missed = wished.map(([x, y]) => Math.hypot(mixed[0] - x, mixed[1] - y));
    const [x, y] = [toX(mixed[0]), toY(mixed[1])];
    pulls.forEach((pull, i) => set(pull, { x2: x, y2: y, "stroke-width": 0.5 + 9 * weights[i] }));
    for (const disc of [mixture, held]) set(disc, { cx: x, cy: y });
    weight.show([weights], 1, 2);
    brought.show([mixed], 1, 2);
    say(status, Math.hypot(...mixed) < 0.02 ? NOTHING : told(missed));
    return {
      numbers: { weight: weights, mixture: mixed, missed },
      tables: () => [["Weights", ["weight"], rowsOf(words, weights)],
        ["Mixture", ["number"], [["first", mixed[0]], ["second", mixed[1]], ...rowsOf(WISHES, missed)]]],
    };
  }
  return { parts: [h("div", { class: "planes" }, svg, text)], draw };
});

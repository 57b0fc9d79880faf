const HIGH = 100; // px of the largest power
const BASE = 130; // where the bars stand
const [VALUES, UNIT] = [BASE + 68, 20]; // where the values stand, and px of a value of 1
const OUTPUTS = BASE + 114;
const NAMES = 62; // px of the names of both outputs
const LEFT = 16; // px of the ticks of the powers

export default figure(({ scores: given, values, loud: louds }, { when }) => {
  const m = given.length;
  const tilesOf = (width) => Math.ceil(m / width);
  when(["width"], ({ width, read }) => ({ read: Math.min(read, tilesOf(width)), read_max: tilesOf(width) }));
  const svg = drawing({ height: 306, class: "tiles" });
  const add = into(svg);
  add("text", { x: 0, y: 17, class: "name" }, h("tspan", { class: "symbol" }, "e"),
    h("tspan", { class: "power", dy: -5 }, "score \u2212 maximum"));
  const rule = add("path", { class: "rule" });
  [0, 1].forEach((power) => add("text", { class: "tick end", x: LEFT - 6, y: BASE - HIGH * power + 4 }, power));
  const frame = add("rect", { class: "frame", y: BASE - HIGH - 8, height: HIGH + 12 });
  const bars = given.map(() => add("rect", { class: "hue-weight" }));
  const unknown = given.map(() => add("text", { class: "tick", y: BASE - 4 }));
  const ticks = given.map((_, i) => add("text", { y: BASE + 18, "text-anchor": "middle" }, String(i + 1)));
  add("text", { x: 0, y: BASE + 40, class: "name" }, "value");
  const middle = add("path", { class: "axis" });
  const ofValues = values.map(() => add("rect", {}));
  add("text", { x: 0, y: OUTPUTS, class: "name" }, "output");
  const axis = add("path", { class: "axis" });
  const outs = ["so far", "all keys"].map((name, i) => [add("rect", { class: i ? "all" : "hue-value",
    y: OUTPUTS + 12 + 24 * i, height: 16 }), add("text", { x: 0, y: OUTPUTS + 25 + 24 * i }, name)]);

  function walk({ width, read, loud, backwards }) {
    const scores = given.map((score) => score * louds[loud]);
    const tiles = tabulate(tilesOf(width), (t) => [t * width, Math.min(m, (t + 1) * width)]);
    const seen = (backwards ? tiles.reverse() : tiles).slice(0, read);
    let [largest, total, acc] = [-Infinity, 0, 0];
    const parts = seen.map(([i, j]) => {
      const [own, its] = [scores.slice(i, j), values.slice(i, j)];
      const top = Math.max(largest, ...own);
      const old = Math.exp(largest - top);
      const powers = own.map((score) => Math.exp(score - top));
      [largest, total, acc] = [top, old * total + sum(powers), old * acc + dot(powers, its)];
      return dot(softmax(own), its);
    });
    return { scores, tiles, seen, parts, largest, total, out: acc / total, all: dot(softmax(scores), values) };
  }
  function sentenceFor({ tiles, seen, largest, total, out, all }) {
    const end = seen.length === tiles.length;
    const read = tiles.length === 1 ? "the only tile" : `${seen.length} of ${tiles.length} tiles`;
    return `After ${read} the maximum is ${signed(largest, 1)}, the sum ${
      total.toFixed(3)} and the output ${signed(out, 3)}. ${end ? "That is the output of all keys, exactly."
      : `Of all keys it will be ${signed(all, 3)}.`}`;
  }
  const status = statusLine(sentenceFor(walk({ width: 1, read: 11, loud: 2, backwards: true })));

  function draw(setting, wide) {
    const here = walk(setting);
    const { scores, seen, parts, largest, total, out, all } = here;
    set(svg, { viewBox: `0 0 ${wide} 306` });
    const step = (wide - LEFT) / m;
    const x = (i) => LEFT + i * step;
    const isRead = (i) => seen.some(([from, to]) => from <= i && i < to);
    bars.forEach((bar, i) => {
      const high = isRead(i) ? Math.max(1, HIGH * Math.exp(scores[i] - largest)) : 0;
      set(bar, { x: x(i) + 3, width: step - 6, y: BASE - high, height: high });
      [ticks[i], unknown[i]].forEach((text) => set(text, { x: x(i + 0.5) }));
      write(unknown[i], isRead(i) ? "" : "?");
      set(ofValues[i], { x: x(i) + 3, width: step - 6, y: VALUES - UNIT * Math.max(0, values[i]),
        height: UNIT * Math.abs(values[i]), class: isRead(i) ? "hue-value" : "unread" });
    });
    const [from, to] = seen.at(-1);
    set(frame, { x: x(from) + 0.5, width: (to - from) * step - 1 });
    set(middle, { d: `M${LEFT},${VALUES}H${wide}` });
    set(rule, { d: `M${LEFT},${BASE - HIGH}H${wide}` });
    const zero = Math.min(wide / 2, 260);
    const reach = zero - NAMES; // px from 0 to an output of 1
    set(axis, { d: `M${zero},${OUTPUTS + 8}v52` });
    [out, all].forEach((value, i) => set(outs[i][0], { x: zero + Math.min(0, value) * reach,
      width: Math.abs(value) * reach }));
    say(status, sentenceFor(here));
    const mean = sum(parts) / parts.length;
    return {
      numbers: { tile: [from + 1, to], largest: [largest], total: [total], out: [out], part: [parts.at(-1)],
        mean: [mean], all: [all] },
      tables: () => [["The walk", ["here"], [["first key of the tile", from + 1], ["its last", to],
        ["largest score", largest], ["sum of powers", total], ["output so far", out],
        ["output of this tile", parts.at(-1)], ["mean of the tiles' outputs", mean], ["output of all keys", all]]]],
    };
  }
  return { parts: [svg, status], draw };
});

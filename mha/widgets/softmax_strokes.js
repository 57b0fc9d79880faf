const [TOP, ROW, THICK] = [24, 44, 17]; // the titles, from book to book, and a bar
const MOST = Math.log(3.4028235e38); // the largest score whose power fits into 32 bits
const TOOTH = 4; // of a torn edge

// In 32 bits, as torch computes: an array of these numbers stays one when it is mapped
const large = (value) => {
  if (value === Infinity) return "\u221e";
  if (value < 1000) return value.toPrecision(3);
  return scientific(value);
};
const share = (weight) => (Number.isNaN(weight) ? "NaN" : weight.toFixed(3));
const FIRST = "Each power is divided by the sum of all five.";
const SAME = "The powers grow together, and the weights stay as they are.";
const SAFE = "No power is larger than 1, and the weights are the same.";
const BROKEN = "Above 88.7, a score has a power that does not fit into 32 bits: it is infinite, and \u221e divided by "
  + "\u221e is not a number (NaN).";

// A bar from one place to another, torn off there or not
function strip(from, to, y, torn = false) {
  const end = torn ? [1, 0, 1, 0].map((out, i) => `L${to - TOOTH * out},${y + (i * THICK) / 3}`).join("") : `H${to}`;
  return `M${from},${y}${end}${torn ? "" : `V${y + THICK}`}H${from}z`;
}

export default figure(({ names, scores }) => {
  const given = Float32Array.from(scores);
  const rows = [...names, "sum"];
  const y = (i) => TOP + i * ROW; // of the words of a row; its bars stand below
  const svg = drawing();
  const add = into(svg);
  const path = (look) => add("path", { class: look });
  const word = (text, look = "") => add("text", { class: look }, text);
  const parts = tabulate(names.length, () => ["bar-score", "bar-power", "bar-weight"].map(path));
  const sums = tabulate(names.length, () => ["bar-power part", "bar-weight part"].map(path));
  const [over, zero, starts, wholes, limit] = ["over", "zero", "zero", "full", "limit"].map(path);
  const titles = ["score", "power of e", "weight"].map((text) => word(text, "title"));
  const strokes = ["\u2192", "\u00f7 sum"].map((text) => word(text, "end soft"));
  const limitName = word("limit 88.7", "end");
  const called = rows.map((name, i) => add("text", { x: 0, y: y(i) + 15 }, name));
  const numbers = rows.map((_, i) => tabulate(3, () => add("text", { y: y(i) + 15, class: "end tabular" })));
  const status = statusLine(BROKEN);

  function draw({ shift, safe }, room) {
    const shifted = given.map((score) => score + shift);
    const top = safe ? Math.max(...shifted) : 0;
    const scores = shifted.map((score) => score - top);
    const powers = scores.map((score) => Math.exp(score));
    const total = Math.fround(sum(powers));
    const weights = powers.map((power) => power / total);
    show(room, scores, powers, weights, total);
    const added = shift ? SAME : FIRST;
    const works = safe ? SAFE : added;
    say(status, total === Infinity ? BROKEN : works);
    return {
      numbers: { score: scores, power: powers, weight: weights, sum: total },
      tables: () => [["Books", ["score", "power", "weight"],
        names.map((name, i) => [name, scores[i], powers[i], weights[i]])],
      ["Of all powers", ["number"], [["sum", total]]]],
    };
  }

  // Scores are on a scale of their own, powers on that of their sum: a division changes what its end is called
  function show(room, scores, powers, weights, total) {
    const gap = Math.max(14, room * 0.06);
    const wide = (room - 2 * gap - TOOTH) / 3;
    const left = tabulate(3, (k) => k * (wide + gap));
    const [low, high] = [Math.min(0, ...scores), Math.max(0, ...scores)];
    const ofScore = (score) => (wide * (score - low)) / (high - low);
    const ofPower = (power) => left[1] + wide * (total === Infinity ? 0 : power / total);
    const foot = y(names.length) + 20; // the bars of the sum
    set(svg, { viewBox: `0 0 ${room} ${foot + THICK + 3}`, width: room, height: foot + THICK + 3 });
    let [stack, pile] = [left[1], left[2]];
    names.forEach((_, i) => {
      const at = y(i) + 20;
      const [tip, lost, none] = [ofScore(scores[i]), powers[i] === Infinity, Number.isNaN(weights[i])];
      const end = lost ? left[1] + wide + TOOTH : ofPower(powers[i]);
      const length = none ? 0 : wide * weights[i];
      set(parts[i][0], { d: strip(ofScore(0), tip, at) });
      set(parts[i][1], { d: strip(left[1], end, at, lost) });
      set(parts[i][2], { d: strip(left[2], left[2] + (none ? wide : length), at),
        class: none ? "bar-weight none" : "bar-weight" });
      [scores[i], powers[i], weights[i]].forEach((value, k) => write(numbers[i][k], [signed, large, share][k](value)));
      set(sums[i][0], { d: strip(stack, stack + end - left[1], foot, lost) });
      set(sums[i][1], { d: strip(pile, pile + length, foot) });
      stack += lost ? 0 : end - left[1];
      pile += length;
    });
    const line = (x) => rows.map((_, i) => `M${x},${y(i) + 18}v${THICK + 4}`).join("");
    set(zero, { d: line(ofScore(0)) });
    set(starts, { d: left.slice(1).map(line).join("") });
    set(wholes, { d: left.slice(1).map((x) => line(x + wide)).join("") });
    const beyond = names.map((_, i) => (scores[i] > MOST ? strip(ofScore(MOST), ofScore(scores[i]), y(i) + 20) : ""));
    set(over, { d: beyond.join("") });
    set(limit, { d: high > MOST ? line(ofScore(MOST)) : "" });
    write(numbers.at(-1)[1], large(total));
    write(numbers.at(-1)[2], share(sum(weights)));
    const ends = left.map((from) => from + wide);
    const tips = names.map((_, i) => [ofScore(scores[i]),
      powers[i] === Infinity ? ends[1] : ofPower(powers[i]),
      Number.isNaN(weights[i]) ? ends[2] : left[2] + wide * weights[i]]);
    standAtTips([...tips, ends], left, scores);
    titles.forEach((title, k) => set(title, { x: left[k], y: 12 }));
    strokes.forEach((stroke, k) => set(stroke, { x: left[k + 1] - 6, y: 12 }));
    set(limitName, { x: ofScore(MOST) - 5, y: foot + 13, visibility: high > MOST ? "visible" : "hidden" });
  }

  // A number ends over its bar's tip, or begins there, of a bar that grows to the left; no name is written over
  function standAtTips(tips, left, scores) {
    const free = [Math.max(...called.map((name) => name.getComputedTextLength())) + 8, left[1], left[2]];
    const lengths = numbers.map((row) => row.map((number) => number.getComputedTextLength()));
    numbers.forEach((row, i) => row.forEach((number, k) => {
      const before = k === 0 && scores[i] < 0 ? 0 : lengths[i][k];
      set(number, { x: Math.max(tips[i][k] - before, free[k]) + lengths[i][k] });
    }));
  }
  return { parts: [svg, status], draw };
});

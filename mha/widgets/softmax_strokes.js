const [TOP, ROW, THICK] = [24, 44, 17]; // the titles, from book to book, and a bar
const MOST = Math.log(3.4028235e38); // the largest score whose power fits into 32 bits
const TOOTH = 4; // of a torn edge

// In 32 bits, as torch computes: an array of these numbers stays one when it is mapped
const large = (value) => {
  if (value === Infinity) return "\u221e";
  if (value < 1000) return value.toPrecision(3);
  const [digits, exponent] = value.toExponential(1).split("e+");
  return `${digits} \u00b7 10${exponent.replace(/\d/g, (digit) => RAISED[digit])}`;
};
const RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
const share = (weight) => (Number.isNaN(weight) ? "NaN" : weight.toFixed(3));
const FIRST = "Each power is divided by the sum of all five.";
const SAME = "The powers grow together, and the weights stay as they are.";
const SAFE = "No power is larger than 1, and the weights are the same.";
const BROKEN = "Above 88.7, a score has a power that does not fit into 32 bits: it is infinite, and \u221e divided by "
  + "\u221e is not a number (NaN).";

// A bar or a thread from one place to another, torn off there or not
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
  const threads = tabulate(names.length, () => ["thread", "thread of-weight"].map(path));
  const parts = tabulate(names.length, () => ["bar-score", "bar-power", "bar-weight"].map(path));
  const sums = tabulate(names.length, () => ["bar-power part", "bar-weight part"].map(path));
  const [over, zero, starts, ends, limit] = ["over", "zero", "zero", "full", "limit"].map(path);
  const titles = ["score", "power of e", "weight"].map((text) => word(text, "title"));
  const strokes = ["\u2192", "\u00f7 sum"].map((text) => word(text, "end soft"));
  const limitName = word("limit 88.7", "end");
  rows.forEach((name, i) => add("text", { x: 0, y: y(i) + 15 }, name));
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
    const gap = Math.max(14, room * 0.1);
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
      set(threads[i][0], { d: strip(Math.max(ofScore(0), tip), left[1], at) });
      set(threads[i][1], { d: none ? strip(end, end + gap / 2, at, true) : strip(end, left[2], at) });
      [scores[i], powers[i], weights[i]].forEach((value, k) => write(numbers[i][k], [signed, large, share][k](value)));
      set(sums[i][0], { d: strip(stack, stack + end - left[1], foot, lost) });
      set(sums[i][1], { d: strip(pile, pile + length, foot) });
      stack += lost ? 0 : end - left[1];
      pile += length;
    });
    const line = (x) => rows.map((_, i) => `M${x},${y(i) + 18}v${THICK + 4}`).join("");
    set(zero, { d: line(ofScore(0)) });
    set(starts, { d: left.slice(1).map(line).join("") });
    set(ends, { d: left.slice(1).map((x) => line(x + wide)).join("") });
    const beyond = names.map((_, i) => (scores[i] > MOST ? strip(ofScore(MOST), ofScore(scores[i]), y(i) + 20) : ""));
    set(over, { d: beyond.join("") });
    set(limit, { d: high > MOST ? line(ofScore(MOST)) : "" });
    write(numbers.at(-1)[1], large(total));
    write(numbers.at(-1)[2], share(sum(weights)));
    numbers.flat().forEach((number, i) => set(number, { x: left[i % 3] + wide }));
    titles.forEach((title, k) => set(title, { x: left[k], y: 12 }));
    strokes.forEach((stroke, k) => set(stroke, { x: left[k + 1] - 6, y: 12 }));
    set(limitName, { x: ofScore(MOST) - 5, y: foot + 13, visibility: high > MOST ? "visible" : "hidden" });
  }
  return { parts: [svg, status], draw };
});

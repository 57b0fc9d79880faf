// In 32 bits, as torch computes: an array of these numbers stays one when it is mapped
const large = (value) => {
  if (value === Infinity) return "\u221e";
  if (value < 1000) return value.toPrecision(3);
  const [digits, exponent] = value.toExponential(1).split("e+");
  return `${digits} \u00b7 10${exponent.replace(/\d/g, (digit) => RAISED[digit])}`;
};
const RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
const FIRST = "Each power is divided by the sum of all five.";
const SAME = "The powers grow together, and the weights stay as they are.";
const SAFE = "No power is larger than 1, and the weights are the same.";
const BROKEN = "What does not fit into 32 bits is infinite, and \u221e divided by \u221e is not a number.";

export default figure(({ names, scores }) => {
  const given = Float32Array.from(scores);
  // Each column on a scale of its own: what is added makes scores alike, and leaves powers as unlike as they were
  const least = (list) => Math.min(0, ...list);
  const most = (list) => Math.max(0, ...list);
  const bars = barTable(names, [
    ["score", "stream", least, most, signed],
    ["power of e", "stream", 0, most, large],
    ["÷ their sum", "weight", 0, 1, (weight) => (Number.isNaN(weight) ? "none" : weight.toFixed(3))],
  ]);
  const status = statusLine(BROKEN);

  function draw({ shift, safe }) {
    const shifted = given.map((score) => score + shift);
    const top = safe ? Math.max(...shifted) : 0;
    const scores = shifted.map((score) => score - top);
    const powers = scores.map((score) => Math.exp(score));
    const total = Math.fround(sum(powers));
    const weights = powers.map((power) => power / total);
    bars.show(scores, powers, weights);
    const added = shift ? SAME : FIRST;
    const works = safe ? SAFE : added;
    say(status, powers.includes(Infinity) ? BROKEN : works);
    return {
      numbers: { score: scores, power: powers, weight: weights },
      tables: () => [["Books", ["score", "power", "weight"],
        names.map((name, i) => [name, scores[i], powers[i], weights[i]])]],
    };
  }
  return { parts: [bars.box, status], draw };
});

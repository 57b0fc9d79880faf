const [LEFT, RIGHT, TOP, HIGH, FOOT] = [40, 10, 10, 190, 42];
const y = (weight) => TOP + HIGH * (1 - weight);
const most = (k) => k ** k / (k + 1) ** (k + 1); // of the weight at offset k, whatever the slope

const FARTHEST = 12; // target

export default figure(({ slopes, tokens, shown }, { change }) => {
  const svg = drawing({ height: TOP + HIGH + FOOT });
  const add = into(svg);
  const rules = [0, 0.25, 0.5, 0.75, 1].map((weight) => {
    add("text", { class: "tick end", x: LEFT - 8, y: y(weight) + 4 }, weight);
    return add("line", { class: "rule", x1: LEFT, y1: y(weight), y2: y(weight) });
  });
  const bars = tabulate(shown, () => add("rect"));
  const bounds = add("path", { class: "bounds" });
  let x = () => LEFT; // of a token
  const held = grip("rect", "offset", (point) => change({
    offset: nearestTo([point[0]], stepsOf(1, FARTHEST), (t) => [x(t)]),
  }), { y: TOP, height: HIGH });
  const number = add("text", { class: "target" });
  const told = [18, 34].map((down) => add("text", { class: "tick end", y: TOP + down }));
  write(told[0], "over half of the weight:");
  const places = tabulate(shown / 4, () => add("text", { class: "tick", y: y(0) + 19 }));
  const axis = add("text", { class: "tick", y: y(0) + 38 }, "tokens back");
  svg.append(held);
  const status = statusLine(sentenceFor(0.00391, 12, 0.888));
  const title = planeTitle("Weights", "and, as lines, the most that any slope gives to each position");

  function sentenceFor(slope, k, weight) {
    const best = Math.log((k + 1) / k).toFixed(3);
    return `With slope ${Number(slope.toPrecision(3))} the token ${k} back gets ${weight.toFixed(3)} of the weight. `
      + `No slope gives it more than ${most(k).toFixed(3)}; the slope ln(${k + 1}/${k}) = ${best} gives that.`;
  }

  function draw({ slope: chosen, offset }, room) {
    const slope = slopes[chosen];
    const all = (1 - Math.exp(-slope * tokens)) / (1 - Math.exp(-slope)); // the sum of e^(-slope t)
    const weights = tabulate(shown, (t) => Math.exp(-slope * t) / all);
    let half = 0; // of the nearest tokens, so many have half of the weight
    for (let got = 0; got < 0.5; half++) got += Math.exp(-slope * half) / all;
    const unit = (room - LEFT - RIGHT) / shown;
    x = (t) => LEFT + (t + 0.5) * unit;
    set(svg, { viewBox: `0 0 ${room} ${TOP + HIGH + FOOT}` });
    rules.forEach((rule) => set(rule, { x2: room - RIGHT }));
    bars.forEach((bar, t) => set(bar, {
      x: x(t) - 0.35 * unit, width: 0.7 * unit, y: y(weights[t]), height: y(0) - y(weights[t]),
      class: t === offset ? "bar-at target" : "bar-at",
    }));
    set(held, { x: x(offset - 0.5), width: unit });
    set(bounds, { d: tabulate(shown, (t) => `M${x(t - 0.5)},${y(most(t))}h${unit}`).join("") });
    write(number, weights[offset].toFixed(3));
    const between = y(weights[offset]) - y(most(offset)) > 22; // the bar's number stands on it, below the line
    set(number, { x: x(offset), y: y(between ? weights[offset] : most(offset)) - (between ? 3 : 7) });
    write(told[1], half > 1 ? `the nearest ${half} tokens` : "the token itself");
    told.forEach((line) => set(line, { x: room - RIGHT }));
    places.forEach((place, i) => {
      write(place, 4 * i);
      set(place, { x: x(4 * i) });
    });
    set(axis, { x: LEFT + (room - LEFT - RIGHT) / 2 });
    say(status, sentenceFor(slope, offset, weights[offset]));
    return {
      numbers: { weight: weights, most: most(offset), half },
      tables: () => [
        ["Weights by the slope, tokens back", tabulate(12, (i) => `+${i}`), rowsOf(["from 0", "from 12"], weights)],
        [`The most at ${offset} back`, ["weight"], [["largest possible", most(offset)]]],
        ["So many of the nearest have half of the weight", ["number"], [["tokens", half]]],
      ],
    };
  }
  return { parts: [title, svg, status], draw };
});

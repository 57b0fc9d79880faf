// Of the curves, in pixels: margins, what is above them, their height, and what is below
const [LEFT, RIGHT, TOP, HIGH, FOOT] = [40, 14, 16, 146, 62];
const [LOW, TALL] = [-2, 8]; // scores
const y = (score) => TOP + (HIGH * (TALL - score)) / (TALL - LOW);

// One pair: its face, the query's hand with a ring, the key's with a dot, and words above and below
function pairClock(name, period) {
  const face = h("circle", { class: "face" });
  const between = h("path", { class: "between" });
  const hand = (hue, r) => [h("line", { class: `hand ${hue}` }), h("circle", { class: `tip ${hue}`, r })];
  const [query, key] = [hand("hue-query", 7), hand("hue-key", 3.5)];
  const words = ["name", "", ""].map((look) => h("text", { class: look }));
  [name, period].forEach((text, i) => write(words[i], text));
  const box = h("g", {}, face, between, ...query, ...key, ...words);

  function show(x, radius, from, to) {
    const middle = [x, 42 + radius];
    const at = (angle, r) => [middle[0] + r * Math.cos(angle), middle[1] - r * Math.sin(angle)];
    set(face, { cx: x, cy: middle[1], r: radius });
    words.forEach((word, i) => set(word, { x, y: [14, 31, middle[1] + radius + 19][i] }));
    [[query, from], [key, to]].forEach(([[line, tip], angle]) => {
      const [x2, y2] = at(angle, 0.76 * radius);
      set(line, { x1: middle[0], y1: middle[1], x2, y2 });
      set(tip, { cx: x2, cy: y2 });
    });
    const short = from - to - 2 * Math.PI * Math.round((from - to) / (2 * Math.PI));
    const r = 0.5 * radius;
    set(between, { d: `M${middle}L${at(to, r)}A${r},${r} 0 0 ${Number(short < 0)} ${at(to + short, r)}Z` });
    write(words[2], `${signed((short * 180) / Math.PI, 0)}\u00b0`);
  }
  return { box, show };
}

export default figure(({ frequencies, angles, last, target }, { change }) => {
  const pairs = frequencies.map((frequency, i) =>
    pairClock(`pair ${i + 1}`, `${comma(Math.round((2 * Math.PI) / frequency))} tokens`));
  const faces = drawing({ class: "faces" });
  faces.append(...pairs.map(({ box }) => box));

  const svg = drawing({ class: "lines", height: TOP + HIGH + FOOT });
  const add = into(svg);
  const rules = [-2, 0, 2, 4, 6, 8].map((score) => {
    add("text", { class: "tick end", x: LEFT - 8, y: y(score) + 4 }, signed(score, 0));
    return add("line", { class: "rule", x1: LEFT, y1: y(score), y2: y(score) });
  });
  const [rotatedLine, addedLine] = ["rotated", "added"].map((look) => add("path", { class: `line ${look}` }));
  const names = ["rotated", "added"].map((look) => add("text", { class: look }, look));
  const dots = ["rotated", "added"].map((look) => add("circle", { class: `at ${look}`, r: 5 }));
  const span = add("path", { class: "span" });
  const tips = [["hue-query", 7], ["hue-key", 3.5]].map(([hue, r]) =>
    add("circle", { class: `tip ${hue}`, r, cy: y(LOW) + 14 }));
  const ticks = tabulate(6, () => add("text", { class: "tick", y: y(LOW) + 38 }));
  const axis = add("text", { class: "tick", y: y(LOW) + 56 }, "position in the text");
  let toPosition = () => 0; // from a pixel of the lines
  const move = (event) => change({
    position: Math.max(0, Math.min(last, toPosition(event.clientX - svg.getBoundingClientRect().left))),
  });
  onDrag(svg, "position", move, move);

  const sign = (hue, text) => h("span", { class: `sign ${hue}` }, h("i"), text);
  const title = [planeTitle("Pairs of coordinates", "of a query and a key, and how many tokens each takes for a turn"),
    h("div", {}, sign("hue-query", "query"), sign("hue-key", "key"))];
  const below = planeTitle("Score", "with the key at each position and the query at this offset");
  const status = statusLine(sentence(100, 20, -4.44, -4.44, -4.44, -14.44));

  function sentence(position, offset, score, other, least, most) {
    return `Key at ${position}, query at ${position + offset}: the score is ${signed(score)}, and so it is at every `
      + `position with this offset. With sinusoidal vectors added it is ${signed(other)} here, and elsewhere from `
      + `${signed(least)} to ${signed(most)}.`;
  }

  // The parts of a vector whose pairs have these angles at position 0
  const parts = (at, start) => [Math.cos, Math.sin].flatMap((part) =>
    frequencies.map((frequency, i) => part(start[i] + frequency * at)));

  function draw({ position, offset }, room) {
    const asked = angles.map((angle, i) => angle - target * frequencies[i]);
    const still = frequencies.map(() => 0);
    const [query, key] = [parts(0, asked), parts(0, angles)];
    const plus = (a, b) => a.map((value, i) => value + b[i]);
    const rotated = tabulate(last + 1, (at) => dot(parts(at + offset, asked), parts(at, angles)));
    const added = tabulate(last + 1, (at) =>
      dot(plus(query, parts(at + offset, still)), plus(key, parts(at, still))));

    const wide = Math.min(room, 660);
    const radius = Math.min(50, wide / 8 - 8);
    const high = 2 * radius + 70;
    set(faces, { viewBox: `0 0 ${wide} ${high}`, height: high, style: `max-width: ${wide}px` });
    pairs.forEach(({ show }, i) => show(((i + 0.5) * wide) / 4, radius,
      asked[i] + frequencies[i] * (position + offset), angles[i] + frequencies[i] * position));

    const end = last + 20; // the query may stand so far behind the key
    const x = (at) => LEFT + ((room - LEFT - RIGHT) * at) / end;
    toPosition = (pixel) => Math.round(((pixel - LEFT) * end) / (room - LEFT - RIGHT));
    set(svg, { viewBox: `0 0 ${room} ${TOP + HIGH + FOOT}` });
    rules.forEach((rule) => set(rule, { x2: x(last) }));
    [rotated, added].forEach((scores, i) => {
      const points = scores.map((score, at) => `${x(at).toFixed(1)},${y(score).toFixed(1)}`);
      set([rotatedLine, addedLine][i], { d: `M${points.join("L")}` });
      set(dots[i], { cx: x(position), cy: y(scores[position]) });
    });
    // Each line has its name where the other is farthest from it, on its outer side
    const apart = added.map((score, at) => (at < 6 || at > last - 6 ? 0 : score - rotated[at]));
    const far = indexOfLargest(apart.map(Math.abs));
    [rotated, added].forEach((scores, i) => {
      const over = (apart[far] > 0) === (i === 1);
      set(names[i], { x: Math.max(x(far), LEFT + 26), y: y(scores[far]) + (over ? -9 : 19) });
    });
    set(span, { d: `M${x(position)},${y(LOW) + 14}H${x(position + offset)}` });
    [position + offset, position].forEach((at, i) => set(tips[i], { cx: x(at) }));
    ticks.forEach((tick, i) => {
      write(tick, 20 * i);
      set(tick, { x: x(20 * i) });
    });
    set(axis, { x: x(end / 2) });
    say(status, sentence(position, offset, rotated[position], added[position], Math.min(...added),
      Math.max(...added)));
    const names4 = pairs.map((_, i) => `pair ${i + 1}`);
    return {
      numbers: {
        query: parts(position + offset, asked), key: parts(position, angles), score: rotated[position], rotated, added,
      },
      tables: () => [
        ["First parts, then second", names4, ["query", "key"].flatMap((name) => {
          const numbers = name === "query" ? parts(position + offset, asked) : parts(position, angles);
          return [[`${name}, first`, ...numbers.slice(0, 4)], [`${name}, second`, ...numbers.slice(4)]];
        })],
        ["Scores", ["score"], [["here", rotated[position]]]],
        ["With the key at each position", ["rotated", "added"],
          rotated.map((score, at) => [`key at ${at}`, score, added[at]])],
      ],
    };
  }
  return { parts: [...title, faces, below, svg, status], draw };
});

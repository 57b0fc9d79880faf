const SIZE = 280;
const UNIT = 100; // pixels of a length of 1
const at = (value) => SIZE / 2 + UNIT * value;
const up = (value) => SIZE / 2 - UNIT * value;
const turned = (angle, length = 1) => [length * Math.cos(angle), length * Math.sin(angle)];

export default figure((data, { now, change }) => {
  const angles = data.angles.map((degrees) => (degrees * Math.PI) / 180);
  const names = angles.map((_, i) => String(i + 1));
  const svg = drawing({ viewBox: `0 0 ${SIZE} ${SIZE}` });
  const add = into(svg);
  add("line", { class: "axis", x1: 0, x2: SIZE, y1: up(0), y2: up(0) });
  add("line", { class: "axis", y1: 0, y2: SIZE, x1: at(0), x2: at(0) });
  const wedge = add("path", { class: "wedge" });
  const front = add("line", { class: "front" }); // no key lies beyond it
  const arrow = add("line", { class: "arrow", x1: at(0), y1: up(0) });
  const dots = names.map((name) => [add("circle", { class: "key-dot" }), add("text", { class: "on-dot" }, name)]);
  const tipOf = (degrees) => turned((degrees * Math.PI) / 180, 1.2).map((part, i) => (i ? up : at)(part));
  const held = grip("line", "query", (point) => change({ query: nearestTo(point, stepsOf(5, 355, 10), tipOf) }),
    { x1: at(0), y1: up(0) });
  const keyAt = (angle, second) => [Math.cos(angle), second * Math.sin(angle)];
  const pressed = angles.map((angle) => grip("circle", "second", ([, y]) => change({
    second: nearestTo([y], [now().second, ...stepsOf(0, 1, 0.1)], (second) => [up(keyAt(angle, second)[1])]),
  }), { r: 14 }));
  svg.append(held, ...pressed);
  const table = barTable(names, [
    ["score with the query", "plain", -1, 1, (score) => shortly(score, 2)],
    ["wins, degrees", "key", 0, 180, (degrees) => degrees.toFixed(1)],
  ]);
  const sentenceFor = (winner, degrees, winners) =>
    `Key ${names[winner]} wins. It wins for queries in ${degrees.toFixed(1)} of 360 degrees. `
    + (winners === names.length ? "Each of the 8 has its own directions." : "The 6 keys between the ends never win.");
  const status = statusLine(sentenceFor(0, 180, 2));
  const picture = h("div", { class: "planes", "aria-hidden": "true" },
    h("div", { class: "ring" }, svg), table.box);
  const sign = (kind, said) => h("span", {}, h("i", { class: kind }), said);
  const title = h("div", { class: "signs", "aria-hidden": "true" },
    planeTitle("Keys:", "the farthest along the query wins"), sign("arrow", "query"),
    sign("front", "how far the winner lies along it"), sign("wedge", "queries that the winner wins"));

  // The directions between which each key wins: square to the edges of the hull on both its sides
  function rangesOf(keys, second) {
    if (!second) {
      const x = keys.map(([first]) => first);
      const range = (value) => (value === Math.max(...x) ? [-1, 1] : value === Math.min(...x) ? [1, 3] : [0, 0]);
      return x.map((value) => range(value).map((quarters) => (quarters * Math.PI) / 2));
    }
    const square = keys.map(([x, y], i) => {
      const [nextX, nextY] = keys[(i + 1) % keys.length];
      return Math.atan2(x - nextX, nextY - y);
    });
    return square.map((to, i) => {
      const from = square.at(i - 1);
      return [from, to < from ? to + 2 * Math.PI : to];
    });
  }

  function draw({ second, query: degrees }) {
    const query = turned((degrees * Math.PI) / 180);
    const keys = angles.map((angle) => keyAt(angle, second));
    const scores = keys.map(([x, y]) => x * query[0] + y * query[1]);
    const ranges = rangesOf(keys, second);
    const wins = ranges.map(([from, to]) => ((to - from) * 180) / Math.PI);
    const winner = indexOfLargest(scores);
    const [start, end] = ranges[winner].map((angle) => turned(angle, 1.35)).map(([x, y]) => `${at(x)},${up(y)}`);
    const radius = 1.35 * UNIT;
    set(wedge, { d: `M${at(0)},${up(0)}L${start}A${radius},${radius} 0 0 0 ${end}Z` });
    const [x2, y2] = tipOf(degrees);
    for (const line of [arrow, held]) set(line, { x2, y2 });
    const [x, y] = query.map((part) => part * scores[winner]);
    set(front, { x1: at(x - 1.5 * query[1]), y1: up(y + 1.5 * query[0]), x2: at(x + 1.5 * query[1]),
      y2: up(y - 1.5 * query[0]) });
    dots.forEach(([dot, name], i) => {
      set(dot, { cx: at(keys[i][0]), cy: up(keys[i][1]), r: 9, class: i === winner ? "key-dot wins" : "key-dot" });
      set(name, { x: at(keys[i][0]), y: up(keys[i][1]) + 4 });
      set(pressed[i], { cx: at(keys[i][0]), cy: up(keys[i][1]) });
    });
    table.show(scores, wins);
    say(status, sentenceFor(winner, wins[winner], wins.filter((degrees) => degrees > 0).length));
    return {
      numbers: { key: keys.flat(), score: scores, wins },
      tables: () => [["Keys", ["x", "y", "score", "wins, degrees"],
        names.map((name, i) => [name, ...keys[i], scores[i], wins[i]])]],
    };
  }
  return { parts: [title, picture, status], draw };
});

const REACH = 3.3; // the planes show -REACH..REACH: the longest token stretched twice stays inside
const IDENTITY = [[1, 0], [0, 1]];

const discRadius = (weight) => 9 + 16 * Math.sqrt(weight);
const diamond = (x, y, r) => `M${x},${y - r} l${r},${r} l${-r},${r} l${-r},${-r} z`;

// Two numbers that change, and how they stand in a sentence
const pair = () => [0, 1].map(() => h("span"));
const bracketed = ([a, b]) => h("span", { class: "tabular" }, "(", a, ", ", b, ")");

const put = (span, x) => write(span, signed(x));

// The ends of the ten lines of the grid: five of each direction, in turns
function gridLine(i) {
  const at = (i >> 1) - 2;
  return i % 2 ? [[at, -2], [at, 2]] : [[-2, at], [2, at]];
}

// Points, their hull, a disc for each weight and the mixture: both planes are drawn alike
function scene({ svg, x: toX, y: toY }, count) {
  const add = into(svg);
  const grid = tabulate(10, () => add("line", { class: "grid-line" }));
  const area = add("polygon", { class: "hull" });
  const pulls = tabulate(count, () => add("line", { class: "pull" }));
  const discs = tabulate(count, () => add("circle", { class: "disc" }));
  const marks = tabulate(count, () => add("circle", { r: 9, class: "mark" }));
  const numbers = tabulate(count, (i) => add("text", { class: "mark-number" }, i + 1));
  const mixture = add("path", { class: "mixture" });

  // W: where the plane goes, as rows of a matrix; the grid goes with it
  function show(points, W, weights, mixed) {
    const mixedAt = [toX(mixed[0]), toY(mixed[1])];
    grid.forEach((line, i) => {
      const [from, to] = times(gridLine(i), W);
      set(line, { x1: toX(from[0]), y1: toY(from[1]), x2: toX(to[0]), y2: toY(to[1]) });
    });
    set(area, { points: hull(points).map(([x, y]) => `${toX(x)},${toY(y)}`).join(" ") });
    points.forEach((point, i) => {
      const [x, y] = [toX(point[0]), toY(point[1])];
      set(pulls[i], { x1: x, y1: y, x2: mixedAt[0], y2: mixedAt[1], "stroke-width": 8 * weights[i] });
      set(discs[i], { cx: x, cy: y, r: discRadius(weights[i]) });
      set(marks[i], { cx: x, cy: y });
      set(numbers[i], { x, y: y + 4 });
    });
    set(mixture, { d: diamond(...mixedAt, 9) });
  }
  return { marks, show };
}

// Each token's target is a ring with a name; a broken line joins it to the token's output
function targetRing({ svg, x: toX, y: toY }, [x, y], below) {
  const [cx, cy] = [toX(x), toY(y)];
  const line = h("line", { x1: cx, y1: cy });
  const ring = h("circle", { cx, cy });
  const end = h("path", {});
  const sides = placesOfName(cx, cy, x < 0 ? -1 : 1);
  const name = h("text", { class: "target-name" });
  below.before(line, ring, end); // a value keeps its number where an output comes to lie on it
  svg.append(name);

  function show(i, out, chosen) {
    const [outX, outY] = [toX(out[0]), toY(out[1])];
    const kind = chosen ? "" : " other";
    set(line, { x2: outX, y2: outY, class: `miss${kind}` });
    set(ring, { r: chosen ? 13 : 9, class: `ring${kind}` });
    set(end, { d: diamond(outX, outY, chosen ? 9 : 5), class: `mixture${kind}` });
    write(name, `target ${i + 1}`);
    name.classList.toggle("looks", chosen);
  }

  // On the first side with no disc, ring, diamond or other name, or on that with the least of them
  function stand(drawn, names) {
    const covered = sides.map((side) => sum(drawn.map(([x, y, r]) => Math.max(0, r + 2 - gapTo(side, x, y))))
      + 30 * names.filter((other) => meet(side, other)).length);
    const side = sides[covered.indexOf(Math.min(...covered))];
    set(name, { x: side.x, y: side.y + 4 });
    return side;
  }
  return { show, stand };
}

// Where the middle of a target's name may stand: outwards, beyond, above and below its ring
const [WIDE, HIGH] = [50, 13]; // of such a name
function placesOfName(cx, cy, outwards) {
  const aside = (way) => ({ x: cx + way * (16 + WIDE / 2), y: cy });
  return [aside(outwards), aside(-outwards), { x: cx, y: cy - 22 }, { x: cx, y: cy + 22 }];
}
const gapTo = (name, x, y) =>
  Math.hypot(Math.max(0, Math.abs(x - name.x) - WIDE / 2), Math.max(0, Math.abs(y - name.y) - HIGH / 2));
const meet = (name, other) => Math.abs(name.x - other.x) < WIDE && Math.abs(name.y - other.y) < HIGH;

// The table of values and weights, one row for each token
function weightTable(words) {
  const rows = words.map((word, i) => {
    const value = pair();
    const bar = h("span", { class: "bar" });
    const weight = h("span", {});
    const name = h("th", { scope: "row" }, `${i + 1}  ${word}`);
    const valueCell = h("td", { class: "number" }, bracketed(value));
    const row = h("tr", {}, name, valueCell, h("td", { class: "weight" }, bar, weight));
    return { value, bar, weight, name, row };
  });
  const column = (text, options = {}) => h("th", { scope: "col", ...options }, text);
  const looks = column("weight");
  const headings = h("tr", {}, column("token"), column("value", { class: "number" }), looks);
  const body = h("tbody", {}, ...rows.map(({ row }) => row));
  const table = h("table", { class: "weights" }, h("thead", {}, headings), body);

  function show(asking, values, weights) {
    write(looks, `weight for \u201c${words[asking]}\u201d`);
    rows.forEach(({ value, bar, weight, name }, i) => {
      name.classList.toggle("looks", i === asking);
      value.forEach((span, axis) => put(span, values[i][axis]));
      bar.style.width = `${64 * weights[i]}%`;
      write(weight, weights[i].toFixed(3));
    });
  }
  return { table, show };
}

// The table that follows one output: the mixture, times W_V, and by how much it misses
function outputTable() {
  const mixture = pair();
  const output = pair();
  const matrix = tabulate(4, () => h("span"));
  const distance = h("b");
  const mean = h("b");
  const line = (text, shown) => h("tr", {}, h("th", { scope: "row" }, text), h("td", { class: "number" }, shown));
  const table = h("table", { class: "sum" }, h("tbody", {},
    line("mixture of the tokens", bracketed(mixture)),
    line("times W_V", h("span", { class: "matrix" }, ...matrix)),
    line("is the mixture of the values", bracketed(output)),
    line("which misses its target by", distance),
    line("mean miss of all four", mean)));

  function show(mixed, W, out, miss, meanMiss) {
    mixture.forEach((span, axis) => put(span, mixed[axis]));
    matrix.forEach((span, i) => put(span, W[i >> 1][i % 2]));
    output.forEach((span, axis) => put(span, out[axis]));
    put(distance, miss);
    put(mean, meanMiss);
  }
  return { table, show };
}

// Is a point strictly inside the hull of others? Their corners go round to the left
function among([x, y], points) {
  const corners = hull(points);
  return corners.every(([ax, ay], i) => {
    const [bx, by] = corners[(i + 1) % corners.length];
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 1e-9;
  });
}

// What W_V has done to the values
function whatChanged(W, first, second, sharpness) {
  if (first === 0 && second === 0) return "Both stretches are 0: every value is the same, whatever the token.";
  if (sharpness === 0) return "All weights are equal, so the four outputs are one point, wherever W_V moves it.";
  if (first === 0 || second === 0) return "A stretch of 0 flattens the plane to a line: part of every token is lost.";
  const still = IDENTITY.every((row, i) => row.every((x, j) => Math.abs(x - W[i][j]) < 1e-9));
  if (still) return "W_V changes nothing: the values are the tokens.";
  return "W_V has moved the values; the weights do not depend on it.";
}

// Whether the output is on its target, and whether other weights could bring it there
function whatIsReached(word, miss, allReached, inside) {
  if (allReached) return "Solved! All four outputs are on their targets.";
  const target = `the target of \u201c${word}\u201d is`;
  const where = inside ? `T${target.slice(1)} inside the shaded area, so other weights could reach it`
    : `A mean never leaves the shaded area, and ${target} outside it`;
  return `${where}. The output misses the target by ${miss.toFixed(2)}.`;
}

// W_V: a turn, then a stretch along each axis
function matrixOf({ turn, first, second }) {
  const angle = (turn * Math.PI) / 180;
  return [
    [Math.cos(angle) * first, Math.sin(angle) * second],
    [-Math.sin(angle) * first, Math.cos(angle) * second],
  ];
}

export default figure(({ sharpnesses, words, tokens, scores, targets }, { now, change }) => {
  const left = plane("Tokens", "x, and the diamond, their mixture", REACH);
  const right = plane("Values", "x W_V, and their mixture, the output", REACH);
  const before = scene(left, words.length);
  const after = scene(right, words.length);
  const names = words.map((word, i) => {
    const [x, y] = tokens[i];
    return left.svg.appendChild(h("text", { x: left.x(x), class: "word" }, word));
  });
  const goals = targets.map((target) => targetRing(right, target, after.marks[0]));
  const weightsOf = weightTable(words);
  const outputOf = outputTable();
  const changes = [[0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]].map((stretched) => whatChanged(IDENTITY, ...stretched));
  const status = statusLine(`${longestOf(changes)} ${whatIsReached(longestOf(words), 9.99, false, false)}`);
  const planes = h("div", { class: "planes" }, left.box, right.box);
  const ledger = h("div", { class: "ledger" }, weightsOf.table, outputOf.table);

  words.forEach((_, i) => {
    for (const part of [before.marks[i], names[i]]) {
      part.addEventListener("click", () => change({ asking: i }));
    }
  });

  // A hand that takes a value turns W_V
  const grips = tokens.map((token) => right.svg.appendChild(grip("circle", "turn", (point) => {
    const setting = now();
    change({ turn: nearestTo(point, [setting.turn, ...stepsOf(-180, 180, 15)], (turn) => {
      const [[x, y]] = times([token], matrixOf({ ...setting, turn }));
      return [right.x(x), right.y(y)];
    }) });
  }, { r: 16 })));

  function draw(setting) {
    const { asking, first, second, sharpness } = setting;
    const W = matrixOf(setting);
    const values = times(tokens, W);
    const everyWeight = scores.map((row) => softmax(row.map((score) => sharpnesses[sharpness] * score)));
    const weights = everyWeight[asking];
    const outs = times(everyWeight, values);
    const [mixed] = times([weights], tokens);
    const misses = outs.map(([x, y], i) => Math.hypot(x - targets[i][0], y - targets[i][1]));

    before.show(tokens, IDENTITY, weights, mixed);
    after.show(values, W, weights, outs[asking]);
    grips.forEach((shape, i) => set(shape, { cx: right.x(values[i][0]), cy: right.y(values[i][1]) }));
    words.forEach((_, i) => {
      const chosen = i === asking;
      before.marks[i].classList.toggle("looks", chosen);
      names[i].classList.toggle("looks", chosen);
      const [up, beyond] = [tokens[i][1], discRadius(weights[i]) + 4]; // the name stands outside the disc
      set(names[i], { y: left.y(up) + (up > 0 ? -beyond : beyond + 10) });
      goals[i].show(i, outs[i], chosen);
    });
    const round = (points, radius) => points.map(([x, y], i) => [right.x(x), right.y(y), radius(i)]);
    const drawn = [...round(values, (i) => discRadius(weights[i])), ...round(targets, () => 10),
      ...round(outs, (i) => (i === asking ? 10 : 5))];
    const taken = [];
    for (const goal of [goals[asking], ...goals.filter((_, i) => i !== asking)]) taken.push(goal.stand(drawn, taken));
    weightsOf.show(asking, values, weights);
    outputOf.show(mixed, W, outs[asking], misses[asking], sum(misses) / misses.length);

    const allReached = Math.max(...misses) < 1e-9;
    const inside = among(targets[asking], values);
    say(status, `${whatChanged(W, first, second, sharpnesses[sharpness])} `
      + whatIsReached(words[asking], misses[asking], allReached, inside));

    const [out, distance, mean] = [outs[asking], misses[asking], sum(misses) / misses.length];
    return {
      numbers: {
        weight: weights, value: values.flat(), mixture: mixed, matrix: W.flat(), out, distance, mean_distance: mean,
      },
      tables: () => [
        ["Tokens", [`weight for \u201c${words[asking]}\u201d`, "value, first", "second"], words.map((word, i) =>
          [word, weights[i], ...values[i]])],
        ["The output", ["first", "second"], [
          ["mixture", ...mixed], ["W_V, first row", ...W[0]], ["W_V, second row", ...W[1]],
          ["output", ...out],
        ]],
        ["Misses", ["distance"], [["this output", distance], ["mean of all four", mean]]],
      ],
    };
  }
  return { parts: [planes, status, ledger], draw };
});

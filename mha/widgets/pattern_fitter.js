// A map: the side of a cell, and the room for the names at its edges
const CELL = 22;
const EDGE = 20;
// The vectors, and the losses of the rows, in their own units
const ROOM = 250;
// The curves: their picture, where its steps begin and end, and its axis in nats, which goes with the logarithm
const WIDE = 400;
const TALL = 190;
const LEFT = 46;
const RIGHT = 344;
const LOW = 1e-4;
const HIGH = 4;

// ---- the fit ---------------------------------------------------------------------------------------

// A fit makes hundreds of steps for each width in one frame, so its numbers stand in arrays that are made once.

// Weights (n * n, row by row) of Q and K (n * d)
function weigh(weights, Q, K, n, d) {
  const root = Math.sqrt(d);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let score = 0;
      for (let c = 0; c < d; c++) score += Q[i * d + c] * K[j * d + c];
      weights[i * n + j] = score / root;
    }
  }
  softmaxRows(weights, n);
}

// KL(wanted || weights) of the cells from one on up to another, in nats
function divergence(wanted, weights, from, to) {
  let kl = 0;
  for (let j = from; j < to; j++) {
    if (wanted[j] > 0) kl += wanted[j] * Math.log(wanted[j] / weights[j]);
  }
  return kl;
}

// The same of each row
const divergences = (wanted, weights, n) => tabulate(n, (i) => divergence(wanted, weights, i * n, (i + 1) * n));

// Which rows have their largest weight, by more than 0.001, where the pattern has its largest, or one of them
function rightRows(wanted, weights, n) {
  return tabulate(n, (i) => {
    const target = wanted.slice(i * n, (i + 1) * n);
    const reached = weights.slice(i * n, (i + 1) * n);
    const top = Math.max(...target) - 1e-9;
    const onTarget = Math.max(...reached.filter((_, j) => target[j] >= top));
    const elsewhere = Math.max(...reached.filter((_, j) => target[j] < top));
    return onTarget > elsewhere + 0.001;
  });
}

// The gradient of the mean KL with respect to Q and K, both n * d
function gradients([gradQ, gradK], wanted, weights, Q, K, n, d) {
  gradQ.fill(0);
  gradK.fill(0);
  const share = n * Math.sqrt(d);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      // with respect to the product q_i . k_j
      const pull = (weights[i * n + j] - wanted[i * n + j]) / share;
      for (let c = 0; c < d; c++) {
        gradQ[i * d + c] += pull * K[j * d + c];
        gradK[j * d + c] += pull * Q[i * d + c];
      }
    }
  }
}

// One step of Adam (Kingma and Ba 2015) from numbers x to `next`; m and v remember the mean of the gradient and of its
// square
function adam({ m, v }, x, next, gradient, step, { rate, eps }) {
  const sure = 1 - 0.9 ** step;
  const known = Math.sqrt(1 - 0.99 ** step);
  for (let i = 0; i < x.length; i++) {
    m[i] += 0.1 * (gradient[i] - m[i]);
    v[i] += 0.01 * (gradient[i] ** 2 - v[i]);
    next[i] = x[i] - ((rate / sure) * m[i]) / (Math.sqrt(v[i]) / known + eps);
  }
}

// Fit queries and keys of d numbers to the wanted weights. Gives what there is after 0, 1, 2, ... steps: Q, K, weights,
// and their mean KL.
function fit(wanted, start, d, plan) {
  const { n, steps } = plan;
  const zeros = (count = n * d) => new Float64Array(count);
  const pieces = (length, many) => {
    const all = zeros(length * many);
    return tabulate(many, (step) => all.subarray(step * length, (step + 1) * length));
  };
  const [Q, K] = start.map(() => pieces(n * d, steps + 2));
  const weights = pieces(n * n, steps + 1);
  const memories = start.map(() => ({ m: zeros(), v: zeros() }));
  const slopes = start.map(() => zeros());
  // The first d of the numbers of each token
  [Q, K].forEach(([first], k) => first.forEach((_, i) => {
    first[i] = start[k][Math.floor(i / d) * n + (i % d)];
  }));
  return tabulate(steps + 1, (step) => {
    weigh(weights[step], Q[step], K[step], n, d);
    gradients(slopes, wanted, weights[step], Q[step], K[step], n, d);
    [Q, K].forEach((x, k) => adam(memories[k], x[step], x[step + 1], slopes[k], step + 1, plan));
    const kl = divergence(wanted, weights[step], 0, n * n) / n;
    return { Q: Q[step], K: K[step], weights: weights[step], kl };
  });
}

// ---- the pictures ----------------------------------------------------------------------------------

// A map of n * n weights with the tokens' numbers at its edges
function patternMap(title, note, n) {
  const side = n * CELL;
  const width = side + 2 * EDGE;
  const middle = (i) => EDGE + (i + 0.5) * CELL;
  const svg = drawing({ viewBox: `0 0 ${width} ${EDGE + side}` });
  for (let i = 0; i < n; i++) {
    svg.append(
      h("text", { x: middle(i), y: EDGE - 5, class: "tick" }, i + 1),
      h("text", { x: EDGE - 5, y: middle(i) + 4, class: "tick end" }, i + 1),
    );
  }
  const markAt = (i) => h("text", { x: width - EDGE + 4, y: middle(i) + 4, class: "right" });
  const right = tabulate(n, (i) => svg.appendChild(markAt(i)));
  const cells = mapsUnder(svg);
  const place = { x: EDGE, y: EDGE, width: side, height: side };
  const fill = (weights) => cells.show(width, weights, n, [place], 1);
  return { box: h("div", { class: "plane map" }, planeTitle(title, note), cells.box), fill, right };
}

// Queries as arrows and keys as discs. With one number each, the tokens stand one below the other, so that all can be
// seen.
function vectors(n) {
  const { box, svg, x, y } = plane("Queries", "(arrows) and keys (discs)", 0.99, ROOM); // our own scale: no ticks
  const each = (tag, name) => svg.appendChild(h(tag, { class: name }));
  const arrows = tabulate(n, () => ({ line: each("line", "query"), tip: each("path", "query-tip") }));
  const discs = tabulate(n, () => ({ disc: each("circle", "mark"), number: each("text", "mark-number") }));
  const names = tabulate(n, () => each("text", "query-name"));
  const scale = svg.appendChild(h("text", { x: ROOM - 8, y: ROOM - 8, class: "tick end" }));

  // The first of the spots beside a query's tip, from right before it on, where its number covers none that stands
  function freeSpot([tipX, tipY], [ux, uy], taken) {
    const [on, left, right] = [[ux, uy], [uy, -ux], [-uy, ux]];
    const spots = [[...on, 10], [...on, 20], [...right, 14], [...left, 14], [...on, 30], [...right, 22], [...left, 22]];
    const places = spots.map(([x, y, by]) => [tipX + by * x, tipY + by * y]);
    const free = ([x, y]) => taken.every(([left, top, room]) => Math.hypot(x - left, y - top) > room);
    return places.find(free) ?? places[0];
  }

  function showQuery(i, from, to, taken) {
    const size = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const ux = (to[0] - from[0]) / size;
    const uy = (to[1] - from[1]) / size;
    const [x2, y2] = to;
    const left = [x2 - 8 * ux - 4 * uy, y2 - 8 * uy + 4 * ux];
    const right = [x2 - 8 * ux + 4 * uy, y2 - 8 * uy - 4 * ux];
    set(arrows[i].line, { x1: from[0], y1: from[1], x2: x2 - 4 * ux, y2: y2 - 4 * uy });
    set(arrows[i].tip, { d: `M${to} L${left} L${right} z` });
    const [nameX, nameY] = freeSpot(to, [ux, uy], taken);
    set(names[i], { x: nameX, y: nameY + 4 });
    write(names[i], i + 1);
    taken.push([nameX, nameY, 12]);
  }

  function showKey(i, [keyX, keyY]) {
    set(discs[i].disc, { cx: keyX, cy: keyY, r: 8.5 });
    set(discs[i].number, { x: keyX, y: keyY + 4 });
    write(discs[i].number, i + 1);
  }

  function show({ Q, K }, d, reach) {
    // With one number each, an arrow has a lane of its own above that of the disc
    const level = (i, down) => (d === 1 ? 0.92 - (1.66 * (i + down)) / (n - 1) : 0);
    const place = (numbers, i, down) =>
      [x(numbers[i * d] / reach), y(d === 1 ? level(i, down) : numbers[i * d + 1] / reach)];
    const keys = tabulate(n, (i) => place(K, i, 0.5));
    keys.forEach((key, i) => showKey(i, key));
    const taken = keys.map(([keyX, keyY]) => [keyX, keyY, 15]);
    if (d > 1) taken.push(...tabulate(n, (i) => [...place(Q, i, 0), 8]));
    for (let i = 0; i < n; i++) showQuery(i, [x(0), y(level(i, 0))], place(Q, i, 0), taken);
    write(scale, `edge \u00b1${reach.toFixed(1)}`);
  }
  return { box, show };
}

// Where no plane can show the vectors: a bar for the KL of each row
function bars(n) {
  const svg = drawing({ viewBox: `0 0 ${ROOM} ${ROOM}` });
  const step = (ROOM - 16) / n;
  const y = (i) => 8 + (i + 0.5) * step;
  const add = into(svg);
  const columns = tabulate(n, (i) =>
    add("rect", { x: 32, y: y(i) - 9, height: 18, class: "column" }));
  const values = tabulate(n, (i) => add("text", { y: y(i) + 4 }));
  for (let i = 0; i < n; i++) add("text", { x: 24, y: y(i) + 4, class: "tick end" }, i + 1);

  function show(each, top) {
    each.forEach((kl, i) => {
      const width = ((ROOM - 90) * kl) / top;
      set(columns[i], { width });
      set(values[i], { x: 38 + width });
      write(values[i], kl.toFixed(3));
    });
  }
  return { box: h("div", { class: "plane" }, planeTitle("Loss", "of each row, in nats"), svg), show };
}

// The mean KL of every width against the steps, up to the present one
function curves(n, steps) {
  const svg = drawing({ viewBox: `0 0 ${WIDE} ${TALL + 34}` });
  const add = into(svg);
  const x = (step) => LEFT + (step / steps) * (RIGHT - LEFT);
  const y = (kl) => 6 + (TALL - 6) * (Math.log(HIGH / Math.max(kl, LOW)) / Math.log(HIGH / LOW));
  for (const kl of [1, 0.1, 0.01, 0.001, LOW]) {
    add("line", { x1: LEFT, x2: RIGHT, y1: y(kl), y2: y(kl), class: "axis" });
    add("text", { x: LEFT - 6, y: y(kl) + 4, class: "tick end" }, kl);
  }
  for (let step = 0; step <= steps; step += 100) add("text", { x: x(step), y: TALL + 16, class: "tick" }, step);
  add("text", { x: (LEFT + RIGHT) / 2, y: TALL + 31, class: "tick" }, "steps");
  const lines = tabulate(n, () => ({
    line: add("path", { class: "curve" }),
    dot: add("circle", { r: 3.5, class: "dot" }),
    name: add("text", { class: "width" }),
  }));
  const chosenLine = add("path", { class: "curve chosen" });
  const chosenDot = add("circle", { r: 4.5, class: "dot chosen" });

  // The points of all curves of a fit, which other steps of it draw again
  let drawn;
  let points;
  function keepPoints(paths) {
    if (paths === drawn) return;
    drawn = paths;
    points = paths.map((path) => path.map(({ kl }, t) => `${x(t).toFixed(1)},${y(kl).toFixed(1)}`));
  }

  // The curve of one width; gives its path and the place of its dot
  function showCurve(i, path, step) {
    const outline = `M${points[i].slice(0, step + 1).join(" L")}`;
    const { kl } = path[step];
    const end = { cx: x(step), cy: y(kl) };
    set(lines[i].line, { d: outline });
    set(lines[i].dot, end);
    return { outline, end };
  }

  function showName(i, { cx, cy }, text, look) {
    const { name } = lines[i];
    set(name, { x: cx + 8, y: cy + 4, class: look });
    write(name, text);
  }

  function show(paths, d, step) {
    keepPoints(paths);
    const chosen = d - 1;
    const { outline, end } = showCurve(chosen, paths[chosen], step);
    set(chosenLine, { d: outline });
    set(chosenDot, end);
    showName(chosen, end, `d_k = ${d}`, "width chosen");
    // The chosen curve always has its name, another only where there is room for it
    const named = [end.cy];
    paths.forEach((path, i) => {
      if (i === chosen) return;
      const place = showCurve(i, path, step).end;
      // Nearer than this, two discs are one blot
      set(lines[i].dot, { visibility: Math.abs(place.cy - end.cy) > 9 ? "visible" : "hidden" });
      const room = named.every((other) => Math.abs(other - place.cy) > 11);
      if (room) named.push(place.cy);
      showName(i, place, room ? i + 1 : "", "width");
    });
  }
  const title = planeTitle("Loss", "of every width: KL(wanted || fitted), nats");
  return { box: h("div", { class: "plane curves" }, title, svg), show };
}

// ---- the figure ------------------------------------------------------------------------------------

export default figure(({ patterns, plan, starts }, { now, change }) => {
  const { n, steps, stride } = plan;
  const wantedMap = patternMap("Wanted", "", n);
  const fittedMap = patternMap("Fitted", "by Q and K", n);
  const arrows = vectors(n);
  const rowLosses = bars(n);
  const losses = curves(n, steps);
  const side = h("div", { class: "side" });
  const button = h("button", { type: "button", class: "run" });
  const status = statusLine(sentenceFor(n, steps, "0.9999", n));
  const above = h("div", { class: "planes" }, wantedMap.box, fittedMap.box, side);
  const words = h("div", { class: "words" }, button, status, colourKey());
  const below = h("div", { class: "planes" }, losses.box, words);

  // The fits of all widths to one pattern from one start; other steps and other widths ask for the same ones again
  let last = "";
  let paths = [];
  function fitted(pattern, start) {
    const key = [pattern, start].join();
    if (key === last) return paths;
    const wanted = patterns[pattern];
    const numbers = starts[start - 1];
    paths = tabulate(n, (i) => fit(wanted, numbers, i + 1, plan));
    last = key;
    return paths;
  }

  // At the side: the vectors where a plane can show them, else the losses of the rows, on the scale of the first step
  function drawSide(wanted, path, step, d) {
    if (d > 2) {
      const first = divergences(wanted, path[0].weights, n);
      rowLosses.show(divergences(wanted, path[step].weights, n), Math.max(...first));
      side.replaceChildren(rowLosses.box);
      return;
    }
    const farthest = Math.max(...path.flatMap(({ Q, K }) => [...Q, ...K].map(Math.abs)));
    arrows.show(path[step], d, 1.15 * farthest);
    side.replaceChildren(arrows.box);
  }

  function draw({ pattern, d_k: d, steps: step, start }) {
    const wanted = patterns[pattern];
    const all = fitted(pattern, start);
    const path = all[d - 1];
    const { weights, kl } = path[step];
    wantedMap.fill(wanted);
    fittedMap.fill(weights);
    losses.show(all, d, step);
    drawSide(wanted, path, step, d);

    const right = rightRows(wanted, weights, n);
    const count = right.filter(Boolean).length;
    fittedMap.right.forEach((text, i) => write(text, right[i] ? "\u2713" : "\u2013"));
    say(status, sentenceFor(d, step, kl.toFixed(kl < 0.01 ? 4 : 3), count));
    if (timer && step >= steps) stop();

    const numbers = { wanted, weight: weights, kl: all.map((one) => one[step].kl), right: count };
    if (d > 2) numbers.row_kl = divergences(wanted, weights, n);
    const names = tabulate(n, (i) => i + 1);
    const tables = () => [
      ["Wanted: rows look, columns are looked at", names, rowsOf(names, wanted)],
      [`Fitted with d_k = ${d}, ${step} steps`, names, rowsOf(names, weights)],
      [`Of ${n} rows`, ["number"], [["with the largest weight where the pattern has its largest", count]]],
      [`KL after ${step} steps, nats`, ["mean"], numbers.kl.map((value, i) => [`d_k = ${i + 1}`, value])],
      ...(d > 2 ? [[`KL of each row, d_k = ${d}`, ["nats"], rowsOf(names, numbers.row_kl)]] : []),
    ];
    return { numbers, tables };
  }

  function sentenceFor(d, step, nats, right) {
    return `d_k = ${d}, after ${step} of ${steps} steps: KL = ${nats} nats. In ${right} of ${n} rows (\u2713) the `
      + "largest weight, by more than 0.001, is where the pattern has its largest.";
  }

  // The button walks the steps as a hand would, or goes to the end at once where motion is not wanted
  let timer = 0;
  const go = (step) => change({ steps: Math.min(step, steps) });
  function stop() {
    clearInterval(timer);
    timer = 0;
    write(button, "run the fit");
    status.setAttribute("aria-live", "polite");
  }
  function start() {
    status.setAttribute("aria-live", "off"); // one sentence at the end, not one a step
    write(button, "pause");
    go(now().steps >= steps ? 0 : now().steps + stride);
    timer = setInterval(() => go(now().steps + stride), 150);
  }
  button.addEventListener("click", () => {
    if (timer) stop();
    else if (matchMedia("(prefers-reduced-motion: reduce)").matches) go(steps);
    else start();
  });
  stop();
  return { parts: [above, below], draw, stop };
});

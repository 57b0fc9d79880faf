const CELL = 22, EDGE = 20;                                        // of a map: side of a cell, room for its names
const ROOM = 250;                                                 // of the vectors, and of the rows' losses, in their own units
const WIDE = 400, TALL = 190, LEFT = 46, RIGHT = 344;              // of the curves: their picture, and where its steps begin and end
const LOW = 1e-4, HIGH = 4;                                        // the curves' axis goes with the logarithm, from LOW to HIGH nats

// Weights (n * n, row by row) of Q and K (n * d): headWeights of common.js without its copies, since a fit asks for them at every step
function weightsOf(Q, K, n, d) {
  const weights = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    let top = -Infinity, sum = 0;
    for (let j = 0; j < n; j++) {
      let score = 0;
      for (let c = 0; c < d; c++) score += Q[i * d + c] * K[j * d + c];
      weights[i * n + j] = score / Math.sqrt(d);
      top = Math.max(top, weights[i * n + j]);
    }
    for (let j = i * n; j < (i + 1) * n; j++) sum += weights[j] = Math.exp(weights[j] - top);
    for (let j = i * n; j < (i + 1) * n; j++) weights[j] /= sum;
  }
  return weights;
}

// KL(wanted || weights) of each row, in nats
function divergences(wanted, weights, n) {
  return Array.from({ length: n }, (_, i) => {
    let sum = 0;
    for (let j = i * n; j < (i + 1) * n; j++) if (wanted[j] > 0) sum += wanted[j] * Math.log(wanted[j] / weights[j]);
    return sum;
  });
}

// Which rows have their largest weight, by more than 0.001, where the pattern has its largest, or one of them
function rightRows(wanted, weights, n) {
  return Array.from({ length: n }, (_, i) => {
    const target = wanted.slice(i * n, (i + 1) * n), reached = weights.slice(i * n, (i + 1) * n), top = Math.max(...target) - 1e-9;
    const largest = (among) => Math.max(...reached.filter((_, j) => target[j] >= top === among));
    return largest(true) > largest(false) + 0.001;
  });
}

// One step of Adam (Kingma and Ba 2015) for numbers x, in place; m and v remember the mean of the gradient and of its square
function adam({ x, m, v }, gradient, step, { rate, eps }) {
  const sure = 1 - 0.9 ** step, known = Math.sqrt(1 - 0.99 ** step);
  for (let i = 0; i < x.length; i++) {
    m[i] += 0.1 * (gradient[i] - m[i]);
    v[i] += 0.01 * (gradient[i] ** 2 - v[i]);
    x[i] -= ((rate / sure) * m[i]) / (Math.sqrt(v[i]) / known + eps);
  }
}

// Fit queries and keys of d numbers to the wanted weights. Gives what there is after 0, 1, 2, ... steps: Q, K, weights, and their mean KL
function fit(wanted, start, d, plan) {
  const { n, steps } = plan, columns = Array.from({ length: d }, (_, c) => c), path = [];
  const [Q, K] = start.map((numbers) => ({ x: take(numbers, n, columns), m: new Float64Array(n * d), v: new Float64Array(n * d) }));
  for (let step = 0; step <= steps; step++) {
    const weights = weightsOf(Q.x, K.x, n, d), kl = divergences(wanted, weights, n).reduce((a, b) => a + b) / n;
    path.push({ Q: Q.x.slice(), K: K.x.slice(), weights, kl });
    const gradQ = new Float64Array(n * d), gradK = new Float64Array(n * d);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
      const pull = (weights[i * n + j] - wanted[i * n + j]) / (n * Math.sqrt(d));        // the gradient of the mean KL with respect to q_i . k_j
      for (let c = 0; c < d; c++) {
        gradQ[i * d + c] += pull * K.x[j * d + c];
        gradK[j * d + c] += pull * Q.x[i * d + c];
      }
    }
    adam(Q, gradQ, step + 1, plan);
    adam(K, gradK, step + 1, plan);
  }
  return path;
}

// A map of n * n weights with the tokens' numbers at its edges; `mark` names what the cells carry for who reads the page
function patternMap(title, note, n, mark) {
  const size = EDGE + n * CELL, svg = h("svg", { viewBox: `0 0 ${size + EDGE} ${size}`, "aria-hidden": "true" });
  const cells = Array.from({ length: n * n }, (_, i) => h("rect", { x: EDGE + (i % n) * CELL, y: EDGE + Math.floor(i / n) * CELL, width: CELL - 1, height: CELL - 1 }));
  const middle = (i) => EDGE + (i + 0.5) * CELL;
  const right = Array.from({ length: n }, (_, i) => h("text", { x: size + 4, y: middle(i) + 4, class: "right" }));
  for (let i = 0; i < n; i++) svg.append(h("text", { x: middle(i), y: EDGE - 5, class: "tick" }, i + 1), h("text", { x: EDGE - 5, y: middle(i) + 4, class: "tick end" }, i + 1));
  svg.append(...cells, ...right);
  const fill = (weights) => weights.forEach((w, i) => { set(cells[i], { fill: shade(w) }); mark(cells[i].dataset, w); });
  return { box: h("div", { class: "plane map" }, h("div", { class: "plane-title" }, h("b", {}, title), ` ${note}`), svg), fill, right };
}

// Queries as arrows and keys as discs. With one number each, the tokens stand one below the other, so that all can be seen
function vectors(n) {
  const { box, svg, x, y } = plane("Queries", "(arrows) and keys (discs)", 0.99, ROOM);  // our own scale: no ticks
  const each = (...tags) => Array.from({ length: n }, () => tags.map(([tag, name]) => svg.appendChild(h(tag, { class: name }))));
  const arrows = each(["line", "query"], ["path", "query-tip"]), discs = each(["circle", "mark"], ["text", "mark-number"]);
  const names = each(["text", "query-name"]), scale = svg.appendChild(h("text", { x: ROOM - 8, y: ROOM - 8, class: "tick end" }));
  function show({ Q, K }, d, reach) {
    const level = (i) => (d === 1 ? 0.86 - (1.56 * i) / (n - 1) : 0);
    const place = (numbers, i) => [x(numbers[i * d] / reach), y(d === 1 ? level(i) : numbers[i * d + 1] / reach)];
    for (let i = 0; i < n; i++) {
      const [from, to, key] = [[x(0), y(level(i))], place(Q, i), place(K, i)], size = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const [ux, uy] = [(to[0] - from[0]) / size, (to[1] - from[1]) / size], [tx, ty] = to;
      set(arrows[i][0], { x1: from[0], y1: from[1], x2: tx - 4 * ux, y2: ty - 4 * uy });
      set(arrows[i][1], { d: `M${to} L${tx - 8 * ux - 4 * uy},${ty - 8 * uy + 4 * ux} L${tx - 8 * ux + 4 * uy},${ty - 8 * uy - 4 * ux} z` });
      set(discs[i][0], { cx: key[0], cy: key[1], r: 8.5 });
      set(discs[i][1], { x: key[0], y: key[1] + 4 });
      set(names[i][0], { x: tx + 9 * ux, y: ty + 9 * uy + 4 });
      discs[i][1].textContent = names[i][0].textContent = i + 1;
    }
    scale.textContent = `edge \u00b1${reach.toFixed(1)}`;
  }
  return { box, show };
}

// Where no plane can show the vectors: a bar for the KL of each row
function bars(n) {
  const svg = h("svg", { viewBox: `0 0 ${ROOM} ${ROOM}`, "aria-hidden": "true" }), step = (ROOM - 16) / n, y = (i) => 8 + (i + 0.5) * step;
  const columns = Array.from({ length: n }, (_, i) => svg.appendChild(h("rect", { x: 32, y: y(i) - 9, height: 18, class: "column", "data-name": "row_kl" })));
  const values = Array.from({ length: n }, (_, i) => svg.appendChild(h("text", { y: y(i) + 4 })));
  for (let i = 0; i < n; i++) svg.append(h("text", { x: 24, y: y(i) + 4, class: "tick end" }, i + 1));
  const title = h("div", { class: "plane-title" }, h("b", {}, "Loss"), " of each row, in nats");
  function show(each, top) {
    each.forEach((kl, i) => {
      const width = ((ROOM - 90) * kl) / top;
      set(columns[i], { width, "data-value": kl });
      set(values[i], { x: 38 + width });
      values[i].textContent = kl.toFixed(3);
    });
  }
  return { box: h("div", { class: "plane" }, title, svg), show };
}

// The mean KL of every width against the steps, up to the present one
function curves(n, steps) {
  const svg = h("svg", { viewBox: `0 0 ${WIDE} ${TALL + 34}`, "aria-hidden": "true" });
  const x = (step) => LEFT + (step / steps) * (RIGHT - LEFT), y = (kl) => 6 + (TALL - 6) * (Math.log(HIGH / Math.max(kl, LOW)) / Math.log(HIGH / LOW));
  for (const kl of [1, 0.1, 0.01, 0.001, LOW])
    svg.append(h("line", { x1: LEFT, x2: RIGHT, y1: y(kl), y2: y(kl), class: "axis" }), h("text", { x: LEFT - 6, y: y(kl) + 4, class: "tick end" }, kl));
  for (let step = 0; step <= steps; step += 100) svg.append(h("text", { x: x(step), y: TALL + 16, class: "tick" }, step));
  svg.append(h("text", { x: (LEFT + RIGHT) / 2, y: TALL + 31, class: "tick" }, "steps"));
  const lines = Array.from({ length: n }, () => ["path", "circle", "text"].map((tag) => svg.appendChild(h(tag, tag === "circle" ? { r: 3.5, class: "dot", "data-name": "kl" } : { class: "curve" }))));
  const above = [svg.appendChild(h("path", { class: "curve chosen" })), svg.appendChild(h("circle", { r: 4.5, class: "dot chosen" }))];
  function show(paths, d, step) {
    const named = [];                                              // the chosen curve has its name first; another only where there is room for it
    const order = [d - 1, ...paths.keys()].filter((i, place) => i !== d - 1 || !place);
    for (const i of order) {
      const [line, dot, name] = lines[i], kl = paths[i][step].kl, at = { cx: x(step), cy: y(kl) }, chosen = i === d - 1;
      const outline = `M${paths[i].slice(0, step + 1).map((then, t) => `${x(t).toFixed(1)},${y(then.kl).toFixed(1)}`).join(" L")}`;
      set(line, { d: outline });
      set(dot, { ...at, "data-value": kl });
      if (chosen) { set(above[0], { d: outline }); set(above[1], at); }
      const room = named.every((other) => Math.abs(other - at.cy) > 11);
      if (room) named.push(at.cy);
      set(name, { x: at.cx + 8, y: at.cy + 4, class: chosen ? "width chosen" : "width" });
      name.textContent = chosen ? `d_k = ${i + 1}` : room ? i + 1 : "";
    }
  }
  return { box: h("div", { class: "plane curves" }, h("div", { class: "plane-title" }, h("b", {}, "Loss"), " of every width: KL(wanted || fitted), nats"), svg), show };
}

function render({ model, el }) {
  const plan = model.get("plan"), { n, steps } = plan;
  const wantedMap = patternMap("Wanted", "", n, (data, w) => { data.name = "wanted"; data.value = w; });
  const fittedMap = patternMap("Fitted", "by Q and K", n, (data, w) => { data.weight = w; });
  const arrows = vectors(n), rowLosses = bars(n), losses = curves(n, steps), side = h("div", { class: "side" });
  const button = h("button", { type: "button", class: "run" });
  const many = h("span", { "data-name": "right" }), sentence = h("span", {}), meaning = h("span", {});
  const status = h("p", { class: "status", "aria-live": "polite" }, sentence, many, meaning);
  el.append(h("div", { class: "mha-figure fitter", "data-figure": "pattern-fitter", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" }, wantedMap.box, fittedMap.box, side),
    h("div", { class: "planes" }, losses.box, h("div", { class: "words" }, button, status, colourKey()))));

  // The fits of all widths to one pattern from one start; other steps and other widths ask for the same ones again
  let last = "", paths = [];
  function fitted(pattern, start) {
    const key = [pattern, start].join();
    if (key !== last) paths = Array.from({ length: n }, (_, i) => fit(model.get("patterns")[pattern], model.get("starts")[start - 1], i + 1, plan));
    last = key;
    return paths;
  }

  function draw() {
    const pattern = model.get("pattern"), d = model.get("d_k"), step = model.get("steps");
    const wanted = model.get("patterns")[pattern], all = fitted(pattern, model.get("start")), path = all[d - 1], { weights, kl } = path[step];
    wantedMap.fill(wanted);
    fittedMap.fill(weights);
    losses.show(all, d, step);
    if (d > 2) rowLosses.show(divergences(wanted, weights, n), Math.max(...divergences(wanted, path[0].weights, n)));
    else arrows.show(path[step], d, 1.15 * Math.max(...path.flatMap(({ Q, K }) => [...Q, ...K].map(Math.abs))));
    side.replaceChildren((d > 2 ? rowLosses : arrows).box);

    const right = rightRows(wanted, weights, n);
    fittedMap.right.forEach((text, i) => { text.textContent = right[i] ? "\u2713" : "\u2013"; });
    many.textContent = many.dataset.value = right.filter(Boolean).length;
    sentence.textContent = `d_k = ${d}, after ${step} of ${steps} steps: KL = ${kl.toFixed(kl < 0.01 ? 4 : 3)} nats. In `;
    meaning.textContent = ` of ${n} rows (\u2713) the largest weight, by more than 0.001, is where the pattern has its largest.`;
    if (timer && step >= steps) stop();
  }

  // The button walks the steps as a hand would, or goes to the end at once where motion is not wanted
  let timer = 0;
  const go = (step) => { model.set("steps", Math.min(step, steps)); model.save_changes(); };
  function stop() {
    clearInterval(timer);
    timer = 0;
    button.textContent = "run the fit";
    status.setAttribute("aria-live", "polite");
  }
  button.addEventListener("click", () => {
    if (timer) return stop();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return go(steps);
    status.setAttribute("aria-live", "off");                       // one sentence at the end, not one a step
    button.textContent = "pause";
    go(model.get("steps") >= steps ? 0 : model.get("steps") + plan.stride);
    timer = setInterval(() => go(model.get("steps") + plan.stride), 150);
  });
  stop();
  const clean = redraw(model, el, ["pattern", "start", "d_k", "steps"], draw);
  return () => { stop(); clean(); };
}

export default { render };

// Shared by the figures' modules: figure.py puts this file in front of each of them. Plain functions, no state.

// ---- numbers ---------------------------------------------------------------------------------------

// A list of `count` things, made one by one from their index
const tabulate = (count, make) => Array.from({ length: count }, (_, i) => make(i));

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// The index of the largest number, the first of them where several are equal
const indexOfLargest = (numbers) => numbers.indexOf(Math.max(...numbers));

// A number with a real minus sign
const signed = (value, digits = 2) => value.toFixed(digits).replace("-", "\u2212");

// The same as a power of ten, with one decimal
const scientific = (value) => value.toExponential(1).replace("-", "\u2212");

// float16 bytes (a DataView from the widget's buffers) -> Float64Array
function float16(view) {
  return Float64Array.from({ length: view.byteLength / 2 }, (_, i) => {
    const bits = view.getUint16(2 * i, true);
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
    return bits >> 15 ? -size : size;
  });
}

// softmax of a plain list or typed array, safe for large scores
function softmax(scores) {
  const top = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

// Columns of an n-row matrix, copied side by side
function take(matrix, n, columns) {
  const width = matrix.length / n;
  const d = columns.length;
  const out = new Float64Array(n * d);
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < d; c++) out[i * d + c] = matrix[i * width + columns[c]];
  }
  return out;
}

// Weights (n * n, row by row) of one head that owns `columns` of Q and K (n rows each): softmax(Q K^T / sqrt(d_k))
function headWeights(Q, K, n, columns) {
  const d = columns.length;
  const q = take(Q, n, columns);
  const k = take(K, n, columns);
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const scores = new Float64Array(n);
    for (let j = 0; j < n; j++) {
      let product = 0;
      for (let c = 0; c < d; c++) product += q[i * d + c] * k[j * d + c];
      scores[j] = product / Math.sqrt(d);
    }
    out.set(softmax(scores), i * n);
  }
  return out;
}

// Corners of the convex hull of points in the plane, in order (Andrew's monotone chain)
function hull(points) {
  const turn = (from, a, b) => (a[0] - from[0]) * (b[1] - from[1]) - (a[1] - from[1]) * (b[0] - from[0]);
  const extend = (chain, point) => {
    while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
    return [...chain, point];
  };
  const half = (list) => list.reduce(extend, []).slice(0, -1);
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [...half(sorted), ...half(sorted.reverse())];
}

// ---- elements --------------------------------------------------------------------------------------

const SVG_TAGS = new Set([
  "svg", "g", "rect", "path", "line", "circle", "text", "title", "polygon", "defs", "marker", "tspan",
]);
const SVG = "http://www.w3.org/2000/svg";

// An element with attributes and children; tags of SVG get their namespace
function h(tag, attributes = {}, ...children) {
  const el = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  set(el, attributes);
  el.append(...children);
  return el;
}

function set(el, attributes) {
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
}

// The box of a whole figure. Tests and readers of the page know it by `name`; `look` is its class in its style sheet.
function figureBox(model, name, look, ...children) {
  const label = model.get("label");
  const attributes = { class: `mha-figure ${look}`, "data-figure": name, role: "group", "aria-label": label };
  return h("div", attributes, ...children);
}

// The sentence below a figure, which screen readers read out when it changes
const statusLine = (...children) => h("p", { class: "status", "aria-live": "polite" }, ...children);

// A picture that screen readers skip: the status line and the tables say what it shows
const drawing = (attributes = {}) => h("svg", { ...attributes, "aria-hidden": "true" });

const planeTitle = (title, note) => h("div", { class: "plane-title" }, h("b", {}, title), ` ${note}`);

// A square plane of coordinates that shows -reach..reach: its box, its svg, and where a point stands in it
function plane(title, note, reach, size = 330) {
  const svg = drawing({ viewBox: `0 0 ${size} ${size}` });
  const x = (value) => size * (0.5 + value / (2 * reach));
  const y = (value) => size * (0.5 - value / (2 * reach));
  svg.append(
    h("line", { x1: 0, x2: size, y1: y(0), y2: y(0), class: "axis" }),
    h("line", { y1: 0, y2: size, x1: x(0), x2: x(0), class: "axis" }),
  );
  for (let tick = -Math.floor(reach); tick <= reach; tick++) {
    if (tick === 0) continue;
    svg.append(
      h("text", { x: x(tick), y: y(0) + 14, class: "tick" }, signed(tick, 0)),
      h("text", { x: x(0) - 5, y: y(tick) + 4, class: "tick end" }, signed(tick, 0)),
    );
  }
  return { box: h("div", { class: "plane" }, planeTitle(title, note), svg), svg, x, y };
}

// ---- colours ---------------------------------------------------------------------------------------

// cividis (Nunez, Anderton, Renslow 2018), seventeen of its colours; white ink reads on the dark half
const CIVIDIS = [
  "#00224e", "#002e6a", "#1a386f", "#32436d", "#434e6c", "#535a6d", "#61656f", "#6f7073", "#7d7c78",
  "#8c8878", "#9b9476", "#aba072", "#bcae6c", "#cdbb63", "#dec958", "#f0d846", "#fee838",
].map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));

const SHADES = tabulate(256, (i) => {
  const place = (i / 255) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const between = (from, to) => Math.round(from + (place - low) * (to - from));
  return `rgb(${CIVIDIS[low].map((part, k) => between(part, CIVIDIS[low + 1][k])).join(",")})`;
});

// The scale is fixed from 0 to 1 and goes with the square root, so that a weight of 0.05 can be told from none
const shade = (weight) => SHADES[Math.max(0, Math.min(255, Math.round(Math.sqrt(weight) * 255)))];

// The key to the colours: a strip from 0 to 1 with the weights written under it
function colourKey() {
  const width = 230;
  const strip = width - 16;
  const svg = drawing({ class: "colour-key", viewBox: `0 0 ${width} 26` });
  for (let i = 0; i < 64; i++) {
    const fill = shade((i / 63) ** 2);
    svg.append(h("rect", { x: 5 + (i * strip) / 64, y: 0, width: strip / 64 + 0.4, height: 9, fill }));
  }
  for (const tick of [0, 0.05, 0.25, 0.5, 1]) {
    svg.append(h("text", { x: 5 + Math.sqrt(tick) * strip, y: 22, "text-anchor": "middle" }, tick));
  }
  return h("div", { class: "key" }, h("span", {}, "weight"), svg);
}

// ---- the model -------------------------------------------------------------------------------------

// Change traits as a control would: the figure redraws, and a kernel hears of it where there is one
function change(model, traits) {
  for (const [name, value] of Object.entries(traits)) model.set(name, value);
  model.save_changes();
}

// Call draw when a trait in `names` or the element's width changes, at most once per frame; returns a clean-up function
function redraw(model, el, names, draw) {
  let frame = 0;
  const drawInFrame = () => {
    frame = 0;
    draw();
  };
  const soon = () => {
    frame ||= requestAnimationFrame(drawInFrame);
  };
  for (const name of names) model.on(`change:${name}`, soon);

  let width = el.clientWidth;
  const watch = new ResizeObserver(() => {
    if (el.clientWidth === width) return;
    width = el.clientWidth;
    draw();
  });
  watch.observe(el);

  draw();
  return () => {
    for (const name of names) model.off(`change:${name}`, soon);
    watch.disconnect();
    cancelAnimationFrame(frame);
  };
}

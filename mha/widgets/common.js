// Shared by the figures' modules: figure.py puts this file in front of each of them. Plain functions, no state.

// float16 bytes (a DataView from the widget's buffers) -> Float64Array
function float16(view) {
  return Float64Array.from({ length: view.byteLength / 2 }, (_, i) => {
    const bits = view.getUint16(2 * i, true), exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
    return bits >> 15 ? -size : size;
  });
}

// softmax of a plain list or typed array, safe for large scores
function softmax(scores) {
  const top = Math.max(...scores), powers = Array.from(scores, (s) => Math.exp(s - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}

// Columns of an n-row matrix, copied side by side
function take(matrix, n, columns) {
  const width = matrix.length / n, d = columns.length, out = new Float64Array(n * d);
  for (let i = 0; i < n; i++) for (let c = 0; c < d; c++) out[i * d + c] = matrix[i * width + columns[c]];
  return out;
}

// Weights (n * n, row by row) of one head that owns `columns` of Q and K (n rows each): softmax(Q K^T / sqrt(d_k))
function headWeights(Q, K, n, columns) {
  const d = columns.length, q = take(Q, n, columns), k = take(K, n, columns), out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const scores = new Float64Array(n);
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += q[i * d + c] * k[j * d + c];
      scores[j] = sum / Math.sqrt(d);
    }
    out.set(softmax(scores), i * n);
  }
  return out;
}

// An element with attributes and children; tags of SVG get their namespace
const SVG_TAGS = new Set(["svg", "g", "rect", "path", "line", "circle", "text", "title", "polygon", "defs", "marker", "tspan"]);
function h(tag, attributes = {}, ...children) {
  const el = SVG_TAGS.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
  el.append(...children);
  return el;
}

function set(el, attributes) {
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
}

// cividis (Nunez, Anderton, Renslow 2018), seventeen of its colours; white ink reads on the dark half
const CIVIDIS = ["#00224e", "#002e6a", "#1a386f", "#32436d", "#434e6c", "#535a6d", "#61656f", "#6f7073", "#7d7c78", "#8c8878",
  "#9b9476", "#aba072", "#bcae6c", "#cdbb63", "#dec958", "#f0d846", "#fee838"].map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
const SHADES = Array.from({ length: 256 }, (_, i) => {
  const at = (i / 255) * (CIVIDIS.length - 1), low = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return `rgb(${CIVIDIS[low].map((c, k) => Math.round(c + (at - low) * (CIVIDIS[low + 1][k] - c))).join(",")})`;
});
// The scale is fixed from 0 to 1 and goes with the square root, so that a weight of 0.05 can be told from none
const shade = (weight) => SHADES[Math.max(0, Math.min(255, Math.round(Math.sqrt(weight) * 255)))];

// The key to the colours: a strip from 0 to 1 with the weights written under it
function colourKey() {
  const width = 230, ticks = [0, 0.05, 0.25, 0.5, 1], svg = h("svg", { class: "colour-key", viewBox: `0 0 ${width} 26`, "aria-hidden": "true" });
  for (let i = 0; i < 64; i++) svg.append(h("rect", { x: 5 + (i * (width - 16)) / 64, y: 0, width: (width - 16) / 64 + 0.4, height: 9, fill: shade((i / 63) ** 2) }));
  for (const t of ticks) svg.append(h("text", { x: 5 + Math.sqrt(t) * (width - 16), y: 22, "text-anchor": "middle" }, t));
  return h("div", { class: "key" }, h("span", {}, "weight"), svg);
}

// Call draw when a trait in `names` or the element's width changes, at most once per frame; returns a clean-up function
function redraw(model, el, names, draw) {
  let frame = 0;
  const soon = () => { frame ||= requestAnimationFrame(() => { frame = 0; draw(); }); };
  for (const name of names) model.on(`change:${name}`, soon);
  let width = el.clientWidth;
  const watch = new ResizeObserver(() => { if (el.clientWidth !== width) { width = el.clientWidth; draw(); } });
  watch.observe(el);
  draw();
  return () => { for (const name of names) model.off(`change:${name}`, soon); watch.disconnect(); cancelAnimationFrame(frame); };
}

// A number with a real minus sign
const signed = (value, digits = 2) => value.toFixed(digits).replace("-", "\u2212");

// Corners of the convex hull of points in the plane, in order (Andrew's monotone chain)
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => list.reduce((chain, p) => {
    const turn = (a, b) => (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    while (chain.length > 1 && turn(chain.at(-2), chain.at(-1)) <= 0) chain.pop();
    return [...chain, p];
  }, []).slice(0, -1);
  return [...half(sorted), ...half(sorted.reverse())];
}

// A square plane of coordinates that shows -reach..reach: its box, its svg, and where a point stands in it
function plane(title, note, reach, size = 330) {
  const svg = h("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" });
  const x = (value) => size * (0.5 + value / (2 * reach)), y = (value) => size * (0.5 - value / (2 * reach));
  svg.append(h("line", { x1: 0, x2: size, y1: y(0), y2: y(0), class: "axis" }), h("line", { y1: 0, y2: size, x1: x(0), x2: x(0), class: "axis" }));
  for (let t = -Math.floor(reach); t <= reach; t++) if (t) {
    svg.append(h("text", { x: x(t), y: y(0) + 14, class: "tick" }, signed(t, 0)), h("text", { x: x(0) - 5, y: y(t) + 4, class: "tick end" }, signed(t, 0)));
  }
  return { box: h("div", { class: "plane" }, h("div", { class: "plane-title" }, h("b", {}, title), ` ${note}`), svg), svg, x, y };
}

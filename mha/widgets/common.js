// Shared by the figures' modules: figure.py puts this file in front of each of them. Plain functions, no state.

// ---- numbers ---------------------------------------------------------------------------------------

// A list of `count` things, made one by one from their index
const tabulate = (count, make) => Array.from({ length: count }, (_, i) => make(i));

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// Lists of numbers, one after the other
function joined(lists) {
  const out = new Float64Array(sum(lists.map(({ length }) => length)));
  lists.reduce((at, list) => {
    out.set(list, at);
    return at + list.length;
  }, 0);
  return out;
}

// The index of the largest number, the first of them where several are equal
const indexOfLargest = (numbers) => numbers.indexOf(Math.max(...numbers));

const longestOf = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a));

// A number with a real minus sign
const signed = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=[0.]+$)/, "").replace("-", "\u2212");

// With commas between thousands and at most one decimal. toLocaleString would do, but takes up to 40 ms the first time.
const comma = (value) => String(Math.round(10 * value) / 10).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// The same as a power of ten, with one decimal
const RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
function scientific(value) {
  const [digits, exponent] = value.toExponential(1).split(/e\+?/);
  const raised = exponent.replace("-", "\u207b").replace(/\d/g, (digit) => RAISED[digit]);
  return `${digits.replace("-", "\u2212")} \u00b7 10${raised}`;
}

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

// The text of `packed` in figure.py -> Float64Array
function unpacked(text, steps) {
  const out = new Float64Array(text.length);
  for (let i = 0; i < out.length; i++) out[i] = (text.charCodeAt(i) - "#".charCodeAt(0)) / steps;
  return out;
}

// Products of matrices, as lists of rows; and a matrix with its rows as columns
function times(a, b) {
  return a.map((row) => b[0].map((_, c) => {
    let total = 0;
    for (let k = 0; k < b.length; k++) total += row[k] * b[k][c];
    return total;
  }));
}
const transposed = (a) => a[0].map((_, c) => a.map((row) => row[c]));
const dot = (a, b) => a.reduce((total, value, i) => total + value * b[i], 0);

// The number in the middle, or the mean of the two there
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return (sorted[Math.floor(half)] + sorted[Math.ceil(half)]) / 2;
}

// softmax of a plain list or typed array, safe for large scores
function softmax(scores) {
  const top = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

// The same of each row of n numbers, in place: for figures that ask for thousands of rows in one frame
function softmaxRows(scores, n) {
  for (let row = 0; row < scores.length; row += n) {
    let top = -Infinity;
    let total = 0;
    for (let j = row; j < row + n; j++) top = Math.max(top, scores[j]);
    for (let j = row; j < row + n; j++) {
      scores[j] = Math.exp(scores[j] - top);
      total += scores[j];
    }
    for (let j = row; j < row + n; j++) scores[j] /= total;
  }
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

// The i-th of many random numbers, evenly from 0 to 1 and normal, as in mha/lab/data.py, which says whose they are
function uniform(i, seed) {
  let t = Math.imul(i + 1 + seed, 0x6d2b79f5);
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
function normal(i, seed) {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(2 * i, seed)));
  return radius * Math.cos(2 * Math.PI * uniform(2 * i + 1, seed));
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
  const setIn = { text: typesetDrawn }[tag] ?? (SVG_TAGS.has(tag) ? (child) => child : typeset);
  el.append(...children.flatMap(setIn));
  return el;
}

// A function that puts new elements into one: add(tag, attributes, ...children)
const into = (el) => (...described) => el.appendChild(h(...described));

// A text with its symbols set, as _ext/formulas.py does: "W_Q" becomes a matrix with its letter high, "d_k" and "h_kv"
// sizes with theirs low. What is no text stays as it is
function typeset(text) {
  return inSymbols(text, (part) => [h("i", { class: "formula", "data-typed": part }, part[0],
    h(part[0] === "W" ? "sup" : "sub", {}, part.slice(2)))]);
}

// The same in the words of a drawing, where what follows an index comes back to the line
function typesetDrawn(text) {
  let back = 0;
  return inSymbols(text, (part) => {
    const by = part[0] === "W" ? -4 : 3;
    const set = [h("tspan", { class: "symbol", dy: back }, part[0]),
      h("tspan", { class: "symbol index", dy: by }, part.slice(2))];
    back = -by;
    return set;
  }, (rest) => {
    const plain = back ? h("tspan", { dy: back }, rest) : rest;
    back = 0;
    return [plain];
  });
}

function inSymbols(text, symbol, rest = (part) => [part]) {
  if (typeof text !== "string" || !text.includes("_")) return [text];
  return text.split(/\b([Wdh]_(?:kv|\w))\b/).filter(Boolean)
    .flatMap((part) => (/^[Wdh]_(kv|\w)$/.test(part) ? symbol(part) : rest(part)));
}

// Only what changes is written: each writing makes the browser style, lay out and paint anew
function set(el, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (el.getAttribute(name) !== String(value)) el.setAttribute(name, value);
  }
}

function write(el, text) {
  if (el.written === String(text)) return;
  el.written = String(text);
  if (el.tagName === "text") el.replaceChildren(...typesetDrawn(el.written));
  else el.textContent = text;
}

// An element for words that change, with room for the longest, so that nothing below it moves; `say` changes them
const roomFor = (longest, tag, attributes = {}) => h(tag, { ...attributes, "data-longest": longest }, h("span"));
function say(room, text) {
  if (room.dataset.said === text) return;
  set(room, { "data-said": text });
  room.firstChild.replaceChildren(...typeset(text));
}

// The sentence below a figure, which screen readers read out when it changes
const statusLine = (longest) => roomFor(longest, "p", { class: "status", "aria-live": "polite" });

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
      h("text", { x: x(tick), y: size - 6, class: "tick" }, signed(tick, 0)), // at the edge, where no point lies
    );
    if (y(tick) < size - 26) svg.append(h("text", { x: 6, y: y(tick) + 4, class: "tick start" }, signed(tick, 0)));
  }
  return { box: h("div", { class: "plane" }, planeTitle(title, note), svg), svg, x, y };
}

// A plane for curves: its box, its svg, where numbers stand in it, and the path through points [x, y]. The ends of both
// axes are those of their ticks, written by `print`; `name` stands under the x axis.
function curvePlane(title, note, name, xTicks, yTicks, print = String, tall = 210) {
  const [wide, left, foot] = [330, 48, 38];
  const place = (value, ticks, from, to) => from + ((to - from) * (value - ticks[0])) / (ticks.at(-1) - ticks[0]);
  const x = (value) => place(value, xTicks, left, wide - 12);
  const y = (value) => place(value, yTicks, tall - foot, 8);
  const svg = drawing({ viewBox: `0 0 ${wide} ${tall}` });
  const tick = (text, look, at) => h("text", { ...at, class: `tick ${look}` }, text);
  svg.append(
    ...yTicks.map((value) => h("line", { x1: left, x2: wide - 12, y1: y(value), y2: y(value), class: "rule" })),
    ...yTicks.map((value) => tick(print(value), "end", { x: left - 6, y: y(value) + 4 })),
    ...xTicks.map((value) => tick(value, "", { x: x(value), y: tall - 20 })),
    tick(name, "", { x: x((xTicks[0] + xTicks.at(-1)) / 2), y: tall - 3 }),
  );
  const path = (points) => `M${points.map((point) => `${x(point[0])},${y(point[1])}`).join("L")}`;
  return { box: h("div", { class: "plane curves" }, planeTitle(title, note), svg), svg, x, y, path };
}

// A whole number as it is, others with two decimals
function shortly(value, digits = Math.abs(value - Math.round(value)) < 1e-9 ? 0 : 2) {
  return signed(value, digits);
}

// A small matrix under its title: names of its rows and columns, every number in its cell, tinted by its size in the
// colour of what they are. `show` takes the rows; `full` has the whole tint.
function smallMatrix(hue, title, rows, columns) {
  const cells = rows.map(() => columns.map(() => h("td")));
  const head = h("tr", {}, h("td"), ...columns.map((name) => h("th", { scope: "col" }, name)));
  const lines = rows.map((name, i) => h("tr", {}, h("th", { scope: "row" }, name), ...cells[i]));
  const caption = h("caption", {}, title);
  const box = h("table", { class: `small-matrix ${hue && `hue-${hue}`}` }, caption, h("thead", {}, head),
    h("tbody", {}, ...lines));

  function show(numbers, full, digits) {
    numbers.forEach((row, i) => row.forEach((value, j) => {
      write(cells[i][j], shortly(value, digits));
      const tint = Math.abs(value) < 0.005 ? 0 : Math.round(8 + 14 * Math.min(1, Math.abs(value) / full));
      cells[i][j].style.setProperty("--tint", `${tint}%`);
    }));
  }
  return { box, cells, show };
}

// A table of bars: a row for each name, a column for each of [title, hue, low, high, write], whose bars stand on one
// scale from low to high; without low it has numbers alone. `show` is told the numbers of each column.
function barTable(names, columns) {
  const place = (value, low, high) => 100 * Math.max(0, Math.min(1, (value - low) / (high - low)));
  const cells = columns.map(([, hue, low]) => names.map(() => {
    const [number, bar] = [h("span", { class: "number" }), h("i", { class: "bar" })];
    const track = low === undefined ? [] : [h("span", { class: "track" }, bar)];
    return { number, bar, box: h("td", {}, h("div", { class: `barred hue-${hue}` }, number, ...track)) };
  }));
  const head = h("tr", {}, h("td"), ...columns.map(([title]) => h("th", { scope: "col" }, title)));
  const rows = names.map((name, i) => h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((c) => c[i].box)));
  const box = h("table", { class: "bars" }, h("thead", {}, head), h("tbody", {}, ...rows));
  function show(...lists) {
    lists.forEach((list, k) => {
      const [, , low, high, print] = columns[k];
      list.forEach((value, i) => {
        const { number, bar } = cells[k][i];
        const [from, to] = [Math.min(0, value), Math.max(0, value)].map((end) => place(end, low, high));
        write(number, print(value));
        if (low !== undefined) Object.assign(bar.style, { left: `${from}%`, width: `${to - from}%` });
      });
    });
  }
  return { box, cells, show };
}

// ---- colours ---------------------------------------------------------------------------------------

// A weight is one purple in every figure, from paper to all but black: five stops, which common.css has for light and
// dark. The scale is fixed from 0 to 1 and goes with the square root, so that a weight of 0.05 can be told from none.
const STOPS = ["--weight-0", "--weight-1", "--weight-2", "--weight-3", "--weight-4"];

// Where a weight lies: the stop before it, and how far it is from there to the next
function onRamp(weight) {
  const place = Math.sqrt(Math.max(0, Math.min(1, weight))) * (STOPS.length - 1);
  const low = Math.min(Math.floor(place), STOPS.length - 2);
  return [low, place - low];
}

function shade(weight) {
  const [low, share] = onRamp(weight);
  return `color-mix(in srgb, var(${STOPS[low + 1]}) ${(100 * share).toFixed(2)}%, var(${STOPS[low]}))`;
}

// The same colours as one pixel each, in an element's scheme: a function of the weight; null while it has no style
function pixelsIn(element) {
  const style = getComputedStyle(element);
  const stops = STOPS.map((name) => style.getPropertyValue(name).match(/[\d.]+/g)?.map(Number));
  if (!stops.every(Boolean)) return null;
  const pixels = Uint32Array.from(tabulate(256, (i) => {
    const [low, share] = onRamp((i / 255) ** 2);
    const [r, g, b] = stops[low].map((part, k) => Math.round(part + share * (stops[low + 1][k] - part)));
    return new Uint32Array(Uint8Array.of(r, g, b, 255).buffer)[0];
  }));
  return (weight) => pixels[Math.max(0, Math.min(255, Math.round(Math.sqrt(weight) * 255)))];
}

// What is painted follows no style sheet: it is painted anew when a page or a notebook turns light, dark, or to paper
const painters = new Map(); // canvas -> what paints it
const paintAll = () => painters.forEach((paint, canvas) => (canvas.isConnected ? paint() : painters.delete(canvas)));
const schemes = { attributes: true, attributeFilter: ["data-theme", "data-jp-theme-light"] };
new MutationObserver(paintAll).observe(document.body, schemes);
for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", paintAll);

// Maps of weights under an svg of words and marks. They are drawn on a canvas of the svg's size, whose pixels are as
// fine as those of the screen, since thousands of elements would take several frames to colour. `show` is told the
// width in the svg's units, the weights of all maps one after the other, row by row, how many columns each has, and
// their places. Cells end where pixels end, and between them stay `gap` units of nothing.
function mapsUnder(svg) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const cells = h("canvas").getContext("2d");
  let shown = { weights: [], columns: 1, places: [] };
  let pixelOf = null; // asked for once a scheme, for a browser works out the styles of the whole page to say a colour

  // The maps one below the other, a pixel a cell
  function fillCells({ weights, columns }) {
    const image = new ImageData(columns, weights.length / columns);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < weights.length; i++) pixels[i] = pixelOf(weights[i]);
    set(cells.canvas, { width: image.width, height: image.height });
    cells.putImageData(image, 0, 0);
  }
  function paintMap({ x, y, width, height }, k) {
    const { units, columns, rows, gap } = shown;
    const scale = canvas.width / units;
    const edge = (from, size, share) => Math.round((from + size * share) * scale);
    const [left, top] = [edge(x, 0, 0), edge(y, 0, 0)];
    const [wide, high] = [edge(x, width, 1) - left, edge(y, height, 1) - top];
    pen.drawImage(cells.canvas, 0, k * rows, columns, rows, left, top, wide, high);
    const line = Math.round(gap * scale);
    if (!line) return;
    for (let j = 1; j <= columns; j++) pen.clearRect(edge(x, width, j / columns) - line, top, line, high);
    for (let i = 1; i <= rows; i++) pen.clearRect(left, edge(y, height, i / rows) - line, wide, line);
  }
  function paint() {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.imageSmoothingEnabled = false;
    if (!canvas.width || !shown.places.length || !shown.weights.length) return;
    pixelOf ??= pixelsIn(canvas);
    if (!pixelOf) return;
    fillCells(shown);
    shown.places.forEach(paintMap);
  }
  painters.set(canvas, () => {
    pixelOf = null;
    paint();
  });
  new ResizeObserver(([{ contentRect: { width, height } }]) => {
    const sharp = Math.max(2, devicePixelRatio); // twice is enough for paper
    set(canvas, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
    paint();
  }).observe(canvas);
  function show(units, weights, columns, places, gap = 0) {
    shown = { units, weights, columns, rows: weights.length / columns / places.length, places, gap };
    paint();
  }
  return { box: h("div", { class: "mapped" }, canvas, svg), show };
}

// The cell of an n * n map under a point, as [row, column], or null
function cellAt({ x, y, side }, n, pointX, pointY) {
  const i = Math.floor(((pointY - y) / side) * n);
  const j = Math.floor(((pointX - x) / side) * n);
  return i >= 0 && j >= 0 && i < n && j < n ? [i, j] : null;
}

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

// ---- motion ----------------------------------------------------------------------------------------

// Motion says where a number goes. What the page says is there before anything moves, and no digit counts up.
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const FLIGHT = 520; // ms

// Strips of printed numbers on their way between elements of `root`. fly(routes) is told lists of elements as { from,
// to, delay, share }: a strip is as strong as its share, and what it flies to shows when it comes. `land` ends it all.
// `sky` is where they fly: the last of the figure's parts.
function flightsOf(root) {
  const sky = h("div", { class: "sky", "aria-hidden": "true" });
  let running = [];
  function animate(el, frames, options) {
    const one = el.animate(frames, { fill: "both", ...options });
    running.push(one);
    one.onfinish = () => one.cancel(); // it ends as it would be without
    return one;
  }
  function land() {
    running.forEach((one) => one.cancel());
    running = [];
    sky.replaceChildren();
  }
  const around = (boxes) => {
    const end = (side, most) => Math[most](...boxes.map((box) => box[side]));
    const [left, top] = [end("left", "min"), end("top", "min")];
    return { left, top, width: end("right", "max") - left, height: end("bottom", "max") - top };
  };
  function stripOf(from, boxes, start, origin) {
    const put = (el, { left, top, width, height }, { left: x, top: y }) => {
      Object.assign(el.style, { left: `${left - x}px`, top: `${top - y}px`, width: `${width}px`,
        height: `${height}px`, lineHeight: `${height}px`, fontSize: `${Math.min(0.5 * height, 0.4 * width)}px` });
      return el;
    };
    const numbers = from.map((el, i) =>
      put(h("span", { class: /hue-[\w-]+/.exec(el.className)?.[0] ?? "" }, el.textContent), boxes[i], start));
    return put(h("div", { class: "flight" }, ...numbers), start, origin);
  }
  function fly(routes) {
    land();
    if (isStill()) return;
    const boxesOf = (list) => list.map((el) => el.getBoundingClientRect());
    const origin = root.getBoundingClientRect();
    const plans = routes.map(({ from, to, delay = 0, share = 1 }) =>
      ({ from, to, delay, share, boxes: boxesOf(from), end: around(boxesOf(to)) })); // all is measured, then written
    const comes = new Map(); // element -> when the last strip comes to it
    for (const { from, to, delay, share, boxes, end } of plans) {
      const start = around(boxes);
      const strip = stripOf(from, boxes, start, origin);
      const [x, y] = [["left", "width"], ["top", "height"]].map(([edge, size]) =>
        end[edge] + end[size] / 2 - start[edge] - start[size] / 2);
      const scale = Math.min(1, end.width / start.width, end.height / start.height);
      const strong = 0.2 + 0.8 * share;
      sky.append(strip);
      animate(strip, [{ transform: "none", opacity: strong }, { opacity: strong, offset: 0.8 },
        { transform: `translate(${x}px,${y}px) scale(${scale})`, opacity: 0 }],
        { duration: FLIGHT, delay, easing: "cubic-bezier(.45,.05,.3,1)" }).onfinish = () => strip.remove();
      for (const el of to) comes.set(el, Math.max(comes.get(el) ?? 0, delay + 0.8 * FLIGHT));
    }
    for (const [el, delay] of comes) animate(el, [{ opacity: 0 }, { opacity: 1 }], { duration: 160, delay });
  }
  return { sky, fly, land, animate };
}

// ---- the figure ------------------------------------------------------------------------------------

// The module of a figure. build(data, { root, now, change, when }) makes its parts once, and gives { parts, draw,
// stop }: the elements, from the top down; draw(setting, width), which brings them to a setting; and, where need be,
// what ends with the figure. A setting is all that its class in Python declares, by name. now() is the present one;
// change(some) puts others, as a control would; when(names, rule) puts what rule(setting) says when one has changed;
// redraw() asks for another draw in the next frame, where one draw was not enough; model is the widget, whose kernel
// may be asked for more.
//
// What draw returns is what the figure shows: { numbers, tables }. `numbers` has the names, the order and, up to
// rounding, the values of the figure's `numbers()` in Python, and stands on the root for whoever reads the page.
// `tables()` gives them as [[title, column names, rows], ...], where a row is its name, then its values. They are
// written as text while "The numbers" are open, when the hand that moves a control rests.
function figure(build) {
  return {
    render({ model, el }) {
      const names = model.get("setting_names");
      const now = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
      const first = now();
      const ends = [];
      function on(name, act) {
        model.on(`change:${name}`, act);
        ends.push(() => model.off(`change:${name}`, act));
      }
      // A kernel hears of it where there is one
      function change(some) {
        for (const [name, value] of Object.entries(some)) model.set(name, value);
        model.save_changes();
      }
      const when = (some, rule) => some.forEach((name) => on(name, () => change(rule(now()))));

      const look = model.get("module").replaceAll("_", "-"); // its class in its style sheet
      const root = h("div", { class: `mha-figure ${look}`, "data-figure": model.get("figure"), role: "group",
        "aria-label": model.get("label") });
      let drawn = null;
      const redraw = () => drawn?.soon();
      const { parts, draw, stop } = build(model.get("data"), { root, now, change, when, redraw, model });
      const reset = h("button", { type: "button", class: "reset" }, "Reset");
      reset.addEventListener("click", () => change(first));
      const details = h("details", { class: "numbers" }, h("summary", {}, "The numbers"), h("div"));
      root.append(...parts, reset, details);
      el.append(root);
      drawn = keepDrawn(root, details, (width) => draw(now(), width));
      names.forEach((name) => on(name, drawn.soon));
      return () => [...ends, drawn.stop, stop].forEach((end) => end?.());
    },
  };
}

// Draw now, after `soon` at most once per frame, and when the root has another width
function keepDrawn(root, details, draw) {
  let width = root.clientWidth;
  let shown = null;
  let frame = 0;
  let rest = 0;
  const writeTables = () => details.lastChild.replaceChildren(...shown.tables().map(numbersTable));
  function drawNow() {
    shown = draw(width || 700);
    root.numbers = shown.numbers;
    clearTimeout(rest);
    if (details.open) rest = setTimeout(writeTables, 150);
  }
  const drawInFrame = () => {
    frame = 0;
    drawNow();
  };
  details.addEventListener("toggle", () => details.open && writeTables());
  const watch = new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    drawNow();
  });
  watch.observe(root);
  drawNow();
  return {
    soon: () => {
      frame ||= requestAnimationFrame(drawInFrame);
    },
    stop: () => {
      watch.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(rest);
    },
  };
}

// ---- by hand ---------------------------------------------------------------------------------------

// What a hand takes says so, and which settings it moves, as data-drags. Their controls do the same by keyboard, so it
// is no stop of its own. drag(event) is called as the pointer moves that holds it, press(event) where it goes down.
function onDrag(el, names, drag, press = () => {}) {
  set(el, { "data-drags": names });
  el.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.closest("[data-drags]") !== el) return; // it may have others in it
    el.setPointerCapture(event.pointerId);
    press(event);
  });
  el.addEventListener("pointermove", (event) => el.hasPointerCapture(event.pointerId) && drag(event));
  el.addEventListener("mousedown", (event) => event.preventDefault()); // it selects no words, and drags none
}

// A shape over what is drawn, by which a hand takes it: put(point, names) is told where it is held, in the svg's units
function grip(tag, names, put, attributes = { r: 18 }) {
  const shape = h(tag, { ...attributes, class: "grip" });
  onDrag(shape, names, (event) => put(pointOf(event, shape.ownerSVGElement), shape.dataset.drags));
  // A finger on it does not scroll the page; not every browser knows touch-action of shapes
  shape.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  return shape;
}

function pointOf({ clientX, clientY }, svg) {
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [x, y];
}

// Where a key leads in a grid, [row, column], round its edges; Home and End lead to the ends of a row
function placeInGrid(event, i, j, rows, columns) {
  const to = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
    Home: [i, 0], End: [i, columns - 1] }[event.key];
  if (!to) return null;
  event.preventDefault();
  return [(to[0] + rows) % rows, (to[1] + columns) % columns];
}

// The values of a slider
const stepsOf = (low, high, step = 1) =>
  tabulate(Math.round((high - low) / step) + 1, (i) => Number((low + i * step).toFixed(10)));

// Of some values, the one whose place is nearest to a point, or to one coordinate of it; of equals the first
function nearestTo(point, values, placeOf) {
  const gaps = values.map((value) => Math.hypot(...placeOf(value).map((at, k) => at - point[k])));
  const least = Math.min(...gaps);
  return values[gaps.findIndex((gap) => gap < least + 1e-6)];
}

// ---- the numbers as text ---------------------------------------------------------------------------

// A number in a table: 0 is exactly nothing, and what three decimals would make nothing is a power of ten
function readable(value) {
  if (typeof value !== "number") return value;
  if (Math.abs(value) === Infinity) return value < 0 ? "\u2212\u221e" : "\u221e";
  if (Number.isInteger(value)) return comma(value).replace("-", "\u2212");
  return Math.abs(value) < 0.0005 || Math.abs(value) > 1e7 ? scientific(value) : signed(value, 3);
}

function numbersTable([title, columns, rows]) {
  const cell = (value) => h("td", { class: "number" }, readable(value));
  const line = ([name, ...values]) => h("tr", {}, h("th", { scope: "row" }, name), ...values.map(cell));
  const head = h("tr", {}, h("td"), ...columns.map((text) => h("th", { scope: "col", class: "number" }, text)));
  const table = h("table", {}, h("caption", {}, title), h("thead", {}, head), h("tbody", {}, ...rows.map(line)));
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title }, table);
}

// The rows of a table from a list of numbers, row by row
const rowsOf = (names, numbers) => {
  const width = numbers.length / names.length;
  return names.map((name, i) => [name, ...numbers.slice(i * width, (i + 1) * width)]);
};

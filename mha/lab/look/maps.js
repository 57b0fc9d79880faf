// The maps of a saved page. common.js stands before this file, panels.js behind it.

const TILE = { least: 26, most: 74, gap: 3, caption: 15, gutter: 24, top: 18, group: 7 };
const FONT = "system-ui, sans-serif";
const two = (value) => value.toFixed(2);
const isNumber = (value) => Number.isFinite(value); // a page holds null where a model gave none
const toldOf = (value, digits = 2) => (isNumber(value) ? signed(value, digits) : "no number");
const plain = (tag, look, text = "") => Object.assign(h(tag, { class: look }), { textContent: text });

async function unzipped(text) {
  const packed = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// What the page knows: names of heads and of rows, weights, and what heads can be sorted by
function known(data, bytes) {
  const { layers, heads, tokens, begins, block, gone } = data;
  const count = layers * heads;
  const size = Math.round(Math.sqrt(bytes.length / count));
  const rows = tabulate(size, (i) => {
    const [from, to] = [i * block, Math.min(tokens.length, (i + 1) * block)];
    const parts = tabulate(to - from, (k) => (k && begins[from + k] ? " " : "") + tokens[from + k].replace(/^##/, ""));
    return block === 1 ? tokens[i] : parts.join("");
  });
  const orders = [{ key: "place", label: "layer and head" },
    ...data.scores.map(({ key, label, values }) => ({ key, label, values, print: two }))];
  const width = gone && gone.change.length / count;
  const changes = (head) => gone.change.slice(head * width, (head + 1) * width);
  if (gone) {
    const mean = (numbers) => (numbers.length ? sum(numbers) / numbers.length : -Infinity);
    const values = tabulate(count, (head) => mean(changes(head).filter(isNumber)));
    const label = gone.writes ? "cost when off, nats a token" : "turn of the output when off";
    orders.push({ key: "gone", label, values, print: (value) => toldOf(value, 3) });
  }
  if (gone?.writes) {
    const values = gone.without.map((told) => Math.abs(gone.whole[0][1] - told[0][1]));
    orders.push({ key: "next", label: `change of \u201c${gone.whole[0][0]}\u201d as next token`, values, print: two });
  }
  return {
    ...data, count, size, rows, orders, changes,
    name: (head) => `${Math.floor(head / heads)}.${head % heads}`,
    bytesOf: (head) => bytes.subarray(head * size * size, (head + 1) * size * size),
    weight: (head, i, j) => (bytes[(head * size + i) * size + j] / 255) ** 2,
  };
}

// A canvas as sharp as the screen, of a size in the page's pixels, ready to be drawn on
function penOn(canvas, width, height) {
  const sharp = Math.max(2, devicePixelRatio);
  set(canvas, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
  if (canvas.style.width !== `${width}px` || canvas.style.height !== `${height}px`) {
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.globalAlpha = 1;
  pen.clearRect(0, 0, width, height);
  return pen;
}

// Maps as pixels: all heads in one image, layer below layer; what a mask hides in all stays clear
function imageOf({ layers, heads, count, size, causal, bytesOf }, colours) {
  const image = new ImageData(heads * size, layers * size);
  const pixels = new Uint32Array(image.data.buffer);
  for (let head = 0; head < count; head++) {
    const begin = Math.floor(head / heads) * size * heads * size + (head % heads) * size;
    const bytes = bytesOf(head);
    for (let i = 0; i < size; i++) {
      const end = causal ? i + 1 : size;
      for (let j = 0; j < end; j++) pixels[begin + i * heads * size + j] = colours[bytes[i * size + j]];
    }
  }
  const canvas = h("canvas", { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// Where each head's tile lies: by layer and head, or the highest of some score first
function tilesOf({ layers, heads, count, kv }, order, room) {
  if (order.key !== "place") {
    const columns = Math.max(4, Math.floor(room / 66));
    const side = Math.min(TILE.most, Math.floor(room / columns) - TILE.gap);
    const [right, down] = [side + TILE.gap, side + TILE.gap + TILE.caption];
    const sorted = tabulate(count, (head) => head).sort((a, b) => order.values[b] - order.values[a]);
    const places = sorted.map((head, at) => (
      { head, x: (at % columns) * right, y: Math.floor(at / columns) * down }));
    return { places, columns, side, width: columns * right, height: Math.ceil(count / columns) * down };
  }
  const shared = heads / kv[0];
  const groups = shared > 1 ? TILE.group : 0;
  const free = room - TILE.gutter - groups * (kv[0] - 1);
  const most = Math.min(TILE.most, Math.max(TILE.least, Math.floor(640 / layers) - TILE.gap));
  const side = Math.max(TILE.least, Math.min(most, Math.floor(free / heads) - TILE.gap));
  const x = (head) => TILE.gutter + head * (side + TILE.gap) + groups * Math.floor(head / shared);
  const y = (layer) => TILE.top + layer * (side + TILE.gap);
  const places = tabulate(count, (head) => ({ head, x: x(head % heads), y: y(Math.floor(head / heads)) }));
  return { places, columns: heads, side, width: x(heads), height: y(layers), x, y };
}

// All heads as small maps. One of them is a stop of the keyboard, whose arrows go to the next
function board(all, choose) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const names = h("div", { "aria-hidden": "true" });
  const buttons = tabulate(all.count, (head) => {
    const button = h("button", { type: "button", class: all.off.includes(head) ? "tile is-off" : "tile" });
    button.addEventListener("click", () => choose({ head }));
    return button;
  });
  const label = "All heads; arrow keys go from one to the next";
  const sheet = h("div", { class: "sheet", role: "group", "aria-label": label }, canvas, names, ...buttons);
  const box = h("div", { class: "board" }, sheet);
  let tiles = null;
  let shown = "";

  sheet.addEventListener("keydown", (event) => {
    const { key, target } = event;
    const at = tiles.places.findIndex(({ head }) => buttons[head] === target);
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -tiles.columns, ArrowDown: tiles.columns,
      Home: -at, End: all.count - 1 - at };
    const next = tiles.places[at + steps[key]];
    if (at < 0 || !(key in steps)) return;
    event.preventDefault();
    if (!next) return;
    choose({ head: next.head });
    buttons[next.head].focus();
  });

  function place(order) {
    Object.assign(sheet.style, { width: `${tiles.width}px`, height: `${tiles.height}px` });
    tiles.places.forEach(({ head, x, y }) => {
      const score = order.values ? `, ${order.label} ${order.print(order.values[head])}` : "";
      Object.assign(buttons[head].style, { left: `${x}px`, top: `${y}px`, width: `${tiles.side}px`,
        height: `${tiles.side}px` });
      set(buttons[head], { "aria-label": `Head ${all.name(head)}${score}` });
    });
    sheet.append(...tiles.places.map(({ head }) => buttons[head])); // in the order in which they are read
    const label = (text, look, left, top) => {
      const el = plain("span", look, text);
      Object.assign(el.style, { left: `${left}px`, top: `${top}px` });
      return el;
    };
    const { side, x, y } = tiles;
    names.replaceChildren(...(x ? [
      ...tabulate(all.heads, (head) => label(head, "column", x(head) + side / 2, 0)),
      ...tabulate(all.layers, (layer) => label(layer, "line", 0, y(layer) + side / 2))]
      : tiles.places.map((tile) => label(`${all.name(tile.head)}\u2009\u00b7\u2009`
        + order.print(order.values[tile.head]).replace(/^0\./, "."), "caption", tile.x + side / 2, tile.y + side))));
  }
  function paint(image) {
    const pen = penOn(canvas, tiles.width, tiles.height);
    const { size, heads } = all;
    const fine = Math.max(2, devicePixelRatio) * tiles.side;
    Object.assign(pen, { imageSmoothingEnabled: size > fine, imageSmoothingQuality: "high" });
    for (const { head, x, y } of tiles.places) {
      pen.drawImage(image, (head % heads) * size, Math.floor(head / heads) * size, size, size, x, y,
        tiles.side, tiles.side);
    }
  }
  function show({ head, order }, image, room) {
    if (shown !== `${order.key} ${room}`) {
      shown = `${order.key} ${room}`;
      tiles = tilesOf(all, order, room);
      place(order);
      paint(image);
    }
    buttons.forEach((button, at) => set(button, { tabindex: at === head ? 0 : -1, "aria-pressed": at === head }));
  }
  const repaint = (image) => tiles && paint(image);
  return { box, show, repaint };
}

// The map of one head with its words. It is a slider for the keyboard: up and down choose the query
function largeMap(all, choose) {
  const canvas = h("canvas", { class: "map", tabindex: 0, role: "slider", "aria-label": "Query, row of the map",
    "aria-valuemin": 0, "aria-valuemax": all.size - 1 });
  const readout = plain("p", "readout");
  const short = all.rows.map((row) => (row.length > 14 ? `${row.slice(0, 13)}\u2026` : row));
  const ruler = h("canvas").getContext("2d");
  ruler.font = `12px ${FONT}`;
  const longest = Math.max(...short.map((row) => ruler.measureText(row).width));
  const [left, top, right] = [longest + 10, 0.87 * longest + 12, 0.5 * longest];
  let at = null; // the cell under the pointer
  let last = null;
  let side = 0;

  // Words along one side, as many as find room; the marked one always, in bold
  function labels(pen, marked, apart, textAlign, put) {
    const cell = side / all.size;
    const every = Math.ceil(apart / cell);
    for (let i = 0; i < all.size; i++) {
      const hidden = i % every || (marked >= 0 && Math.abs(i - marked) * cell < 13);
      if (i !== marked && hidden) continue;
      pen.save();
      put((i + 0.5) * cell);
      Object.assign(pen, { font: `${i === marked ? "700 " : ""}12px ${FONT}`, textBaseline: "middle", textAlign });
      pen.fillText(short[i], 0, 0);
      pen.restore();
    }
  }
  function paint(image, room, ink) {
    const { head, row } = last;
    const { size, heads } = all;
    side = Math.floor(room - left - right);
    const pen = penOn(canvas, room, Math.ceil(top + side + 2));
    pen.imageSmoothingEnabled = false;
    pen.drawImage(image, (head % heads) * size, Math.floor(head / heads) * size, size, size, left, top, side, side);
    Object.assign(pen, { fillStyle: ink, strokeStyle: ink, lineWidth: 1.5 });
    const cell = side / size;
    pen.strokeRect(left - 0.5, top + row * cell, side + 1, cell);
    if (at) pen.strokeRect(left + at[1] * cell, top + at[0] * cell, cell, cell);
    labels(pen, row, 14, "right", (middle) => pen.translate(left - 6, top + middle));
    labels(pen, at ? at[1] : -1, 16, "left", (middle) => {
      pen.translate(left + middle, top - 6);
      pen.rotate(-Math.PI / 3);
    });
    pen.globalAlpha = 0.3;
    Object.assign(pen, { lineWidth: 1 });
    pen.strokeRect(left - 0.5, top - 0.5, side + 1, side + 1);
  }
  const cellOf = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    return cellAt({ x: left, y: top, side }, all.size, clientX - box.left, clientY - box.top);
  };
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, PageUp: -5, PageDown: 5,
      Home: -all.size, End: all.size }[event.key];
    if (!step) return;
    event.preventDefault();
    choose({ row: Math.max(0, Math.min(all.size - 1, last.row + step)) });
  });
  canvas.addEventListener("click", (event) => cellOf(event) && choose({ row: cellOf(event)[0] }));
  const most = (head, row) => tabulate(all.size, (j) => j)
    .sort((a, b) => all.weight(head, row, b) - all.weight(head, row, a)).slice(0, 3);

  function show(state, image, room, ink) {
    last = state;
    const { head, row } = state;
    const told = most(head, row).filter((j) => all.weight(head, row, j) >= 0.005)
      .map((j) => `\u201c${all.rows[j]}\u201d ${two(all.weight(head, row, j))}`).join(", ");
    const [word, seen] = [`\u201c${all.rows[row]}\u201d`, all.causal ? row + 1 : all.size];
    const said = told ? `${word} attends most to ${told}.`
      : `${word} spreads its weight over ${seen} ${all.block > 1 ? "blocks" : "tokens"}, and none gets 0.005.`;
    set(canvas, { "aria-valuenow": row, "aria-valuetext": said });
    readout.textContent = at ? `\u201c${all.rows[at[0]]}\u201d gives \u201c${all.rows[at[1]]}\u201d `
      + `${two(all.weight(head, ...at))}.` : said;
    paint(image, room, ink);
  }
  function point(redraw) {
    canvas.addEventListener("pointermove", (event) => {
      const cell = event.pointerType === "touch" ? null : cellOf(event);
      if (String(cell) === String(at)) return;
      at = cell;
      redraw();
    });
    canvas.addEventListener("pointerleave", () => {
      at = null;
      redraw();
    });
  }
  return { box: h("div", { class: "large" }, canvas, readout), show, point };
}

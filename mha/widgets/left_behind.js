const LEFT = 76; // room for names, in pixels
const HEADS = 9; // where the middles of the query heads stand, from above
const STRIP = 58; // where the strip begins
const PER_NUMBER = 1 / 8; // how high the strip is for each number of a key
const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

// Bytes as people say them: in the largest unit of which there is one
function inUnits(bytes) {
  const unit = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return `${comma(bytes / 1024 ** unit)} ${UNITS[unit]}`;
}

// How much of `whole` a part is, in words
function shareOf(part, whole) {
  if (part > whole) return `${comma(part / whole)} times`;
  return Number.isInteger(whole / part) ? `1/${whole / part} of` : `${((100 * part) / whole).toFixed(1)} % of`;
}

// Bars of one size, each from its left end on, as an svg path
const bars = (ends, top, wide, tall) => ends.map((end) => `M${end},${top}h${wide}v${tall}h${-wide}z`).join("");

export default figure(({ choices, texts }) => {
  const names = Object.keys(choices);
  const high = STRIP + 2 * PER_NUMBER * choices.d_k.at(-1) + 6;

  const svg = drawing({ class: "strip", height: high });
  const add = into(svg);
  add("text", { x: 0, y: HEADS + 4, class: "hue-query" }, "heads");
  const threads = add("path", { class: "threads" });
  const heads = add("path", { class: "hue-query" });
  const parts = tabulate(2, () => ({ name: add("text", { x: 0 }), cells: add("path") }));
  const own = add("rect", { class: "own", x: LEFT, y: STRIP });

  const whats = ["numbers in a layer", "a token, all layers", "a text of n tokens", `${texts} such texts`];
  const facts = whats.map((name) => {
    const cells = tabulate(2, () => h("td", { class: "number" }));
    return { cells, row: h("tr", {}, h("th", { scope: "row" }, name), ...cells) };
  });
  const headings = h("tr", {}, h("td"), h("th", { scope: "col", class: "number" }, "here"),
    h("th", { scope: "col", class: "number" }, h("i", { class: "own" }), "each its own"));
  const table = h("table", {}, h("thead", {}, headings), h("tbody", {}, ...facts.map(({ row }) => row)));
  const status = statusLine(longestOf([[0, 0], [1024, 64]].map((latent) =>
    sentenceFor({ h: 64, h_kv: 128, d_k: 256, latent }, 16384, 65536))));

  function sharing({ h: count, h_kv, latent: [d_c] }) {
    const all = count === 2 ? "Both" : `All ${count}`;
    if (d_c) return count === 1 ? "The head reads a latent." : `${all} heads read one latent, and h_kv waits.`;
    if (h_kv > count) return `There is no more than one for each head: h_kv is ${count}.`;
    if (h_kv === count) return "Each head has its own key and value.";
    if (h_kv === 1) return `${all} heads read one key and one value.`;
    return `${count / h_kv} heads read each key and value.`;
  }

  function sentenceFor(size, left, all) {
    const { h: count, h_kv, d_k, latent: [d_c, d_r] } = size;
    const terms = d_c ? [comma(d_c), d_r].join(" + ") : [2, Math.min(count, h_kv), d_k].join("\u00a0\u00b7\u00a0");
    const heads = d_c ? `, as many as with h_kv\u00a0=\u00a0${shortly(left / (2 * d_k))}` : "";
    const share = left === all ? "" : `, ${shareOf(left, all)} what it leaves where each has its own`;
    return `${sharing(size)} A token leaves ${terms} = ${comma(left)} numbers in a layer${heads}${share}.`;
  }

  // Heads in a row, and a thread from each to the place where it reads
  function drawHeads(count, step, placeOf) {
    const x = tabulate(count, (i) => LEFT + (i + 0.5) * step);
    const r = Math.min(5, 0.36 * step);
    const half = (way) => `a${r},${r} 0 1 0 ${way * 2 * r},0`;
    set(heads, { d: x.map((at) => `M${at - r},${HEADS}${half(1)}${half(-1)}`).join("") });
    const thread = (from, to) => `M${from},${HEADS + r}C${from},${STRIP - 18} ${to},${HEADS + 26} ${to},${STRIP - 3}`;
    set(threads, { d: x.map((at, i) => thread(at, placeOf(i))).join(""), "stroke-width": Math.min(1, step / 8) });
  }

  // The cells and the name of one of two parts; a part that is not there has no name
  function drawPart({ name, cells }, word, hue, y, path) {
    set(cells, { class: `hue-${hue}`, d: path });
    set(name, { class: `hue-${hue}`, y: y + 4 });
    write(name, path && word);
  }

  function draw(setting, room) {
    const size = Object.fromEntries(names.map((name) => [name, choices[name][setting[name]]]));
    const { h: count, d_k, latent: [d_c, d_r], n, layers, bits } = size;
    const shared = Math.min(count, size.h_kv);
    const left = [d_c ? d_c + d_r : 2 * shared * d_k, 2 * count * d_k];
    const tall = PER_NUMBER * d_k; // of the keys, and of the values
    const step = (room - LEFT - 1) / Math.max(count, left[0] / (2 * d_k)); // room of one key and value
    const gap = Math.min(1, 0.2 * step);
    const wide = (numbers) => (numbers / (2 * d_k)) * step;
    const [above, below] = [-1, 1].map((side) => STRIP + tall + side * Math.max(tall / 2, 8));
    set(svg, { viewBox: `0 0 ${room} ${high}` });
    set(own, { width: count * step, height: 2 * tall });
    if (d_c) {
      const start = LEFT + Math.max(0, count * step - wide(left[0])) / 2; // under the middle of the heads
      drawPart(parts[0], "latent", "stream", above, bars([start], STRIP, wide(d_c), 2 * tall));
      drawPart(parts[1], "turned key", "key", below,
        d_r ? bars([start + wide(d_c)], STRIP, wide(d_r), 2 * tall) : "");
      drawHeads(count, step, () => start + wide(left[0]) / 2);
    } else {
      const middle = (i) => LEFT + ((i + 0.5) * count * step) / shared; // of the heads that read it
      const ends = tabulate(shared, (i) => middle(i) - step / 2);
      drawPart(parts[0], "keys", "key", above, bars(ends, STRIP, step - gap, tall));
      drawPart(parts[1], "values", "value", below, bars(ends, STRIP + tall, step - gap, tall));
      drawHeads(count, step, (i) => middle(Math.floor((i * shared) / count)) - gap / 2);
    }

    const token = left.map((numbers) => (numbers * layers * bits) / 8);
    const text = token.map((bytes) => n * bytes);
    const all = text.map((bytes) => texts * bytes);
    const told = [left.map(comma), ...[token, text, all].map((row) => row.map(inUnits))];
    facts.forEach(({ cells }, i) => cells.forEach((cell, j) => write(cell, told[i][j])));
    say(status, sentenceFor(size, ...left));
    const KiB = token.map((bytes) => bytes / 1024);
    const GiB = [...text, ...all].map((bytes) => bytes / 1024 ** 3);
    return {
      numbers: { left, KiB, GiB },
      tables: () => [["What is left behind", ["here", "each head its own"], [
        ["numbers of a token, in a layer", ...left], ["KiB of a token, in all layers", ...KiB],
        ["GiB of a text", ...GiB.slice(0, 2)], [`GiB of ${texts} texts`, ...GiB.slice(2)]]]],
    };
  }
  return { parts: [svg, table, status], draw };
});

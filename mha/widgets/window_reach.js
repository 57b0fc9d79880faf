const HIGH = 46; // from layer to layer
const LEFT = 62; // room for their names
const CELL = 19; // of the mask

export default figure(({ tokens: n, most }) => {
  const middle = (n - 1) / 2;
  const y = (layer) => 34 + (most - layer) * HIGH; // the words themselves stand below
  const foot = y(0) + 32;
  const svg = drawing({ class: "reach" });
  const add = into(svg);
  const word = (text, at = {}) => add("text", { ...at }, text);
  word(`What word ${middle} hears of`, { x: 0, y: 12, class: "title" });
  const ways = add("path", { class: "way" });
  const names = tabulate(most + 1, (layer) => word(layer ? `layer ${layer}` : "words", { x: 0, y: y(layer) + 4 }));
  const dots = tabulate(most + 1, (layer) => tabulate(n, () => add("circle", { cy: y(layer), r: 8 })));
  const numbers = tabulate(n, (i) => word(i, { y: y(0) + 25, class: "middle" }));
  const mask = add("g");
  const cells = tabulate(n, (i) => tabulate(n, (j) => h("rect", { class: "pair", x: LEFT + j * CELL, y: 20 + i * CELL,
    width: CELL - 1, height: CELL - 1 })));
  mask.append(h("text", { x: LEFT, y: 12, class: "title" }, "What each layer allows"), ...cells.flat(),
    h("text", { x: LEFT - 8, y: 33 + middle * CELL, class: "end" }, `word ${middle}`),
    h("rect", { class: "mine", x: LEFT - 1, y: 19 + middle * CELL, width: n * CELL + 1, height: CELL + 1 }));
  const status = statusLine(sentenceFor(4, 3, [0, 8], 88));

  function sentenceFor(side, layers, [first, last], pairs) {
    const sees = first === last ? `hears of itself alone` : `hears of words ${first} to ${last}`;
    return `Through ${layers} ${layers === 1 ? "layer" : "layers"} word ${middle} ${sees}. In each layer ${pairs} of `
      + `${n * n} pairs are allowed${layers > 1 ? `, ${layers * pairs} in all` : ""}.`;
  }

  // The mask stands at the right of the layers, or below them
  function place(room) {
    const wide = LEFT + n * CELL;
    const beside = room > 620;
    const across = beside ? room - wide - 40 : room;
    const [right, below] = beside ? [room - wide, 0] : [0, foot + 8];
    const height = beside ? foot : below + 24 + n * CELL;
    set(svg, { viewBox: `0 0 ${room} ${height}`, width: room, height });
    set(mask, { transform: `translate(${right},${below})` });
    return (i) => LEFT + 8 + (i * (across - LEFT - 18)) / (n - 1);
  }

  function draw({ side, layers }, room) {
    const x = place(room);
    numbers.forEach((number, i) => set(number, { x: x(i) }));
    const sees = (i) => tabulate(n, (j) => j).filter((j) => Math.abs(i - j) <= side);
    const lines = [];
    const reached = tabulate(most + 1, () => new Set());
    reached[layers].add(middle);
    for (let layer = layers; layer > 0; layer--) {
      for (const i of reached[layer]) for (const j of sees(i)) {
        reached[layer - 1].add(j);
        lines.push(`M${x(i)},${y(layer)}L${x(j)},${y(layer - 1)}`);
      }
    }
    set(ways, { d: lines.join("") });
    dots.forEach((row, layer) => row.forEach((dot, i) =>
      set(dot, { cx: x(i), class: layer > layers ? "gone" : reached[layer].has(i) ? "on" : "" })));
    names.forEach((name, layer) => set(name, { class: layer > layers ? "soft" : "" }));
    cells.forEach((row, i) => row.forEach((cell, j) => set(cell, { class: sees(i).includes(j) ? "pair on" : "pair" })));
    const words = [...reached[0]].sort((a, b) => a - b);
    const pairs = sum(tabulate(n, (i) => sees(i).length));
    say(status, sentenceFor(side, layers, [words[0], words.at(-1)], pairs));
    const reach = tabulate(n, (i) => Number(reached[0].has(i)));
    return {
      numbers: { reach, pairs },
      tables: () => [
        [`Who reaches word ${middle}`, tabulate(n, String), [["1 is yes", ...reach]]],
        ["Pairs allowed in a layer", ["pairs"], [["number", pairs]]],
      ],
    };
  }
  return { parts: [svg, status], draw };
});

const HIGH = 46; // from layer to layer
const LEFT = 70; // room for their names

export default figure(({ tokens: n, most }) => {
  const middle = (n - 1) / 2;
  const y = (layer) => 12 + (most - layer) * HIGH; // the words themselves stand below
  const svg = drawing({ class: "reach" });
  const ways = h("path", { class: "way" });
  const names = tabulate(most + 1, (layer) =>
    h("text", { x: 0, y: y(layer) + 4 }, layer ? `layer ${layer}` : "words"));
  const dots = tabulate(most + 1, (layer) => tabulate(n, (word) => h("circle", { cy: y(layer), r: 7 })));
  const numbers = tabulate(n, (word) => h("text", { y: y(0) + 24, "text-anchor": "middle" }, word));
  svg.append(ways, ...names, ...dots.flat(), ...numbers);
  const status = statusLine(sentenceFor(4, 3, [0, 8], 88));

  function sentenceFor(side, layers, [first, last], pairs) {
    const sees = first === last ? `hears of itself alone` : `hears of words ${first} to ${last}`;
    return `Through ${layers} ${layers === 1 ? "layer" : "layers"} word ${middle} ${sees}. In each layer ${pairs} of `
      + `${n * n} pairs are allowed${layers > 1 ? `, ${layers * pairs} in all` : ""}.`;
  }

  function draw({ side, layers }, room) {
    const x = (word) => LEFT + word * Math.min(44, (room - LEFT - 10) / (n - 1));
    set(svg, { viewBox: `0 0 ${room} ${y(0) + 32}`, width: room, height: y(0) + 32 });
    numbers.forEach((number, word) => set(number, { x: x(word) }));
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
    dots.forEach((row, layer) => row.forEach((dot, word) =>
      set(dot, { cx: x(word), class: layer > layers ? "gone" : reached[layer].has(word) ? "on" : "" })));
    names.forEach((name, layer) => set(name, { class: layer > layers ? "soft" : "" }));
    const words = [...reached[0]].sort((a, b) => a - b);
    const pairs = sum(tabulate(n, (i) => sees(i).length));
    say(status, sentenceFor(side, layers, [words[0], words.at(-1)], pairs));
    const reach = tabulate(n, (word) => Number(reached[0].has(word)));
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

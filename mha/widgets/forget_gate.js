const BIASES = stepsOf(0, 7, 0.5);
const gateOf = (bias) => 1 / (1 + Math.exp(-bias));

export default figure(({ farthest, places }, { now, change }) => {
  const told = (share) => (share < 0.0005 ? scientific(share) : share.toFixed(3));
  const bars = barTable(places.map((place) => `${place} back`), [["is left", "first", 0, 1, told]]);
  const right = curvePlane("What is left of a word", "", "positions back", [0, 20, 40, 60, 80, 100], [0, 0.25, 0.5, 0.75, 1]);
  const line = right.svg.appendChild(h("path", { class: "line" }));
  const dots = places.map(() => right.svg.appendChild(h("circle", { r: 4.5, class: "now" })));
  const grips = places.map((place) => right.svg.appendChild(grip("circle", "bias", ([, y]) => change({
    bias: nearestTo([y], [now().bias, ...BIASES], (bias) => [right.y(gateOf(bias) ** place)]),
  }), { r: 14 })));
  const status = statusLine(sentenceFor(0.9991, 888));

  function sentenceFor(gate, half) {
    return `At each word the gate keeps ${gate.toFixed(4)} of the cell. After ${half} ${half === 1 ? "word" : "words"} `
      + `no more than half is left.`;
  }

  function draw({ bias }) {
    const gate = gateOf(bias);
    const left = tabulate(farthest + 1, (place) => gate ** place);
    bars.show(places.map((place) => left[place]));
    set(line, { d: right.path([...left.entries()]) });
    [dots, grips].forEach((discs) => discs.forEach((disc, i) =>
      set(disc, { cx: right.x(places[i]), cy: right.y(left[places[i]]) })));
    say(status, sentenceFor(gate, Math.ceil(Math.log(0.5) / Math.log(gate) - 1e-9)));
    return {
      numbers: { gate, left },
      tables: () => [
        ["The gate", ["keeps"], [["at each word", gate]]],
        ["Left of a word", ["share"], left.map((share, place) => [`${place} back`, share])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, bars.box, right.box), status], draw };
});

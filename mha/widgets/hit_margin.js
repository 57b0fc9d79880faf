export default figure(({ cosines, rest, scale }, { change }) => {
  const words = ["counterpart", "next best", "58 others"];
  const bars = barTable(words, [["cosine", "first", 0, 1, (value) => value.toFixed(2)]]);
  const right = curvePlane("Matching loss", "of this sentence", "cosine of the counterpart",
    [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], [0, 1, 2, 3, 4, 5, 6]);
  const lost = h("rect", { class: "lost", x: right.x(0.3), y: right.y(6), height: right.y(0) - right.y(6) });
  const lostName = h("text", { class: "soft", x: right.x(0.3) + 6, y: right.y(0) - 6 }, "hit lost");
  const line = h("path", { class: "line" });
  const dot = h("circle", { r: 6, class: "now" });
  // A hand moves them sideways
  const moved = (name, values) => ([x]) => change({ [name]: nearestTo([x], values, (value) => [right.x(value)]) });
  const edge = grip("line", "next_best", moved("next_best", stepsOf(0.3, 0.6, 0.1)),
    { y1: right.y(6), y2: right.y(0) });
  const held = grip("circle", "counterpart", moved("counterpart", cosines));
  right.svg.append(lost, lostName, line, dot, edge, held);
  const status = statusLine(sentenceFor(0.95, 0.5, 88.8888, false));

  function sentenceFor(own, other, loss, hit) {
    const found = hit ? "The counterpart is found: a hit." : "The counterpart is not ahead: no hit.";
    return `Counterpart at ${own.toFixed(2)}, next best at ${other.toFixed(1)}. ${found} `
      + `Matching loss ${loss.toFixed(4)}.`;
  }
  // ln of the sum of all powers, less the counterpart's own; from the largest, so that nothing overflows
  function lossAt(own, other) {
    const scores = [own, other, ...rest].map((cosine) => scale * cosine);
    const top = Math.max(...scores);
    return top + Math.log(sum(scores.map((score) => Math.exp(score - top)))) - scores[0];
  }

  function draw({ counterpart: own, next_best: other }) {
    const loss = cosines.map((cosine) => lossAt(cosine, other));
    const now = lossAt(own, other);
    const hit = own > other + 1e-9;
    bars.show([own, other, rest[0]]);
    const fine = tabulate(71, (i) => [0.3 + i / 100, lossAt(0.3 + i / 100, other)]);
    set(lost, { width: right.x(other) - right.x(0.3) });
    write(lostName, other > 0.35 ? "hit lost" : ""); // at 0.3 no counterpart is behind, and no room for the words
    set(line, { d: right.path(fine) });
    set(edge, { x1: right.x(other), x2: right.x(other) });
    for (const disc of [dot, held]) set(disc, { cx: right.x(own), cy: right.y(now) });
    say(status, sentenceFor(own, other, now, hit));
    return {
      numbers: { loss, now, hit: Number(hit) },
      tables: () => [
        ["This sentence", ["matching loss", "hit"], [["now", now, Number(hit)]]],
        ["For a counterpart at", ["matching loss"], cosines.map((cosine, i) => [cosine.toFixed(2), loss[i]])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, bars.box, right.box), status], draw };
});

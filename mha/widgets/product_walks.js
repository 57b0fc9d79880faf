const [TALL, LEFT, RIGHT, FOOT, REACH] = [240, 30, 52, 36, 56]; // in pixels, and how far the sums may come
const toY = (value) => (TALL / 2) * (1 - value / REACH);
const pathOf = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}`;

// The running sums of random products q_i k_i, pair by pair, as in walks.py
function runningSums(pairs, widest, seed) {
  const keys = pairs * widest;
  return tabulate(pairs, (pair) => {
    let total = 0;
    return Float64Array.from({ length: widest }, (_, i) => {
      total += normal(pair * widest + i, seed) * normal(keys + pair * widest + i, seed);
      return total;
    });
  });
}

export default figure(({ pairs, widest, seed }, { change }) => {
  const walks = runningSums(pairs, widest, seed);
  const svg = drawing({ height: TALL + FOOT });
  const here = h("line", { y1: 0, y2: TALL, class: "here" });
  const dots = walks.map(() => h("circle", { r: 3, class: "dot hue-weight" }));
  const held = grip("line", "d_k", ([x]) => change({ d_k: nearestTo([x], stepsOf(1, widest), (d) => [toX(d)]) }),
    { y1: 0, y2: TALL });
  const status = statusLine(sentenceFor(256, 16.55));
  const box = h("div", {}, planeTitle("Dot product so far", `of ${pairs} random pairs`), svg);

  function sentenceFor(d, spread) {
    const added = `${d} ${d === 1 ? "product" : "products"}`;
    return `With ${added} the dot products have a standard deviation of ${spread.toFixed(1)}; the root of ${d} is `
      + `${Math.sqrt(d).toFixed(1)}.`;
  }

  let drawn = 0; // the width for which the walks were drawn
  const toX = (d) => LEFT + ((drawn - LEFT - RIGHT) * d) / widest;
  function drawWalks(width) {
    if (width === drawn) return;
    drawn = width;
    const walk = (sums) => pathOf([[toX(0), toY(0)], ...tabulate(widest / 2, (i) => [toX(2 * i + 2),
      toY(sums[2 * i + 1])])]);
    const widths = tabulate(65, (i) => (i * widest) / 64);
    const root = (sign) => pathOf(widths.map((d) => [toX(d), toY(sign * Math.sqrt(d))]));
    const word = (x, y, look, text) => h("text", { x, y, class: look }, text);
    set(svg, { viewBox: `0 0 ${width} ${TALL + FOOT}` });
    svg.replaceChildren(
      h("path", { d: walks.map(walk).join(""), class: "walk hue-weight" }),
      ...[1, -1].flatMap((sign) => [h("path", { d: root(sign), class: "root" }), word(toX(widest) + 7,
        toY(sign * Math.sqrt(widest)) + 4, "root-name", sign > 0 ? "+ root" : "\u2212 root")]),
      ...[-32, -16, 0, 16, 32].map((tick) => word(LEFT - 6, toY(tick) + 4, "tick end", signed(tick, 0))),
      ...[1, 64, 128, 192, 256].map((d) => word(toX(d), TALL + 15, "tick", d)),
      word(toX(widest / 2), TALL + 32, "tick", "products added, d_k"), here, ...dots, held);
  }

  function draw({ d_k: d }, width) {
    drawWalks(width);
    const sums = walks.map((walk) => walk[d - 1]);
    const spread = Math.sqrt(sum(sums.map((value) => value * value)) / pairs);
    for (const line of [here, held]) set(line, { x1: toX(d), x2: toX(d) });
    dots.forEach((dot, i) => set(dot, { cx: toX(d), cy: toY(sums[i]) }));
    say(status, sentenceFor(d, spread));
    return {
      numbers: { sum: sums, spread },
      tables: () => [
        ["Over all dot products", ["number"], [["standard deviation", spread]]],
        ["Dot products", tabulate(10, (i) => i + 1), rowsOf(tabulate(pairs / 10, (i) => `from ${10 * i + 1}`), sums)],
      ],
    };
  }
  return { parts: [box, status], draw };
});

const HEADS = 12;
const SUBSETS = 2 ** HEADS;
// The curves, in their own units
const WIDE = 430;
const HIGH = 250;
const LEFT = 50;
const BOTTOM = 40;

// A set of heads that are off is a number: bit i says that head i is off
const countOf = (subset) => subset.toString(2).split("1").length - 1;
const COUNTS = tabulate(SUBSETS, countOf);

// The largest and the smallest cosine over all sets of 0, 1, ..., 12 heads
function extremes(cosine) {
  const best = Array(HEADS + 1).fill(-1);
  const worst = Array(HEADS + 1).fill(1);
  for (let subset = 0; subset < SUBSETS; subset++) {
    const count = COUNTS[subset];
    best[count] = Math.max(best[count], cosine(subset));
    worst[count] = Math.min(worst[count], cosine(subset));
  }
  return { best, worst };
}

export default figure(({ orders, subsets }, { now, change, when }) => {
  const cosines = float16(subsets);

  const buttons = tabulate(HEADS, () => h("button", { type: "button", class: "head" }));
  const bars = buttons.map(() => ({ bar: h("span", { class: "bar" }), cost: h("span") }));
  const costs = bars.map(({ bar, cost }) => h("span", { class: "cost" }, bar, cost));
  const switches = h("div", { class: "switches" }, ...buttons.map((button, i) => h("div", {}, button, costs[i])));
  const name = h("b");
  const hint = " click a head to switch it off; bars: the cosine that it costs alone";
  const title = h("div", { class: "plane-title" }, name, hint);
  const curves = drawing({ viewBox: `0 0 ${WIDE} ${HIGH}` });
  const edge = (look) => curves.appendChild(h("path", { class: look }));
  const [range, highEdge, lowEdge] = ["range", "edge", "edge low"].map(edge);
  const x = (count) => LEFT + (count * (WIDE - LEFT - 12)) / HEADS;
  const dotsOf = (look) => tabulate(HEADS + 1, (count) =>
    curves.appendChild(h("circle", { cx: x(count), r: 2.5, class: look })));
  const [bestDots, worstDots] = ["best", "worst"].map(dotsOf);
  const text = (attributes, ...words) => curves.appendChild(h("text", { ...attributes }, ...words));
  for (let count = 0; count <= HEADS; count++) text({ x: x(count), y: HIGH - 22, class: "tick" }, count);
  text({ x: x(HEADS / 2), y: HIGH - 3, class: "tick" }, "heads that are off");
  const ticks = tabulate(3, () => text({ x: LEFT - 8, class: "tick end" }));
  const nowDot = curves.appendChild(h("circle", { r: 7, class: "now" }));
  const status = statusLine(sentenceFor(HEADS, HEADS, -0.999, -0.999, -0.999, -0.999));
  const left = h("div", { class: "plane heads" }, title, switches);
  const curvesTitle = planeTitle("Cosine", "over all ways to switch so many off");
  const right = h("div", { class: "plane curves" }, curvesTitle, curves);

  function toggle(i) {
    const off = [...now().off];
    off[i] = 1 - off[i];
    change({ off });
  }
  buttons.forEach((button, i) => button.addEventListener("click", () => toggle(i)));

  when(["removed", "layer"], ({ layer, removed }) => {
    const gone = new Set(orders[layer].slice(0, removed));
    return { off: buttons.map((_, i) => Number(gone.has(i))) };
  });

  // What each head costs alone, as a bar and a number
  function drawSwitches(layer, off, alone) {
    write(name, `Layer ${layer}`);
    const most = 1 - Math.min(...alone);
    buttons.forEach((button, i) => {
      const head = `${layer}.${i}`;
      set(button, { "aria-pressed": off[i] === 1, "aria-label": `head ${head} is ${off[i] ? "off" : "on"}` });
      write(button, head);
      bars[i].bar.style.width = `${(34 * (1 - alone[i])) / most}px`;
      write(bars[i].cost, (1 - alone[i]).toFixed(4));
    });
  }

  function drawCurves(best, worst, gone, now) {
    const low = Math.min(...worst);
    const y = (cosine) => 8 + ((1 - cosine) / (1 - low || 1)) * (HIGH - BOTTOM - 8);
    const corners = (values) => values.map((cosine, count) => `${x(count)},${y(cosine)}`);
    const line = (points) => `M${points.join("L")}`;
    set(range, { d: `${line([...corners(best), ...corners(worst).reverse()])}Z` });
    set(highEdge, { d: line(corners(best)) });
    set(lowEdge, { d: line(corners(worst)) });
    best.forEach((cosine, count) => set(bestDots[count], { cy: y(cosine) }));
    worst.forEach((cosine, count) => set(worstDots[count], { cy: y(cosine) }));
    [1, (1 + low) / 2, low].forEach((tick, i) => {
      set(ticks[i], { y: y(tick) + 4 });
      write(ticks[i], tick.toFixed(3));
    });
    set(nowDot, { cx: x(gone), cy: y(now) });
  }

  function sentenceFor(layer, gone, now, best, worst, all) {
    return `${gone} of ${HEADS} heads of layer ${layer} off: cosine ${now.toFixed(3)}. Of all ways to switch off `
      + `${gone}, the best keeps ${best.toFixed(3)}, the worst ${worst.toFixed(3)}. With all twelve off it is `
      + `${all.toFixed(3)}.`;
  }

  function draw({ layer, off }) {
    const cosine = (subset) => cosines[layer * SUBSETS + subset];
    const gone = sum(off);
    const now = cosine(sum(off.map((bit, i) => bit * 2 ** i)));
    const { best, worst } = extremes(cosine);
    const alone = tabulate(HEADS, (i) => cosine(2 ** i));
    drawSwitches(layer, off, alone);
    drawCurves(best, worst, gone, now);
    say(status, sentenceFor(layer, gone, now, best[gone], worst[gone], worst[HEADS]));
    return {
      numbers: { cosine: now, best, worst, alone },
      tables: () => [
        [`Layer ${layer}, ${gone} heads off`, ["cosine"], [["these heads off", now], ...alone.map((value, i) =>
          [`head ${layer}.${i} off alone`, value])]],
        ["Over all ways to switch so many off", ["best", "worst"],
          best.map((value, i) => [`${i} off`, value, worst[i]])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, left, right), status], draw };
});

const HEADS = 12;
const SUBSETS = 2 ** HEADS;
// The curves, in their own units
const WIDE = 430;
const HIGH = 250;
const LEFT = 40;
const BOTTOM = 34;

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

function render({ model, el }) {
  const cosines = float16(model.get("subsets"));
  const orders = model.get("orders");

  const buttons = tabulate(HEADS, () => h("button", { type: "button", class: "head" }));
  const bars = buttons.map(() => h("span", { class: "cost" }));
  const switches = h("div", { class: "switches" }, ...buttons.map((button, i) => h("div", {}, button, bars[i])));
  const title = h("div", { class: "plane-title" });
  const curves = drawing({ viewBox: `0 0 ${WIDE} ${HIGH}` });
  const status = statusLine();
  const left = h("div", { class: "plane heads" }, title, switches);
  const curvesTitle = planeTitle("Cosine", "over all ways to switch so many off");
  const right = h("div", { class: "plane curves" }, curvesTitle, curves);
  el.append(figureBox(model, "head-removal", "removal", h("div", { class: "planes" }, left, right), status));

  function toggle(i) {
    const off = [...model.get("off")];
    off[i] = 1 - off[i];
    change(model, { off });
  }
  buttons.forEach((button, i) => button.addEventListener("click", () => toggle(i)));

  function removeInOrder() {
    const gone = new Set(orders[model.get("layer")].slice(0, model.get("removed")));
    change(model, { off: buttons.map((_, i) => Number(gone.has(i))) });
  }
  model.on("change:removed", removeInOrder);
  model.on("change:layer", removeInOrder);

  function drawSwitches(layer, off, cosine) {
    title.replaceChildren(
      h("b", {}, `Layer ${layer}`),
      " click a head to switch it off; bars: the cosine that it costs alone",
    );
    const most = Math.max(...buttons.map((_, i) => 1 - cosine(2 ** i)));
    buttons.forEach((button, i) => {
      const alone = cosine(2 ** i);
      const lost = 1 - alone;
      const name = `${layer}.${i}`;
      set(button, { "aria-pressed": off[i] === 1, "aria-label": `head ${name} is ${off[i] ? "off" : "on"}` });
      button.textContent = name;
      bars[i].replaceChildren(h("span", { class: "bar", style: `width:${(34 * lost) / most}px` }), lost.toFixed(4));
      set(bars[i], { "data-name": "alone", "data-value": alone });
    });
  }

  function drawCurves(best, worst, gone, now) {
    const low = Math.min(...worst);
    const x = (count) => LEFT + (count * (WIDE - LEFT - 12)) / HEADS;
    const y = (cosine) => 8 + ((1 - cosine) / (1 - low || 1)) * (HIGH - BOTTOM - 8);
    const corners = (values) => values.map((cosine, count) => `${x(count)},${y(cosine)}`);
    const edge = (values, look) => h("path", { d: `M${corners(values).join("L")}`, class: look });
    const around = [...corners(best), ...corners(worst).reverse()];
    const dot = (name, count, cosine) =>
      h("circle", { cx: x(count), cy: y(cosine), r: 2.5, class: name, "data-name": name, "data-value": cosine });

    curves.replaceChildren(
      h("path", { d: `M${around.join("L")}Z`, class: "range" }),
      edge(best, "edge"),
      edge(worst, "edge low"),
    );
    for (let count = 0; count <= HEADS; count++) {
      curves.append(
        dot("best", count, best[count]),
        dot("worst", count, worst[count]),
        h("text", { x: x(count), y: HIGH - 16, class: "tick" }, count),
      );
    }
    for (const tick of [1, (1 + low) / 2, low]) {
      curves.append(h("text", { x: LEFT - 8, y: y(tick) + 4, class: "tick end" }, tick.toFixed(3)));
    }
    curves.append(
      h("text", { x: x(HEADS / 2), y: HIGH - 2, class: "tick" }, "heads that are off"),
      h("circle", { cx: x(gone), cy: y(now), r: 7, class: "now", "data-name": "cosine", "data-value": now }),
    );
  }

  function draw() {
    const layer = model.get("layer");
    const off = model.get("off");
    const cosine = (subset) => cosines[layer * SUBSETS + subset];
    const gone = sum(off);
    const now = cosine(sum(off.map((bit, i) => bit * 2 ** i)));
    const { best, worst } = extremes(cosine);
    drawSwitches(layer, off, cosine);
    drawCurves(best, worst, gone, now);
    status.textContent = `${gone} of ${HEADS} heads of layer ${layer} off: cosine ${now.toFixed(3)}. `
      + `Of all ways to switch off ${gone}, the best keeps ${best[gone].toFixed(3)}, `
      + `the worst ${worst[gone].toFixed(3)}. With all twelve off it is ${worst[HEADS].toFixed(3)}.`;
  }
  const stop = redraw(model, el, ["layer", "off"], draw);
  return () => {
    model.off("change:removed", removeInOrder);
    model.off("change:layer", removeInOrder);
    stop();
  };
}

export default { render };

const HEADS = 12, WIDE = 430, HIGH = 250, LEFT = 40, BOTTOM = 34;     // the curves, in their own units

function render({ model, el }) {
  const all = float16(model.get("subsets")), size = 2 ** HEADS, orders = model.get("orders");
  const count = (set) => set.toString(2).split("1").length - 1;
  const buttons = Array.from({ length: HEADS }, (_, i) => h("button", { type: "button", class: "head" }));
  const bars = buttons.map(() => h("span", { class: "cost" })), curves = h("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const title = h("div", { class: "plane-title" }), status = h("p", { class: "status", "aria-live": "polite" });
  el.append(h("div", { class: "mha-figure removal", "data-figure": "head-removal", role: "group", "aria-label": model.get("label") },
    h("div", { class: "planes" },
      h("div", { class: "plane heads" }, title, h("div", { class: "switches" }, ...buttons.map((button, i) => h("div", {}, button, bars[i])))),
      h("div", { class: "plane curves" }, h("div", { class: "plane-title" }, h("b", {}, "Cosine"), " over all ways to switch so many off"), curves)), status));

  buttons.forEach((button, i) => button.addEventListener("click", () => {
    const off = [...model.get("off")];
    off[i] = 1 - off[i];
    model.set("off", off);
    model.save_changes();
  }));
  const inOrder = () => {
    const gone = new Set(orders[model.get("layer")].slice(0, model.get("removed")));
    model.set("off", buttons.map((_, i) => Number(gone.has(i))));
    model.save_changes();
  };
  model.on("change:removed", inOrder);
  model.on("change:layer", inOrder);

  function draw() {
    const layer = model.get("layer"), off = model.get("off"), cosine = (set) => all[layer * size + set], gone = off.reduce((a, b) => a + b, 0);
    const chosen = off.reduce((set, o, i) => set + o * 2 ** i, 0), best = Array(HEADS + 1).fill(-1), worst = Array(HEADS + 1).fill(1);
    for (let set = 0; set < size; set++) {
      const k = count(set);
      best[k] = Math.max(best[k], cosine(set));
      worst[k] = Math.min(worst[k], cosine(set));
    }
    const low = Math.min(...worst), none = worst[HEADS], most = Math.max(...buttons.map((_, i) => 1 - cosine(2 ** i)));
    title.replaceChildren(h("b", {}, `Layer ${layer}`), " click a head to switch it off; bars: the cosine that it costs alone");
    buttons.forEach((button, i) => {
      const lost = 1 - cosine(2 ** i);
      set(button, { "aria-pressed": off[i] === 1, "aria-label": `head ${layer}.${i} is ${off[i] ? "off" : "on"}` });
      button.textContent = `${layer}.${i}`;
      bars[i].replaceChildren(h("span", { class: "bar", style: `width:${(34 * lost) / most}px` }), lost.toFixed(4));
      set(bars[i], { "data-name": "alone", "data-value": cosine(2 ** i) });
    });
    const x = (k) => LEFT + (k * (WIDE - LEFT - 12)) / HEADS, y = (c) => 8 + ((1 - c) / (1 - low || 1)) * (HIGH - BOTTOM - 8);
    const path = (values) => `M${values.map((c, k) => `${x(k)},${y(c)}`).join("L")}`;
    curves.replaceChildren(h("path", { d: `${path(best)}L${worst.map((c, k) => `${x(k)},${y(c)}`).reverse().join("L")}Z`, class: "range" }),
      h("path", { d: path(best), class: "edge" }), h("path", { d: path(worst), class: "edge low" }));
    best.forEach((c, k) => curves.append(h("circle", { cx: x(k), cy: y(c), r: 2.5, class: "best", "data-name": "best", "data-value": c }),
      h("circle", { cx: x(k), cy: y(worst[k]), r: 2.5, class: "worst", "data-name": "worst", "data-value": worst[k] }), h("text", { x: x(k), y: HIGH - 16, class: "tick" }, k)));
    for (const c of [1, (1 + low) / 2, low]) curves.append(h("text", { x: LEFT - 8, y: y(c) + 4, class: "tick end" }, c.toFixed(3)));
    curves.append(h("text", { x: x(HEADS / 2), y: HIGH - 2, class: "tick" }, "heads that are off"),
      h("circle", { cx: x(gone), cy: y(cosine(chosen)), r: 7, class: "now", "data-name": "cosine", "data-value": cosine(chosen) }));
    status.textContent = `${gone} of ${HEADS} heads of layer ${layer} off: cosine ${cosine(chosen).toFixed(3)}. Of all ways to switch off ${gone}, the best keeps ${best[gone].toFixed(3)}, the worst ${worst[gone].toFixed(3)}. `
      + `With all twelve off it is ${none.toFixed(3)}.`;
  }
  const stop = redraw(model, el, ["layer", "off"], draw);
  return () => { model.off("change:removed", inOrder); model.off("change:layer", inOrder); stop(); };
}

export default { render };

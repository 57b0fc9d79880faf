const LAYERS = 6;
const HEADS = 12;
const SUBSETS = 2 ** HEADS;
const FULL = 0.05; // the cost that fills a cell; none of those measured is larger
// The curves, in their own units
const WIDE = 370;
const HIGH = 310;
const LEFT = 46;
const BOTTOM = 40;

// A set of heads that are off is a number: bit i says that head i is off
const countOf = (subset) => subset.toString(2).split("1").length - 1;
const COUNTS = tabulate(SUBSETS, countOf);
const subsetOf = (off) => sum(off.map((bit, i) => bit * 2 ** i));

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

export default figure(({ orders, subsets }, { root, now, change, when }) => {
  const cosines = float16(subsets);
  const cosineOf = (layer, subset) => cosines[layer * SUBSETS + subset];

  // The layers stand as in the model, the last on top
  const all = (make) => tabulate(LAYERS, (layer) => tabulate(HEADS, (head) => make(layer, head)));
  const squares = all(() => h("i"));
  const buttons = all((layer, head) => h("button", { type: "button", class: "switch" }, squares[layer][head]));
  const rows = buttons.map((own, layer) => h("div", { class: "row" },
    h("span", {}, h("span", { class: "long" }, "layer "), layer), ...own));
  const corner = h("span", {}, h("span", { class: "long" }, "head"));
  const names = h("div", { class: "row names", "aria-hidden": "true" }, corner,
    ...tabulate(HEADS, (head) => h("span", {}, head)));
  const legend = h("p", { class: "soft" }, "Area: what the head costs, with the others as they are. "
    + "Hatched: off. Hollow: without it the cosine is higher. Heads of one layer are off at a time, as was measured: "
    + "a press in another layer begins there.");
  const left = h("div", { class: "plane heads" }, planeTitle("Heads", "press one to switch it off, or on again"),
    h("div", { class: "switches" }, names, ...[...rows].reverse()), legend);

  const curves = drawing({ viewBox: `0 0 ${WIDE} ${HIGH}` });
  const add = into(curves);
  const [range, highEdge, lowEdge, fan, next] =
    ["range", "edge", "edge low", "fan", "fan next"].map((look) => add("path", { class: look }));
  const x = (count) => LEFT + (count * (WIDE - LEFT - 12)) / HEADS;
  const dotsOf = (look) => tabulate(HEADS + 1, (count) => add("circle", { cx: x(count), r: 2.5, class: look }));
  const [bestDots, worstDots] = ["best", "worst"].map(dotsOf);
  for (let count = 0; count <= HEADS; count++) add("text", { x: x(count), y: HIGH - 22, class: "tick" }, count);
  const axis = add("text", { x: x(HEADS / 2), y: HIGH - 3, class: "tick" });
  const ticks = tabulate(5, () => add("text", { x: LEFT - 8, class: "tick end" }));
  const nowDot = add("circle", { r: 7, class: "now" });
  const nowText = add("text", { class: "numbers" });
  const status = statusLine(sentenceFor("The cheapest alone", 5, 11, 0.999, 0.999, 0.999, 0.999));
  const note = "over all ways to switch so many off; thin lines lead to what one press more would make";
  const right = h("div", { class: "plane curves" }, planeTitle("Cosine", note), curves);

  // What one press makes of the setting
  function pressed(layer, head) {
    const { layer: present, off } = now();
    const own = layer === present ? [...off] : Array(HEADS).fill(0);
    own[head] = 1 - own[head];
    return { layer, removed: sum(own), off: own }; // in this order: the rule below answers the first two
  }

  when(["removed", "layer"], ({ layer, removed }) => {
    const gone = new Set(orders[layer].slice(0, removed));
    root.classList.remove("moves"); // a slider is followed at once
    return { off: tabulate(HEADS, (i) => Number(gone.has(i))) };
  });

  // The grid is one stop for the Tab key; arrows move inside it
  const stop = (own) => buttons.flat().forEach((button) => set(button, { tabindex: button === own ? 0 : -1 }));
  function walk(event, layer, head) {
    const to = placeInGrid(event, LAYERS - 1 - layer, head, LAYERS, HEADS); // layer 0 is the lowest row
    if (to) buttons[LAYERS - 1 - to[0]][to[1]].focus();
  }
  all((layer, head) => {
    const button = buttons[layer][head];
    button.addEventListener("click", () => {
      const same = layer === now().layer;
      change(pressed(layer, head));
      root.classList.toggle("moves", same);
    });
    button.addEventListener("keydown", (event) => walk(event, layer, head));
    button.addEventListener("focus", () => stop(button));
    for (const event of ["focus", "pointerenter"]) button.addEventListener(event, () => showNext(layer, head));
    for (const event of ["blur", "pointerleave"]) button.addEventListener(event, () => showNext());
  });
  stop(buttons[LAYERS - 1][0]);

  // Where the line to what a press makes goes: only in the layer that is shown
  let lineTo = () => "";
  function showNext(layer, head) {
    set(next, { d: layer === now().layer ? lineTo(head) : "" });
  }

  // The side of a square is the root of its cost: squares can be compared by their area
  function drawSwitch(layer, head, off, worth) {
    const name = `head ${layer}.${head} is ${off ? "off" : "on"} and costs ${signed(worth, 4)}`;
    set(buttons[layer][head], { class: off ? "switch hatched" : "switch", "aria-pressed": off === 1,
      "aria-label": name, title: name });
    const side = Math.sqrt(Math.abs(worth) / FULL);
    set(squares[layer][head], { class: worth < 0 ? "hollow" : "" });
    Object.assign(squares[layer][head].style, { width: `${100 * side}%`, height: `${100 * side}%` });
  }

  function drawCurves(best, worst, off, cosine) {
    const low = Math.min(...worst);
    const y = (value) => 8 + ((1 - value) / (1 - low || 1)) * (HIGH - BOTTOM - 8);
    const corners = (values) => values.map((value, count) => `${x(count)},${y(value)}`);
    const line = (points) => `M${points.join("L")}`;
    set(range, { d: `${line([...corners(best), ...corners(worst).reverse()])}Z` });
    set(highEdge, { d: line(corners(best)) });
    set(lowEdge, { d: line(corners(worst)) });
    best.forEach((value, count) => set(bestDots[count], { cy: y(value) }));
    worst.forEach((value, count) => set(worstDots[count], { cy: y(value) }));
    const step = low < 0.95 ? 0.05 : 0.01;
    ticks.forEach((text, i) => {
      const tick = 1 - i * step;
      set(text, { y: y(tick) + 4 });
      write(text, tick < low ? "" : tick.toFixed(2));
    });
    const [subset, gone] = [subsetOf(off), sum(off)];
    lineTo = (head) => {
      const there = cosine(subset ^ (2 ** head));
      return `M${x(gone)},${y(cosine(subset))}L${x(gone + 1 - 2 * off[head])},${y(there)}`;
    };
    set(fan, { d: off.map((_, head) => lineTo(head)).join("") });
    set(nowDot, { cx: x(gone), cy: y(cosine(subset)) });
    const end = gone < 11; // near the edge it stands above all lines
    const over = Math.max(13, (end ? y(cosine(subset)) : y(best[gone - 1])) - 14); // not on the title
    set(nowText, { x: x(gone) + (end ? 12 : 10), y: over, "text-anchor": end ? "start" : "end" });
    write(nowText, cosine(subset).toFixed(3));
  }

  function sentenceFor(which, layer, gone, now, best, worst, all) {
    const end = `With all twelve off it is ${all.toFixed(3)}.`;
    if (gone === 0) return `No head of layer ${layer} is off: cosine ${now.toFixed(3)}. ${end}`;
    if (gone === HEADS) return `All twelve heads of layer ${layer} are off: cosine ${now.toFixed(3)}.`;
    return `${which}: ${gone} of ${HEADS} heads of layer ${layer} off, cosine ${now.toFixed(3)}. Of all sets of `
      + `${gone}, the best keeps ${best.toFixed(3)}, the worst ${worst.toFixed(3)}. ${end}`;
  }

  function draw({ layer, off }) {
    const cosine = (subset) => cosineOf(layer, subset);
    const gone = sum(off);
    const { best, worst } = extremes(cosine);
    // What each head costs: the cosine without it, less than with it, and the others as they are
    const worth = all((l, head) => {
      const others = (l === layer ? subsetOf(off) : 0) & ~(2 ** head);
      return cosineOf(l, others) - cosineOf(l, others + 2 ** head);
    });
    all((l, head) => drawSwitch(l, head, l === layer ? off[head] : 0, worth[l][head]));
    rows.forEach((row, l) => set(row, { class: l === layer ? "row here" : "row" }));
    write(axis, `heads of layer ${layer} that are off`);
    drawCurves(best, worst, off, cosine);
    showNext();
    const kept = cosine(subsetOf(off));
    const which = orders[layer].slice(0, gone).every((head) => off[head]) ? "The cheapest alone" : "Your choice";
    say(status, sentenceFor(which, layer, gone, kept, best[gone], worst[gone], worst[HEADS]));
    return {
      numbers: { cosine: kept, best, worst, worth: worth.flat() },
      tables: () => [
        [`Layer ${layer}, ${gone} heads off`, ["cosine"], [["these heads off", kept]]],
        ["What each head costs, with the others as they are", tabulate(HEADS, String),
          worth.map((row, l) => [`layer ${l}`, ...row])],
        ["Over all ways to switch so many off", ["best", "worst"],
          best.map((value, i) => [`${i} off`, value, worst[i]])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, left, right), status], draw };
});

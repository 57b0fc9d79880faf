const TALL = 250;
const [LEFT, FOOT, TOP] = [44, 44, 16];
const WIDE = 36; // px of a layer's name
const SPAN = [-1, 13]; // powers of two, operations for each byte
const X_TICKS = [1, 8, 64, 512, 4096];
const Y_TICKS = [0.1, 1, 10, 100, 1000]; // trillion operations a second

export default figure(({ cached, queries: counts, layers, machines }) => {
  const svg = drawing({ height: TALL, class: "roofs" });
  const add = into(svg);
  const y = (rate) => TALL - FOOT - ((Math.log10(rate / 1e12) + 1.4) / 4.6) * (TALL - FOOT - TOP);
  const levels = Y_TICKS.map((rate) => y(rate * 1e12));
  const across = levels.map((at, i) => [add("line", { class: "rule", x1: LEFT, y1: at, y2: at }),
    add("text", { class: "tick end", x: LEFT - 6, y: at + 4 }, String(Y_TICKS[i]))]);
  const below = X_TICKS.map((ratio) => add("text", { class: "tick", y: TALL - 24 }, String(ratio)));
  const axis = add("text", { class: "tick", y: TALL - 5 }, "operations for each byte");
  add("text", { x: 0, y: 10 }, "trillion operations a second");
  const roofs = machines.map(() => add("path", {}));
  const names = machines.map(([name]) => add("text", { "text-anchor": "end" }, name));
  const balances = machines.map(([, speed, memory]) => add("text", { class: "tick" }, (speed / memory).toFixed(0)));
  const drop = add("line", { class: "drop", y2: TALL - FOOT });
  const others = layers.map(() => add("circle", { r: 4, class: "other" }));
  const dot = add("circle", { r: 7, class: "here" });
  const labels = layers.map(([name]) => add("text", {}, name));

  function workOf({ layer, machine, queries }) {
    const [[, heads, kept, width], [, speed, memory]] = [layers[layer], machines[machine]];
    const n = counts[queries];
    const operations = 2 * heads * (n * cached - (n * (n - 1)) / 2) * width;
    const bytes = 2 * (n * heads * width + cached * kept);
    const seconds = Math.max(operations / speed, bytes / memory);
    return { operations, bytes, per_byte: operations / bytes, seconds, reached: operations / seconds,
      busy: operations / speed / seconds };
  }
  function sentenceFor({ layer, machine, queries }) {
    const { per_byte: ratio, busy } = workOf({ layer, machine, queries });
    const [[name], [on, speed, memory]] = [layers[layer], machines[machine]];
    const many = counts[queries] === 1 ? "1 query" : `${counts[queries]} queries at once`;
    const end = busy < 1 ? `Memory is the bound: arithmetic is in use ${(100 * busy).toFixed(1)} % of the time.`
      : "Arithmetic is the bound.";
    return `${name}, ${many}: ${ratio.toFixed(ratio < 10 ? 1 : 0)} operations for each byte. ${on} balances at ${
      (speed / memory).toFixed(0)}. ${end}`;
  }
  const status = statusLine(sentenceFor({ layer: 0, machine: 0, queries: 8 }));

  function draw(setting, wide) {
    const x = (ratio) => LEFT + ((Math.log2(ratio) - SPAN[0]) / (SPAN[1] - SPAN[0])) * (wide - LEFT - 12);
    set(svg, { viewBox: `0 0 ${wide} ${TALL}` });
    across.forEach(([line]) => set(line, { x2: wide - 12 }));
    below.forEach((text, i) => set(text, { x: x(X_TICKS[i]) }));
    set(axis, { x: (LEFT + wide - 12) / 2 });
    const [low, high] = SPAN.map((power) => 2 ** power);
    machines.forEach(([, speed, memory], i) => {
      const look = i === setting.machine ? "roof chosen" : "roof";
      set(roofs[i], { class: look, d: `M${x(low)},${y(low * memory)}L${x(speed / memory)},${y(speed)}H${x(high)}` });
      set(names[i], { x: x(high), y: y(speed) - 8 });
      set(balances[i], { x: x(speed / memory), y: y(speed) - 8 });
    });
    const works = layers.map((_, layer) => workOf({ ...setting, layer }));
    const here = works[setting.layer];
    const balance = machines[setting.machine][1] / machines[setting.machine][2];
    let [end, line] = [-Infinity, 0]; // of the name before it: where it ends, and how many stand above
    [...works.keys()].sort((a, b) => works[a].per_byte - works[b].per_byte).forEach((i) => {
      const [at, isHere] = [[x(works[i].per_byte), y(works[i].reached)], i === setting.layer];
      if (isHere) {
        set(dot, { cx: at[0], cy: at[1] });
        set(drop, { x1: at[0], x2: at[0], y1: at[1] });
      }
      set(others[i], { cx: at[0], cy: at[1], r: isHere ? 0 : 4 });
      // Beside its dot on the free side: left of it under the flat, right of it under the slope.
      const under = at[0] - 8 - WIDE > x(balance);
      const from = under ? at[0] - 8 - WIDE : Math.min(at[0] + 8, wide - WIDE);
      line = from < end ? line + 1 : 0;
      end = from + WIDE;
      set(labels[i], { class: isHere ? "name label" : "name", x: from + (under ? WIDE : 0),
        "text-anchor": under ? "end" : "start", y: at[1] + 18 + 16 * line });
    });
    say(status, sentenceFor(setting));
    const { operations, bytes, per_byte: ratio, seconds, reached, busy } = here;
    return {
      numbers: Object.fromEntries(Object.entries(here).map(([name, value]) => [name, [value]])),
      tables: () => [["Under the roof", ["here"], [["operations", operations], ["bytes", bytes],
        ["operations for each byte", ratio], ["least seconds", seconds], ["operations a second", reached],
        ["share of the time that arithmetic works", busy]]]],
    };
  }
  return { parts: [svg, status], draw };
});

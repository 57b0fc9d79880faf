const TALL = 250;
const [LEFT, FOOT, TOP] = [44, 44, 16];
const SPAN = [-1, 13]; // powers of two, operations for each byte
const X_TICKS = [1, 8, 64, 512, 4096];
const Y_TICKS = [0.1, 1, 10, 100, 1000]; // million million operations a second

export default figure(({ cached, queries: counts, layers, machines }) => {
  const svg = drawing({ height: TALL, class: "roofs" });
  const add = into(svg);
  const y = (rate) => TALL - FOOT - ((Math.log10(rate / 1e12) + 1.4) / 4.6) * (TALL - FOOT - TOP);
  const levels = Y_TICKS.map((rate) => y(rate * 1e12));
  const across = levels.map((at, i) => [add("line", { class: "rule", x1: LEFT, y1: at, y2: at }),
    add("text", { class: "tick end", x: LEFT - 6, y: at + 4 }, String(Y_TICKS[i]))]);
  const below = X_TICKS.map((ratio) => add("text", { class: "tick", y: TALL - 24 }, String(ratio)));
  const axis = add("text", { class: "tick", y: TALL - 5 }, "operations for each byte");
  add("text", { x: 0, y: 10 }, "million million operations a second");
  const roofs = machines.map(() => add("path", {}));
  const names = machines.map(([name]) => add("text", { "text-anchor": "end" }, name));
  const drop = add("line", { class: "drop", y2: TALL - FOOT });
  const others = layers.map(() => add("circle", { r: 4, class: "other" }));
  const otherNames = layers.map((_, i) => add("text", { class: `tick ${i % 2 ? "end" : "start"}` }));
  const dot = add("circle", { r: 7, class: "here" });
  const label = add("text", { class: "label" });

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
    });
    const here = workOf(setting);
    layers.forEach((_, i) => {
      const its = workOf({ ...setting, layer: i });
      const place = [x(its.per_byte), y(its.reached)];
      set(others[i], { cx: place[0], cy: place[1], r: i === setting.layer ? 0 : 4 });
      const [right, down] = i % 2 ? [-7, -6] : [8, 16]; // beside the slope
      set(otherNames[i], { x: place[0] + right, y: place[1] + down });
      write(otherNames[i], i === setting.layer ? "" : layers[i][0]);
    });
    const at = [x(here.per_byte), y(here.reached)];
    set(dot, { cx: at[0], cy: at[1] });
    set(drop, { x1: at[0], x2: at[0], y1: at[1] });
    set(label, { x: Math.min(at[0] + 12, wide - 40), y: at[1] + 18 });
    write(label, layers[setting.layer][0]);
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

const HIGH = 248; // of the drawing, in pixels
const [TOP, BOTTOM] = [26, 201]; // between which the walk stands
const UNIT = 9; // pixels of a height of 1, at most
const LOW = 225; // where the weights of the steps are written
const ENDLESS = 10; // what a step without end climbs in the drawing

export default figure(({ walks }) => {
  const svg = drawing({ height: HIGH });
  const add = into(svg);
  const ground = add("line", { class: "ground" });
  const gap = add("path", { class: "gap" });
  const treads = tabulate(5, () => [add("line", { class: "tread" }), add("text", { class: "token" })]);
  const steps = tabulate(4, () => ["line", "text", "text", "text"].map((tag) => add(tag, { class: "riser" })));
  ["there", "back"].forEach((name, k) => add("text", { x: 0, y: LOW + 17 * k }, name));
  const endings = {
    home: "The walk ends as high as it began.",
    up: (height) => `The walk is back at 1, and ${height} higher: no heights do that.`,
    endless: "Nothing comes back: every step climbs without end.",
  };
  const status = statusLine(endings.up("45.0"));

  function weightsOf(kind, growth, closing) {
    const scores = tabulate(4, (i) => tabulate(4, (j) => (kind === 2 ? j > i : j === i) ? -Infinity : 0));
    [growth, 2 * growth, 3 * growth, closing].forEach((score, i) => {
      const j = (i + 1) % 4;
      if (kind < 2 || j < i) scores[i][j] = score;
      if (kind === 0 || (kind === 2 && i < j)) scores[j][i] = score;
    });
    return scores.map(softmax);
  }

  function drawStep(k, [there, back, climb], x, low, high) {
    const [line, label, forth, reverse] = steps[k];
    const dashes = climb === Infinity ? "2 3" : "none";
    set(line, { x1: x(k + 0.3), x2: x(k + 0.7), y1: low, y2: high, "stroke-dasharray": dashes });
    set(label, { x: x(k + 0.5), y: (low + high) / 2 - 6, class: climb < 0 ? "down" : "up" });
    write(label, climb === Infinity ? "\u221e" : signed(climb, 1));
    [forth, reverse].forEach((text, i) => {
      set(text, { x: x(k + 0.5), y: LOW + 17 * i, class: "share" });
      write(text, [there, back][i] < 0.005 && [there, back][i] > 0 ? "<0.01" : [there, back][i].toFixed(2));
    });
  }

  function draw({ kind, growth, closing }, width) {
    const walk = walks[kind];
    const seen = (here) => (here ? "visible" : "hidden");
    const W = weightsOf(kind, growth, closing);
    const rows = walk.slice(1).map((j, k) => {
      const [there, back] = [W[walk[k]][j], W[j][walk[k]]];
      return [there, back, Math.log(there / back)];
    });
    const wide = Math.min(width, 620);
    const x = (place) => 68 + (place * (wide - 98)) / 4;
    const drawn = rows.map(([, , climb]) => (climb === Infinity ? ENDLESS : climb));
    const heights = drawn.reduce((all, climb) => [...all, all.at(-1) + climb], [0]);
    const [lowest, highest] = [Math.min(...heights), Math.max(...heights)];
    const unit = Math.min(UNIT, (BOTTOM - TOP) / (highest - lowest || 1));
    const y = (height) => (TOP + BOTTOM) / 2 - unit * (height - (lowest + highest) / 2);
    set(svg, { viewBox: `0 0 ${wide} ${HIGH}` });
    set(ground, { x1: x(-0.3), x2: x(4.3), y1: y(0), y2: y(0) });
    treads.forEach(([line, name], k) => {
      const [at, height] = [x(k), y(heights[k] ?? 0)];
      set(line, { visibility: seen(k < walk.length), x1: x(k - 0.3), x2: x(k + 0.3), y1: height, y2: height });
      set(name, { visibility: seen(k < walk.length), x: at, y: height - 6 });
      write(name, (walk[k] ?? 0) + 1);
    });
    steps.forEach((parts, k) => {
      parts.forEach((part) => set(part, { visibility: seen(k < rows.length) }));
      if (k < rows.length) drawStep(k, rows[k], x, y(heights[k]), y(heights[k + 1]));
    });
    const end = heights.at(-1);
    set(gap, { d: kind < 2 && end > 0.05 ? `M${x(4)} ${y(0)} V${y(end)}` : "" });
    say(status, kind === 2 ? endings.endless : end > 0.05 ? endings.up(end.toFixed(1)) : endings.home);
    const names = rows.map((_, k) => `${walk[k] + 1} to ${walk[k + 1] + 1}`);
    return {
      numbers: { step: rows.flat() },
      tables: () => [["Steps", ["weight there", "weight back", "climb"], rowsOf(names, rows.flat())]],
    };
  }
  return { parts: [svg, status], draw };
});

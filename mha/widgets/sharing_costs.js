const LEFT = 50; // room for names, in pixels
const TOP = 8;
const BOTTOM = 190; // of the errors; below it stands what a column is
const ROW = 18;
const SYMBOLS = ["h_kv", "d_k", "d_v", "d_c"];
const TASKS = {
  same: "Four tokens are wanted, of each the same 4 numbers.",
  slices: "Four tokens are wanted, of each a different 4 of 16 numbers.",
  fields: "Four tokens are wanted, and each is found by another name.",
};

// A symbol with a low index, in a drawing
const symbol = (name, x, y) => h("text", { x, y, class: "symbol" }, name[0], h("tspan", { dy: 3 }, name.slice(2)));

// What a token leaves behind: [h, h_kv, d_k, d_v, d_c] -> numbers
const keptOf = ([, h_kv, d_k, d_v, d_c]) => d_c || h_kv * (d_k + d_v);

export default figure(({ names, columns, long, errors, counts, wanted }, { when }) => {
  const taskOf = (task) => names[task].split(",")[0];
  const many = Math.max(...columns.map(({ length }) => length));
  when(["task"], ({ task, column }) => ({ column: Math.min(column, columns[task].length),
    column_max: columns[task].length }));
  const runs = errors[0][0][0].length;
  const high = BOTTOM + (SYMBOLS.length + 1) * ROW + 6;

  const svg = drawing();
  const add = into(svg);
  const y = (error) => TOP + (1 - error) * (BOTTOM - TOP);
  const rowAt = (row) => BOTTOM + (row + 1) * ROW - 2;
  const band = add("rect", { y: 0, height: high, class: "band" });
  const rules = [0, 0.25, 0.5, 0.75, 1].map((error) => {
    add("text", { x: LEFT - 8, y: y(error) + 4, class: "tick end" }, error);
    return add("line", { x1: LEFT, y1: y(error), y2: y(error), class: "rule" });
  });
  SYMBOLS.forEach((name, row) => svg.append(symbol(name, 0, rowAt(row))));
  add("text", { x: 0, y: rowAt(SYMBOLS.length), class: "kept" }, "kept");
  const cells = tabulate(many, () => tabulate(SYMBOLS.length + 1, (row) =>
    add("text", { y: rowAt(row), class: row < SYMBOLS.length ? "size" : "size kept" })));
  const stairs = add("path", { class: "floor" });
  const dots = tabulate(many, () => tabulate(runs, () => add("circle", { r: 3.5 })));
  const title = roomFor(longestOf(Object.values(TASKS)), "div");
  const steps = counts.map(comma);
  const ofFloor = h("span", {}, "; line: the floor");
  const heading = planeTitle("Error", `of each run (\u25cb ${steps[0]} steps, \u25cf ${steps[1]})`);
  heading.append(ofFloor);
  const longest = { cell: [8, 8, 32, 16, null], ends: [0.888, 0.888, 0.888], count: counts[0], low: 0.875 };
  const status = statusLine(sentenceFor({ ...longest, wanting: true }));

  function sentenceFor({ cell, ends, count, low, wanting }) {
    const [heads, h_kv, d_k, d_v, d_c] = cell;
    const [best, middle, last] = ends.map((error) => error.toFixed(3));
    const shared = d_c ? `one latent of ${d_c} numbers` : `h_kv = ${h_kv}, keys of ${d_k} and values of ${d_v}`;
    const bound = low > 0 ? ` The mean error of heads that choose by names alone is at least ${low.toFixed(3)}; a `
      + "sample may give slightly less. Heads whose scores see contents may do better." : "";
    return `${heads} heads, ${shared}: a token adds ${keptOf(cell)} numbers to the cache. `
      + `Errors after ${comma(count)} steps${wanting ? ` (none trained for ${steps[1]})` : ""} from ${best} to `
      + `${last}, in the middle ${middle}.${bound}`;
  }

  const floorOf = (task, [, h_kv, , d_v, d_c]) =>
    (taskOf(task) === "slices" ? Math.max(0, 1 - (d_c || h_kv * d_v) / wanted) : NaN);

  // A path along the floor of each column that has one, from left to right
  function stairsOf(floors, x, wide) {
    const step = (low, i) => `${floors[i - 1] >= 0 ? "L" : "M"}${x(i)},${y(low)}h${wide}`;
    return floors.map((low, i) => (low >= 0 ? step(low, i) : "")).join("");
  }

  // A task may have fewer columns than there is room for
  function drawColumn(i, { cell, found = [] } = {}, look, x, wide) {
    const words = cell ? [...cell.slice(1).map((size) => size ?? "\u2013"), keptOf(cell)] : Array(5).fill("");
    cells[i].forEach((text, row) => {
      set(text, { x: x(i) + wide / 2 });
      write(text, words[row]);
    });
    const visibility = cell ? "visible" : "hidden";
    dots[i].forEach((dot, k) => {
      const cx = x(i) + wide / 2 + (k - (runs - 1) / 2) * wide / (runs + 4);
      set(dot, { cx, cy: y(found[k] ?? 0), class: look, visibility });
    });
  }

  function draw({ task, column: from1, steps: longer }, room) {
    const column = Math.min(from1, columns[task].length) - 1;
    const shown = columns[task].map((cell, i) => {
      const found = errors[longer][task][i];
      const low = floorOf(task, cell);
      const ends = [Math.min(...found), median(found), Math.max(...found)];
      const isLong = longer && long[task][i];
      return { cell, found, ends, low, count: counts[isLong ? 1 : 0], wanting: longer && !isLong };
    });
    const all = Math.min(room, 900);
    const wide = (all - LEFT) / many;
    const x = (i) => LEFT + i * wide;
    set(svg, { viewBox: `0 0 ${all} ${high}`, style: `height: ${high}px; max-width: ${all}px` });
    set(band, { x: x(column), width: wide });
    rules.forEach((rule) => set(rule, { x2: all }));
    for (let i = 0; i < many; i++) {
      const look = `run ${shown[i]?.count === counts[1] ? "long" : "short"} ${i === column ? "chosen" : ""}`;
      drawColumn(i, shown[i], look, x, wide);
    }
    set(ofFloor, { style: `visibility: ${shown.some(({ low }) => low >= 0) ? "visible" : "hidden"}` });
    set(stairs, { d: stairsOf(shown.map(({ low }) => low), x, wide) });

    const chosen = shown[column];
    say(title, TASKS[taskOf(task)]);
    say(status, sentenceFor(chosen));
    const of = (what) => shown.map((one) => one[what]);
    const kept = of("cell").map(keptOf);
    return {
      numbers: { error: of("found").flat(), steps: of("count"), kept, floor: of("low"), chosen: chosen.ends },
      tables: () => [
        [`Errors on ${names[task]}`, of("cell").map(rowName), [["steps", ...of("count")], ["kept", ...kept],
          ["floor", ...of("low").map((low) => (low >= 0 ? low : "\u2013"))],
          ...tabulate(runs, (run) => [`run ${run + 1}`, ...of("found").map((found) => found[run])])]],
        ["The chosen column", ["best", "middle", "worst"], [[rowName(chosen.cell), ...chosen.ends]]],
      ],
    };
  }

  function rowName([, h_kv, d_k, d_v, d_c]) {
    return d_c ? `latent, d_c = ${d_c}` : `h_kv = ${h_kv}, d_k = ${d_k}, d_v = ${d_v}`;
  }
  return { parts: [title, heading, svg, status], draw };
});

const [TOP, SIDE, LEFT] = [44, 232, 30]; // of the map of scores: above it, its side, and the names of its rows
const NAMES = 76; // px of a machine's name before its time
const SIDES = 28; // px between the map and the times, where both have room in one row

export default figure(({ n, machines: counts, orders }, { when }) => {
  when(["machines"], ({ machines, step }) => ({ step: Math.min(step, counts[machines]), step_max: counts[machines] }));
  const most = counts.at(-1);
  const svg = drawing({ class: "rings" });
  const add = into(svg);
  const titles = ["The scores, a row for each query", "When each machine computes"].map((text) =>
    add("text", { class: "name" }, text));
  const ofRows = add("text", { class: "tick start", x: 0, y: TOP - 10 }, "on machine");
  const cells = ["later", "past", "now"].map((look) => add("path", { class: look }));
  const rows = tabulate(2 * most, () => add("text", { class: "tick end", x: LEFT - 8 }));
  const bars = ["past", "now"].map((look) => add("path", { class: look }));
  const waits = add("path", { class: "waits" });
  const ends = add("path", { class: "frame" });
  const names = tabulate(most, (i) => add("text", {}, `machine ${i}`));
  const steps = tabulate(most, () => add("text", { class: "tick" }));

  // The chunks of the text, two for each machine: whose they are
  const ownerOf = (chunk, P, order) => (orders[order] === "zigzag" ? Math.min(chunk, 2 * P - 1 - chunk)
    : Math.floor(chunk / 2));
  // Chunk by chunk of queries and keys: at which step its machine computes these scores, and how many
  function walk({ order, machines }) {
    const P = counts[machines];
    const chunk = n / (2 * P);
    const blocks = [];
    const work = tabulate(P, () => new Array(P).fill(0));
    for (let i = 0; i < 2 * P; i++) for (let j = 0; j <= i; j++) {
      const [machine, source] = [i, j].map((at) => ownerOf(at, P, order));
      const step = (machine - source + P) % P;
      work[step][machine] += i === j ? (chunk * (chunk + 1)) / 2 : chunk * chunk;
      blocks.push({ i, j, step });
    }
    return { P, blocks, work, times: work.map((row) => Math.max(...row)) };
  }
  const clock = ({ work, times, P }, step) => {
    const elapsed = sum(times.slice(0, step));
    return { elapsed, busy: sum(work.slice(0, step).map(sum)) / P / elapsed };
  };
  function sentenceFor(setting) {
    const here = walk(setting);
    const { elapsed, busy } = clock(here, setting.step);
    const end = busy > 0.999 ? "None waits." : `The machines compute ${(100 * busy).toFixed(0)} % of that time.`;
    return `After step ${setting.step} of ${here.P}: ${comma(elapsed)} scores one after the other. ${end}`;
  }
  const status = statusLine(sentenceFor({ order: 0, machines: 1, step: 4 }));

  function drawMap({ P, blocks }, step, order, y0) {
    const side = SIDE / (2 * P);
    const parts = [[], [], []];
    for (const { i, j, step: at } of blocks) {
      const [x, y] = [LEFT + j * side, y0 + i * side];
      const shape = i === j ? `L${x + side},${y + side}H${x}z` : `H${x + side}V${y + side}H${x}z`;
      parts[at > step - 1 ? 0 : at < step - 1 ? 1 : 2].push(`M${x},${y}${shape}`);
    }
    cells.forEach((path, k) => set(path, { d: parts[k].join("") }));
    rows.forEach((text, i) => {
      set(text, { y: y0 + (i + 0.5) * side + 4 });
      write(text, i < 2 * P ? String(ownerOf(i, P, order)) : "");
    });
  }
  function drawTimes({ P, work, times }, step, x0, y0, wide) {
    const longest = sum(walk({ order: 0, machines: counts.indexOf(P) }).times); // the slower order has just room
    const x = (time) => x0 + NAMES + (time / longest) * (wide - NAMES);
    const high = SIDE / P;
    const thick = Math.min(28, high - 6);
    const starts = tabulate(P, (i) => sum(times.slice(0, i)));
    const parts = [[], []];
    const idle = [];
    for (let i = 0; i < step; i++) for (let machine = 0; machine < P; machine++) {
      const [from, to, end] = [starts[i], starts[i] + work[i][machine], starts[i] + times[i]].map(x);
      const y = y0 + machine * high + (high - thick) / 2;
      if (to > from) parts[i === step - 1 ? 1 : 0].push(`M${from + 1},${y}H${to}V${y + thick}H${from + 1}z`);
      if (end > to + 1) idle.push(`M${to + 3},${y + thick / 2}H${end - 2}`);
    }
    bars.forEach((path, k) => set(path, { d: parts[k].join("") }));
    set(waits, { d: idle.join("") });
    set(ends, { d: tabulate(step + 1, (i) => `M${x(i < P ? starts[i] : sum(times))},${y0}v${SIDE}`).join("") });
    names.forEach((text, i) => {
      set(text, { x: x0, y: y0 + (i + 0.5) * high + 4 });
      write(text, i < P ? `machine ${i}` : "");
    });
    let free = -Infinity; // where the last name of a step ends
    steps.forEach((text, i) => {
      const middle = i < step ? x(starts[i] + times[i] / 2) : 0;
      const half = i ? 6 : 20;
      const isShown = i < step && middle - half > free;
      if (isShown) free = middle + half + 4;
      set(text, { x: middle, y: y0 + SIDE + 18 });
      write(text, isShown ? `${i ? "" : "step "}${i + 1}` : "");
    });
  }

  function draw(setting, wide) {
    const here = walk(setting);
    const isWide = wide > 640;
    const [x0, y0] = isWide ? [LEFT + SIDE + SIDES, TOP] : [0, TOP + SIDE + 44];
    const tall = y0 + SIDE + 24;
    set(svg, { viewBox: `0 0 ${wide} ${tall}`, height: tall });
    set(titles[0], { x: 0, y: 14 });
    set(titles[1], { x: x0, y: isWide ? 14 : y0 - 12 });
    drawMap(here, setting.step, setting.order, TOP);
    drawTimes(here, setting.step, x0, y0, wide - x0 - 2);
    say(status, sentenceFor(setting));
    const done = here.work.slice(0, setting.step);
    const { elapsed, busy } = clock(here, setting.step);
    return {
      numbers: { work: done.flat(), elapsed: [elapsed], busy: [busy] },
      tables: () => [
        ["Scores", tabulate(here.P, (i) => `machine ${i}`), done.map((row, i) => [`step ${i + 1}`, ...row])],
        ["So far", ["here"], [["scores one after the other", elapsed], ["share of it that machines compute", busy]]]],
    };
  }
  return { parts: [svg, status], draw };
});

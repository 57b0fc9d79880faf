// The picture of the errors, in its own units
const WIDE = 400;
const HIGH = 300;
const LEFT = 34;
const BOTTOM = 30;
// The picture of the heads: the room for names at the left, and above the cells
const NAMES = 60;
const TITLES = 22;

const TOKENS = 16; // in each single sentence
const WIDTH = 64; // of all heads of a layer together

const plural = (count, noun) => `${count} ${noun}${count > 1 ? "s" : ""}`;

// The least error of `count` heads that choose by names alone, on r relations
const floorOf = (count, r) => Math.max(0, 1 - count / r);

// The error in the middle of an even number of runs
function medianOf(sorted) {
  const half = sorted.length / 2;
  return (sorted[half - 1] + sorted[half]) / 2;
}

// Put a number on an element for who reads the page, or take it off again where value is undefined
function mark(el, name, value) {
  if (value === undefined) {
    delete el.dataset.name;
    delete el.dataset.value;
  } else {
    set(el, { "data-name": name, "data-value": value });
  }
}

function render({ model, el }) {
  const counts = model.get("counts");
  const many = model.get("many");
  const errors = model.get("errors");
  const shares = float16(model.get("shares"));
  const samples = model.get("samples");
  const sentences = model.get("sentences");
  const runs = errors[0][0].length;

  // Where the weights of r and h begin: the means in `shares`, those of single sentences in `samples`
  const meansBegin = {};
  const samplesBegin = {};
  let mean = 0;
  let sample = 0;
  many.forEach((r, i) => counts.forEach((count, j) => {
    meansBegin[[i, j]] = mean;
    samplesBegin[[i, j]] = sample;
    mean += runs * count * r;
    sample += runs * sentences * count * TOKENS;
  }));

  const column = (WIDE - LEFT) / counts.length;
  const x = (j) => LEFT + ((j + 0.5) * (WIDE - LEFT)) / counts.length;
  const y = (error) => 8 + (1 - error) * (HIGH - BOTTOM - 8);
  const left = drawing({ viewBox: `0 0 ${WIDE} ${HIGH}` });
  const band = h("rect", { y: 0, height: HIGH - BOTTOM, width: column, class: "band" });
  left.append(band);
  for (const error of [0, 0.25, 0.5, 0.75, 1]) {
    left.append(
      h("line", { x1: LEFT, x2: WIDE, y1: y(error), y2: y(error), class: "axis" }),
      h("text", { x: LEFT - 6, y: y(error) + 4, class: "tick end" }, error),
    );
  }
  counts.forEach((count, j) => left.append(h("text", { x: x(j), y: HIGH - 12, class: "tick" }, `h = ${count}`)));
  const floors = counts.map(() => h("line", { class: "floor" }));
  const dots = counts.map(() => tabulate(runs, () => h("circle", { r: 4, class: "run" })));
  left.append(...floors, ...dots.flat());

  const right = drawing();
  const title = h("div", { class: "plane-title" });
  const status = statusLine();
  const errorsTitle = planeTitle("Error", "of eight runs each; bars: the floor");
  const planes = h("div", { class: "planes" },
    h("div", { class: "plane errors" }, errorsTitle, left),
    h("div", { class: "plane heads" }, title, right, colourKey()));
  el.append(figureBox(model, "trained-heads", "trained", planes, status));

  function drawErrors(i, j, run) {
    set(band, { x: x(j) - column / 2 });
    counts.forEach((count, k) => {
      const chosen = k === j;
      const low = floorOf(count, many[i]);
      set(floors[k], { x1: x(k) - 24, x2: x(k) + 24, y1: y(low), y2: y(low) });
      mark(floors[k], "floor", chosen ? low : undefined);
      errors[i][k].forEach((error, n) => {
        const cx = x(k) + (n - (runs - 1) / 2) * 5;
        set(dots[k][n], { cx, cy: y(error), class: chosen && n === run ? "run shown" : "run" });
        mark(dots[k][n], "error", chosen ? error : undefined);
      });
    });
  }

  // weight(head, k): on the token of relation k in the mean of many sentences (sentence 0), or on token k of one
  function weightsOf(i, j, run, sentence) {
    const [r, count] = [many[i], counts[j]];
    if (sentence === 0) {
      const start = meansBegin[[i, j]] + run * count * r;
      return (head, k) => shares[start + head * r + k];
    }
    const start = samplesBegin[[i, j]] + (run * sentences + sentence - 1) * count * TOKENS;
    return (head, k) => samples.getUint8(start + head * TOKENS + k) / 255;
  }

  function drawHeads(r, count, sentence, weightOf) {
    const columns = sentence ? TOKENS : r;
    const cell = Math.min(46, 300 / Math.max(count, columns));
    const broad = Math.max(cell, Math.min(46, 260 / columns));
    const above = (k, text) => h("text", { x: NAMES + (k + 0.5) * broad, y: 16, class: "tick" }, text);
    right.replaceChildren();
    set(right, { viewBox: `0 0 ${64 + columns * broad} ${26 + count * cell}` });
    right.style.maxWidth = `${64 + columns * broad}px`;
    for (let k = 0; k < r; k++) right.append(above(k, sentence ? k + 1 : `rel. ${k + 1}`));
    if (sentence) {
      const middle = NAMES + ((r + TOKENS) / 2) * broad;
      right.append(h("text", { x: middle, y: 16, class: "tick" }, "unrelated tokens"));
    }
    for (let head = 0; head < count; head++) {
      // Of many heads only every fourth has its name
      if (count <= 16 || head % 4 === 3) {
        const place = { x: NAMES - 6, y: 26 + (head + 0.5) * cell + 4 };
        right.append(h("text", { ...place, class: "tick end" }, `head ${head + 1}`));
      }
      for (let k = 0; k < columns; k++) {
        const weight = weightOf(head, k);
        const place = { x: NAMES + k * broad, y: TITLES + head * cell };
        const size = { width: broad - 1, height: Math.max(cell - 1, 1) };
        right.append(h("rect", { ...place, ...size, fill: shade(weight), "data-weight": weight }));
      }
    }
  }

  function limit(count, r) {
    const low = floorOf(count, r);
    if (low) return `Heads that choose by names alone cannot get below ${low.toFixed(3)} in the mean.`;
    if (count === r) return "There are as many heads as relations.";
    return "There are more heads than relations, and each is narrower.";
  }

  function draw() {
    const i = model.get("relations");
    const j = model.get("heads");
    const run = model.get("run") - 1;
    const sentence = model.get("sentence");
    const [r, count] = [many[i], counts[j]];
    drawErrors(i, j, run);
    drawHeads(r, count, sentence, weightsOf(i, j, run, sentence));
    const seenOn = sentence ? "weights on one sentence" : "mean weight";
    title.replaceChildren(h("b", {}, "Whom the heads look at"), ` in run ${run + 1}: ${seenOn}`);

    const sorted = [...errors[i][j]].sort((a, b) => a - b);
    const [best, worst] = [sorted[0], sorted[runs - 1]];
    status.textContent = `${plural(count, "head")} of d_k = ${WIDTH / count} for ${plural(r, "relation")}: `
      + `errors from ${best.toFixed(3)} to ${worst.toFixed(3)}, in the middle ${medianOf(sorted).toFixed(3)}. `
      + limit(count, r);
  }
  return redraw(model, el, ["relations", "heads", "run", "sentence"], draw);
}

export default { render };

// The picture of the errors, in its own units
const WIDE = 400;
const HIGH = 300;
const LEFT = 38;
const BOTTOM = 30;
// The picture of the heads: the room for names at the left, and above the cells
const NAMES = 60;
const TITLES = 22;
const ROOM = 250; // of its cells, however many: nothing below it moves

const TOKENS = 16; // in each single sentence
const WIDTH = 64; // of all heads of a layer together

const plural = (count, noun) => `${count} ${noun}${count > 1 ? "s" : ""}`;

// The least error of `count` heads that choose by names alone, on r relations
const floorOf = (count, r) => Math.max(0, 1 - count / r);

function limit(count, r) {
  const low = floorOf(count, r);
  if (low) {
    return `Heads that choose by names alone cannot get below ${low.toFixed(3)} on average, `
      + "and on a sample of sentences only by a little.";
  }
  if (count === r) return "There are as many heads as relations.";
  return "There are more heads than relations, and each is narrower.";
}

function resultFor(count, r, [best, middle, worst]) {
  return `${plural(count, "head")} of d_k = ${WIDTH / count} for ${plural(r, "relation")}: errors from `
    + `${best.toFixed(3)} to ${worst.toFixed(3)}, in the middle ${middle.toFixed(3)}. `;
}

// The errors of all runs for one number of relations: a column of dots for each number of heads, and its floor
function errorDots(counts, many, errors) {
  const runs = errors[0][0].length;
  const column = (WIDE - LEFT) / counts.length;
  const x = (j) => LEFT + ((j + 0.5) * (WIDE - LEFT)) / counts.length;
  const y = (error) => 8 + (1 - error) * (HIGH - BOTTOM - 8);
  const svg = drawing({ viewBox: `0 0 ${WIDE} ${HIGH}` });
  const band = h("rect", { y: 0, height: HIGH - BOTTOM, width: column, class: "band" });
  svg.append(band);
  for (const error of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(
      h("line", { x1: LEFT, x2: WIDE, y1: y(error), y2: y(error), class: "axis" }),
      h("text", { x: LEFT - 6, y: y(error) + 4, class: "tick end" }, error),
    );
  }
  counts.forEach((count, j) => svg.append(h("text", { x: x(j), y: HIGH - 12, class: "tick" }, `h = ${count}`)));
  const floors = counts.map(() => h("line", { class: "floor" }));
  const dots = counts.map(() => tabulate(runs, () => h("circle", { r: 4, class: "run" })));
  svg.append(...floors, ...dots.flat());

  function show(i, j, run) {
    set(band, { x: x(j) - column / 2 });
    counts.forEach((count, k) => {
      const low = floorOf(count, many[i]);
      set(floors[k], { x1: x(k) - 24, x2: x(k) + 24, y1: y(low), y2: y(low) });
      errors[i][k].forEach((error, n) => {
        const cx = x(k) + (n - (runs - 1) / 2) * (40 / runs);
        set(dots[k][n], { cx, cy: y(error), class: k === j && n === run ? "run shown" : "run" });
      });
    });
  }
  return { svg, show };
}

// The map of whom the heads look at, with names for at most so many heads and tokens
function headMap(most, widest) {
  const svg = drawing({ viewBox: `0 0 ${NAMES + ROOM + 4} ${TITLES + ROOM + 4}` });
  const map = mapsUnder(svg);
  const above = tabulate(widest, () => svg.appendChild(h("text", { y: 16, class: "tick" })));
  const unrelated = svg.appendChild(h("text", { y: 16, class: "tick" }));
  const beside = tabulate(most, () => svg.appendChild(h("text", { x: NAMES - 6, class: "tick end" })));

  function show(r, count, sentence, weights) {
    const columns = sentence ? TOKENS : r;
    const cell = Math.min(62, ROOM / Math.max(count, columns));
    const broad = Math.max(cell, Math.min(46, ROOM / columns));
    above.forEach((text, k) => {
      set(text, { x: NAMES + (k + 0.5) * broad });
      const name = sentence ? k + 1 : `rel. ${k + 1}`;
      write(text, k < r ? name : "");
    });
    set(unrelated, { x: NAMES + ((r + TOKENS) / 2) * broad });
    write(unrelated, sentence ? "unrelated tokens" : "");
    beside.forEach((text, head) => {
      set(text, { y: TITLES + (head + 0.5) * cell + 4 });
      const named = head < count && (count <= 16 || head % 4 === 3); // of many heads only every fourth has its name
      write(text, named ? `head ${head + 1}` : "");
    });
    const place = { x: NAMES, y: TITLES, width: columns * broad, height: count * cell };
    map.show(NAMES + ROOM + 4, weights, columns, [place], 1);
  }
  return { box: map.box, show };
}

// A function that gives the weights of each head, one after the other: on the tokens of the relations in the mean of
// many sentences (sentence 0), or on all tokens of one
function weightsIn({ counts, many, sentences, shown }, shares, samples) {
  // Where the weights of r and h begin: the means in `shares`, those of single sentences in `samples`
  const meansBegin = {};
  const samplesBegin = {};
  let mean = 0;
  let sample = 0;
  many.forEach((r, i) => counts.forEach((count, j) => {
    meansBegin[[i, j]] = mean;
    samplesBegin[[i, j]] = sample;
    mean += shown * count * r;
    sample += shown * sentences * count * TOKENS;
  }));

  return (i, j, run, sentence) => {
    const [r, count] = [many[i], counts[j]];
    if (sentence === 0) {
      const start = meansBegin[[i, j]] + run * count * r;
      return shares.subarray(start, start + count * r);
    }
    const start = samplesBegin[[i, j]] + (run * sentences + sentence - 1) * count * TOKENS;
    return samples.subarray(start, start + count * TOKENS);
  };
}

export default figure((data) => {
  const { counts, many, errors, steps } = data;
  const weightsOf = weightsIn(data, unpacked(data.shares, steps), unpacked(data.samples, steps));
  const runs = errors[0][0].length;

  const most = counts.at(-1);
  const dots = errorDots(counts, many, errors);
  const map = headMap(most, Math.max(...many, TOKENS));
  const runName = h("div");
  const title = h("div", { class: "plane-title" }, h("b", {}, "Whom the heads look at"), runName);
  const status = statusLine(`${resultFor(most, many.at(-1), [0.999, 0.999, 0.999])}${limit(1, 2)}`);
  const errorsTitle = planeTitle("Error", `of ${runs} runs each; bars: the floor`);
  const planes = h("div", { class: "planes" },
    h("div", { class: "plane errors" }, errorsTitle, dots.svg),
    h("div", { class: "plane heads" }, title, map.box, colourKey()));

  function draw({ relations: i, heads: j, run: from1, sentence }) {
    const run = from1 - 1;
    const [r, count] = [many[i], counts[j]];
    const weights = weightsOf(i, j, run, sentence);
    dots.show(i, j, run);
    map.show(r, count, sentence, weights);
    const seenOn = sentence ? "weights on one sentence" : "mean weight";
    write(runName, `in run ${run + 1}: ${seenOn}`);

    const sorted = [...errors[i][j]].sort((a, b) => a - b);
    const floor = floorOf(count, r);
    say(status, resultFor(count, r, [sorted[0], median(sorted), sorted[runs - 1]]) + limit(count, r));
    const heads = tabulate(count, (head) => `head ${head + 1}`);
    const tokens = tabulate(sentence ? TOKENS : r, (k) => (sentence ? `token ${k + 1}` : `relation ${k + 1}`));
    return {
      numbers: { error: errors[i][j], floor, weight: weights },
      tables: () => [
        [`${plural(count, "head")}, ${plural(r, "relation")}`, ["error"], [
          ...errors[i][j].map((error, k) => [`run ${k + 1}`, error]), ["the floor", floor]]],
        [`Run ${run + 1}: ${seenOn}`, tokens, rowsOf(heads, weights)],
      ],
    };
  }
  return { parts: [planes, status], draw };
});

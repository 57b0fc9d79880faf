const SEEDS = 8;
// Of the board, in its own units: dots stand above FOOT. The curves beside it have the same scale.
const [WIDE, LEFT, TOP, FOOT, TALL] = [480, 34, 8, 205, 243];
const APART = 100; // steps between the rows of the table of curves

export default figure(({ names, cached, every, enough, tests, lines, numbers }) => {
  // All shares: [column][test][seed][from, to]
  const stored = float16(numbers);
  let at = 0;
  const shares = tests.map((many) => tabulate(many, () => tabulate(SEEDS, () => [stored[at++], stored[at++]])));
  const rightIn = (pair, boxes) => (boxes ? pair[boxes - 1] : (pair[0] + pair[1]) / 2);

  const svg = drawing({ viewBox: `0 0 ${WIDE} ${TALL}` });
  const add = into(svg);
  const column = (WIDE - LEFT) / names.length;
  const x = (i) => LEFT + (i + 0.5) * column;
  const y = (share) => TOP + (1 - share) * (FOOT - TOP);
  const band = add("rect", { y: 0, height: TALL, width: column, class: "band" });
  lines.forEach(([name, share]) => {
    add("line", { x1: LEFT, x2: WIDE, y1: y(share), y2: y(share), class: "rule" });
    add("text", { x: LEFT - 6, y: y(share) + 4, class: "tick end" }, name);
  });
  names.forEach((name, i) => {
    add("text", { x: x(i), y: FOOT + 20, class: "size name" }, name);
    add("text", { x: x(i), y: FOOT + 36, class: "size" }, `cache ${cached[i]}`);
  });
  const dots = names.map((_, i) => tabulate(SEEDS, (seed) =>
    add("circle", { r: 4.5, cx: x(i) + (seed - (SEEDS - 1) / 2) * (column / (SEEDS + 2)) })));
  const boardTitle = planeTitle("Right answers", "of each seed; filled: 0.95 or more; faded: ended");
  const board = h("div", { class: "plane board" }, boardTitle, svg);

  const last = every * (Math.max(...tests) - 1);
  const ticks = lines.map(([, share]) => share);
  const plane = curvePlane("", "", "training steps", [0, 300, 600, 900, last], [0, ...ticks],
    (share) => (lines.find((line) => line[1] === share) ?? ["0"])[0], TALL);
  const curves = tabulate(SEEDS, () => plane.svg.appendChild(h("path", { class: "line course" })));
  const step = plane.svg.appendChild(h("line", { class: "step", y1: plane.y(1), y2: plane.y(0) }));
  const curvesName = h("b");
  plane.box.querySelector(".plane-title").replaceChildren(curvesName, ", seed by seed");

  function sentenceFor(i, done, steps, count, low, high) {
    const over = done < steps;
    const many = count === SEEDS ? `all ${SEEDS}` : `${count || "none"} of ${over ? "its" : "the"} ${SEEDS}`;
    const models = over ? "models" : `models of ${names[i]}`;
    const has = `${count > 1 ? "have" : "has"} at least 0.95 of the answers right`;
    const when = over ? `${names[i]} was trained for ${done} steps only. There` : `After ${done} steps,`;
    return `${when} ${many} ${models} ${has}; the worst has ${low.toFixed(3)}, the best ${high.toFixed(3)}.`;
  }
  const status = statusLine(sentenceFor(3, 600, 1200, 7, 0.88, 0.88));

  function draw({ steps, boxes, chosen }) {
    const done = tests.map((many) => Math.min(steps / every, many - 1));
    const right = shares.map((course, i) => course[done[i]].map((pair) => rightIn(pair, boxes)));
    const counts = right.map((column) => column.filter((share) => share >= enough).length);
    const trained = done.map((test) => test * every);
    set(band, { x: x(chosen) - column / 2 });
    right.forEach((seeds, i) => seeds.forEach((share, seed) => {
      const look = `seed${share >= enough ? " enough" : ""}${trained[i] < steps ? " over" : ""}`;
      set(dots[i][seed], { cy: y(share), class: look });
    }));
    const course = shares[chosen].map((test) => test.map((pair) => rightIn(pair, boxes)));
    curves.forEach((curve, seed) =>
      set(curve, { d: plane.path(course.map((test, k) => [k * every, test[seed]])) }));
    set(step, { x1: plane.x(trained[chosen]), x2: plane.x(trained[chosen]) });
    write(curvesName, names[chosen]);
    say(status, sentenceFor(chosen, trained[chosen], steps, counts[chosen], Math.min(...right[chosen]),
      Math.max(...right[chosen])));
    const rows = course.filter((_, k) => k % (APART / every) === 0);
    const seedNames = tabulate(SEEDS, (seed) => `seed ${seed}`);
    return {
      numbers: { right: right.flat(), trained, enough: counts, course: rows.flat() },
      tables: () => [
        ["The board", ["steps", "0.95 or more", ...seedNames],
          names.map((name, i) => [name, trained[i], counts[i], ...right[i]])],
        [`${names[chosen]} during training`, seedNames, rows.map((row, k) => [`${k * APART} steps`, ...row])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, board, plane.box), status], draw };
});

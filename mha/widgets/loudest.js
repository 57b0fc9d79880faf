const [WIDE, TALL, LEFT] = [330, 210, 48];
const MIDDLE = 104; // where no change stands
const HIGH = 84; // pixels of the largest change, up or down
const FAINT = 0.02; // of the largest: what is less is a tick of one pixel

export default figure(({ names, rises, most }, { change }) => {
  const all = float16(rises);
  const count = all.length / names.length;
  const each = (WIDE - LEFT - 12) / count;

  const svg = drawing({ viewBox: `0 0 ${WIDE} ${TALL}` });
  const bars = tabulate(count, (i) => h("rect", { x: LEFT + i * each, width: each - 1 }));
  const ends = [-HIGH, 0, HIGH].map((y) => h("text", { x: LEFT - 6, y: MIDDLE + y + 4, class: "tick end" }));
  const words = h("text", { x: (LEFT + WIDE) / 2, y: TALL - 3, class: "tick" }, "60 sentences, the loudest first");
  const key = h("text", { x: WIDE - 12, y: MIDDLE - HIGH + 4, class: "tick end" }, "faint: under 2 % of the loudest");
  const rule = h("line", { x1: LEFT, x2: WIDE - 12, y1: MIDDLE, y2: MIDDLE, class: "rule" });
  svg.append(rule, ...bars, ...ends, words, key);
  const scale = h("span", { class: "tabular" });
  const title = planeTitle("Rise of the loss,", "drawn here up to ");
  title.append(scale);
  const left = h("div", { class: "plane curves" }, title, svg);
  const right = curvePlane("Mean and median", "(dashed) of those left", "loudest left out", [0, 5, 10, 15, 20],
    [-0.008, -0.004, 0, 0.004, 0.008], (value) => signed(value, value ? 3 : 0));
  const lines = ["median", "mean"].map((look) => right.svg.appendChild(h("path", { class: `line ${look}` })));
  const dot = right.svg.appendChild(h("circle", { r: 6, class: "now" }));
  const held = right.svg.appendChild(grip("circle", "left_out", ([x]) => change({
    left_out: nearestTo([x], stepsOf(0, most), (gone) => [right.x(gone)]),
  })));
  const status = statusLine(sentenceFor(3, 20, -0.0068, -0.0068, 31, 28));

  function sentenceFor(head, gone, mean, median, up, down) {
    const who = gone ? `${count - gone} of the ${count} sentences` : `all ${count} sentences`;
    return `Without head ${names[head]}, over ${who}: mean rise ${signed(mean, 4)}, median ${signed(median, 6)}. `
      + `The loss rises for ${up} and falls for ${down}.`;
  }
  const medianOf = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];

  function draw({ head, left_out: gone }) {
    const rise = all.subarray(head * count, (head + 1) * count);
    const kept = tabulate(most + 1, (k) => rise.subarray(k));
    const mean = kept.map((some) => sum(some) / some.length);
    const median = kept.map(medianOf);
    const largest = Math.abs(rise[0]);
    bars.forEach((bar, i) => {
      const share = Math.abs(rise[i]) / largest;
      const size = share < FAINT ? 1 : share * HIGH;
      const look = `${rise[i] > 0 ? "rises" : "falls"}${share < FAINT ? " is-faint" : ""}`;
      set(bar, { y: rise[i] > 0 ? MIDDLE - size : MIDDLE, height: rise[i] === 0 ? 0 : size,
        class: i < gone ? `${look} is-out` : look });
    });
    write(scale, `\u00b1${largest.toFixed(2)}`);
    [largest, 0, -largest].forEach((value, i) => write(ends[i], signed(value, value ? 2 : 0)));
    [median, mean].forEach((values, i) => set(lines[i], { d: right.path([...values.entries()]) }));
    for (const disc of [dot, held]) set(disc, { cx: right.x(gone), cy: right.y(mean[gone]) });
    const up = sum(Array.from(kept[gone], (value) => Number(value > 0)));
    const down = sum(Array.from(kept[gone], (value) => Number(value < 0)));
    say(status, sentenceFor(head, gone, mean[gone], median[gone], up, down));
    return {
      numbers: { rise, mean, median, up },
      tables: () => [
        [`Without head ${names[head]}`, ["mean", "median"], mean.map((m, k) => [`${k} left out`, m, median[k]])],
        ["Of those that are left", ["the loss rises for"], [["sentences", up]]],
        ["Rise of each sentence", ["rise"], Array.from(rise, (value, i) => [`loudest ${i + 1}`, value])],
      ],
    };
  }
  return { parts: [h("div", { class: "planes" }, left, right.box), status], draw };
});

const HIGH = 170; // of the bars' room, in pixels
const TOP = 34; // above it, for the words on the marks

// How likely each number of right answers is for one coin and for the best of all, and what the best does not pass in
// half of all tries, and in 19 of 20
function chancesOf(heads, asked) {
  const one = [0.5 ** asked];
  for (let k = 1; k <= asked; k++) one.push((one[k - 1] * (asked - k + 1)) / k);
  let below = 0;
  const upTo = one.map((share) => (below += share) ** heads); // the chance that the best gets no more
  const best = upTo.map((share, k) => share - (k ? upTo[k - 1] : 0));
  const ends = [0.5, 0.95].map((share) => upTo.findIndex((chance) => chance >= share));
  return { one, best, ends };
}

export default figure(({ counts, sizes }) => {
  const most = Math.max(...sizes) + 1;
  const svg = drawing({ class: "luck" });
  const add = into(svg);
  const [ones, bests] = ["one", "best"].map((look) => tabulate(most, () => add("rect", { class: look })));
  const ground = add("line", { class: "axis", y1: TOP + HIGH, y2: TOP + HIGH, x1: 0 });
  const marks = ["half of all tries", "1 try of 20"].map((words, i) =>
    [add("line", { class: "mark-line", y1: 18 - 14 * i + 2, y2: TOP + HIGH }), add("text", { y: 26 - 14 * i }, words)]);
  const ticks = tabulate(6, () => add("text", { y: TOP + HIGH + 17, "text-anchor": "middle" }));
  const key = h("p", { class: "luck-key", "aria-hidden": "true" }, h("i", { class: "one" }), " one coin\u2003",
    h("i", { class: "best" }), " the best of all");
  const sentenceFor = (heads, asked, median, late) =>
    `${heads === 1 ? "One coin" : `The best of ${heads} coins`} gets more than ${median} of ${asked} right in at most `
    + `half of all tries, and ${late < asked ? `more than ${late} in at most` : `all ${asked} in more than`} 1 try of `
    + "20.";
  const status = statusLine(longestOf(counts.flatMap((heads) => sizes.map((asked) =>
    sentenceFor(heads, asked, ...chancesOf(heads, asked).ends)))));

  function draw({ heads: many, questions }, room) {
    const [heads, asked] = [counts[many], sizes[questions]];
    const wide = Math.min(room, 640);
    const step = wide / (asked + 1);
    const x = (right) => (right + 0.5) * step;
    const { one, best, ends } = chancesOf(heads, asked);
    const high = HIGH / Math.max(...one, ...best);
    set(svg, { viewBox: `0 0 ${wide} ${TOP + HIGH + 22}`, width: wide, height: TOP + HIGH + 22 });
    set(ground, { x2: wide });
    [[ones, one], [bests, best]].forEach(([bars, shares]) => bars.forEach((bar, k) => {
      const tall = k <= asked ? shares[k] * high : 0;
      set(bar, { x: x(k) - 0.42 * step, width: 0.84 * step, y: TOP + HIGH - tall, height: tall });
    }));
    marks.forEach(([line, words], i) => {
      const end = i === 0 || x(ends[i]) > wide - 72; // the words of the second stand before it where there is no room
      set(line, { x1: x(ends[i]), x2: x(ends[i]) });
      set(words, { x: x(ends[i]) + (end ? -6 : 6), "text-anchor": end ? "end" : "start" });
    });
    ticks.forEach((tick, i) => {
      set(tick, { x: Math.min(wide - 26, x((i * asked) / 5)) });
      write(tick, (i * asked) / 5 + (i === 5 ? " right" : ""));
    });
    say(status, sentenceFor(heads, asked, ...ends));
    const names = one.map((_, k) => String(k));
    return {
      numbers: { one, best, median: ends[0], late: ends[1] },
      tables: () => [["How likely so many right are", ["one coin", "the best"],
        names.map((name, k) => [name, one[k], best[k]])],
      ["The best gets at most", ["half of all tries", "19 tries of 20"], [["right", ...ends]]]],
    };
  }
  return { parts: [svg, key, status], draw };
});

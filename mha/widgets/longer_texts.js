const [LEFT, RIGHT, TOP, HIGH, FOOT] = [58, 8, 6, 270, 40];
const RANGES = [[-4.5, 2.2], [-2.9, 4.4]]; // of each head: powers of ten of a turn
const LOOKS = [["before", "turns in training"], ["now", "in the longer text"], ["fresh", "new angles"]];

export default figure(({ heads, factors, base, raised }) => {
  const svg = drawing({ height: TOP + HIGH + FOOT });
  const add = into(svg);
  const named = (turns) => (turns === 1 ? "1 turn" : turns < 1 ? String(turns) : comma(turns));
  const rules = [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((power) => ({
    power,
    text: add("text", { class: "tick end", x: LEFT - 8 }, named(10 ** power)),
    line: add("line", { class: power === 0 ? "rule whole" : "rule", x1: LEFT }),
  }));
  const most = Math.max(...heads.map(([d_k]) => d_k / 2));
  const marks = tabulate(most, () => ({
    way: add("line", { class: "way" }), fresh: add("line", { class: "fresh" }),
    before: add("circle", { class: "before" }), now: add("circle", { class: "now" }),
    name: add("text", { class: "tick" }),
  }));
  const axis = add("text", { class: "tick", y: TOP + HIGH + 34 }, "pair, the fastest first");
  const status = statusLine(sentenceFor(131072, 18, 64, 1, 32.32));
  const title = h("p", { class: "keys" },
    ...LOOKS.map(([look, words]) => h("span", {}, h("span", { class: `key ${look}` }), words)));

  function sentenceFor(tokens, fresh, pairs, first, last) {
    const few = fresh ? `${fresh} of ${pairs} pairs come` : "no pair comes";
    const speeds = Math.abs(first - last) < 1e-9 ? `Every pair turns ${told(first)}.`
      : `The fastest pair turns ${told(first)}, the slowest ${told(last)}.`;
    return `In ${comma(tokens)} tokens ${few} to angles that training never showed. ${speeds}`;
  }

  function told(slowed) {
    return slowed > 1 + 1e-9 ? `${shortly(slowed)} times as slowly` : "as fast as before";
  }

  // Radians a token of each pair, as mha.position has them
  function thetas(way, d_k, length, factor) {
    const of = (from) => tabulate(d_k / 2, (i) => from ** (-2 * i / d_k));
    const old = of(base);
    const pairAt = (turns) => (d_k * Math.log(length / (2 * Math.PI * turns))) / (2 * Math.log(base));
    const first = Math.max(Math.floor(pairAt(32)), 0);
    const last = Math.min(Math.ceil(pairAt(1)), d_k - 1);
    const share = (i) => Math.min(1, Math.max(0, (i - first) / Math.max(last - first, 0.001))); // that YaRN divides
    return [
      () => old,
      () => old.map((theta) => theta / factor),
      () => old.map((theta) => (length * theta < 2 * Math.PI ? theta / factor : theta)),
      () => of(raised),
      () => of(base * factor ** (d_k / (d_k - 2))),
      () => old.map((theta, i) => (1 - share(i)) * theta + (share(i) * theta) / factor),
    ][way]();
  }

  function draw({ way, factor: chosen, head }, room) {
    const [[d_k, length], factor] = [heads[head], factors[chosen]];
    const [old, now] = [thetas(0, d_k, length, 1), thetas(way, d_k, length, factor)];
    const trained = old.map((theta) => (length * theta) / (2 * Math.PI));
    const reached = now.map((theta) => (factor * length * theta) / (2 * Math.PI));
    const slowed = old.map((theta, i) => theta / now[i]);
    const isFresh = (i) => trained[i] < 1 && reached[i] > trained[i] * (1 + 1e-9);
    const pairs = d_k / 2;
    const apart = (room - LEFT - RIGHT) / pairs;
    const x = (i) => LEFT + (i + 0.5) * apart;
    const radius = Math.min(5, Math.max(2.2, 0.28 * apart));
    set(svg, { viewBox: `0 0 ${room} ${TOP + HIGH + FOOT}` });
    const [least, greatest] = RANGES[head];
    const y = (turns) => TOP + (HIGH * (greatest - Math.log10(turns))) / (greatest - least);
    for (const { power, text, line } of rules) {
      for (const one of [text, line]) one.style.display = least <= power && power <= greatest ? "" : "none";
      set(text, { y: y(10 ** power) + 4 });
      set(line, { x2: room - RIGHT, y1: y(10 ** power), y2: y(10 ** power) });
    }
    marks.forEach((mark, i) => {
      for (const one of Object.values(mark)) one.style.display = i < pairs ? "" : "none";
      if (i >= pairs) return;
      set(mark.way, { x1: x(i), x2: x(i), y1: y(trained[i]), y2: y(reached[i]) });
      const top = isFresh(i) ? Math.min(1, reached[i]) : trained[i];
      set(mark.fresh, { x1: x(i), x2: x(i), y1: y(trained[i]), y2: y(top) });
      set(mark.before, { cx: x(i), cy: y(trained[i]), r: radius });
      set(mark.now, { cx: x(i), cy: y(reached[i]), r: 0.7 * radius });
      write(mark.name, apart < 20 && (i + 1) % 8 ? "" : i + 1);
      set(mark.name, { x: x(i), y: TOP + HIGH + 17 });
    });
    set(axis, { x: LEFT + (room - LEFT - RIGHT) / 2 });
    const fresh = sum(tabulate(pairs, (i) => Number(isFresh(i))));
    say(status, sentenceFor(factor * length, fresh, pairs, slowed[0], slowed.at(-1)));
    const names = tabulate(pairs / 8, (i) => `pairs from ${8 * i + 1}`);
    const eight = tabulate(8, (i) => `+${i}`);
    return {
      numbers: { trained, reached, slowed, fresh },
      tables: () => [
        ["Turns in training", eight, rowsOf(names, trained)],
        ["Turns in the longer text", eight, rowsOf(names, reached)],
        ["Times as slowly as before", eight, rowsOf(names, slowed)],
        ["New angles", ["pairs"], [["come to some", fresh]]],
      ],
    };
  }
  return { parts: [title, svg, status], draw };
});

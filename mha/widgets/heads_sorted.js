const TOP = 38; // room for the names of the dashed lines, in pixels
const FOOT = 26; // and for the numbers of the axis
const NEAR = 24; // so far from a disc a finger still means it

// The discs' radius where there is so much room; only the largest bear their names, for letters are never below 12 px
const radiusFor = (wide) => [[820, 12], [560, 8], [340, 5.5], [0, 4.6]].find(([least]) => wide >= least)[1];

// How high above the ground each of some discs lies that fall one by one at x, from the left to the right
function pile(xs, radius) {
  const lying = [];
  [...xs.keys()].sort((a, b) => xs[a] - xs[b]).forEach((i) => {
    const blocked = lying.filter((one) => xs[i] - one.x < 2 * radius).map((one) => {
      const reach = Math.sqrt(4 * radius ** 2 - (xs[i] - one.x) ** 2);
      return [one.y - reach, one.y + reach];
    }).sort((a, b) => a[0] - b[0]);
    const y = blocked.reduce((low, [from, to]) => (from < low ? Math.max(low, to) : low), radius);
    lying.push({ i, x: xs[i], y });
  });
  return lying.sort((a, b) => a.i - b.i).map(({ y }) => y);
}

export default figure(({ measures, values: all, layers, heads }, { change }) => {
  const N = layers * heads;
  const nameOf = (i) => `${Math.floor(i / heads)}.${i % heads}`;
  const isCount = ({ ticks }) => ticks.at(-1) > 1;
  const print = (measure, value) => (isCount(measure) ? String(value) : value.toFixed(2));

  const title = (measure, beyond) => (measure.floors.length
    ? `${measure.title}. ${beyond} of ${N} heads lie beyond ${measure.floors.length > 1 ? "both lines" : "the line"}.`
    : `${measure.title}, each with its name: layer.head.`);
  const heading = roomFor(longestOf(measures.map((measure) => title(measure, N))), "p",
    { class: "heading", "aria-hidden": "true" });
  const svg = drawing();
  const add = into(svg);
  const ground = add("line", { class: "axis" });
  const ticks = tabulate(heads, () => add("text", { class: "tick" }));
  const scale = add("text", { class: "tick" }); // that of the axis, where it is no plain one
  const rows = tabulate(layers, (i) => add("text", {}, `layer ${i}`));
  const floors = tabulate(2, () => [add("line", { class: "floor" }), add("text", { class: "floor-name" })]);
  const discs = tabulate(N, (i) => add("g", { class: "one" }, h("circle"), h("text", { y: 4 }, nameOf(i))));
  const ring = add("g", { class: "mine" }, h("circle"), h("circle", { class: "ring" })); // on a ring of paper
  const sentenceFor = (measure, i, value, rank, others) => {
    if (!measure.floors.length) return `Head ${nameOf(i)} stands in layer ${value}. Sort all heads, and follow it.`;
    const against = measure.floors.map(([floor, name]) => `${print(measure, floor)} for ${name}`).join(" and ");
    const shared = others ? `, shared with ${others} other${others > 1 ? "s" : ""}` : "";
    return `Head ${nameOf(i)} ${measure.says.replace("#", print(measure, value))}, against ${against}: rank ${rank} of `
      + `${N}${shared}.`;
  };
  const status = statusLine(longestOf(measures.map((measure) => sentenceFor(measure, N - 1, 10, N, 10))));

  // Where everything stands at a width: the same height for all measures, that of the highest pile
  function laidOut(wide) {
    const radius = radiusFor(wide);
    const [left, right] = [radius + 12, wide - radius - 12];
    const places = measures.map(({ ticks: marks, root }) => {
      const along = root ? Math.sqrt : (value) => value;
      return (value) => left + ((right - left) * along(value)) / along(marks.at(-1));
    });
    const xs = measures.map(({ floors: some }, k) => some.length && all[k].map(places[k]));
    const piles = xs.map((some) => some && pile(some, radius));
    const high = TOP + 2 + Math.ceil(radius + Math.max(...piles.filter(Boolean).flat()));
    const column = (j) => 64 + radius + (j * (wide - 2 * radius - 68)) / (heads - 1);
    const row = (i) => 14 + ((i + 0.5) * (high - 14)) / layers;
    const spots = xs.map((some, k) => (some
      ? some.map((x, i) => [x, high - piles[k][i]])
      : tabulate(N, (i) => [column(i % heads), row(Math.floor(i / heads))])));
    return { wide, radius, high, places, spots, column, row };
  }

  let layout = {};
  let drawn = {};
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = layout.wide / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const away = layout.spots[drawn.measure].map(([left, top]) => Math.hypot(left - x, top - y));
    const i = away.indexOf(Math.min(...away));
    if (away[i] < NEAR) change({ layer: Math.floor(i / heads), head: i % heads });
  });

  function drawAxis(measure, place) {
    const { wide, high, column, row } = layout;
    const sorted = measure.floors.length > 0;
    const marks = sorted ? measure.ticks : tabulate(heads, (j) => j);
    set(ground, { x1: 0, x2: wide, y1: high, y2: high, visibility: sorted ? "visible" : "hidden" });
    ticks.forEach((tick, j) => {
      const x = j < marks.length ? (sorted ? place(marks[j]) : column(j)) : 0;
      set(tick, { x, y: high + 19, visibility: j < marks.length ? "visible" : "hidden" });
      write(tick, marks[j] ?? "");
    });
    write(scale, measure.root ? `${wide < 560 ? "" : "square-"}root scale` : "");
    set(scale, { x: measure.root ? (place(marks.at(-2)) + place(marks.at(-1))) / 2 : 0, y: high + 19 });
    rows.forEach((name, i) => set(name, { x: 0, y: row(i) + 4, visibility: sorted ? "hidden" : "visible" }));
    // The names lie at the side with more room, the outer one on top, so that no line goes through a name
    const isRight = sorted && place(measure.floors.at(-1)[0]) > wide * 0.6;
    floors.forEach(([line, name], k) => {
      const [floor, words] = measure.floors[k] ?? [];
      const isTop = measure.floors.length > 1 && k === (isRight ? 1 : 0);
      const visibility = words ? "visible" : "hidden";
      set(line, { y1: isTop ? 3 : 19, y2: high, visibility });
      set(name, { x: isRight ? -6 : 6, y: isTop ? 13 : 29, "text-anchor": isRight ? "end" : "start", visibility });
      for (const part of [line, name]) part.style.transform = `translateX(${words ? place(floor) : 0}px)`;
      write(name, words ? `${words}: ${print(measure, floor)}` : "");
    });
  }

  function draw({ measure: k, layer, head }, room) {
    if (layout.wide !== room) layout = laidOut(room);
    const { radius, high, places, spots } = layout;
    const [measure, chosen] = [measures[k], layer * heads + head];
    const value = all[k];
    const mine = value[chosen];
    const most = Math.max(...measure.floors.map(([floor]) => floor)); // of none: minus infinity
    const beyond = value.filter((one) => one > most).length;
    const rank = 1 + value.filter((one) => one > mine).length;
    const others = value.filter((one) => one === mine).length - 1;
    set(svg, { viewBox: `0 0 ${room} ${high + FOOT}`, class: radius < 12 ? "unnamed" : "" });
    drawAxis(measure, places[k]);
    spots[k].forEach(([x, y], i) => {
      discs[i].style.transform = `translate(${x}px,${y}px)`;
      set(discs[i], { class: value[i] > most ? "one beyond" : "one" });
      set(discs[i].firstChild, { r: radius - 0.6 });
    });
    // The ring goes with its disc, and at once to another
    const isSorted = drawn.measure !== k;
    if (isSorted || drawn.chosen !== chosen) set(ring, { class: isSorted ? "mine goes" : "mine" });
    ring.style.transform = `translate(${spots[k][chosen].map((at) => `${at}px`)})`;
    for (const circle of ring.children) set(circle, { r: radius + 2.2 });
    drawn = { measure: k, chosen };
    say(heading, title(measure, beyond));
    say(status, sentenceFor(measure, chosen, mine, rank, others));
    const names = tabulate(layers, (i) => `layer ${i}`);
    const each = [measure.title, tabulate(heads, (j) => `head ${j}`), rowsOf(names, value)];
    const sorted = measure.floors.length > 0;
    const compared = `Head ${nameOf(chosen)}, and what it is compared with: ${measure.title}`;
    const place = [[`head ${nameOf(chosen)}`, mine], ...(sorted ? [["its rank", rank], ["heads beyond", beyond]] : []),
      ...measure.floors.map(([floor, name]) => [name, floor])];
    return {
      numbers: sorted ? { value, mine, rank, beyond, floor: measure.floors.map(([floor]) => floor) } : { value, mine },
      tables: () => [each, [compared, ["number"], place]],
    };
  }
  return { parts: [heading, svg, status], draw };
});

const SIDE = 256; // of a map, in its own units
const [WIDE, LEFT] = [296, 26]; // of the bars, and what stands at their left
const [ABOVE, BELOW] = [6, 19]; // the names of tokens are below

// How tall the bars are: beside the maps as tall as these (the widths are those of one_change.css), and less below them
function tallIn(room) {
  const side = room < 666 ? 115 + (room - 546) / 4 : Math.min(270, (room - 376) / 2);
  const width = Math.min(320, 260 + (room - 546) / 2);
  const tall = room < 546 ? 174 : Math.max(158, Math.round(((WIDE + LEFT + 2) * side) / width));
  return tall - ABOVE - BELOW;
}

export default figure(({ titles, told, maps }, { change: put }) => {
  const n = Math.sqrt(maps[0].length);
  const cell = SIDE / n;
  const place = { x: 0, y: 0, width: SIDE, height: SIDE };

  function framedMap(name) {
    const svg = drawing({ viewBox: `-1 -1 ${SIDE + 2} ${SIDE + 2}` });
    const map = mapsUnder(svg);
    const frame = svg.appendChild(h("rect", { x: 0, width: SIDE, height: cell, class: "framed" }));
    const rowUnder = (y) => 1 + Math.max(0, Math.min(n - 1, Math.floor(y / cell)));
    const held = svg.appendChild(grip("rect", "row", ([, y]) => put({ row: rowUnder(y) }),
      { x: 0, width: SIDE, height: cell }));
    svg.addEventListener("click", (event) => put({ row: rowUnder(pointOf(event, svg)[1]) }));
    const title = roomFor(longestOf(titles), "b");
    say(title, name);
    map.box.prepend(h("span", { class: "side", "aria-hidden": "true" }, "query"));
    const box = h("div", { class: "plane" }, h("div", { class: "plane-title of-map" }, title, h("span", {}, "key")),
      map.box);
    const inside = { ...place, x: 1, y: 1 };
    return { box, title, show(weights, row) {
      map.show(SIDE + 2, weights, n, [inside], 1);
      [frame, held].forEach((el) => set(el, { y: (row - 1) * cell }));
    } };
  }

  const [before, after] = [framedMap("as before"), framedMap("")];
  const bars = drawing({});
  const add = into(bars);
  const step = WIDE / n;
  const columns = (name) => tabulate(n, (j) => add("rect", { x: j * step + 2, width: step - 4, class: name }));
  const [filled, outlined] = [columns("share now"), columns("share before")];
  const names = tabulate(n, (j) => add("text", { x: (j + 0.5) * step, class: "token" }, j + 1));
  const levels = [0, 0.5, 1].map((weight) => [weight, add("line", { x1: 0, x2: WIDE, class: weight ? "rule" : "axis" }),
    add("text", { x: -6, class: "tick end" }, weight || "")]);
  const rowName = h("span");
  const barsBox = h("div", { class: "plane row" },
    h("div", { class: "plane-title" }, h("b", {}, rowName), " (outlines: as before)"), bars);
  const sentence = (change, row, total) => `${told[change]} Row ${row} now sums to ${total.toFixed(2)}.`;
  const status = statusLine(longestOf(titles.map((_, change) => sentence(change, n, 1))));

  function draw({ change, row }, room) {
    const high = tallIn(room);
    set(bars, { viewBox: `${-LEFT} ${-ABOVE} ${WIDE + LEFT + 2} ${high + ABOVE + BELOW}` });
    names.forEach((name) => set(name, { y: high + 14 }));
    levels.forEach(([weight, line, tick]) => {
      const y = high * (1 - weight);
      set(line, { y1: y, y2: y });
      set(tick, { y: y + 5 });
    });
    const rowOf = (weights) => weights.slice((row - 1) * n, row * n);
    const rows = [maps[0], maps[change + 1]].map(rowOf);
    before.show(maps[0], row);
    after.show(maps[change + 1], row);
    say(after.title, titles[change]);
    write(rowName, `Row ${row}`);
    [outlined, filled].forEach((some, k) => some.forEach((bar, j) =>
      set(bar, { y: high * (1 - rows[k][j]), height: high * rows[k][j] })));
    const total = sum(rows[1]);
    say(status, sentence(change, row, total));
    return {
      numbers: { before: rows[0], after: rows[1], total },
      tables: () => [[`Row ${row}`, ["before", "after"],
        [...rows[0].map((weight, j) => [`token ${j + 1}`, weight, rows[1][j]]), ["together", sum(rows[0]), total]]]],
    };
  }
  return { parts: [h("div", { class: "planes" }, before.box, after.box, barsBox), colourKey(), status], draw };
});

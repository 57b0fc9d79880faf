const [LEFT, RIGHT] = [40, 16]; // of the curves, in pixels
// Heights: above the curves, of the upper, between the two, of the lower, below them
const [CROWN, MEAN, GAP, WEIGHT, FOOT] = [22, 64, 44, 120, 56];
const APART = 27; // pixels between two peaks that are named
const NAMED = 0.03; // a smaller weight has no name

// One clock: its face, the query's hand with a ring, the key's with a dot, and words above and below. turn(name, point,
// tipOf) is told which hand is held where, and where its tip would stand at an angle
function clock(name, period, turn) {
  const part = (tag, look, attributes = {}) => h(tag, { class: look, ...attributes });
  const [face, minutes, between] = [part("circle", "face"), part("path", "minutes"), part("path", "between")];
  const hand = (hue, r) => ({ line: part("line", `hand ${hue}`), tip: part("circle", `tip ${hue}`, { r }) });
  const [query, key] = [hand("hue-query", 7), hand("hue-key", 3.5)];
  const words = ["name", "", "", ""].map((look) => part("text", look));
  [name, period].forEach((text, i) => write(words[i], text));
  let tipOf = () => [0, 0];
  const grips = ["offset", "look"].map((which) => grip("line", which, (point) => turn(which, point, tipOf)));
  const box = h("g", {}, face, minutes, between, query.line, key.line, query.tip, key.tip, ...words, ...grips);

  function place(x, radius) {
    const y = 46 + radius;
    const at = (angle, r) => [x + r * Math.sin(angle), y - r * Math.cos(angle)];
    const ends = (i) => [0.88, 1].map((share) => at((i * Math.PI) / 6, share * radius));
    set(face, { cx: x, cy: y, r: radius });
    set(minutes, { d: tabulate(12, (i) => `M${ends(i).join("L")}`).join("") });
    words.forEach((word, i) => set(word, { x, y: [14, 31, y + radius + 19, y + radius + 36][i] }));
    tipOf = (angle) => at(angle, 0.74 * radius);
    return { at, radius, middle: [x, y] };
  }
  function point({ line, tip }, held, { middle: [x1, y1] }, angle) {
    const [cx, cy] = tipOf(angle);
    for (const part of [line, held]) set(part, { x1, y1, x2: cx, y2: cy });
    set(tip, { cx, cy });
  }
  // The angle from the query's hand to the key's, the short way round
  function sector({ at, radius, middle }, from, turned) {
    const short = turned - 2 * Math.PI * Math.round(turned / (2 * Math.PI));
    const r = 0.5 * radius;
    return `M${middle}L${at(from, r)}A${r},${r} 0 0 ${Number(short > 0)} ${at(from + short, r)}Z`;
  }
  function show(room, on, from, turned, apart) {
    set(box, { class: on ? "clock" : "clock off" });
    write(words[2], on ? `${(Math.abs(turned) / (2 * Math.PI)).toFixed(3)} turns${apart}` : "not used");
    write(words[3], on ? `cos ${signed(Math.cos(turned), 3)}` : "");
    point(query, grips[0], room, from);
    point(key, grips[1], room, from + turned);
    set(between, { d: sector(room, from, turned) });
  }
  return { box, place, show };
}

const threeDigits = (value) => (value < 1000 ? value.toPrecision(3) : comma(Math.round(value)));
const asWeight = (weight) => (weight < 0.0005 ? "less than 0.001" : weight.toFixed(3));

// The nearest place of the largest weight, where `taken` do not count
function largestBut(weights, taken, equal) {
  const open = (t) => !taken.includes(t);
  let top = 0;
  weights.forEach((weight, t) => { if (open(t) && weight > top) top = weight; });
  return weights.findIndex((weight, t) => open(t) && weight >= top * (1 - equal));
}

const MEAN_OF = "mean of the cosines"; // of more than one hand

// What the hands at a place say of its weight
function handsAt(look, offset, strength, what, mean) {
  if (look === offset) return `At ${look} back, the target, all hands meet, and the score is ${comma(strength)}.`;
  const below = strength * (1 - mean);
  const ratio = Math.exp(-below);
  return `At ${comma(look)} back the ${what} is ${signed(mean, 3)}, so the score is ${shortOf(below)} below the `
    + `target\u2019s, and the weight is `
    + `${ratio < 0.0005 ? "next to nothing" : `${ratio.toFixed(3)} of the target\u2019s`}.`;
}
function shortOf(below) {
  if (below < 0.005) return scientific(below);
  return below < 10 ? below.toFixed(2) : comma(below < 100 ? below : Math.round(below));
}
function headLooks(offset, target, others) {
  const list = others.map(([t, weight]) => `${comma(t)} back ${asWeight(weight)}`);
  const rest = target > 0.999 ? ", and hardly any lies elsewhere" : `; elsewhere ${list.join(", ")}`;
  const end = target < 0.99 ? "" : " The head looks where it should.";
  return `The target, ${offset} back, gets ${asWeight(target)} of the weight${rest}.${end}`;
}

// The clocks of all hands, side by side
function clockFaces(frequencies, turn) {
  const clocks = frequencies.map((frequency, p) =>
    clock(`hand ${p + 1}`, `${threeDigits((2 * Math.PI) / frequency)} tokens`, (...held) => turn(frequency, ...held)));
  const svg = drawing({ class: "faces" });
  svg.append(...clocks.map(({ box }) => box));

  function show(room, count, offset, away) {
    const wide = Math.min(room, 720);
    const radius = Math.min(52, wide / 8 - 6);
    const high = 2 * radius + 90;
    set(svg, { viewBox: `0 0 ${wide} ${high}`, height: high, style: `max-width: ${wide}px` });
    clocks.forEach(({ place, show }, p) =>
      show(place(((p + 0.5) * wide) / 4, radius), p < count, frequencies[p] * offset, frequencies[p] * away,
        wide < 700 ? "" : " from the target"));
  }
  return { svg, show };
}

// The means of the cosines and, below them, the weights, place by place; the target is dragged to aim(place)
function weightCurves(aim) {
  const svg = drawing({ class: "curves", "data-see": "" });
  const add = into(svg);
  const y = {
    mean: (value) => CROWN + (MEAN * (1 - value)) / 2,
    weight: (value) => CROWN + MEAN + GAP + WEIGHT * (1 - value),
  };
  const foot = y.weight(0);
  const rules = [[y.mean, [-1, 0, 1]], [y.weight, [0, 0.5, 1]]].flatMap(([at, ticks]) => ticks.map((tick) => {
    add("text", { class: "tick end", x: LEFT - 10, y: at(tick) + 4 }, signed(tick, tick % 1 ? 1 : 0));
    return add("line", { class: "rule", x1: LEFT, y1: at(tick), y2: at(tick) });
  }));
  const upper = add("text", { class: "name", x: LEFT, y: CROWN - 8 });
  add("text", { class: "name", x: LEFT, y: y.weight(1) - 20 }, "weight");
  const marks = ["hue-query", "hue-key"].map((hue) => add("path", { class: `here ${hue}` }));
  const wave = add("path", { class: "wave" });
  const bars = add("path", { class: "stems" });
  const tips = [["hue-query", 7], ["hue-key", 3.5]].map(([hue, r]) =>
    add("circle", { class: `tip ${hue}`, cy: foot + 11, r }));
  const target = svg.appendChild(grip("circle", "offset", ([x]) => aim(toPlace(x)), { r: 15, cy: foot + 11 }));
  const ticks = tabulate(5, () => add("text", { class: "tick", y: foot + 33 }));
  const axis = add("text", { class: "tick", y: foot + 51 }, "tokens back");
  const names = tabulate(6, () => add("text", { class: "peak" }));

  // The largest weights that stand apart, each with its place above its bar
  function namePeaks(weights, x) {
    const order = [...weights.keys()].filter((t) => weights[t] >= NAMED).sort((a, b) => weights[b] - weights[a]);
    const chosen = [];
    for (const t of order) {
      if (chosen.length < names.length && chosen.every((other) => Math.abs(x(t) - x(other)) >= APART)) chosen.push(t);
    }
    names.forEach((name, i) => {
      const t = chosen[i] ?? 0;
      write(name, i < chosen.length ? t : "");
      set(name, { x: x(t), y: y.weight(weights[t]) - 5 });
    });
  }

  let toPlace = () => 0; // from a pixel of the curves
  function show(room, what, means, weights, offset, look) {
    const n = weights.length;
    write(upper, what);
    const unit = (room - LEFT - RIGHT) / n;
    const x = (t) => Math.round(10 * (LEFT + (t + 0.5) * unit)) / 10;
    const high = (at, value) => Math.round(10 * at(value)) / 10;
    toPlace = (pixel) => Math.max(0, Math.min(n - 1, Math.floor((pixel - LEFT) / unit)));
    set(svg, { viewBox: `0 0 ${room} ${foot + FOOT}`, height: foot + FOOT });
    rules.forEach((rule) => set(rule, { x2: room - RIGHT }));
    set(wave, { d: `M${Array.from(means, (mean, t) => `${x(t)},${high(y.mean, mean)}`).join("L")}` });
    set(bars, {
      d: Array.from(weights, (weight, t) => `M${x(t)},${foot}V${high(y.weight, weight)}`).join(""),
      "stroke-width": Math.max(1.6, Math.min(14, 0.7 * unit)),
    });
    [offset, look].forEach((t, i) => {
      set(marks[i], { d: `M${x(t)},${y.mean(1)}V${y.mean(-1)}M${x(t)},${y.weight(1)}V${foot}` });
      set(tips[i], { cx: x(t) });
    });
    set(target, { cx: x(offset) });
    ticks.forEach((tick, i) => {
      write(tick, comma((i * n) / 4 - (i === 4)));
      set(tick, { x: x((i * n) / 4 - (i === 4)) });
    });
    set(axis, { x: LEFT + (room - LEFT - RIGHT) / 2 });
    namePeaks(weights, x);
  }
  return { svg, show, toPlace: (pixel) => toPlace(pixel) };
}

const FARTHEST = 20; // target

export default figure(({ strengths, frequencies, sizes, equal }, { root, now, change, when }) => {
  const ends = ({ places }) => ({ offset: FARTHEST, look: sizes[places] - 1 });
  // A hand goes the short way round
  function turn(frequency, name, point, tipOf) {
    const setting = now();
    const end = ends(setting)[name];
    const from = Math.min(setting[name], end);
    const near = stepsOf(0, end).filter((t) => Math.abs(t - from) * frequency < Math.PI);
    change({ [name]: nearestTo(point, [from, ...near], (t) => tipOf(t * frequency)) });
  }
  const faces = clockFaces(frequencies, turn);
  const curves = weightCurves((offset) => change({ offset: Math.min(offset, FARTHEST) }));
  const sign = (hue, text) => h("span", { class: `sign ${hue}` }, h("i"), text);
  const title = [planeTitle("Hands:", "drag one to turn it; above each, tokens a turn"),
    h("div", {}, sign("hue-query", "the query\u2019s: the target"),
      sign("hue-key", "the key\u2019s: the position shown"))];

  const longest = handsAt(1020, 10, 30000, MEAN_OF, 1 - 1e-9);
  const told = roomFor(longest, "p", { class: "status", "aria-live": "polite" });
  const status = statusLine(headLooks(20, 0.5, [[1023, 0.5], [1023, 0.5], [1023, 0.5]]));

  when(["places"], (setting) => ({ look_max: ends(setting).look }));

  function draw({ hands: count, offset, strength: power, places, look: wanted }, room) {
    const strength = strengths[power];
    const n = sizes[places];
    const look = Math.min(wanted, n - 1);
    const used = frequencies.slice(0, count);
    const meanAt = (away) => sum(used.map((frequency) => Math.cos(frequency * away))) / count;
    const means = tabulate(n, (t) => meanAt(t - offset));
    const weights = softmax(means.map((mean) => strength * mean));
    const first = largestBut(weights, [offset], equal);
    const others = [first];
    while (others.length < 3) others.push(largestBut(weights, [offset, ...others], equal));
    const listed = others.filter((t, i) => !i || weights[t] >= 0.01).map((t) => [t, weights[t]]);

    const what = count > 1 ? MEAN_OF : "cosine";
    faces.show(room, count, offset, look - offset);
    curves.show(room, what, means, weights, offset, look);
    say(told, handsAt(look, offset, strength, what, means[look]));
    say(status, headLooks(offset, weights[offset], listed));
    const cosines = used.map((frequency) => Math.cos(frequency * (look - offset)));
    const rows = (numbers) => rowsOf(tabulate(n / 16, (i) => `from ${16 * i}`), numbers);
    return {
      numbers: {
        cosine: cosines, mean: means, weight: weights, target: weights[offset], rival: [first, weights[first]],
      },
      tables: () => [
        [`The hands at ${look} back`, used.map((_, p) => `hand ${p + 1}`), [["cosine", ...cosines]]],
        ["The largest weight elsewhere", ["place", "weight"], [["rival", first, weights[first]]]],
        ["Weights by the hands, tokens back", tabulate(16, (i) => `+${i}`), rows(weights)],
        ["Means of the cosines, tokens back", tabulate(16, (i) => `+${i}`), rows(means)],
      ],
    };
  }

  // The tallest bar near the pointer, or the place under it
  function drag(event) {
    const pixel = event.clientX - curves.svg.getBoundingClientRect().left;
    const near = tabulate(13, (i) => curves.toPlace(pixel + i - 6));
    const weights = root.numbers.weight;
    const tallest = near.reduce((a, b) => (weights[b] > weights[a] ? b : a));
    change({ look: weights[tallest] >= NAMED ? tallest : curves.toPlace(pixel) });
  }
  onDrag(curves.svg, "look", drag, drag);
  return { parts: [...title, faces.svg, told, curves.svg, status], draw };
});

const AFTER = [1, 2, 0]; // AFTER[i] beats i
const ROOM = 330; // of the picture of who looks at whom, in its own units
const CENTRE = [ROOM / 2, 185];
const RADIUS = 105;
const NODE = 28; // the radius of a token, which holds its name

// The places of the three tokens in that picture
const NODES = [90, 210, 330].map((degrees) => {
  const angle = (degrees * Math.PI) / 180;
  return [CENTRE[0] + RADIUS * Math.cos(angle), CENTRE[1] - RADIUS * Math.sin(angle)];
});

// W = diag(1, second) R(turn), for rows that stand to its left
function matrix(turn, second) {
  const angle = (turn * Math.PI) / 180;
  const c = Math.cos(angle);
  const s = Math.sin(angle);
  return [[c, s], [-second * s, second * c]];
}

function kindOf(i, j) {
  if (i === j) return "self";
  return AFTER[i] === j ? "forwards" : "backwards";
}

// A bent arrow from node i to node j that ends before the node, bent outwards or inwards; and where its number stands,
// near the token whose weight it is
function bent(i, j, bend) {
  const middle = [0, 1].map((c) => (NODES[i][c] + NODES[j][c]) / 2);
  const away = [0, 1].map((c) => middle[c] - CENTRE[c]);
  const size = Math.hypot(...away);
  const via = [0, 1].map((c) => middle[c] + (bend * away[c]) / size);
  const towardsVia = (node, gap) => {
    const distance = Math.hypot(via[0] - node[0], via[1] - node[1]);
    return [0, 1].map((c) => node[c] + (gap * (via[c] - node[c])) / distance);
  };
  const start = towardsVia(NODES[i], NODE + 2);
  const end = towardsVia(NODES[j], NODE + 8);
  const beside = (c) =>
    0.49 * start[c] + 0.42 * via[c] + 0.09 * end[c] + (Math.sign(bend) * (bend > 0 ? 21 : 17) * away[c]) / size;
  const aside = away.map((part) => (Math.sign(bend) * part) / size); // where a larger number moves
  return { path: `M${start} Q${via} ${end}`, end, from: via, aside, label: [beside(0), beside(1)] };
}

// The tip of an arrow at (x, y) that comes from (fromX, fromY)
function arrowTip([x, y], [fromX, fromY], size) {
  const length = Math.hypot(x - fromX, y - fromY) || 1;
  const ux = (x - fromX) / length;
  const uy = (y - fromY) / length;
  const front = [x + size * ux, y + size * uy];
  const left = [x - 0.6 * size * uy, y + 0.6 * size * ux];
  const right = [x + 0.6 * size * uy, y - 0.6 * size * ux];
  return `M${front} L${left} L${right} z`;
}

// The picture of who looks at whom: three nodes, and for each pair an arrow as thick as its weight
function weightGraph(names) {
  const svg = h("svg", { viewBox: `0 0 ${ROOM} ${ROOM - 30}`, role: "img" });
  const labels = [];

  function addArrow(i, j) {
    const kind = kindOf(i, j);
    const { line, end, from, aside, label: [x, y] } = i === j ? loop(i) : arrow(i, j, kind);
    const tip = h("path", { class: `tip ${kind}` });
    const label = h("text", { x, y: y + 4, class: `arrow-name ${kind}` });
    if (aside) ["--aside-x", "--aside-y"].forEach((name, c) => label.style.setProperty(name, aside[c].toFixed(3)));
    svg.append(line, tip, label);
    labels.push(label);
    return { line, tip, end, from, label };
  }

  function loop(i) {
    const [x, y] = NODES[i];
    const out = [(x - CENTRE[0]) / RADIUS, (y - CENTRE[1]) / RADIUS];
    const line = h("circle", { cx: x + 34 * out[0], cy: y + 34 * out[1], r: 15, class: "arrow self" });
    return { line, label: [x + 63 * out[0], y + 63 * out[1]] };
  }

  function arrow(i, j, kind) {
    const { path, ...places } = bent(i, j, kind === "forwards" ? 46 : -4);
    return { line: h("path", { d: path, class: `arrow ${kind}` }), ...places };
  }

  const arrows = [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => addArrow(i, j)));
  NODES.forEach(([x, y], i) => svg.append(
    h("circle", { cx: x, cy: y, r: NODE, class: "node" }),
    h("text", { x, y: y + 4, class: "node-name" }, h("tspan", {}, names[i][0]), h("tspan", {}, names[i].slice(1))),
  ));
  svg.append(...labels); // no line runs over a number

  function show(weights) {
    weights.flat().forEach((weight, index) => {
      const { line, tip, end, from, label } = arrows[index];
      const none = weight < 0.005;
      const width = Math.max(0.5, 11 * weight);
      set(line, { "stroke-width": width, "stroke-opacity": none ? 0.25 : 0.8 });
      if (end) set(tip, { d: arrowTip(end, from, 5 + 7 * weight), "fill-opacity": none ? 0.25 : 0.9 });
      write(label, none ? "" : weight.toFixed(2));
    });
    const others = (i) => names.map((name, j) => `${name} ${weights[i][j].toFixed(2)}`)
      .filter((_, j) => j !== i || weights[i][i] > 0);
    set(svg, { "aria-label": `Weights. ${names.map((name, i) => `${name} on ${others(i).join(", ")}`).join("; ")}.` });
  }
  return { box: h("div", { class: "plane graph" }, planeTitle("Weights", "as thick as they are large"), svg), show };
}

// The plane of queries (arrows) and keys (discs): it reaches as far as the longest of them needs. A hand turns them:
// turn(name, i, place) is told the name of the turn, and where it holds token i
function queriesAndKeys(names, turn) {
  const size = 330;
  const { box, svg, x: middleX, y: middleY } = plane("Queries", "(arrows) and keys (discs): rotate them", 0.9, size);
  const origin = [middleX(0), middleY(0)];
  let unit = 1; // pixels
  const toX = (value) => origin[0] + unit * value;
  const toY = (value) => origin[1] - unit * value;
  const ticks = [-2, -1, 1, 2].map((value) => ({
    value,
    across: h("text", { y: origin[1] + 14, class: "tick" }, signed(value, 0)),
    up: h("text", { x: origin[0] - 5, class: "tick end" }, signed(value, 0)),
  }));
  svg.append(...ticks.flatMap(({ across, up }) => [across, up]));
  const keys = names.map(() => ({
    disc: h("circle", { r: 13, class: "key-disc" }),
    name: h("text", { class: "key-name" }),
  }));
  const queries = names.map(() => ({
    line: h("line", { x1: origin[0], y1: origin[1], class: "query" }),
    tip: h("path", { class: "query-tip" }),
    name: h("text", { class: "query-name" }),
  }));
  const gripOf = (tag, name, i) => grip(tag, name, ([x, y], turned) =>
    turn(turned, i, [(x - origin[0]) / unit, (origin[1] - y) / unit]), { r: 20 });
  const arrowGrips = names.map((_, i) => gripOf("line", "turn_q", i));
  const discGrips = names.map((_, i) => gripOf("circle", "turn_k", i));
  svg.append(...[...queries, ...keys].flatMap(Object.values), ...arrowGrips, ...discGrips);

  function showKey({ disc, name }, [x, y], word) {
    set(disc, { cx: toX(x), cy: toY(y) });
    set(name, { x: toX(x), y: toY(y) + 4 });
    write(name, word[0].toUpperCase());
  }

  function showQuery({ line, tip, name }, [x, y], word) {
    const size = Math.hypot(x, y);
    const [tipX, tipY] = [toX(x), toY(y)];
    const [outX, outY] = size < 0.05 ? [0, 0] : [x / size, -y / size];
    const end = [tipX - 19 * outX, tipY - 19 * outY]; // the disc of a key on the same spot stays readable
    set(line, { x2: end[0], y2: end[1] });
    set(tip, { d: arrowTip(end, origin, size < 0.3 ? 0 : 7) });
    write(name, word);
    const anchor = anchorOf(outX);
    const at = tipX + 21 * outX;
    // Inside the frame; a long name that must step back for it stands beyond its disc
    const left = at - { start: 0, middle: 0.5, end: 1 }[anchor] * name.getComputedTextLength();
    const right = left + name.getComputedTextLength();
    const back = Math.max(0, 5 - left) - Math.max(0, right - (ROOM - 5));
    const down = Math.abs(back) > 3 ? (outY < -0.1 ? -30 : 30) : 0;
    set(name, { x: at + back, y: tipY + 24 * outY + 4 + down, "text-anchor": anchor });
  }

  function show(Q, K, tied) {
    unit = size / 2 / (1.75 * Math.max(0.9, ...[...Q, ...K].map((vector) => Math.hypot(...vector))));
    ticks.forEach(({ value, across, up }) => {
      const visibility = Math.abs(unit * value) < size / 2 - 8 ? "visible" : "hidden";
      set(across, { x: toX(value), visibility });
      set(up, { y: toY(value) + 4, visibility });
    });
    K.forEach((key, i) => showKey(keys[i], key, names[i]));
    Q.forEach((query, i) => showQuery(queries[i], query, names[i]));
    arrowGrips.forEach((shape, i) => set(shape, { x1: origin[0], y1: origin[1], x2: toX(Q[i][0]), y2: toY(Q[i][1]) }));
    discGrips.forEach((shape, i) => set(shape, { cx: toX(K[i][0]), cy: toY(K[i][1]),
      "data-drags": tied ? "turn_q" : "turn_k" }));
  }
  return { box, show };
}

// A name stands on the outer side of what it names
function anchorOf(outX) {
  if (Math.abs(outX) < 0.4) return "middle";
  return outX > 0 ? "start" : "end";
}

export default figure(({ names, points, sharps }, { now, change }) => {
  const placesOf = (tokens, { second }, turn) => times(tokens, matrix(turn, second));
  const left = queriesAndKeys(names, (name, i, place) => {
    const setting = now();
    const turns = [setting[name], ...stepsOf(-180, 180, 15)];
    change({ [name]: nearestTo(place, turns, (turn) => placesOf([points[i]], setting, turn)[0]) });
  });
  const right = weightGraph(names);

  const fact = (kind, label) => {
    const number = h("td", { class: "number" });
    return { number, row: h("tr", {}, h("th", { scope: "row", class: kind }, label), number) };
  };
  const facts = [
    fact("forwards", "solid: forwards, each at the one that beats it: rock, paper, scissors, rock"),
    fact("backwards", "dashed: backwards, rock, scissors, paper, rock"),
    fact("", "loss, the mean of \u2212ln(weight forwards); to toss a coin costs ln 2 = 0.693"),
  ];
  const status = statusLine(`${matrices({ tied: true, turn_q: 0, turn_k: 0 }, 1, 1)} ${success(1, true)}`);
  const headings = h("tr", {},
    h("th", { scope: "col" }, "product of the three weights around the circle"),
    h("td"));
  const table = h("table", {}, h("thead", {}, headings), h("tbody", {}, ...facts.map(({ row }) => row)));
  const inOneLine = h("p", { class: "in-one-line tabular" }); // where there is no room for the table
  const planes = h("div", { class: "planes" }, left.box, right.box);

  // The products of the weights around the circle, forwards and backwards, and the loss
  function measure(weights) {
    const forwards = AFTER.map((next, i) => weights[i][next]);
    const backwards = AFTER.map((next, i) => weights[next][i]);
    const product = (factors) => factors.reduce((a, b) => a * b, 1);
    const loss = -sum(forwards.map(Math.log)) / 3;
    return [product(forwards), product(backwards), loss];
  }

  const readably = (value) => (value >= 0.001 || value === 0 ? value.toFixed(3) : scientific(value));

  function matrices({ tied, turn_q, turn_k }, forwards, backwards) {
    const rotated = (degrees) => `${signed(degrees, 0)}\u00b0`;
    if (tied) {
      return `One matrix, rotated by ${rotated(turn_q)}. The slider of W_K does nothing until you untick \u201cone `
        + "matrix\u201d. Both ways around have the same product.";
    }
    const same = Math.abs(Math.log(forwards / backwards)) < 1e-9;
    return `W_Q is rotated by ${rotated(turn_q)}, W_K by ${rotated(turn_k)}. `
      + (same ? "At this setting both ways have the same product." : "The two ways differ.");
  }

  function success(loss, wrongWay) {
    if (loss < 0.1) return "The head knows who beats whom.";
    if (loss < Math.LN2 - 1e-9) return "The head does better than a coin.";
    if (wrongWay) return "Backwards: the dashed product is the larger. Try the other way.";
    return `The head does ${loss > Math.LN2 + 0.0005 ? "worse than" : "no better than"} a coin.`;
  }

  function draw(setting) {
    const { tied, exclude_self, turn_q, turn_k, sharp } = setting;
    const Q = placesOf(points, setting, turn_q);
    const K = tied ? Q : placesOf(points, setting, turn_k);
    const score = (q, k) => sharps[sharp] * dot(q, k);
    const weights = Q.map((q, i) => softmax(K.map((k, j) => (exclude_self && i === j ? -Infinity : score(q, k)))));

    left.show(Q, K, tied);
    right.show(weights);
    const [forwards, backwards, loss] = measure(weights);
    const [solid, dashed, lost] = [forwards, backwards, loss].map(readably);
    [solid, dashed, lost].forEach((text, i) => write(facts[i].number, text));
    write(inOneLine, `solid ${solid}, dashed ${dashed}, loss ${lost}`);
    say(status, `${matrices(setting, forwards, backwards)} ${success(loss, !tied && backwards > 2 * forwards)}`);
    return {
      numbers: { weight: weights.flat(), around: [forwards, backwards], loss },
      tables: () => [
        ["Weights: rows look, columns are looked at", names, rowsOf(names, weights.flat())],
        ["Around the circle", ["number"],
          [["product forwards", forwards], ["product backwards", backwards], ["loss", loss]]],
      ],
    };
  }
  return { parts: [planes, status, inOneLine, table], draw };
});

// ---- the layer and its leaks -----------------------------------------------------------------------

// What each query shares out over the keys. A mask applied after the softmax hides nothing from it.
function sharesOf(Q, K, seen, after) {
  const root = Math.sqrt(Q[0].length);
  return Q.map((q, i) => {
    const blind = !seen[i].some(Boolean); // sees nothing: weights, output and gradients are zero
    if (blind && !after) return K.map(() => 0);
    return softmax(K.map((k, j) => (after || seen[i][j] ? dot(q, k) / root : -Infinity)));
  });
}

// One layer on x (n rows of d numbers): outputs, weights, and jacobian[l * d + a][i * d + b] = d out_i[b] / d x_l[a]
function layer(x, [WQ, WK, WV], seen, after) {
  const [n, d] = [x.length, x[0].length];
  const root = Math.sqrt(d);
  const [Q, K, V] = [WQ, WK, WV].map((W) => times(x, W));
  const shares = sharesOf(Q, K, seen, after);
  const weights = shares.map((row, i) => row.map((share, j) => (seen[i][j] ? share : 0)));
  const out = times(weights, V);

  // A score moves an output by p_ij (m_ij v_j - out_i); it depends on x_i through the query and on x_j through the key
  const pullOf = (share, i, j) => V[j].map((value, b) => share * ((seen[i][j] ? value : 0) - out[i][b]));
  const pull = shares.map((row, i) => row.map((share, j) => pullOf(share, i, j)));
  const byQuery = times(K, transposed(WQ)); // row j: W_Q k_j
  const byKey = times(Q, transposed(WK)); // row i: W_K q_i
  function derivative(l, i, a, b) {
    let total = weights[i][l] * WV[a][b] + (pull[i][l][b] * byKey[i][a]) / root;
    if (i !== l) return total;
    for (let j = 0; j < n; j++) total += (pull[i][j][b] * byQuery[j][a]) / root;
    return total;
  }
  const token = (index) => Math.floor(index / d);
  const jacobian = tabulate(n * d, (from) =>
    tabulate(n * d, (to) => derivative(token(from), token(to), from % d, to % d)));
  return { out, weights, jacobian };
}

// ---- the figure ------------------------------------------------------------------------------------

// A square of cells with the words at its left and above it, and a frame around a row; sums, where they are given,
// stand at its right
function square(head, words, cells, sums = []) {
  const word = (text, look) => h("span", { class: look }, text);
  const grid = h("div", { class: sums.length ? "square with-sums" : "square" });
  const top = [...words, ...sums.slice(0, 1).map(() => "sum")].map((text) => word(text, "word top"));
  const rows = words.map((text, i) => [word(text, "word"), ...cells[i], ...sums.slice(i, i + 1)]);
  // Each has its place, so that the frame may lie over those of its row
  [[h("span", {}), ...top], ...rows].forEach((row, i) => row.forEach((one, j) => {
    one.style.gridArea = `${i + 1} / ${j + 1}`;
    grid.append(one);
  }));
  const frame = grid.appendChild(h("i", { class: "row-frame" }));
  return { box: h("div", { class: "board" }, head, grid), frame };
}

// The weights and the influences of one row, as bars over its words
function rowBars(words, strongest) {
  const bar = (hue) => h("i", { class: `bar-of ${hue}` });
  const columns = words.map(() => ({ weight: bar("weighs"), influence: bar("influences"), leak: h("b") }));
  const name = h("b");
  const bars = h("div", { class: "row-bars" }, ...words.map((text) => h("span", { class: "word top" }, text)),
    ...columns.map(({ weight, influence, leak }) => h("div", { class: "two" }, weight, h("div", {}, leak, influence))));
  const key = h("div", { class: "bar-key" }, bar("weighs"), "weight to 1 ",
    bar("influences"), `influence to ${strongest}`);
  const title = h("div", { class: "plane-title" }, name, " the framed row");
  const box = h("div", { class: "board row-of" }, title, bars, key);

  function show(word, weights, influences, leaks) {
    write(name, `\u201c${word}\u201d`);
    columns.forEach(({ weight, influence, leak }, j) => {
      weight.style.height = `${100 * weights[j]}%`;
      influence.style.height = `${100 * influences[j]}%`;
      set(influence, { class: leaks[j] ? "bar-of influences leaks" : "bar-of influences" });
      write(leak, leaks[j] ? "!" : "");
    });
  }
  return { box, show };
}

// What is so, one line each, whatever the setting: no line stands empty
const FACTS = [
  ({ wrong, layers }) => (wrong
    ? `${wrong} ${wrong === 1 ? "pair leaks" : "pairs leak"}: the output moves with a word that it must not see, `
      + "although its weight is zero."
    : "No leak: each output moves only with its own word and with words it may look at"
      + `${layers === 1 ? "" : ", directly or through other words"}.`),
  ({ short, blind }) => (short ? "The visible weights do not sum to 1."
    : `The weights of each row sum to ${blind.length ? "1, or to 0" : 1}.`),
  ({ blind }) => {
    if (!blind.length) return "Every word sees something.";
    const who = blind.length === 1 ? `\u201c${blind[0]}\u201d sees` : `${blind.length} words see`;
    return `${who} nothing: weights and output are zero.`;
  },
  ({ asks, after }) => (asks
    ? `A word masked from itself still has a query and may move its own output${after ? ": no leak is counted" : ""}.`
    : "Each word that sees anything may look at itself."),
  ({ layers }) => (layers === 1 ? "In one layer a word reaches what it looks at."
    : `Through ${layers} layers a word reaches what those it looks at reach.`),
];

// A list of the facts, with room for the longest form of each; screen readers read out those that change
function factList() {
  const forms = [{ wrong: 35, short: false, blind: ["The", "cat"], asks: true, after: true, layers: 3 },
    { wrong: 0, short: true, blind: [], asks: false, after: false, layers: 3 }];
  const lines = FACTS.map((fact) => roomFor(longestOf(forms.map(fact)), "li"));
  const box = h("ul", { class: "status facts", "aria-live": "polite" }, ...lines);
  return { box, tell: (found) => FACTS.forEach((fact, i) => say(lines[i], fact(found))) };
}

export default figure(({ words, presets, tensors, strongest }, { root, now, change, when }) => {
  const n = words.length;
  const [x0, ...matrices] = tensors;

  const all = (make) => words.map((_, i) => words.map((_, j) => make(i, j)));
  const buttons = all((i, j) => h("button", { type: "button", class: "cell paint", tabindex: i + j ? -1 : 0 }));
  const weightCells = all(() => h("span", { class: "cell" }));
  const leakCells = all(() => h("span", { class: "cell" }));
  const sums = words.map(() => h("span", { class: "row-sum tabular" }));
  const whose = h("span", {});
  const [mask, weighed, moved] = [square(planeTitle("Mask", "paint it"), words, buttons),
    square(h("div", { class: "plane-title" }, h("b", {}, "Weights"), " ", whose), words, weightCells, sums),
    square(planeTitle("Influence", "what moves what"), words, leakCells)];
  moved.box.classList.add("of-influence");
  const bars = rowBars(words, strongest);
  const boards = h("div", { class: "boards" }, mask.box, bars.box, weighed.box, moved.box);
  const facts = factList();
  const legend = h("p", { class: "soft" },
    "Rows look, columns are looked at. Larger numbers stand out more; a dot is exactly zero, .00 only "
      + "rounded; a thick frame with \u201c!\u201d is a leak.");

  const choose = (row) => row !== now().row && change({ row });
  function paint(i, j) {
    const painted = [...now().painted];
    painted[i * n + j] = 1 - painted[i * n + j];
    const same = presets.findIndex((preset) => preset.every((may, k) => may === painted[k]));
    change({ painted, mask: same < 0 ? presets.length : same }); // the last in the list: one's own
  }

  // The square is one stop for the Tab key; arrows move inside it
  function walk(event, i, j) {
    const to = placeInGrid(event, i, j, n, n);
    if (!to) return;
    const next = buttons[to[0]][to[1]];
    for (const button of buttons.flat()) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }

  all((i, j) => {
    buttons[i][j].addEventListener("click", () => paint(i, j));
    buttons[i][j].addEventListener("keydown", (event) => walk(event, i, j));
    buttons[i][j].addEventListener("focus", () => choose(i));
    for (const cells of [buttons, weightCells, leakCells]) {
      cells[i][j].addEventListener("pointerenter", () => choose(i));
    }
  });
  // What a cell stands for is its title, written when the pointer comes to it
  let shown = {};
  const tellOf = (cells, text) => all((i, j) =>
    cells[i][j].addEventListener("pointerenter", () => set(cells[i][j], { title: text(i, j) })));
  tellOf(buttons, (i, j) => buttons[i][j].getAttribute("aria-label"));
  tellOf(weightCells, (i, j) => shown.weights[i][j].toPrecision(3));
  tellOf(leakCells, (i, j) => shown.leaks[i][j].toPrecision(3));

  when(["mask"], ({ mask }) => (presets[mask] ? { painted: [...presets[mask]] } : {}));

  // Bars move when the mask does; another row and the slider are followed at once
  const moves = (they) => () => {
    root.classList.toggle("moves", they);
    return {};
  };
  when(["painted", "applied"], moves(true));
  when(["row", "layers"], moves(false));

  // All layers one after the other: the weights of the last, how much each word moves each output, and whether it may
  function compute(seen, after, layers) {
    let step = layer(x0, matrices, seen, after);
    let { jacobian } = step;
    let reach = all((i, j) => seen[i][j] || i === j);
    for (let l = 1; l < layers; l++) {
      const before = reach;
      step = layer(step.out, matrices, seen, after);
      jacobian = times(jacobian, step.jacobian); // the chain rule
      reach = all((i, j) => words.some((_, k) => (seen[i][k] || i === k) && before[k][j]));
    }
    const d = x0[0].length;
    const cut = (list, token) => list.slice(token * d, (token + 1) * d);
    const leaks = all((i, j) => Math.hypot(...cut(jacobian, j).flatMap((line) => cut(line, i))));
    return { weights: step.weights, leaks, reach };
  }

  function showButton(i, j, seen) {
    const says = `${words[i]} (${i + 1}) may ${seen ? "" : "not "}look at ${words[j]} (${j + 1})`;
    set(buttons[i][j], { "aria-pressed": seen, "aria-label": says });
    write(buttons[i][j], seen ? "\u2713" : "");
  }

  // A dot says that a value is exactly zero, which no colour can
  function showCell(cell, value, colour, text, bad = false) {
    const nothing = value === 0;
    const [ground, number] = [nothing ? "none" : shade(colour), /\d/.test(text)];
    set(cell, { class: bad ? "cell leak" : "cell" });
    cell.style.background = number ? "none" : ground; // no attribute, which a strict policy forbids
    cell.style.border = number && !nothing ? `3px solid ${ground}` : "none"; // a number stands in a frame
    cell.style.color = !number && !nothing && Math.sqrt(colour) > 0.66 ? "var(--on-hue)" : "inherit";
    write(cell, nothing ? "\u00b7" : text);
  }

  function draw({ painted, layers, applied, row }) {
    const seen = all((i, j) => painted[i * n + j] === 1);
    const after = applied === 1;
    const { weights, leaks, reach } = compute(seen, after, layers);
    shown = { weights, leaks };

    const shareOf = (leak) => Math.min(1, leak / strongest); // a painted mask may pass what no preset does
    const wrongly = all((i, j) => leaks[i][j] > 0 && !reach[i][j]);
    const wrong = sum(wrongly.flat());
    all((i, j) => {
      const leak = leaks[i][j];
      const bad = wrongly[i][j];
      showButton(i, j, seen[i][j]);
      showCell(weightCells[i][j], weights[i][j], weights[i][j], weights[i][j].toFixed(2).replace(/^0|\.00$/, ""));
      showCell(leakCells[i][j], leak, shareOf(leak), bad ? "!" : "", bad);
    });
    for (const { frame } of [mask, weighed, moved]) frame.style.gridRow = `${row + 2} / ${row + 3}`;
    bars.show(words[row], weights[row], leaks[row].map(shareOf), wrongly[row]);
    write(whose, layers === 1 ? "of each row" : `of each row, in layer ${layers}`);
    const rowSums = weights.map(sum);
    rowSums.forEach((total, i) => write(sums[i], total.toFixed(2)));
    const sighted = (i) => seen[i].some(Boolean);
    const blind = words.filter((_, i) => !sighted(i));
    const short = rowSums.some((total, i) => sighted(i) && total < 0.999);
    const asks = words.some((_, i) => sighted(i) && !seen[i][i]);
    facts.tell({ wrong, short, asks, after, blind, layers });
    return {
      numbers: { weight: weights.flat(), row_sum: rowSums, leak: leaks.flat() },
      tables: () => [
        ["Weights, and the sum of each row", [...words, "sum"], words.map((word, i) =>
          [word, ...weights[i], rowSums[i]])],
        ["Influence: the gradient of each row\u2019s output by each word", words, rowsOf(words, leaks.flat())],
      ],
    };
  }
  return { parts: [boards, facts.box, legend], draw };
});

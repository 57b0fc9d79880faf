const times = (x, W) => x.map((row) => W[0].map((_, c) => row.reduce((sum, v, r) => sum + v * W[r][c], 0)));
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);

// One layer on x (n rows of d numbers): outputs, weights, and jacobian[l][i][a][b] = d out_i[b] / d x_l[a]
function layer(x, [WQ, WK, WV], seen, after) {
  const n = x.length, d = x[0].length, root = Math.sqrt(d), Q = times(x, WQ), K = times(x, WK), V = times(x, WV);
  const blind = seen.map((row) => !row.some(Boolean));             // sees nothing: weights, output and gradients are zero
  const shares = Q.map((q, i) => (blind[i] && !after ? Array(n).fill(0) : softmax(K.map((k, j) => (after || seen[i][j] ? dot(q, k) / root : -Infinity)))));
  const weights = shares.map((row, i) => row.map((p, j) => (seen[i][j] ? p : 0)));
  const out = times(weights, V);
  // A score moves an output by p_ij (m_ij v_j - out_i); it depends on x_i through the query and on x_j through the key
  const pull = shares.map((row, i) => row.map((p, j) => V[j].map((v, b) => p * ((seen[i][j] ? v : 0) - out[i][b]))));
  const byQuery = times(K, WQ[0].map((_, c) => WQ.map((row) => row[c])));       // row j: W_Q k_j
  const byKey = times(Q, WK[0].map((_, c) => WK.map((row) => row[c])));         // row i: W_K q_i
  const jacobian = x.map((_, l) => x.map((_, i) => x[0].map((_, a) => x[0].map((_, b) => {
    let sum = weights[i][l] * WV[a][b] + (pull[i][l][b] * byKey[i][a]) / root;
    if (i === l) for (let j = 0; j < n; j++) sum += (pull[i][j][b] * byQuery[j][a]) / root;
    return sum;
  }))));
  return { out, weights, jacobian };
}

// The chain rule: what x_l does to the second layer's output i, by way of every token k between
function chain(first, second) {
  return first.map((row, l) => row.map((_, i) => {
    const block = row[0].map((line) => line.map(() => 0));
    for (let k = 0; k < row.length; k++) {
      const part = times(first[l][k], second[k][i]);
      part.forEach((line, a) => line.forEach((v, b) => { block[a][b] += v; }));
    }
    return block;
  }));
}

// A square of cells with the words at its left and above it; make(i, j) gives a cell
function square(title, note, words, make) {
  const grid = h("div", { class: "square" }, h("span", {}), ...words.map((w) => h("span", { class: "word top" }, w)));
  words.forEach((word, i) => grid.append(h("span", { class: "word" }, word), ...words.map((_, j) => make(i, j))));
  return h("div", { class: "board" }, h("div", { class: "plane-title" }, h("b", {}, title), ` ${note}`), grid);
}

function render({ model, el }) {
  const words = model.get("words"), n = words.length, [x0, ...matrices] = model.get("tensors"), presets = model.get("presets");
  const all = (make) => words.map((_, i) => words.map((_, j) => make(i, j)));
  const buttons = all((i, j) => h("button", { type: "button", class: "cell paint", tabindex: i + j ? -1 : 0 }));
  const maps = [0, 1].map(() => all(() => h("span", { class: "cell" })));
  const sums = words.map(() => h("span", { class: "row-sum numbers", "data-name": "row_sum" }));
  const weightBoard = square("Weights", "of each row", words, (i, j) => maps[0][i][j]), status = h("p", { class: "status", "aria-live": "polite" });
  const grid = weightBoard.querySelector(".square");
  grid.classList.add("with-sums");
  grid.children[n].after(h("span", { class: "word top" }, "sum"));
  sums.forEach((sum, i) => maps[0][i][n - 1].after(sum));
  const legend = h("p", { class: "soft" }, "Rows look, columns are looked at. Dark is little, light is much; a dot is exactly zero; a thick frame with \u201c!\u201d is a leak.");
  el.append(h("div", { class: "mha-figure masks", "data-figure": "mask-painter", role: "group", "aria-label": model.get("label") },
    h("div", { class: "boards" }, square("Mask", "paint it", words, (i, j) => buttons[i][j]), weightBoard, square("Influence", "what moves what", words, (i, j) => maps[1][i][j])), status, legend));

  function paint(i, j) {
    const painted = [...model.get("painted")];
    painted[i * n + j] = 1 - painted[i * n + j];
    model.set("painted", painted);
    model.save_changes();
  }
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  all((i, j) => {
    buttons[i][j].addEventListener("click", () => paint(i, j));
    buttons[i][j].addEventListener("keydown", (event) => {         // one stop for the Tab key; arrows move inside the square
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const next = buttons[(i + step[0] + n) % n][(j + step[1] + n) % n];
      buttons.flat().forEach((button) => { button.tabIndex = button === next ? 0 : -1; });
      next.focus();
    });
  });
  const choose = () => { model.set("painted", [...presets[model.get("mask")]]); model.save_changes(); };
  model.on("change:mask", choose);

  function draw() {
    const painted = model.get("painted"), seen = all((i, j) => painted[i * n + j] === 1), after = model.get("applied") === 1, layers = model.get("layers");
    let step = layer(x0, matrices, seen, after), jacobian = step.jacobian, reach = all((i, j) => seen[i][j] || i === j);
    for (let l = 1; l < layers; l++) {
      step = layer(step.out, matrices, seen, after);
      jacobian = chain(jacobian, step.jacobian);
      reach = all((i, j) => words.some((_, k) => (seen[i][k] || i === k) && reach[k][j]));
    }
    const leaks = all((i, j) => Math.sqrt(jacobian[j][i].flat().reduce((sum, v) => sum + v * v, 0))), top = Math.max(...leaks.flat()) || 1;
    let wrong = 0;
    all((i, j) => {
      const w = step.weights[i][j], leak = leaks[i][j], bad = leak > 0 && !reach[i][j], says = `${words[i]} (${i + 1}) may ${seen[i][j] ? "" : "not "}look at ${words[j]} (${j + 1})`;
      wrong += bad;
      set(buttons[i][j], { "aria-pressed": seen[i][j], "aria-label": says, title: says });
      buttons[i][j].textContent = seen[i][j] ? "\u2713" : "";
      for (const [cell, value, colour] of [[maps[0][i][j], w, w], [maps[1][i][j], leak, leak / top]]) {
        cell.style.background = value === 0 ? "none" : shade(colour);
        cell.style.color = value !== 0 && Math.sqrt(colour) < 0.55 ? "#fff" : "";
        cell.title = value.toPrecision(3);
        cell.textContent = value === 0 ? "\u00b7" : "";
      }
      maps[0][i][j].dataset.weight = w;
      set(maps[1][i][j], { class: bad ? "cell leak" : "cell", "data-name": "leak", "data-value": leak });
      if (bad) maps[1][i][j].textContent = "!";
    });
    step.weights.forEach((row, i) => {
      const sum = row.reduce((a, b) => a + b, 0);
      sums[i].dataset.value = sum;
      sums[i].textContent = sum.toFixed(2);
    });
    const blind = words.filter((_, i) => !seen[i].some(Boolean)), short = sums.some((s, i) => seen[i].some(Boolean) && Number(s.dataset.value) < 0.999);
    status.textContent = (wrong ? `${wrong} ${wrong === 1 ? "pair leaks" : "pairs leak"}: the output moves with a word that it must not see, although its weight is zero. ` : "No leak: a hidden word has a gradient of exactly zero. ")
      + (short ? "And the visible weights do not sum to 1. " : "") + (blind.length ? `\u201c${blind.join("\u201d and \u201c")}\u201d sees nothing: its weights and its output are zero. ` : "")
      + (layers > 1 ? `Through ${layers} layers a word reaches what its neighbours reach.` : "");
  }
  const stop = redraw(model, el, ["painted", "applied", "layers"], draw);
  return () => { model.off("change:mask", choose); stop(); };
}

export default { render };

const LABELLED = 0.08;                                             // arcs with a smaller weight get no number

function render({ model, el }) {
  const tokens = model.get("tokens"), endings = model.get("endings"), n = tokens.length;
  const tensors = model.get("sentences").map(({ q, k }) => [float16(q), float16(k)]);
  const width = tensors[0][0].length / n / model.get("num_heads"), last = n - 2;
  const svg = h("svg", { "aria-hidden": "true" }), status = h("p", { class: "status", "aria-live": "polite" });
  const legend = h("p", { class: "legend" }, ...endings.map((e, i) => h("span", { class: `sentence-${i}` }, `\u2026 it was too ${e} `, h("span", { class: "soft" }))));
  const sides = legend.querySelectorAll(".soft");
  el.append(h("div", { class: "mha-figure arcs", "data-figure": "head-arcs", role: "group", "aria-label": model.get("label") }, legend, svg, status));

  const arcs = endings.map((_, s) => tokens.map(() => svg.appendChild(h("path", { class: `arc sentence-${s}` }))));
  const numbers = endings.map((_, s) => tokens.map(() => svg.appendChild(h("text", { class: `numbers sentence-${s}` }))));
  const words = tokens.map((t, j) => svg.appendChild(h("text", { class: "word" }, j === last ? "" : t)));
  const two = j => endings.map((e, s) => h("tspan", { class: `sentence-${s}`, "data-side": s }, e));
  words[last].append(...two(last));
  words.forEach((word, j) => word.addEventListener("click", () => { model.set("word", j); model.save_changes(); }));

  // Where each word stands: along the line when there is room, else down the page; arcs rise to either side of the line
  function place(room) {
    const across = room >= 560, sizes = tokens.map((t, j) => (across ? 10 + 7.2 * (j === last ? Math.max(...endings.map((e) => e.length)) : t.length) : 26));
    const total = sizes.reduce((a, b) => a + b, 0), scale = across ? room / total : 1;
    let at = 0;
    const centres = sizes.map((s) => { at += s * scale; return at - (s * scale) / 2; });
    return { across, centres, length: across ? room : total };
  }

  function draw() {
    const { across, centres, length } = place(svg.clientWidth || 700), word = model.get("word"), head = model.get("head") - 1;
    const columns = Array.from({ length: width }, (_, c) => head * width + c);
    const side = across ? 175 : Math.min(125, (svg.clientWidth || 340) / 2 - 48), middle = across ? side + 4 : (svg.clientWidth || 340) / 2;
    const gap = across ? 17 : 40;                                  // from the middle of a word to the foot of an arc
    const point = (along, out) => across ? [along, middle + out] : [middle + out, along];
    sides.forEach((el, s) => { el.textContent = across ? ["(above)", "(below)"][s] : ["(left)", "(right)"][s]; });
    set(svg, { viewBox: across ? `0 0 ${length} ${2 * middle}` : `0 0 ${2 * middle} ${length}`, height: across ? 2 * middle : length });
    words.forEach((el, j) => {
      const [x, y] = point(centres[j], 0);
      set(el, { x, y: y + 4, class: j === word ? "word here" : "word" });
      if (j === last) el.querySelectorAll("tspan").forEach((t, s) => set(t, across ? { x, y: y + (s ? 12 : -4) } : { x: x + (s ? 18 : -18), y: y + 4 }));
    });
    const summary = endings.map((ending, s) => {
      const weights = headWeights(...tensors[s], n, columns).subarray(word * n, (word + 1) * n), sign = s ? 1 : -1;
      weights.forEach((w, j) => {
        const span = Math.abs(centres[j] - centres[word]), rise = j === word ? 24 : 22 + (side - gap - 32) * Math.min(1, span / (length * 0.72));
        const [x0, y0] = point(centres[word] - (j === word ? 7 : 0), sign * gap), [x1, y1] = point(centres[j] + (j === word ? 7 : 0), sign * gap);
        const [ax, ay] = point(centres[word] - (j === word ? 14 : 0), sign * (gap + rise * 1.33)), [bx, by] = point(centres[j] + (j === word ? 14 : 0), sign * (gap + rise * 1.33));
        set(arcs[s][j], { d: `M${x0},${y0} C${ax},${ay} ${bx},${by} ${x1},${y1}`, "stroke-width": Math.max(0.6, 22 * w), "data-weight": w });
        const [lx, ly] = point(centres[j], sign * (across ? gap + (j === word ? 30 : 14) : gap + 2));
        set(numbers[s][j], across ? { x: lx + 6 + 11 * w + (j === word ? 10 : 0), y: ly + 4, "text-anchor": "start" } : { x: lx, y: ly - 4, "text-anchor": s ? "start" : "end" });
        numbers[s][j].textContent = w >= LABELLED ? w.toFixed(2) : "";
      });
      const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 2);
      return `with \u201c${ending}\u201d, ${order.map((j) => `${j === last ? ending : tokens[j]} ${weights[j].toFixed(2)}`).join(" and ")}`;
    });
    status.textContent = `Head ${head + 1}. Where \u201c${word === last ? endings.join(" / ") : tokens[word]}\u201d looks most: ${summary.join("; ")}.`;
  }
  return redraw(model, el, ["head", "word"], draw);
}

export default { render };

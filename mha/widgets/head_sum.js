const SHOWN = [-1.8, 1]; // what the arrows stand between; no sum or part is beyond
const AFTER = 240; // ms from one head's numbers to the next

export default figure(({ mixtures, words, features, W_O }, { root }) => {
  const flights = flightsOf(root);
  const ofFeatures = (hue, look) => features.map(() => h("div", { class: `${look} hue-${hue}` }));
  const sign = (text) => h("span", { class: "sign" }, text);
  const heads = [1, 2].map((head) => {
    const hue = `head-${head}`;
    const brings = smallMatrix(hue, `head ${head} brings`, [""], ["", ""]);
    const block = smallMatrix(hue, "its rows of W_O", ["", ""], features);
    block.show(W_O.slice(2 * head - 2, 2 * head), 2);
    const factors = h("div", { class: "factors" }, brings.box, sign("\u00b7"), block.box, sign("="));
    return { brings, factors, cells: ofFeatures(hue, "summand"), arrows: ofFeatures(hue, "arrow") };
  });
  const total = { cells: ofFeatures("stream", "summand"), arrows: ofFeatures("stream", "arrow") };
  const columns = [...heads, total];
  const levels = features.map(() => tabulate(2, () => h("i", { class: "level" })));
  const names = features.map((name) => h("b", { class: "feature" }, name));
  const stacks = features.map((_, c) => h("div", { class: "stack" }, h("i", { class: "zero" }), ...levels[c],
    ...columns.map(({ arrows }) => arrows[c])));
  const told = (...lines) => h("div", { class: "told" }, ...lines.map((line) => h("div", {}, line)));
  const sum = h("div", { class: "sum", "aria-hidden": "true" },
    heads[0].factors, ...names, ...heads[0].cells,
    heads[1].factors, ...heads[1].cells,
    told("Head 1\u2019s arrow begins at 0, head 2\u2019s where head 1\u2019s ends; the third is their sum.",
      "Up is positive."), ...stacks,
    told("Concatenated, times all of W_O: the same numbers ="), ...total.cells);
  const status = statusLine(sentenceFor(1, 1, [-0.88, -0.88, -0.88, -0.88]));

  function sentenceFor(word, kept, written) {
    const who = kept ? `Head ${kept} alone writes` : "Together they write";
    const row = features.map((name, c) => `${name} ${shortly(written[c])}`).join(", ");
    return `${who} about \u201c${words[word]}\u201d: ${row}.`;
  }

  function showCells(cells, row) {
    cells.forEach((cell, c) => {
      write(cell, shortly(row[c]));
      cell.style.setProperty("--tint", `${Math.abs(row[c]) < 0.005 ? 0 : Math.round(8 + 14 * Math.min(1,
        Math.abs(row[c]) / 2))}%`);
    });
  }

  const height = (value) => (100 * (SHOWN[1] - value)) / (SHOWN[1] - SHOWN[0]); // from above, in %
  function point(arrow, from, to) {
    const [top, bottom] = [Math.max(from, to), Math.min(from, to)].map(height);
    Object.assign(arrow.style, { top: `${top}%`, height: `${bottom - top}%` });
    arrow.classList.toggle("down", to < from);
  }

  // The numbers that a head writes go to their arrows, one head after the other, and then the sum shows
  let last = "";
  function go(parts, setting) {
    const isNew = last && last !== setting;
    last = setting;
    if (!isNew) return;
    flights.fly(heads.flatMap(({ cells, arrows }, i) => features.flatMap((_, c) =>
      (Math.abs(parts[i][c]) < 0.005 ? [] : [{ from: [cells[c]], to: [arrows[c]], delay: i * AFTER }]))));
    if (isStill()) return;
    for (const el of [...total.arrows, ...total.cells]) {
      flights.animate(el, [{ opacity: 0 }, { opacity: 1 }], { duration: 160, delay: FLIGHT + AFTER });
    }
  }

  function draw({ follow: word, kept }) {
    const parts = heads.map(({ brings, factors, cells }, i) => {
      const off = kept !== 0 && kept !== i + 1;
      const brought = mixtures[i][word].map((value) => (off ? 0 : value));
      const part = features.map((_, c) => brought[0] * W_O[2 * i][c] + brought[1] * W_O[2 * i + 1][c]);
      factors.classList.toggle("is-off", off);
      brings.show([brought], 2);
      showCells(cells, part);
      return part;
    });
    const written = features.map((_, c) => parts[0][c] + parts[1][c]);
    showCells(total.cells, written);
    features.forEach((_, c) => {
      const [one, both] = [parts[0][c], written[c]];
      [[0, one], [one, both], [0, both]].forEach((ends, k) => point(columns[k].arrows[c], ...ends));
      [one, both].forEach((value, k) => {
        levels[c][k].style.top = `${height(value)}%`;
        levels[c][k].hidden = value === 0;
      });
    });
    go(parts, `${word} ${kept}`);
    say(status, sentenceFor(word, kept, written));
    return {
      numbers: { part: parts.flat(), written },
      tables: () => [["What is written", features,
        [...parts.map((part, i) => [`head ${i + 1}`, ...part]), ["sum", ...written]]]],
    };
  }
  return { parts: [sum, status, flights.sky], draw, stop: flights.land };
});

export default figure(({ sentences, moods }) => {
  const slots = [0, 1, 2];
  const rows = sentences.map((_, i) => {
    const cells = slots.map(() => h("span", { class: "slot" }, h("b", {}), h("span", {}), h("i", { class: "bar" })));
    const means = ["padding masked", "padding read"].map((name) => {
      const bar = h("span", { class: "bar" });
      const number = h("span", {});
      const room = h("div", { class: "bar-room" }, bar, number);
      return { bar, number, parts: [h("span", {}, name), room] };
    });
    const table = h("div", { class: "means" }, ...means.flatMap(({ parts }) => parts));
    return { cells, means, row: [h("b", {}, `sentence ${i + 1}`), h("div", { class: "slots" }, ...cells), table] };
  });
  const titles = ["", "weight of each position", "mean mood, from 0 to 1"];
  const heads = titles.map((title) => h("span", { class: "soft" }, title));
  const picture = h("div", { class: "batch", "aria-hidden": "true" }, ...heads, ...rows.flatMap(({ row }) => row));
  const status = statusLine(sentenceFor(2, 3, [3, 1], [1, 1], [0.33, 0.33]));

  function sentenceFor(filled, wide, lengths, hidden, read) {
    const shape = `The batch is 2 \u00d7 ${wide}. `;
    if (!filled) return `${shape}Both sentences have the same length, so there is no padding.`;
    const i = lengths[0] < lengths[1] ? 0 : 1;
    const padding = `${shape}${filled} ${filled === 1 ? "position is" : "positions are"} padding.`;
    return hidden[i] === read[i]
      ? `${padding} The mood of \u201c${sentences[i][0]}\u201d is 0, so here reading the padding changes nothing.`
      : `${padding} If the padding is read, the mean mood of sentence ${i + 1} falls from ${hidden[i].toFixed(2)} to `
        + `${read[i].toFixed(2)}.`;
  }

  function draw({ first, second }) {
    const lengths = [first, second];
    const wide = Math.max(...lengths);
    const places = slots.slice(0, wide);
    const weights = lengths.map((length) => places.map((j) => (j < length ? 1 / length : 0)));
    const total = lengths.map((length, i) => sum(sentences[i].slice(0, length).map((word) => moods[word])));
    const hidden = lengths.map((length, i) => total[i] / length);
    const read = total.map((value) => value / wide);
    rows.forEach(({ cells, means }, i) => {
      cells.forEach((cell, j) => {
        const real = j < lengths[i];
        set(cell, { class: `slot ${real ? "" : j < wide ? "hatched" : "none"}` });
        write(cell.firstChild, real ? sentences[i][j] : j < wide ? "padding" : "");
        write(cell.children[1], j < wide ? signed(weights[i][j], real ? 2 : 0) : "");
        cell.lastChild.style.width = j < wide ? `${100 * weights[i][j]}%` : 0;
      });
      [hidden[i], read[i]].forEach((value, k) => {
        means[k].bar.style.width = `calc(${value} * (100% - 3.4em))`;
        write(means[k].number, value.toFixed(2));
      });
    });
    say(status, sentenceFor(sum(lengths.map((length) => wide - length)), wide, lengths, hidden, read));
    const names = ["sentence 1", "sentence 2"];
    return {
      numbers: { weight: weights.flat(), hidden, read },
      tables: () => [
        ["Weights, with the padding masked", places.map((j) => `position ${j + 1}`), rowsOf(names, weights.flat())],
        ["Mean mood", ["padding masked", "padding read"], names.map((name, i) => [name, hidden[i], read[i]])],
      ],
    };
  }
  return { parts: [picture, status], draw };
});

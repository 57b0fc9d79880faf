const FULL = 2.4; // the number of a bar as wide as its column, in all three

export default figure(({ words, values, ...given }) => {
  const kinds = [["weight", "weight"], ["length of value after W_O", "value"], ["weight \u00d7 length", "head-1"]];
  const rows = words.map((word) => ({ word, cells: kinds.map(([, hue]) => ({
    bar: h("span", { class: `bar hue-${hue}` }), number: h("span", { class: "number" }) })) }));
  const body = rows.map(({ word, cells }) => h("tr", {}, h("th", { scope: "row" }, word),
    ...cells.map(({ bar, number }) => h("td", {}, h("div", { class: "barred" }, number,
      h("span", { class: "track" }, bar))))));
  const head = h("tr", {}, h("td"), ...kinds.map(([name]) => h("th", { scope: "col" }, name)));
  const table = h("table", {}, h("thead", {}, head), h("tbody", {}, ...body));
  const named = (numbers) => {
    const most = words.filter((_, i) => numbers[i] > Math.max(...numbers) - 1e-9);
    return most.map((word) => `\u201c${word}\u201d`).join(" and ");
  };
  const told = (most, adds, same) => `The largest weight is on ${most}, ${same ? "and" : "but"} most is added `
    + `by ${adds}.`;
  const UNUSED = " The mood of a not is a number of head 1, and head 2 has no use for it.";
  const status = statusLine(told("\u201cgood\u201d and \u201cnews\u201d", "\u201cgood\u201d", false) + UNUSED);

  function draw({ follow, head: chosen, mood }) {
    const weights = given.weights[chosen][follow];
    const W_O = given.W_O.map((row, r) => row.map((value, c) => (r + c ? value : mood)));
    const lengths = times(values[chosen], W_O.slice(2 * chosen, 2 * chosen + 2)).map((row) => Math.hypot(...row));
    const parts = weights.map((weight, i) => weight * lengths[i]);
    [weights, lengths, parts].forEach((numbers, k) => numbers.forEach((value, i) => {
      const { bar, number } = rows[i].cells[k];
      bar.style.width = `${(100 * value) / FULL}%`;
      write(number, value.toFixed(2));
      if (k === 2) set(bar, { class: `bar hue-head-${chosen + 1}` });
    }));
    const [most, adds] = [named(weights), named(parts)];
    const same = weights[indexOfLargest(parts)] > Math.max(...weights) - 1e-9;
    say(status, told(most, adds, same) + (chosen ? UNUSED : ""));
    return {
      numbers: { weight: weights, length: lengths, part: parts },
      tables: () => [["Parts", kinds.map(([name]) => name), words.map((word, i) =>
        [word, weights[i], lengths[i], parts[i]])]],
    };
  }
  return { parts: [table, status], draw };
});

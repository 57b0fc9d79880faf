export default figure(({ words, scores: given, wide, padding }) => {
  const positions = Array.from({ length: wide }, (_, i) => `position ${i + 1}`);
  const causal = smallMatrix("weight", "causal mask alone", positions, positions);
  const both = smallMatrix("weight", "causal and padding mask", positions, positions);
  const boxes = h("div", { class: "matrices" }, causal.box, both.box);
  const status = statusLine(sentenceFor(1, 3, 0.88, 4));

  function sentenceFor(side, length, lost, blind) {
    const rows = length === 1 ? "the row of the word is" : `the rows of the ${length} words are`;
    if (!side) return `Padding behind: ${rows} the same with both masks as with the causal mask alone.`;
    return `Padding in front: with the causal mask alone, a word loses up to ${lost.toFixed(2)} of its weight to `
      + `padding. With both masks, ${blind} rows of padding see nothing.`;
  }

  function draw({ side, length }) {
    const first = side ? wide - length : 0;
    const real = (i) => i >= first && i < first + length;
    const names = positions.map((_, i) => (real(i) ? words[i - first] : padding));
    const score = (i, j) => (real(i) && real(j) ? given[i - first][j - first] : 0);
    const weightsOf = (seen) => positions.map((_, i) => {
      const blind = !positions.some((_, j) => seen(i, j));
      return blind ? positions.map(() => 0) : softmax(positions.map((_, j) => (seen(i, j) ? score(i, j) : -Infinity)));
    });
    const masks = [(i, j) => j <= i, (i, j) => j <= i && real(j)];
    const [alone, joined] = masks.map(weightsOf);
    [[causal, alone, masks[0]], [both, joined, masks[1]]].forEach(([matrix, weights, seen]) => {
      matrix.show(weights, 1, 2);
      const heads = matrix.box.querySelectorAll("th");
      names.forEach((name, i) => {
        for (const head of [heads[i], heads[wide + i]]) {
          write(head, name);
          set(head, { class: real(i) ? "word" : "soft" });
        }
        matrix.cells[i].forEach((cell, j) => {
          set(cell, { class: seen(i, j) ? "" : "hatched" });
          if (!seen(i, j)) write(cell, "0");
        });
      });
    });
    const onPadding = alone.map((row) => sum(row.filter((_, j) => !real(j)))).filter((_, i) => real(i));
    const blind = joined.filter((row) => !row.some(Boolean)).length;
    say(status, sentenceFor(side, length, Math.max(...onPadding), blind));
    const named = names.map((name, i) => `${i + 1}: ${name}`);
    return {
      numbers: { causal: alone.flat(), both: joined.flat() },
      tables: () => [["Weights under the causal mask alone", named, rowsOf(named, alone.flat())],
        ["Weights under both masks", named, rowsOf(named, joined.flat())]],
    };
  }
  return { parts: [boxes, status], draw };
});

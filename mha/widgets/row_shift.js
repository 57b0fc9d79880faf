export default figure(({ words, scores: given }) => {
  const scores = smallMatrix("", "scores", words, words);
  const weights = smallMatrix("weight", "their weights", words, words);
  const symmetric = smallMatrix("", "symmetric part", words, words);
  const kept = smallMatrix("weight", "its weights", words, words);
  const pair = (...tables) => h("div", { class: "matrices" }, ...tables.map(({ box }) => box));
  const picture = h("div", { class: "planes", "aria-hidden": "true" }, pair(scores, weights), pair(symmetric, kept));
  const sentenceFor = (far, asymmetry) => (far
    ? `The weights have moved by 0.00, those of the symmetric part by up to ${far.toFixed(2)}.`
    : "Nothing is added yet.") + ` The scores\u2019 asymmetry is ${asymmetry.toFixed(2)}.`;
  const status = statusLine(sentenceFor(0.5, 0.5));

  const half = (rows) => rows.map((line, i) => line.map((value, j) => (value + rows[j][i]) / 2));
  const farthest = (a, b) => Math.max(...a.flatMap((line, i) => line.map((value, j) => Math.abs(value - b[i][j]))));
  const before = [given, half(given)].map((rows) => rows.map(softmax));

  function draw({ row, added }) {
    const moved = given.map((line, i) => line.map((value) => (i === row ? value + added : value)));
    const part = half(moved);
    const [whole, left] = [moved, part].map((rows) => rows.map(softmax));
    const far = [[whole, before[0]], [left, before[1]]].map(([a, b]) => farthest(a, b));
    const length = (sign) =>
      Math.hypot(...moved.flatMap((line, i) => line.map((value, j) => value + sign * moved[j][i])));
    const asymmetry = length(-1) / length(1);
    [[scores, moved, 4], [weights, whole, 1], [symmetric, part, 4], [kept, left, 1]]
      .forEach(([matrix, rows, full]) => matrix.show(rows, full, 2));
    [scores, weights].forEach(({ cells }) => cells.forEach((line, i) => line.forEach((cell) =>
      cell.classList.toggle("is-moved", i === row))));
    say(status, sentenceFor(added && far[1], asymmetry));
    return {
      numbers: { score: moved.flat(), weight: whole.flat(), symmetric: part.flat(), kept: left.flat(),
        moved: far.map((value) => Math.round(1e12 * value) / 1e12), asymmetry },
      tables: () => [["Scores", words, rowsOf(words, moved.flat())], ["Weights", words, rowsOf(words, whole.flat())],
        ["Symmetric part", words, rowsOf(words, part.flat())], ["Its weights", words, rowsOf(words, left.flat())],
        ["Moved at most", ["weights", "those of the symmetric part", "asymmetry"],
          [["number", ...far.map((value) => Math.round(1e12 * value) / 1e12), asymmetry]]]],
    };
  }
  return { parts: [picture, status], draw };
});

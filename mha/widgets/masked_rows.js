export default figure(({ words, scores: given }) => {
  const score = smallMatrix("weight", "score, divided", words, words);
  const power = smallMatrix("weight", "e to the score", words, [...words, "sum"]);
  const weight = smallMatrix("weight", "weight", words, words);
  const boxes = h("div", { class: "matrices" }, score.box, power.box, weight.box);
  const status = statusLine(sentenceFor(words[1], [0.888, 0.888, 0.888]));

  function sentenceFor(word, row) {
    const shares = row.filter(Boolean).map((share) => share.toFixed(2));
    if (shares.length === 1) return `\u201c${word}\u201d sees itself alone: ${shares[0]}.`;
    const seen = row[2] ? "all three words" : "itself and the word before it";
    return `\u201c${word}\u201d sees ${seen}, and shares 1 among them: ${shares.join(" + ")}.`;
  }

  function draw({ follow: query, masked }) {
    const scores = given.map((row, i) => row.map((value, j) => (masked && j > i ? -Infinity : value)));
    const powers = scores.map((row) => row.map(Math.exp));
    const totals = powers.map(sum);
    const weights = scores.map(softmax);
    score.show(scores, 4, 2);
    power.show(powers.map((row, i) => [...row, totals[i]]), 20, 2);
    weight.show(weights, 1, 2);
    for (const { cells } of [score, power, weight]) cells.forEach((row, i) => row.forEach((cell, j) => {
      const hidden = scores[i][j] === -Infinity;
      set(cell, { class: `${i === query ? "here" : ""} ${hidden ? "hatched" : ""}` });
      if (hidden) write(cell, cells === score.cells ? "\u2212\u221e" : "0");
    }));
    say(status, sentenceFor(words[query], weights[query]));
    return {
      numbers: { score: scores.flat(), power: powers.flat(), total: totals, weight: weights.flat() },
      tables: () => [
        ["Scores, divided", words, rowsOf(words, scores.flat())],
        ["e to the score", [...words, "sum"], words.map((word, i) => [word, ...powers[i], totals[i]])],
        ["Weights", words, rowsOf(words, weights.flat())],
      ],
    };
  }
  return { parts: [boxes, status], draw };
});

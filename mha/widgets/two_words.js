export default figure(({ words, widths, powers, scores }) => {
  const reach = Math.max(...scores.flat().map(Math.abs));
  const bars = barTable(words, [
    ["score", "weight", -reach, reach, signed],
    ["divided", "weight", -reach, reach, signed],
    ["weight", "weight", 0, 1, (weight) => weight.toFixed(2)],
  ]);
  const status = statusLine(sentenceFor(1024, 0.85, words[0]));

  function sentenceFor(width, most, word) {
    const took = `\u201csat\u201d takes ${most.toFixed(2)} of its mixture from \u201c${word}\u201d`;
    return `With ${width} coordinate${width === 1 ? "" : "s"}, ${took}.`;
  }

  function draw({ d_k, divide }) {
    const scaled = scores[d_k].map((score) => score / widths[d_k] ** powers[divide]);
    const weights = softmax(scaled);
    const best = indexOfLargest(weights);
    bars.show(scores[d_k], scaled, weights);
    say(status, sentenceFor(widths[d_k], weights[best], words[best]));
    return {
      numbers: { score: scores[d_k], scaled, weight: weights },
      tables: () => [["Two words", ["score", "divided", "weight"],
        words.map((word, i) => [word, scores[d_k][i], scaled[i], weights[i]])]],
    };
  }
  return { parts: [bars.box, status], draw };
});

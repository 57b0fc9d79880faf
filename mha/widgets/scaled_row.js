export default figure(({ words, scores, widths }) => {
  const reach = Math.max(...scores);
  const bars = barTable(words, [
    ["score", "weight", 0, reach, (score) => signed(score, 0)],
    ["divided", "weight", 0, reach, signed],
    ["weight", "weight", 0, 1, (weight) => weight.toFixed(2)],
  ]);
  const status = statusLine(sentenceFor(0.85, words[0]));

  function sentenceFor(most, word) {
    return `\u201cgood\u201d takes ${most.toFixed(2)} of its mixture from \u201c${word}\u201d.`;
  }

  function draw({ d_k }) {
    const scaled = scores.map((score) => score / Math.sqrt(widths[d_k]));
    const weights = softmax(scaled);
    const best = indexOfLargest(weights);
    bars.show(scores, scaled, weights);
    say(status, sentenceFor(weights[best], words[best]));
    return {
      numbers: { score: scores, scaled, weight: weights },
      tables: () => [["The row of \u201cgood\u201d", ["score", "divided", "weight"],
        words.map((word, i) => [word, scores[i], scaled[i], weights[i]])]],
    };
  }
  return { parts: [bars.box, status], draw };
});

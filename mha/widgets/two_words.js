export default figure(({ words, widths, powers, scores }) => {
  const root = (score) => Math.sign(score) * Math.sqrt(Math.abs(score)); // else the bars of narrow heads were hairlines
  const [low, high] = [Math.min, Math.max].map((most) => root(most(...scores.flat())));
  const bars = barTable(words, [
    ["score, root scale", "weight", low, high, (at) => signed(at * Math.abs(at))],
    ["divided, root scale", "weight", low, high, (at) => signed(at * Math.abs(at))],
    ["weight", "weight", 0, 1, (weight) => weight.toFixed(2)],
  ]);
  bars.box.style.setProperty("--zero", `${(100 * low) / (low - high)}%`);
  const status = statusLine(sentenceFor(1024, 0.85, words[0]));

  function sentenceFor(width, most, word) {
    const took = `\u201csat\u201d takes ${most.toFixed(2)} of its mixture from \u201c${word}\u201d`;
    return `With ${width} coordinate${width === 1 ? "" : "s"}, ${took}.`;
  }

  function draw({ d_k, divide }) {
    const scaled = scores[d_k].map((score) => score / widths[d_k] ** powers[divide]);
    const weights = softmax(scaled);
    const best = indexOfLargest(weights);
    bars.show(scores[d_k].map(root), scaled.map(root), weights);
    [scores[d_k], scaled].forEach((shown, k) => shown.forEach((score, i) => {
      bars.cells[k][i].number.classList.toggle("negative", score < 0); // it stands on the free side of zero
    }));
    say(status, sentenceFor(widths[d_k], weights[best], words[best]));
    return {
      numbers: { score: scores[d_k], scaled, weight: weights },
      tables: () => [["Two words", ["score", "divided", "weight"],
        words.map((word, i) => [word, scores[d_k][i], scaled[i], weights[i]])]],
    };
  }
  return { parts: [bars.box, status], draw };
});

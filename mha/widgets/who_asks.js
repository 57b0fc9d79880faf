const ROOT = Math.sqrt(2); // of keys with 2 numbers

export default figure(({ words, Q: queries, K: keys }) => {
  const numbered = ["1", "2"];
  const query = smallMatrix("query", "queries", words, numbered);
  const key = smallMatrix("key", "keys", words, numbered);
  const score = smallMatrix("weight", "scores: row looks at column", words, words);
  const weight = smallMatrix("weight", "weights", words, words);
  const told = (S) => `\u201cgood\u201d scores \u201cnot\u201d ${signed(S[1][0], 0)}, `
    + `and \u201cnot\u201d scores \u201cgood\u201d ${signed(S[0][1], 0)}. `;
  const MIRROR = "The scores are their own mirror image. No two words can differ in what they score each other.";
  function most(weights) {
    const best = words.filter((_, j) => weights[j] > Math.max(...weights) - 1e-9);
    return best.length === 3 ? "at all alike" : `most at ${best.map((word) => `\u201c${word}\u201d`).join(" and ")}`;
  }
  const longest = words.map((word) => `\u201c${word}\u201d looks most at \u201cgood\u201d and \u201cnews\u201d`)
    .join(", ");
  const status = statusLine(`${told([[0, 0], [0, 0]])} ${longest}.`);
  const row = h("div", { class: "matrices" }, query.box, key.box, score.box, weight.box);

  function verdict(S, W) {
    const mirrored = S.every((line, i) => line.every((value, j) => Math.abs(value - S[j][i]) < 1e-9));
    return mirrored ? MIRROR : `${words.map((word, i) => `\u201c${word}\u201d looks ${most(W[i])}`).join(", ")}.`;
  }

  function draw({ head, made }) {
    const [own, others] = [queries[head], keys[head]];
    const [Q, K] = [[own, others], [others, own], [own, own], [others, others]][made];
    const S = times(Q, transposed(K));
    const W = S.map((line) => softmax(line.map((value) => value / ROOT)));
    query.show(Q, 4);
    key.show(K, 4);
    score.show(S, 4);
    weight.show(W, 1, 2);
    say(status, told(S) + verdict(S, W));
    return {
      numbers: { query: Q.flat(), key: K.flat(), score: S.flat(), weight: W.flat() },
      tables: () => [["Query", numbered, rowsOf(words, Q.flat())], ["Key", numbered, rowsOf(words, K.flat())],
        ["Scores", words, rowsOf(words, S.flat())], ["Weights", words, rowsOf(words, W.flat())]],
    };
  }
  return { parts: [row, status], draw };
});

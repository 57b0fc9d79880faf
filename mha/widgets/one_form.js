export default figure(({ forms, words, features, x }) => {
  const form = smallMatrix("", "A: query\u2019s row, key\u2019s column", features, features);
  const score = smallMatrix("weight", "scores", words, words);
  const weight = smallMatrix("weight", "weights", words, words);
  const KINDS = {
    1: "A as the two matrices make it",
    0.5: "Half of the antisymmetric part is gone",
    0: "The symmetric part alone: the same both ways",
    "-0.5": "Half of the antisymmetric part, negated",
    "-1": "A transposed, as if W_Q and W_K were swapped",
  };
  const told = (A, part) => `${KINDS[part]}. \u201cadj\u201d looking at \u201cnot\u201d scores `
    + `${shortly(A[2][1])}, \u201cnot\u201d looking at \u201cadj\u201d ${shortly(A[1][2])}.`;
  const none = features.map(() => [0, 0, 0, 0]);
  const status = statusLine(longestOf(Object.keys(KINDS).map((part) => told(none, part))) + " 0.00");
  const row = h("div", { class: "matrices" }, form.box, score.box, weight.box);

  function draw({ head, part }) {
    const given = forms[head];
    const A = given.map((line, i) => line.map((value, j) =>
      (value + given[j][i]) / 2 + (part * (value - given[j][i])) / 2));
    const S = times(times(x, A), transposed(x));
    const W = S.map((line) => softmax(line.map((value) => value / Math.sqrt(2))));
    form.show(A, 4);
    score.show(S, 4);
    weight.show(W, 1, 2);
    say(status, told(A, part));
    return {
      numbers: { form: A.flat(), score: S.flat(), weight: W.flat() },
      tables: () => [["The form A", features, rowsOf(features, A.flat())],
        ["Scores of the form", words, rowsOf(words, S.flat())],
        ["Weights of the form", words, rowsOf(words, W.flat())]],
    };
  }
  return { parts: [row, status], draw };
});

const two = (value) => value.toFixed(2);

export default figure(({ names, heads: count }) => {
  const wanted = names.length - 1;
  const heads = tabulate(count, (i) => `head ${i + 1}`);
  const floor = 1 - heads.length / wanted;
  const looks = smallMatrix("weight", "where the heads look", heads,
    [...tabulate(wanted, (i) => i + 1), "others"]);
  const told = barTable(names, [["how much three mixtures tell", "plain", 0, 2.2, two]]);
  const sentenceFor = (shares, lost, error) => {
    const end = lost > 0 ? `. Three mixtures tell 3 in all: ${two(lost)} went to others.` : ", the floor.";
    return `${shares.map(two).join(" + ")} = ${two(3 - lost)} of ${wanted}: the error is ${two(error)}${end}`;
  };
  const status = statusLine(sentenceFor([1, 1, 1, 1], 1, floor));
  const picture = h("div", { class: "planes", "aria-hidden": "true" }, looks.box, told.box);

  // An orthonormal basis of the space that the rows span (Gram and Schmidt)
  function basisOf(rows) {
    return rows.reduce((basis, row) => {
      const rest = basis.reduce((left, one) => {
        const along = sum(one.map((value, k) => value * left[k]));
        return left.map((value, k) => value - along * one[k]);
      }, row);
      return [...basis, rest.map((value) => value / Math.hypot(...rest))];
    }, []);
  }

  function draw({ blur, astray }) {
    const rows = heads.map((_, i) => tabulate(wanted + heads.length, (token) => {
      if (token >= wanted) return token === wanted + i ? astray : 0; // each strays to another token
      return (1 - astray) * (token === i ? 1 - blur : token === i + 1 ? blur : 0);
    }));
    const grouped = (row) => [...row.slice(0, wanted), sum(row.slice(wanted))];
    const basis = basisOf(rows);
    const share = grouped(rows[0].map((_, token) => sum(basis.map((one) => one[token] ** 2))));
    const error = 1 - sum(share.slice(0, wanted)) / wanted;
    const weights = rows.map(grouped);
    looks.show(weights, 1, 2);
    told.show(share);
    say(status, sentenceFor(share.slice(0, wanted), share[wanted], error));
    return {
      numbers: { weight: weights.flat(), share, error },
      tables: () => [["Weights", names, rowsOf(heads, weights.flat())],
        ["Told", [...names, "error"], [["share", ...share, error]]]],
    };
  }
  return { parts: [picture, status], draw };
});

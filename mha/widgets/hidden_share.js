export default figure(({ words, scores: visible }) => {
  const bar = (title) => {
    const parts = ["part of-not", "part of-good", "part hatched"].map((look) => h("span", { class: look }));
    const total = h("span", { class: "tabular" });
    const row = h("div", { class: "row" }, h("b", {}, title), h("div", { class: "shares" }, ...parts), total);
    return { parts, total, row };
  };
  const bars = [bar("mask before the softmax"), bar("mask after the softmax")];
  const picture = h("div", { class: "two-bars hue-weight", "aria-hidden": "true" }, ...bars.map(({ row }) => row));
  const status = statusLine(sentenceFor(0.888));

  function sentenceFor(taken) {
    return `After the softmax, \u201c${words[2]}\u201d has taken ${taken.toFixed(2)}: zeroing it leaves `
      + `${(1 - taken).toFixed(2)}. Before the softmax it takes nothing.`;
  }

  function show({ parts, total }, shares, room) {
    shares.forEach((share, i) => {
      parts[i].style.width = `${100 * share}%`;
      write(parts[i], share * room > 64 ? `${i === 2 ? "lost" : words[i]} ${share.toFixed(2)}` : "");
    });
    write(total, `sum ${(shares[0] + shares[1]).toFixed(2)}`);
  }

  function draw({ hidden }, width) {
    const before = softmax(visible);
    const after = softmax([...visible, hidden]);
    show(bars[0], [...before, 0], width - 80);
    show(bars[1], after, width - 80);
    say(status, sentenceFor(after[2]));
    return {
      numbers: { before, after: after.slice(0, 2), taken: after[2] },
      tables: () => [["Weights of \u201cgood\u201d", [...words.slice(0, 2), "lost"],
        [["mask before the softmax", ...before, ""], ["mask after the softmax", ...after]]]],
    };
  }
  return { parts: [picture, status], draw };
});

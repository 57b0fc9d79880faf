export default figure(({ mixtures, words, features, W_O }) => {
  const sign = (text) => h("span", { class: "sign" }, text);
  const heads = [1, 2].map((head) => {
    const hue = `head-${head}`;
    const brings = smallMatrix(hue, `head ${head} brings`, [""], ["", ""]);
    const block = smallMatrix(hue, "its rows of W_O", ["", ""], features);
    const writes = smallMatrix(hue, "and writes", [""], features);
    const factors = h("div", { class: "factors" }, brings.box, sign("\u00b7"), block.box);
    const row = h("div", { class: "row", "aria-hidden": "true" }, factors, sign("="), writes.box);
    block.show(W_O.slice(2 * head - 2, 2 * head), 2);
    return { brings, writes, row };
  });
  const total = smallMatrix("stream", "the sum", [""], features);
  const lastRow = h("div", { class: "row last", "aria-hidden": "true" },
    h("span", { class: "soft" }, "side by side, times all of W_O: the same numbers"), sign("="), total.box);
  const status = statusLine(sentenceFor(1, 1, [-0.88, -0.88, -0.88, -0.88]));
  const rows = h("div", { class: "rows" }, ...heads.map(({ row }) => row), lastRow);

  function sentenceFor(word, kept, written) {
    const who = kept ? `Head ${kept} alone writes` : "Together they write";
    const row = features.map((name, c) => `${name} ${shortly(written[c])}`).join(", ");
    return `${who} about \u201c${words[word]}\u201d: ${row}.`;
  }

  function draw({ follow: word, kept }) {
    const parts = heads.map(({ brings, writes, row }, i) => {
      const off = kept !== 0 && kept !== i + 1;
      const brought = mixtures[i][word].map((value) => (off ? 0 : value));
      const part = features.map((_, c) => brought[0] * W_O[2 * i][c] + brought[1] * W_O[2 * i + 1][c]);
      row.classList.toggle("is-off", off);
      brings.show([brought], 2);
      writes.show([part], 2);
      return part;
    });
    const written = features.map((_, c) => parts[0][c] + parts[1][c]);
    total.show([written], 2);
    say(status, sentenceFor(word, kept, written));
    return {
      numbers: { part: parts.flat(), written },
      tables: () => [["What is written", features,
        [...parts.map((part, i) => [`head ${i + 1}`, ...part]), ["sum", ...written]]]],
    };
  }
  return { parts: [rows, status], draw };
});

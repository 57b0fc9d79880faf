export default figure(({ features, ...given }) => {
  const numbered = ["1", "2"];
  const read = smallMatrix("value", "W_V: reads", features, numbered);
  const written = [1, 2].map((head) => smallMatrix(`head-${head}`, "W_O: writes", numbered, features));
  const channel = smallMatrix("stream", "W_V W_O: what is read is written", features, features);
  const SAME = "Other values, another W_O, and the same product: nothing that the head writes has changed.";
  const OTHER = "Nothing rotates the values back: the head writes something else.";
  const FIRST = "The product says it all: a row is read, and written into the columns.";
  const status = statusLine(SAME);
  const row = h("div", { class: "matrices" }, read.box, ...written.map(({ box }) => box), channel.box);

  function draw({ turn, undone, head }) {
    const [c, s] = [Math.cos, Math.sin].map((of) => of((turn * Math.PI) / 180));
    const W_V = times(given.W_V[head], [[c, s], [-s, c]]);
    const W_O = undone ? times([[c, -s], [s, c]], given.W_O[head]) : given.W_O[head];
    const product = times(W_V, W_O);
    written.forEach(({ box }, i) => { box.hidden = i !== head; });
    read.show(W_V, 2);
    written[head].show(W_O, 2);
    channel.show(product, 2);
    say(status, turn === 0 ? FIRST : undone ? SAME : OTHER);
    return {
      numbers: { read: W_V.flat(), write: W_O.flat(), channel: product.flat() },
      tables: () => [["W_V", numbered, rowsOf(features, W_V.flat())], ["W_O", features, rowsOf(numbered, W_O.flat())],
        ["W_V W_O", features, rowsOf(features, product.flat())]],
    };
  }
  return { parts: [row, status], draw };
});

const HIGH = 27; // a number
const LEFT = 46; // room for the words
const TOP = 20; // and for the names of blocks
const HEADS = ["head 1", "head 2"];

export default figure(({ words }) => {
  const svg = drawing({ class: "split" });
  const labels = h("g", {});
  // The number of word i, column c, in the colour of the head that owns the column
  const boxes = tabulate(12, (at) => {
    const value = 10 * Math.floor(at / 4) + (at % 4);
    const frame = h("rect", { height: HIGH });
    const text = h("text", { y: HIGH / 2 + 4.5, "text-anchor": "middle" }, value);
    return { value, frame, text, box: h("g", { class: `owned hue-head-${at % 4 < 2 ? 1 : 2}` }, frame, text) };
  });
  svg.append(labels, ...boxes.map(({ box }) => box));
  const status = statusLine(sentenceFor(3, 8));

  function sentenceFor(step, astray) {
    return [
      "Each word has a row. Columns 0 and 1 belong to head 1, columns 2 and 3 to head 2: the number says whose it is.",
      "Each row is split in two. The numbers keep their order.",
      "The heads come to the front: each has two numbers of every word.",
      `The shape is right, and ${astray} of 12 numbers are astray. In head 1, \u201c${words[1]}\u201d has 2 and 3: `
        + `they are of \u201c${words[0]}\u201d, and of head 2.`,
    ][step];
  }

  // The names of a step's blocks and of the rows in each; and the place of a tensor's i-th number
  const namesOf = (step) => [[HEADS, words], [words, HEADS], [HEADS, words], [HEADS, words]][step];
  function placeOf(step, i) {
    const [rows, columns] = [[3, 4], [2, 2], [3, 2], [3, 2]][step];
    return [Math.floor(i / (rows * columns)), Math.floor(i / columns) % rows, i % columns];
  }
  // Which of the twelve stands there: transposed, the two of word i in head b are at 4 i + 2 b
  const transposed = boxes.map((_, i) => {
    const [head, word, column] = placeOf(2, i);
    return 4 * word + 2 * head + column;
  });

  function draw({ step }, room) {
    const wide = Math.min(46, (room - 3 * LEFT - 30) / 6);
    const apart = LEFT + 2 * wide + 14; // from block to block
    const high = TOP + 3 * HIGH + 4;
    set(svg, { viewBox: `0 0 ${room} ${high}`, width: room, height: high });
    const [blocks, rows] = namesOf(step);
    const aside = step ? 0 : Math.max(0, 24 - wide); // uncut and narrow, the names make room for each other
    const begin = (block) => (step ? block * apart : 2 * block * wide); // uncut, one head's columns join the other's
    const name = (x, y, look, text) => h("text", { x, y, class: look }, text);
    labels.replaceChildren(
      ...blocks.map((text, b) => name(begin(b) + LEFT + wide + (2 * b - 1) * aside, TOP - 7, "block-name", text)),
      ...blocks.slice(step ? 0 : 1).flatMap((_, b) =>
        rows.map((text, r) => name(begin(b) + LEFT - 7, TOP + r * HIGH + 18, "row-name", text))));
    const order = step === 2 ? transposed : boxes.map((_, i) => i);
    const wrong = order.map((at, i) => step === 3 && at !== transposed[i]);
    order.forEach((at, i) => {
      const [block, row, column] = placeOf(step, i);
      const { box, frame, text } = boxes[at];
      set(frame, { width: wide });
      set(text, { x: wide / 2 });
      text.style.fontSize = wide < 20 ? "11px" : "";
      box.style.transform = `translate(${begin(block) + LEFT + column * wide}px, ${TOP + row * HIGH}px)`;
      box.classList.toggle("astray", wrong[i]);
    });
    const [entry, astray] = [order.map((at) => boxes[at].value), wrong.filter(Boolean).length];
    say(status, sentenceFor(step, astray));
    return { numbers: { entry, astray }, tables: () => [
      ["The numbers, in the order of the tensor", ["first", "second"],
        rowsOf(tabulate(entry.length / 2, (i) => `pair ${i + 1}`), entry)],
      ["Numbers astray", ["count"], [["of 12", astray]]],
    ] };
  }
  return { parts: [svg, status], draw };
});

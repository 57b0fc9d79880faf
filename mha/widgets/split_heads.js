const HIGH = 27; // a number
const LEFT = 46; // room for the words
const TOP = 20; // and for the names of blocks

// The blocks of a step: each with its name, the names of its rows, and where it begins, in blocks
function layoutOf(step, words) {
  const heads = ["head 1", "head 2"];
  if (step === 0) return [{ name: "head 1, head 2", begins: 0, rows: words, columns: 4 }];
  const [names, rows] = step === 1 ? [words, heads] : [heads, words];
  return names.map((name, i) => ({ name, begins: i, rows, columns: 2 }));
}

function render({ model, el }) {
  const words = model.get("words");
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
  const root = figureBox(model, "split-heads", "split-heads", svg, status);
  el.append(root);

  function sentenceFor(step, astray) {
    return [
      "Each word has a row. Columns 0 and 1 belong to head 1, columns 2 and 3 to head 2: the number says whose it is.",
      "Each row is cut in two. The numbers lie as they lay.",
      "The heads come to the front: each has two numbers of every word.",
      `The shape is right, and ${astray} of 12 numbers are astray. In head 1, \u201c${words[1]}\u201d has 2 and 3: `
        + `they are of \u201c${words[0]}\u201d, and of head 2.`,
    ][step];
  }

  // Which number stands at each place of the tensor, in its own order
  function orderOf(step) {
    if (step !== 2) return boxes.map((_, at) => at);
    return boxes.map((_, place) => {
      const [head, word, c] = [Math.floor(place / 6), Math.floor((place % 6) / 2), place % 2];
      return 4 * word + 2 * head + c;
    });
  }

  function draw(room) {
    const wide = Math.min(46, (room - 3 * LEFT - 30) / 6);
    const apart = LEFT + 2 * wide + 14; // from block to block
    const high = TOP + 3 * HIGH + 4;
    set(svg, { viewBox: `0 0 ${room} ${high}`, width: room, height: high });
    for (const { frame, text } of boxes) {
      set(frame, { width: wide });
      set(text, { x: wide / 2 });
    }
    const step = model.get("step");
    const blocks = layoutOf(step, words);
    const right = orderOf(2);
    const order = orderOf(step);
    labels.replaceChildren(...blocks.flatMap(({ name, begins, rows, columns }) => [
      ...name.split(", ").map((part, i, parts) => h("text", {
        x: begins * apart + LEFT + ((i + 0.5) * columns * wide) / parts.length, y: TOP - 7, class: "block-name",
      }, part)),
      ...rows.map((row, i) => h("text", {
        x: begins * apart + LEFT - 7, y: TOP + i * HIGH + 18, class: "row-name",
      }, row)),
    ]));
    let place = 0;
    let astray = 0;
    for (const { begins, rows, columns } of blocks) {
      for (let r = 0; r < rows.length; r++) for (let c = 0; c < columns; c++) {
        const at = order[place];
        const wrong = step > 1 && at !== right[place];
        if (wrong) astray++;
        const { box } = boxes[at];
        box.style.transform = `translate(${begins * apart + LEFT + c * wide}px, ${TOP + r * HIGH}px)`;
        box.classList.toggle("astray", wrong);
        place++;
      }
    }
    say(status, sentenceFor(step, astray));
    const entry = order.map((at) => boxes[at].value);
    const names = tabulate(entry.length / 2, (i) => `pair ${i + 1}`);
    return {
      numbers: { entry, astray },
      tables: () => [
        ["The numbers, in the order of the tensor", ["first", "second"], rowsOf(names, entry)],
        ["Numbers astray", ["count"], [["of 12", astray]]],
      ],
    };
  }
  return redraw(model, root, ["step"], draw);
}

export default { render };

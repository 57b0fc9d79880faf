const ROW = 40;
const BAR = 24;
const LEFT = 52;
const UNITS = [0, 4, 8, 12, 16, 20]; // of d squared

export default figure(({ widths }, { now, change }) => {
  const svg = drawing();
  const add = into(svg);
  const names = ["head", "LSTM", "RNN"];
  const high = names.length * ROW + 36;
  const rules = UNITS.map((unit) => [add("line", { class: "rule", y1: 0, y2: high - 34 }),
    add("text", { class: "tick", y: high - 20 }, unit)]);
  const axis = add("text", { class: "tick", y: high - 3 }, "multiplications for each token, in units of d\u00b2");
  names.forEach((name, i) => add("text", { x: 0, y: i * ROW + BAR / 2 + 4 }, name));
  const bars = names.map((_, i) => add("rect", { x: LEFT, y: i * ROW, height: BAR, class: "fixed" }));
  const pairs = add("rect", { y: 0, height: BAR, class: "pairs" });
  let endOf = () => LEFT; // of the head's bar, for n tokens of width d
  const held = svg.appendChild(grip("circle", "n", ([x]) => change({
    n: nearestTo([x], stepsOf(32, 512, 32), (n) => [endOf(n, widths[now().d])]),
  }), { r: 18, cy: BAR / 2 }));
  const status = statusLine(sentenceFor(480, 256));
  const key = ["matrices", "scores and mixtures: grow with n"].map((what, i) =>
    h("span", {}, h("i", { class: i ? "pairs" : "fixed" }), what));

  function sentenceFor(n, d) {
    const head = 4 + (2 * n) / d;
    const [ofHead, ofLSTM] = [head, 8].map((units) => comma(units * n * d * d));
    const than = head === 8 ? "equally many" : `${shortly(head / 8)} times as many`;
    return `For each token: head ${shortly(head)} d\u00b2, LSTM 8 d\u00b2, with d\u00b2 = ${comma(d * d)}. `
      + `In all, ${ofHead} against ${ofLSTM}: ${than}.`;
  }

  function draw({ n, d: chosen }, room) {
    const d = widths[chosen];
    const wide = Math.min(room, 960);
    const scale = (wide - LEFT - 12) / UNITS.at(-1);
    set(svg, { viewBox: `0 0 ${wide} ${high}`, style: `height: ${high}px; max-width: ${wide}px` });
    rules.forEach(([line, text], i) => {
      const x = LEFT + UNITS[i] * scale;
      set(line, { x1: x, x2: x });
      set(text, { x });
    });
    set(axis, { x: (LEFT + wide - 12) / 2 });
    const quadratic = 2 * n * n * d; // the scores, and the mixtures
    const [own, LSTM, RNN] = [4, 8, 2].map((matrices) => matrices * n * d * d);
    const head = own + quadratic;
    const width = (count) => (count / (n * d * d)) * scale;
    [own, LSTM, RNN].forEach((count, i) => set(bars[i], { width: width(count) }));
    endOf = (n, d) => LEFT + (4 + (2 * n) / d) * scale;
    set(held, { cx: endOf(n, d) });
    set(pairs, { x: LEFT + width(own), width: width(quadratic) });
    say(status, sentenceFor(n, d));
    return {
      numbers: { head, LSTM, RNN, quadratic },
      tables: () => [["Multiplications", ["head", "of these with n\u00b2", "LSTM", "RNN"],
        [[`n = ${n}`, head, quadratic, LSTM, RNN]]]],
    };
  }
  return { parts: [h("div", { class: "parts" }, ...key), svg, status], draw };
});

const LIMIT = 9;
// At most five characters
const short = (value) => signed(value, [100, 10].filter((limit) => Math.abs(value) < limit - 0.005).length);

export default figure(({ factors, words }, { now, change }) => {
  const [outputs, inputs] = [{}, {}];
  const caption = (text) => h("div", { class: "caption" }, text);
  const spans = (texts, look) => texts.map((text) => h("span", look ? { class: look } : {}, text));
  const wordNames = (look = "") => h("div", { class: `words ${look}` }, ...spans(words));
  const entries = (list, look = "") => h("div", { class: `entries ${look}` }, ...list);
  const boxOf = (name, hue, ...children) => h("div", { class: `at-${name} hue-${hue}` }, ...children);
  function block(name, hue, text) {
    outputs[name] = tabulate(4, () => h("span", { class: "entry" }));
    return boxOf(name, hue, entries(outputs[name]), caption(text));
  }
  function given(name, hue) {
    inputs[name] = tabulate(8, (i) => h("input", {
      type: "number", min: -LIMIT, max: LIMIT, step: 0.1, class: "entry",
      "aria-label": `${name}, row ${(i >> 1) + 1}, column ${(i % 2) + 1}`,
    }));
    inputs[name].forEach((input, i) => {
      input.addEventListener("input", () => give(name, i, input.valueAsNumber));
      // What is no number is left behind as the number that counts
      input.addEventListener("blur", () => { input.value = now().given[name][i >> 1][i % 2]; });
    });
    return boxOf(name, hue, caption(name), entries(inputs[name]));
  }
  function give(name, i, value) {
    if (Number.isNaN(value)) return;
    const given = structuredClone(now().given);
    given[name][i >> 1][i % 2] = Math.max(-LIMIT, Math.min(LIMIT, value));
    change({ given });
  }

  const kinds = [["W_Q", "query", "queries"], ["W_K", "key", "keys"], ["W_V", "value", "values"]];
  const tokens = entries(spans(now().given.x.flat(), "entry"), "wide");
  const divided = block("scaled", "weight", "÷ \u221a2");
  const status = statusLine(sentenceFor([[0, 1], [1, 0]]));

  function sentenceFor([[a, b], [c, d]]) {
    const [one, two] = words.map((word) => `\u201c${word}\u201d`);
    return `${one} takes ${a.toFixed(2)} from itself and ${b.toFixed(2)} from ${two}; ${two} takes ${c.toFixed(2)} `
      + `from ${one} and ${d.toFixed(2)} from itself.`;
  }

  function draw({ given: { x, ...matrices }, times: power, scaled: divides }) {
    const factor = factors[power];
    const query = times(x, matrices.W_Q).map((row) => row.map((value) => value * factor));
    const [key, value] = [times(x, matrices.W_K), times(x, matrices.W_V)];
    const score = times(query, transposed(key));
    const root2 = divides ? Math.SQRT2 : 1;
    const scaled = score.map((row) => row.map((one) => one / root2));
    const weight = scaled.map(softmax);
    const all = { query, key, value, score, scaled, weight, mixture: times(weight, value) };
    const numbers = Object.fromEntries(Object.entries(all).map(([name, matrix]) => [name, matrix.flat()]));
    const each = (matrix, show) => matrix.flat().forEach(show);
    for (const [name, matrix] of Object.entries(all)) {
      each(matrix, (one, i) => write(outputs[name][i], short(one)));
    }
    for (const [name, fields] of Object.entries(inputs)) {
      each(matrices[name], (one, i) => { if (fields[i].valueAsNumber !== one) fields[i].value = one; });
    }
    write(divided.lastChild, divides ? "÷ \u221a2" : "undivided");
    say(status, sentenceFor(weight));
    const table = ([name, list]) => [name, ["1", "2"], rowsOf(words, list)];
    return { numbers, tables: () => Object.entries(numbers).map(table) };
  }
  const projected = h("div", { class: "projected" },
    boxOf("tokens", "stream", wordNames(), h("div", {}, tokens, caption("words"))), wordNames("at-again"),
    ...kinds.flatMap(([name, hue, text]) => [given(name, hue), block(hue, hue, text)]));
  const lane = h("div", { class: "lane" }, wordNames(), block("score", "weight", "scores"), divided,
    block("weight", "weight", "weights"), block("mixture", "head-1", "mixtures"));
  return { parts: [projected, lane, status], draw };
});

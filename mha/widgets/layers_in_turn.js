const HIGH = 34; // from layer to layer
const TOP = 30; // the last layer's outputs

export default figure(({ tokens: n, layers: count, every }) => {
  const y = (layer) => TOP + (count - layer) * HIGH; // the tokens themselves stand below
  const svg = drawing({ class: "turns" });
  const add = into(svg);
  const titles = [["What reaches the last token", ""], ["Tokens cached", "cached"]].map(([text, look]) =>
    add("text", { y: 12, class: `title ${look}` }, text));
  const ways = ["all", "near"].map((look) => add("path", { class: `way ${look}` }));
  const names = tabulate(count + 1, (layer) => add("text", { x: 0, y: y(layer) + 4 }, layer ? "" : "tokens"));
  const dots = tabulate(count + 1, (layer) => tabulate(n, () => add("circle", { cy: y(layer) })));
  const bar = (layer, look) => add("rect", { class: look, y: y(layer) - 7, height: 14 });
  const bars = tabulate(count, (i) => [bar(i + 1, "room"), bar(i + 1, "kept"),
    add("text", { y: y(i + 1) + 4, class: "end" })]);
  const ends = [1, n].map((number, i) => add("text", { y: y(0) + 22, class: i ? "end" : "" }, number));
  const status = statusLine(sentenceFor(n - 1, n * count));

  function sentenceFor(reached, kept) {
    const some = reached === 1 ? "Only the last token" : `The last ${reached} of ${n} tokens`;
    return `${reached === n ? `All ${n} tokens` : some} can reach the last token\u2019s output. `
      + `The six layers together cache ${kept} tokens; six full layers cache ${n * count}.`;
  }

  const isFull = (layer, full) => every[full] > 0 && layer % every[full] === 0;

  // Which tokens of each row reach the last one, and the steps between them: those of full layers, then of windows
  function traced(window, full) {
    const reached = tabulate(count + 1, () => new Set());
    reached[count].add(n - 1);
    const steps = [[], []];
    for (let layer = count; layer > 0; layer--) {
      const all = isFull(layer, full);
      for (const i of reached[layer]) {
        for (let j = all ? 0 : Math.max(0, i - window + 1); j <= i; j++) {
          reached[layer - 1].add(j);
          steps[all ? 0 : 1].push([i, layer, j]);
        }
      }
    }
    return { reached, steps };
  }

  function draw({ window, full }, room) {
    const wide = room > 560;
    const [left, right] = wide ? [104, 190] : [62, 84];
    const [end, scale] = [room - right, (right - (wide ? 60 : 44)) / n];
    const x = (i) => left + 8 + (i * (end - left - 16)) / (n - 1);
    const from = room - n * scale - 26; // where the bars begin
    set(svg, { viewBox: `0 0 ${room} ${y(0) + 28}`, width: room, height: y(0) + 28 });
    set(titles[0], { x: wide ? left : 0 });
    write(titles[1], wide ? "Tokens cached" : "Cached");
    set(titles[1], { x: from });

    const { reached, steps } = traced(window, full);
    ways.forEach((way, k) => set(way, { d: steps[k].map(([i, layer, j]) =>
      `M${x(i).toFixed(1)},${y(layer)}L${x(j).toFixed(1)},${y(layer - 1)}`).join("") }));
    dots.forEach((row, layer) => row.forEach((dot, i) =>
      set(dot, { cx: x(i).toFixed(1), r: wide ? 5.5 : 3.2, class: reached[layer].has(i) ? "on" : "" })));
    const kept = tabulate(count, (i) => (isFull(i + 1, full) ? n : window));
    bars.forEach(([whole, part, number], i) => {
      set(whole, { x: from, width: n * scale });
      set(part, { x: from, width: kept[i] * scale });
      set(number, { x: room });
      write(number, kept[i]);
    });
    names.slice(1).forEach((name, i) => {
      const look = isFull(i + 1, full) ? "full" : "window";
      write(name, wide ? `layer ${i + 1} · ${look}` : `${i + 1} ${look}`);
      set(name, { class: look });
    });
    ends.forEach((number, i) => set(number, { x: x(i * (n - 1)) + (i ? 7 : -4) }));
    const reach = tabulate(n, (i) => Number(reached[0].has(i)));
    say(status, sentenceFor(sum(reach), sum(kept)));
    return {
      numbers: { reach, kept },
      tables: () => [
        ["What can reach the last token", tabulate(n, (i) => String(i + 1)), [["1 is yes", ...reach]]],
        ["Tokens that each layer caches", tabulate(count, (i) => `layer ${i + 1}`), [["tokens", ...kept]]],
      ],
    };
  }
  return { parts: [svg, status], draw };
});

const ROW = 46; // from matrix to matrix
const HIGH = 36; // d_model
const LEFT = 74;

export default figure(({ d_model: d, tokens, heads }) => {
  const widest = 64 * heads.at(-1);
  const svg = drawing({ class: "four" });
  const bars = ["W_Q", "W_K", "W_V", "W_O turned"].map((name, i) => {
    const parts = ["hue-head-1", "hue-head-2", "others"].map((look) => h("path", { class: look }));
    svg.append(h("text", { x: 0, y: i * ROW + HIGH / 2 + 4 }, name), ...parts);
    return parts;
  });
  const frame = svg.appendChild(h("path", { class: "frame" }));
  const frameName = svg.appendChild(h("text", { class: "soft", "text-anchor": "middle" }, d));
  const status = statusLine(sentenceFor(32, 512, 8888888, 888888888));

  function sentenceFor(count, d_k, parameters, scores) {
    const columns = `${count} ${count === 1 ? "head" : "heads"} of d_k = ${d_k}: ${comma(count * d_k)} columns`;
    return `${columns}, ${comma(parameters)} parameters. With ${comma(tokens)} tokens, ${comma(scores)} scores.`;
  }

  function draw({ num_heads, width }, room) {
    const count = heads[num_heads];
    const d_k = width ? 64 : d / count;
    const scale = (room - LEFT - 6) / widest;
    const high = 4 * ROW + 14;
    set(svg, { viewBox: `0 0 ${room} ${high}`, width: room, height: high });
    const gap = count > 16 ? 0.5 : 1;
    const stripe = (head, y) => {
      const x = LEFT + head * d_k * scale;
      return `M${x},${y}h${d_k * scale - gap}v${HIGH}h${gap - d_k * scale}z`;
    };
    bars.forEach(([one, two, others], i) => {
      set(one, { d: stripe(0, i * ROW) });
      set(two, { d: count > 1 ? stripe(1, i * ROW) : "" });
      set(others, { d: tabulate(Math.max(0, count - 2), (head) => stripe(head + 2, i * ROW)).join("") });
    });
    const edge = LEFT + d * scale;
    set(frame, { d: `M${edge},${-4}V${4 * ROW - 4}` });
    set(frameName, { x: edge, y: high - 4 });
    const parameters = 4 * d * count * d_k;
    const scores = count * tokens * tokens;
    say(status, sentenceFor(count, d_k, parameters, scores));
    return {
      numbers: { d_k, parameters, scores },
      tables: () => [["To count", ["d_k", "parameters", "scores"], [[`h = ${count}`, d_k, parameters, scores]]]],
    };
  }
  return { parts: [svg, status], draw };
});

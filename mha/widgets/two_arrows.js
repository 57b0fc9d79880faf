const REACH = 3.2; // the plane shows -REACH..REACH

// All keys that the sliders can make, and where such a key points
const KEYS = stepsOf(0.5, 3, 0.25).flatMap((length) => stepsOf(0, 180, 5).map((angle) => ({ length, angle })));
function tipOf({ length, angle: degrees }) {
  const angle = (degrees * Math.PI) / 180;
  return [length * Math.cos(angle), length * Math.sin(angle)];
}

export default figure(({ query }, { change }) => {
  const { box, svg, x, y } = plane("Two arrows", "and the key\u2019s shadow: drag the key", REACH);
  set(svg, { viewBox: `0 0 330 ${y(0) + 40}` }); // no key points below the query's line
  const part = (look, hue) => h("path", { class: `${look} hue-${hue}` });
  const arrow = (hue) => ({ line: part("arrow", hue), tip: part("tip", hue) });
  const [asks, key] = [arrow("query"), arrow("key")];
  const shadow = h("line", { x1: x(0), y1: y(0), y2: y(0), class: "shadow hue-key" });
  const drop = h("line", { y2: y(0), class: "drop" });
  const name = h("text", { class: "arrow-name hue-key" }, "key");
  const asksName = h("text", { x: x(query / 2), y: y(0) + 32, class: "arrow-name middle hue-query" }, "query");
  const held = grip("circle", "length angle", (point) => change(nearestTo(point, KEYS, (one) => {
    const [across, up] = tipOf(one);
    return [x(across), y(up)];
  })));
  svg.append(shadow, drop, asks.line, asks.tip, key.line, key.tip, asksName, name, held);

  const bars = barTable(["score", "distance"], [["number", "weight", -6, 6, signed]]);
  const status = statusLine(sentenceFor(-1.95, -3.9));
  const side = h("div", { class: "side" }, status, bars.box);

  function sentenceFor(shadowNow, score) {
    return `The query is ${query} long and the shadow ${signed(shadowNow)}. The score is `
      + `${query}\u00a0\u00d7\u00a0${signed(shadowNow)}\u00a0=\u00a0${signed(score)}.`;
  }

  function point({ line, tip }, [across, up]) {
    const size = Math.hypot(across, up);
    const [ux, uy] = [across / size, up / size];
    const at = (back, aside) => `${x(across - back * ux - aside * uy)},${y(up - back * uy + aside * ux)}`;
    set(line, { d: `M${x(0)},${y(0)} L${at(0.12, 0)}` });
    set(tip, { d: `M${at(0, 0)} L${at(0.26, 0.11)} L${at(0.26, -0.11)} z` });
  }

  function draw(setting) {
    const [across, up] = tipOf(setting);
    const [score, distance] = [query * across, Math.hypot(query - across, up)];
    point(asks, [query, 0]);
    point(key, [across, up]);
    set(shadow, { x2: x(across) });
    set(drop, { x1: x(across), x2: x(across), y1: y(up) });
    set(held, { cx: x(across), cy: y(up) });
    set(name, { x: Math.min(x(across) + 6, 296), y: y(up) - 10 }); // with room for the word
    bars.show([score, distance]);
    say(status, sentenceFor(across, score));
    return {
      numbers: { shadow: across, score, distance },
      tables: () => [["Query and key", ["number"], [["shadow", across], ["score", score], ["distance", distance]]]],
    };
  }
  return { parts: [h("div", { class: "planes" }, box, side)], draw };
});

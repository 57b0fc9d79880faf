const [NAMES, FRAME, QUERIES, KVS, BLOCK] = [14, 24, 34, 98, 30]; // of the machines, their frames, both rows of heads
const [CACHE, HIGH] = [166, 11]; // of the bars of the cache
const [SUM, TALL] = [222, 252]; // where the outputs meet
const [SIDE, GAP] = [44, 8]; // px of the names beside the first machine, and between machines

export default figure(({ heads, d_model: width, machines: counts, kv: kvCounts }) => {
  const svg = drawing({ viewBox: `0 0 700 ${TALL}`, height: TALL, class: "held" });
  const add = into(svg);
  const most = counts.at(-1);
  const names = tabulate(most, () => add("text", { class: "tick", y: NAMES }));
  const frames = tabulate(most, () => add("rect", { class: "machine", rx: 6 }));
  const threads = add("path", { class: "thread" });
  const block = (hue) => ({ hue, rect: add("rect", { rx: 4, height: BLOCK }),
    text: add("text", { "text-anchor": "middle", class: "number" }) });
  const queries = tabulate(heads, () => block("query"));
  const kvs = tabulate(heads, () => block("key"));
  [["query", "query", QUERIES], ["key", "KV", KVS]].forEach(([hue, name, y]) => [name, "heads"].forEach((word, i) =>
    add("text", { class: `name hue-${hue}`, x: 0, y: y + 12 + 14 * i }, word)));
  add("text", { class: "tick start", x: 0, y: CACHE - 6 }, "how much of the cache it keeps, in numbers a token");
  const bars = tabulate(most, () => ["whole", "kept"].map((look) => add("rect", { class: look, height: HIGH })));
  const ofBars = tabulate(most, () => add("text", { class: "number", y: CACHE + HIGH + 12 }));
  const parts = add("path", { class: "sum" });
  const ofSum = add("text", { class: "stream", "text-anchor": "middle", y: TALL - 7 });

  function split({ kv, machines }) {
    const [P, shared] = [counts[machines], kvCounts[kv]];
    const [each, group, d_k] = [heads / P, heads / shared, width / heads];
    const held = tabulate(P, (machine) => {
      const own = tabulate(each, (i) => machine * each + i);
      const [from, to] = [own[0], own.at(-1)].map((head) => Math.floor(head / group));
      return { heads: own, kv: tabulate(to - from + 1, (i) => from + i) };
    });
    return { P, shared, group, held, kept: 2 * held[0].kv.length * d_k, whole: 2 * shared * d_k,
      sent: ((2 * (P - 1)) / P) * width };
  }
  const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  function sentenceFor({ P, shared, held, kept, whole, sent }) {
    const copies = (P * held[0].kv.length) / shared;
    const has = `${many(held[0].heads.length, "query head")} and ${many(held[0].kv.length, "KV head")}`;
    if (P === 1) return `One machine holds ${has}, and ${whole} numbers a token in its cache. It sends nothing.`;
    const copied = copies === 1 ? "" : ` ${shared === 1 ? "The" : "Each"} KV head is kept by ${copies} machines.`;
    return `Each of ${P} machines holds ${has}, and ${kept} of ${whole} numbers a token in its cache.${copied} `
      + `In a ring, each sends ${sent} numbers a token.`;
  }
  const status = statusLine(sentenceFor(split({ kv: 2, machines: 3 })));

  function put({ hue, rect, text }, [x, its], y, number, look = "") {
    set(rect, { class: `head hue-${hue} ${look}`, x, y, width: its });
    set(text, { x: x + its / 2, y: y + 20 });
    write(text, String(number));
  }
  const show = (el, isThere) => set(el, { visibility: isThere ? null : "hidden" });
  function draw(setting, wide) {
    const here = split(setting);
    const { P, held, shared, group, kept, whole, sent } = here;
    set(svg, { viewBox: `0 0 ${wide} ${TALL}` });
    const roomOf = (count) => (wide - 1 - SIDE - GAP * (count - 1)) / count;
    const room = roomOf(P);
    const left = (machine) => SIDE + machine * (room + GAP);
    const unit = roomOf(most) / (2 * width); // px of a number in a cache: the widest fits into the least machine
    const of = (index, among, machine) => { // where a block of a machine stands, among so many
      const its = (room - 8) / among;
      return [left(machine) + 4 + index * its + its * 0.08, its * 0.84];
    };
    const lines = [];
    let used = 0;
    held.forEach((one, machine) => {
      one.heads.forEach((head, i) => put(queries[head], of(i, one.heads.length, machine), QUERIES, head));
      one.kv.forEach((head, i) => {
        const [x, its] = of(i, one.kv.length, machine);
        put(kvs[used], [x, its], KVS, head, P * one.kv.length > shared ? "copy" : "");
        used += 1;
        one.heads.forEach((query, k) => {
          const [from, wideOf] = of(k, one.heads.length, machine);
          const line = `M${from + wideOf / 2},${QUERIES + BLOCK}L${x + its / 2},${KVS}`;
          if (Math.floor(query / group) === head) lines.push(line);
        });
      });
    });
    kvs.forEach(({ rect, text }, i) => [rect, text].forEach((el) => show(el, i < used)));
    set(threads, { d: lines.join("") });
    tabulate(most, (i) => {
      [frames[i], ...bars[i]].forEach((el) => show(el, i < P));
      set(frames[i], { x: left(i), y: FRAME, width: room, height: KVS + BLOCK + 10 - FRAME });
      set(names[i], { x: left(i) + room / 2 });
      const name = room < 70 ? String(i) : `machine ${i}`;
      write(names[i], i < P ? name : "");
      bars[i].forEach((bar, k) => set(bar, { x: left(i), y: CACHE, width: unit * (k ? kept : whole) }));
      set(ofBars[i], { x: left(i) });
      const share = room < 70 ? String(kept) : `${kept} of ${whole}`;
      write(ofBars[i], i < P ? share : "");
    });
    const middles = tabulate(P, (i) => left(i) + room / 2);
    const centre = (middles[0] + middles.at(-1)) / 2;
    const down = middles.map((x) => `M${x},${CACHE + HIGH + 20}V${SUM}`).join("");
    set(parts, { d: P === 1 ? "" : `${down}M${middles[0]},${SUM}H${middles.at(-1)}M${centre},${SUM}v8` });
    set(ofSum, { x: centre });
    write(ofSum, P === 1 ? "the output" : "the sum of the outputs, on every machine");
    say(status, sentenceFor(here));
    return {
      numbers: { heads: held.flatMap((one) => [one.heads[0], one.heads.at(-1)]),
        kv_heads: held.flatMap((one) => [one.kv[0], one.kv.at(-1)]), kept: [kept], whole: [whole], sent: [sent] },
      tables: () => [
        ["Held", ["first query head", "last", "first KV head", "last"],
          held.map((one, i) => [`machine ${i}`, one.heads[0], one.heads.at(-1), one.kv[0], one.kv.at(-1)])],
        ["Numbers a token", ["here"], [["in the cache of each machine", kept], ["of all KV heads", whole],
          ["sent by each, in a ring", sent]]]],
    };
  }
  return { parts: [svg, status], draw };
});

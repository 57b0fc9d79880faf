const ROW = 8; // px from one head to the next
const PER_NUMBER = 6.5 / 256; // px that a row is high for each number that a token leaves: areas are bytes
const TOP = 42; // where the rows begin
const BAR = { gap: 58, high: 26, reach: 2 }; // of the memory: below the rows, and how much of it there is room for
const WRITING = 420; // ms that a step of the slider takes while it writes
const THREADS = 66; // px between the heads and what they read
const leftOf = (width) => (width < 600 ? 142 : 160); // px before the rows

// ---- what a setting comes to ---------------------------------------------------------------------------

function sizesOf({ kv, tokens, texts, d_k, d_c, d_r, layers, bytes, gpu, model }, setting) {
  const shared = kv[setting.sharing];
  const left = shared ? 2 * shared * d_k : d_c + d_r;
  const token = (left * layers * bytes) / 2 ** 30; // GiB
  const [n, count] = [tokens[setting.n], texts[setting.texts]];
  const all = token * n * count;
  const fit = Math.floor((gpu - model) / (count * token)); // tokens of each text
  return { shared, left, n, count, KiB: token * 2 ** 20, one: token * n, all, free: gpu - model - all, fit };
}

function sentenceFor(data, setting) {
  const { heads, d_k, d_c, d_r, layers, model } = data;
  const { shared, left, n, count, KiB, all, free, fit } = sizesOf(data, setting);
  const who = !shared ? `MLA: all ${heads} query heads read one latent and one rotated key.`
    : shared === heads ? "MHA: each query head has its own key and value."
      : shared === 1 ? `MQA: all ${heads} query heads share one key and value.`
        : `GQA: ${heads / shared} query heads share each of ${shared} keys and values.`;
  const terms = shared ? `2\u00a0\u00b7\u00a0${shared}\u00a0\u00b7\u00a0${d_k}` : `${d_c} + ${d_r}`;
  const adds = `A token adds ${terms} = ${comma(left)} numbers in a layer, ${comma(KiB)} KiB in all ${layers} layers.`;
  const [texts, fits, not] = count === 1 ? ["One text", "It fits", "It does not fit"]
    : [`${count} texts`, "They fit", "They do not fit"];
  const size = all < 1 ? `${comma(1024 * all)} MiB` : `${comma(all)} GiB`;
  return `${who} ${adds} ${texts} of ${comma(n)} tokens: ${size} beside the ${Math.round(model)} GiB of the model. `
    + (free < 0 ? `${not}: memory is full at token ${comma(fit)}.` : `${fits}, and ${comma(free)} GiB are left.`);
}

// ---- motion --------------------------------------------------------------------------------------------

const mixed = (a, b, share) => a + (b - a) * share;
const evenly = (share) => share;
const eased = (share) => (share < 0.5 ? 4 * share ** 3 : 1 - 4 * (1 - share) ** 3);

// Numbers that a drawing goes by: go(wanted, ms) takes them there from where they are, and what comes next begins there
function gliding(paint) {
  let [numbers, frame] = [null, 0];
  function put(next) {
    numbers = next;
    paint();
  }
  function go(wanted, ms, ease = eased) {
    cancelAnimationFrame(frame);
    if (!ms || !numbers || isStill() || String(numbers) === String(wanted)) return put(wanted);
    const [from, begin] = [numbers, performance.now()];
    const tick = (time) => {
      const share = (time - begin) / ms;
      if (share >= 1) return put(wanted);
      frame = requestAnimationFrame(tick);
      return put(from.map((value, i) => mixed(value, wanted[i], ease(Math.max(0, share)))));
    };
    frame = requestAnimationFrame(tick);
    return null;
  }
  return { go, now: () => numbers, stop: () => cancelAnimationFrame(frame) };
}

// ---- the cache: what a text leaves in a layer, a row for each head ----------------------------------------

const middleOf = (i, power) => (Math.floor(i / 2 ** power) + 0.5) * 2 ** power * ROW;

// Where the row of head i is, with heads grouped by a power of two, which may lie between two whole ones
function placeOf(i, power) {
  const low = Math.floor(power);
  return TOP + mixed(middleOf(i, low), middleOf(i, Math.ceil(power)), power - low);
}

function cacheIn(add, { heads, d_k, d_c, d_r, tokens }) {
  const most = tokens.at(-1);
  const tall = heads * ROW;
  const own = tabulate(heads, (i) => TOP + (i + 0.5) * ROW);
  add("text", { x: 0, y: 12, class: "hue-query name" }, `${heads} query heads`);
  const names = tabulate(2, () => add("text", { y: 12 }));
  const [ghosts, threads, discs] = ["ghosts", "threads", "hue-query"].map((look) => add("path", { class: look }));
  const pair = (at, ...hues) => hues.map((hue) => at("rect", { class: `hue-${hue}` }));
  const rows = tabulate(heads, () => {
    const row = add("g");
    return { row, parts: pair(into(row), "key", "value") };
  });
  const latent = pair(add, "stream", "key");
  const cuts = add("path", { class: "cuts" });
  const pale = add("rect", { class: "pale", y: TOP - 1, height: tall + 2 });
  const full = [add("path", { class: "full" }), add("text", { y: TOP - 11, "text-anchor": "middle" })];
  const ticks = tabulate(5, (i) => add("text", { y: TOP + tall + 17, "text-anchor": i === 4 ? "end" : "middle" },
    comma((i * most) / 4) + (i === 4 ? " tokens" : "")));
  let [width, left] = [0, 0];
  const x = (n) => left + ((width - left - 10) * n) / most;

  // What is told at once: the words, and all that goes by the width alone
  function tell({ shared, fit }, wide) {
    [width, left] = [wide, leftOf(wide)];
    names.forEach((name, i) => {
      const hue = (shared ? ["key", "value"] : ["stream", "key"])[i];
      set(name, { x: (wide < 340 ? 98 : left) + 48 * i, class: `name hue-${hue}` });
      write(name, (shared ? ["keys", "values"] : ["latent", "rotated key"])[i]);
    });
    write(full[1], `full at token ${comma(fit)}`);
    const bar = (y) => `M${left},${y - PER_NUMBER * d_k}H${x(most)}v${2 * PER_NUMBER * d_k}H${left}z`;
    set(ghosts, { d: own.map(bar).join("") });
    set(discs, { d: own.map((y) => `M${left - THREADS - 3},${y}a3,3 0 1 0 6,0a3,3 0 1 0 -6,0`).join("") });
    set(cuts, { d: tokens.slice(0, -1).map((n) => `M${x(n)},${TOP}v${tall}`).join("") });
    const every = wide < 340 ? 4 : wide < 600 ? 2 : 1;
    ticks.forEach((tick, i) => set(tick, { x: x((i * most) / 4), visibility: i % every ? "hidden" : "visible" }));
  }
  // What may be on its way: how far heads are grouped, how far they share a latent, and what is written. At token `fit`
  // memory is full.
  function show(power, melted, n, fit) {
    const places = tabulate(heads, (i) => placeOf(i, power));
    const long = { x: left, width: x(n) - left };
    rows.forEach(({ row, parts }, i) => {
      set(row, { transform: `translate(0 ${places[i].toFixed(2)})`, opacity: 1 - melted });
      parts.forEach((part, k) => set(part, { ...long, y: (k - 1) * PER_NUMBER * d_k, height: PER_NUMBER * d_k }));
    });
    const all = PER_NUMBER * mixed(2 * d_k, d_c + d_r, melted); // it grows from one key and value
    const top = TOP + (tall - all) / 2;
    const cut = (all * d_c) / (d_c + d_r);
    set(latent[0], { ...long, y: top, height: cut, opacity: melted });
    set(latent[1], { ...long, y: top + cut, height: all - cut, opacity: melted });
    set(threads, { d: places.map((y, i) => `M${left - THREADS + 4},${own[i]}`
      + `C${left - THREADS + 38},${own[i]} ${left - 36},${y} ${left - 4},${y}`).join("") });
    const end = Math.min(fit, n);
    set(pale, { x: x(end), width: x(n) - x(end) });
    const visibility = fit < most ? "visible" : "hidden";
    set(full[0], { d: `M${x(fit)},${TOP - 7}V${TOP + tall + 4}`, visibility });
    set(full[1], { x: Math.max(left + 60, Math.min(x(fit), width - 60)), visibility });
  }
  return { tell, show };
}

// ---- the memory: the model, and what all texts leave in all layers --------------------------------------

function memoryIn(add, top, { gpu, model, d_c, d_r }) {
  const name = add("text", { x: 0, y: top - 9, class: "name" });
  const beyond = add("rect", { class: "ghosts", y: top, height: BAR.high });
  const parts = ["model", "hue-key", "hue-value", "hue-stream", "hue-key"].map((look) => add("rect", { class: look }));
  const pale = add("rect", { class: "pale", y: top - 1, height: BAR.high + 2 });
  const frame = add("rect", { class: "gpu", x: 0.5, y: top - 2, height: BAR.high + 4 });
  const torn = add("path", { class: "torn" }); // the end of a bar that goes on
  const verdict = add("text", { y: top - 9, class: "name" });
  const marks = [`model: ${Math.round(model)} GiB`, `${gpu}`, ""].map((text, i) =>
    add("text", { y: top + BAR.high + 17, "text-anchor": ["start", "middle", "end"][i] }, text));
  const room = BAR.reach * gpu; // GiB
  let width = 0;
  const x = (GiB) => (width * Math.min(GiB, room)) / room;

  function tell({ free, all }, wide) {
    width = wide;
    write(name, wide < 600 ? "one GPU" : `one GPU of ${gpu} GiB`);
    set(frame, { width: x(gpu) });
    set(beyond, { x: x(gpu), width: wide - x(gpu) });
    set(verdict, free < 0 ? { x: x(gpu) + 10, "text-anchor": "start" } : { x: x(gpu), "text-anchor": "end" });
    write(verdict, free < 0 ? `${comma(-free)} GiB too much` : `${comma(free)} GiB free`);
    marks.forEach((mark, i) => set(mark, { x: (i * wide) / 2 }));
    write(marks[2], model + all > room ? `goes on to ${comma(model + all)} GiB` : `${room} GiB`);
    const teeth = tabulate(5, (i) => `L${wide - (i % 2 ? 3 : 11)},${top - 2 + (i * (BAR.high + 4)) / 4}`);
    set(torn, { d: `M${wide + 1},${top - 2}${teeth.join("")}H${wide + 1}z` });
  }
  function show(melted, GiB) {
    const [from, to] = [x(model), x(model + GiB)];
    const cut = d_c / (d_c + d_r);
    const bands = [[0, 1, 1], [0, 0.5, 1 - melted], [0.5, 1, 1 - melted], [0, cut, melted], [cut, 1, melted]];
    bands.forEach(([above, below, opacity], i) => set(parts[i], { x: i ? from : 0, width: i ? to - from : from,
      y: top + above * BAR.high, height: (below - above) * BAR.high, opacity }));
    set(pale, { x: x(gpu), width: Math.max(0, to - x(gpu)) });
    set(torn, { visibility: model + GiB > room ? "visible" : "hidden" });
  }
  return { tell, show };
}

// ---- hands ----------------------------------------------------------------------------------------------

// A grip at the end of the first group: who drags it makes groups of 1 to all heads. onto(power) is told where the hand
// is, and done() when it lets go
function gripIn(svg, add, heads, { onto, done }) {
  const bracket = add("path", { class: "bracket" });
  const grip = add("g", { class: "group-grip" });
  const name = h("text", { x: 27, y: 4.5, "text-anchor": "middle" });
  grip.append(h("rect", { class: "touch", x: -6, y: -22, width: 74, height: 44 }),
    h("path", { d: "M21,-15l6,-7l6,7zM21,15l6,7l6,-7z" }),
    h("rect", { y: -11, width: 54, height: 22, rx: 11 }), name);
  let [at, held] = [0, null]; // where it is, and how far from there it was taken
  let left = 0;
  const yOf = ({ clientY }) => {
    const { top, height } = svg.getBoundingClientRect();
    return ((clientY - top) * svg.viewBox.baseVal.height) / height;
  };
  grip.addEventListener("pointerdown", (event) => {
    held = yOf(event) - at;
    grip.setPointerCapture(event.pointerId);
  });
  grip.addEventListener("pointermove", (event) => {
    if (held === null) return;
    const y = yOf(event) - held;
    if (Math.abs(y - at) > 0.5) onto(Math.log2(Math.max(1, Math.min(heads, (y - TOP) / ROW))));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    grip.addEventListener(end, () => {
      held = null;
      done();
    });
  }
  function tell({ shared }, wide) {
    left = leftOf(wide) - THREADS;
    write(name, shared === heads ? "alone" : `${heads / (shared || 1)} share`);
  }
  function show(power) {
    at = TOP + 2 ** power * ROW;
    // Around one head it is none
    set(bracket, { d: `M${left - 8},${TOP + 1}h-5V${at - 1}h5`, opacity: Math.min(1, power).toFixed(2) });
    set(grip, { transform: `translate(${left - 71} ${at.toFixed(2)})` });
  }
  return { tell, show, isHeld: () => held !== null };
}

// A button that writes on, step by step, until all is written or memory is full
function writingOf(root, now, change, { last, isFull, status }) {
  const play = h("button", { type: "button", class: "goes-on" }, h("span"));
  let [wanted, timer] = [null, 0]; // the step that is being written, or null
  function stop() {
    clearTimeout(timer);
    wanted = null;
    write(play.firstChild, "Write");
    status.removeAttribute("aria-busy");
  }
  const ends = () => now().n === last || isFull();
  function writeOn() {
    const { top, bottom } = play.getBoundingClientRect();
    if (ends() || bottom < 0 || top > innerHeight) return stop();
    wanted = now().n + 1;
    timer = setTimeout(writeOn, WRITING);
    return change({ n: wanted });
  }
  play.addEventListener("click", () => {
    if (wanted !== null) return stop();
    if (ends()) change({ n: 0 });
    write(play.firstChild, "Stop");
    set(status, { "aria-busy": true }); // what is said is said once, at the end
    wanted = now().n;
    timer = setTimeout(writeOn, ends() ? 0 : WRITING);
    return null;
  });
  for (const hand of ["pointerdown", "keydown"]) {
    root.addEventListener(hand, ({ target }) => play.contains(target) || stop());
  }
  stop();
  // Is this step one that it writes? Any other stops it
  function writes(n) {
    if (wanted !== null && n !== wanted) stop();
    return wanted !== null;
  }
  return { play, writes, stop };
}

// ---- the figure -------------------------------------------------------------------------------------------

export default figure((data, { root, now, change }) => {
  const { kv, heads, layers, bytes, gpu, model } = data;
  const LATENT = kv.length - 1;
  const below = TOP + heads * ROW + BAR.gap;
  const high = below + BAR.high + 22;
  const svg = drawing({ class: "cache", height: high });
  const add = into(svg);
  const sizes = (setting) => sizesOf(data, setting);
  const cache = cacheIn(add, data);
  const memory = memoryIn(add, below, data);
  const last = data.tokens.length - 1;
  const status = statusLine(longestOf(kv.flatMap((_, sharing) =>
    data.texts.map((_, texts) => sentenceFor(data, { sharing, n: last, texts })))));

  // [how far heads are grouped, how far they share a latent, numbers of a token], and [tokens]: as they are drawn now
  function paint() {
    const [[power, melted, numbers], [n]] = [form.now() ?? formOf(now()), written.now() ?? [0]];
    const token = (numbers * layers * bytes * data.texts[now().texts]) / 2 ** 30;
    cache.show(power, melted, n, (gpu - model) / token);
    memory.show(melted, token * n);
    grip.show(power);
  }
  const formOf = (setting) =>
    [Math.min(setting.sharing, LATENT - 1), setting.sharing === LATENT ? 1 : 0, sizes(setting).left];
  const [form, written] = [gliding(paint), gliding(paint)];
  const grip = gripIn(svg, add, heads, {
    onto(power) {
      const sharing = Math.round(power);
      form.go([power, 0, (2 * heads * data.d_k) / 2 ** power], 0); // nothing lags behind the hand
      if (sharing !== now().sharing) change({ sharing });
    },
    done: () => form.go(formOf(now()), FLIGHT),
  });
  const writing = writingOf(root, now, change, { status, last, isFull: () => sizes(now()).free < 0 });

  function draw(setting, wide) {
    const here = sizes(setting);
    set(svg, { viewBox: `0 0 ${wide} ${high}` });
    [cache, memory, grip].forEach((part) => part.tell(here, wide));
    say(status, sentenceFor(data, setting));
    written.go([here.n], writing.writes(setting.n) ? WRITING : 0, evenly);
    if (!grip.isHeld()) form.go(formOf(setting), FLIGHT);
    return {
      numbers: { left: [here.left], KiB: [here.KiB], GiB: [here.one, here.all], free: [here.free], full: [here.fit] },
      tables: () => [["The cache", ["here"], [
        ["numbers of a token, in a layer", here.left], ["KiB of a token, in all layers", here.KiB],
        ["GiB of a text", here.one], ["GiB of all texts", here.all],
        ["GiB free beside the model", here.free], ["tokens of each text that fit", here.fit]]]],
    };
  }
  const stop = () => [writing, form, written].forEach((one) => one.stop());
  return { parts: [writing.play, svg, status], draw, stop };
});

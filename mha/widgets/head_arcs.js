const LABELLED = 0.08; // arcs with a smaller weight get no number
const ROOMY = 560; // pixels from which on the words stand side by side

// Where things stand, in the svg's own units. The words stand along a line: across the page when there is room, else
// down the page. The arcs of the two sentences rise to either side of that line.
function layout(room, lengths) {
  const across = room >= ROOMY;
  const sizes = lengths.map((letters) => (across ? 10 + 7.2 * letters : 26));
  const total = sum(sizes);
  const scale = across ? room / total : 1;
  let end = 0;
  const centres = sizes.map((size) => {
    end += size * scale;
    return end - (size * scale) / 2;
  });
  const length = across ? room : total;
  const side = across ? 175 : Math.min(125, room / 2 - 48); // the room of the arcs of one sentence
  const middle = across ? side + 4 : room / 2;
  const gap = across ? 17 : 40; // from the middle of a word to the foot of an arc
  const point = (along, out) => (across ? [along, middle + out] : [middle + out, along]);
  return { across, centres, length, side, middle, gap, point };
}

// An arc from one word to another; from a word to itself it is a small loop. `sign` says to which side it rises.
function arcPath({ centres, length, side, gap, point }, from, to, sign) {
  const itself = from === to;
  const span = Math.abs(centres[to] - centres[from]);
  const rise = itself ? 24 : 22 + (side - gap - 32) * Math.min(1, span / (length * 0.72));
  const apart = itself ? 7 : 0;
  const at = (word, along, out) => point(centres[word] + along, sign * out);
  const [start, end] = [at(from, -apart, gap), at(to, apart, gap)];
  const [pull, push] = [at(from, -2 * apart, gap + rise * 1.33), at(to, 2 * apart, gap + rise * 1.33)];
  return `M${start} C${pull} ${push} ${end}`;
}

// Where the number of an arc stands: beside its foot
function numberPlace({ across, centres, gap, point }, from, to, sign, weight) {
  const itself = from === to;
  if (!across) {
    const [x, y] = point(centres[to], sign * (gap + 2));
    return { x, y: y - 4, "text-anchor": sign > 0 ? "start" : "end" };
  }
  const [x, y] = point(centres[to], sign * (gap + (itself ? 30 : 14)));
  return { x: x + 6 + 11 * weight + (itself ? 10 : 0), y: y + 4, "text-anchor": "start" };
}

export default figure(({ layer, tokens, endings, steps, num_heads, ...data }, { change }) => {
  const n = tokens.length;
  const last = n - 2; // the word that differs, before the full stop
  const longest = Math.max(...endings.map((ending) => ending.length));
  const lengths = tokens.map((token, j) => (j === last ? longest : token.length));
  const maps = data.maps.map((text) => unpacked(text, steps));

  const svg = drawing();
  const longestWord = longestOf(tokens);
  const most = endings.map((ending) => mostOf(tokens.map(() => 0.99), ending, longestWord));
  const status = statusLine(sentenceFor(num_heads - 1, endings.join(" / "), most));
  const sides = endings.map(() => h("span", { class: "soft" }));
  const entry = (ending, s) => h("span", { class: `sentence-${s}` }, `\u2026 it was too ${ending} `, sides[s]);
  const legend = h("p", { class: "legend" }, ...endings.map(entry));

  const forEachWord = (tag, look) => endings.map((_, s) =>
    tokens.map(() => svg.appendChild(h(tag, { class: `${look} sentence-${s}` }))));
  const arcs = forEachWord("path", "arc");
  const numbers = forEachWord("text", "numbers");
  const words = tokens.map((token, j) => svg.appendChild(h("text", { class: "word" }, j === last ? "" : token)));
  const differing = endings.map((ending, s) => h("tspan", { class: `sentence-${s}` }, ending));
  words[last].append(...differing);
  words.forEach((text, j) => text.addEventListener("click", () => change({ word: j })));

  function drawWords({ across, centres, length, middle, point }, word) {
    const names = across ? ["(above)", "(below)"] : ["(left)", "(right)"];
    sides.forEach((side, s) => write(side, names[s]));
    const [width, height] = across ? [length, 2 * middle] : [2 * middle, length];
    set(svg, { viewBox: `0 0 ${width} ${height}`, height });
    words.forEach((text, j) => {
      const [x, y] = point(centres[j], 0);
      set(text, { x, y: y + 4, class: j === word ? "word here" : "word" });
    });
    const [x, y] = point(centres[last], 0);
    differing.forEach((text, s) => {
      const sign = s ? 1 : -1;
      set(text, across ? { x, y: y + (s ? 12 : -4) } : { x: x + 18 * sign, y: y + 4 });
    });
  }

  function drawArcs(place, s, word, weights) {
    const sign = s ? 1 : -1;
    weights.forEach((weight, j) => {
      set(arcs[s][j], { d: arcPath(place, word, j, sign), "stroke-width": Math.max(0.6, 22 * weight) });
      set(numbers[s][j], numberPlace(place, word, j, sign, weight));
      write(numbers[s][j], weight >= LABELLED ? weight.toFixed(2) : "");
    });
  }

  // The two words that get most, with their weights
  function mostOf(weights, ending, longest) {
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]);
    const nameOf = (j) => longest ?? (j === last ? ending : tokens[j]);
    const named = order.slice(0, 2).map((j) => `${nameOf(j)} ${weights[j].toFixed(2)}`);
    return `with \u201c${ending}\u201d, ${named.join(" and ")}`;
  }
  function sentenceFor(head, asked, most) {
    return `Head ${layer}.${head}. Where \u201c${asked}\u201d looks most: ${most.join("; ")}.`;
  }

  function draw({ word, head }, room) {
    const place = layout(room, lengths);
    drawWords(place, word);
    const begin = (head * n + word) * n;
    const weights = maps.map((map) => map.subarray(begin, begin + n));
    weights.forEach((row, s) => drawArcs(place, s, word, row));
    const asked = word === last ? endings.join(" / ") : tokens[word];
    say(status, sentenceFor(head, asked, weights.map((row, s) => mostOf(row, endings[s]))));

    const title = `Where \u201c${asked}\u201d looks, head ${layer}.${head}`;
    const names = tokens.map((token, j) => (j === last ? endings.join(" / ") : token));
    return {
      numbers: { weight: joined(weights) },
      tables: () => [[title, endings.map((ending) => `with ${ending}`), names.map((name, j) =>
        [name, ...weights.map((row) => row[j])])]],
    };
  }
  return { parts: [legend, svg, status], draw };
});

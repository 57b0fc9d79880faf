// Runs the decoder of decoder.js beside the page. A message in is { ticket, act, ... }; its answer has the same ticket.

const SHOWN = 10; // tokens that may come next

// The model as the reader changed it, as it is on the same tokens, and as it reads a text that something is lent from
let [changed, whole, lender, pieces, logits, next] = [];
let ids = [];

const acts = {
  async load({ bytes }) {
    const model = readModel(await unzip(new Uint8Array(bytes)));
    pieces = new Pieces(model.pieces);
    [changed, whole, lender] = [0, 1, 2].map(() => new Decoder(model));
    return { sizes: model.sizes };
  },

  encode: ({ text }) => ({ ids: pieces.encode(text), unknown: pieces.unknown(text) }),

  // The number of a word that is one piece; null where it is several
  word({ text }) {
    const [, id, ...rest] = pieces.encode(text);
    return { id: rest.length || id === UNKNOWN ? null : id };
  },

  // Read a text from an empty cache. off: [head, kind] pairs, heads numbered through all layers; hidden: [token, first
  // query that does not see it] pairs; lends: { before, from, to, what, heads }: before that token is read, wherever
  // token `from` stands, the cache gets what a text with `to` in its place would keep there.
  begin({ tokens, off = [], hidden = [], lends = [], seed = 0 }) {
    changed.length = 0;
    changed.off.fill(0);
    for (const [head, kind] of off) changed.off[head] = kind;
    changed.hiddenFrom.fill(Infinity);
    for (const [token, query] of hidden) changed.hiddenFrom[token] = query;
    keepOfWhole(tokens);
    next = randomOf(seed);
    ids = [];
    const parts = [];
    for (const one of lends) {
      parts.push(readTo(tokens, one.before));
      lend(one);
    }
    parts.push(readTo(tokens, tokens.length));
    return told(parts);
  },

  step({ temperature }) {
    const id = choose(logits, temperature, next);
    return told([readTo([...ids, id], ids.length + 1)]);
  },
};

// The model as it is need not read again what it has read
let readByWhole = [];
function keepOfWhole(tokens) {
  let same = 0;
  while (same < tokens.length - 1 && same < whole.length && tokens[same] === readByWhole[same]) same++;
  whole.length = same;
}

function lend({ from, to, what, heads }) {
  lender.length = 0;
  lender.read(ids.map((id) => (id === from ? to : id)));
  ids.forEach((id, j) => id === from && what.forEach((name) => changed.lend(lender, j, j, name, heads)));
}

// Read on up to a length; the new rows of weights, with how many there are
function readTo(tokens, length) {
  const some = tokens.slice(ids.length, length);
  if (!some.length) return null;
  const start = performance.now();
  const read = changed.read(some);
  logits = read.logits;
  ids.push(...some);
  return { rows: some.length, weights: read.weights, ms: performance.now() - start };
}

function told(parts) {
  const read = parts.filter(Boolean);
  const first = ids.length - read.reduce((total, { rows }) => total + rows, 0);
  const before = chances(whole.read(ids.slice(whole.length)).logits);
  readByWhole = [...ids];
  const p = chances(logits);
  const best = [...p.keys()].sort((a, b) => p[b] + before[b] - p[a] - before[a]).slice(0, SHOWN);
  return {
    parts: read,
    ids: [...ids],
    shown: ids.map((id) => pieces.pieces[id]),
    text: pieces.decode(ids),
    next: best.map((id) => ({ piece: pieces.pieces[id], p: p[id], before: before[id] })),
    first,
    kept: lengthsOf(first),
  };
}

// How long keys and values are, token by token, layer by layer, head by head: key, value, key, value, ...
function lengthsOf(first) {
  const { layers, heads, d, d_k, keys, values, length } = changed;
  const found = new Float32Array(2 * layers * heads * (length - first));
  let i = 0;
  for (let j = first; j < length; j++) for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++) {
    const at = j * d + h * d_k;
    for (const kept of [keys[l], values[l]]) found[i++] = Math.hypot(...kept.subarray(at, at + d_k));
  }
  return found;
}

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ ticket: data.ticket, ...(await acts[data.act](data)) });
  } catch (error) {
    self.postMessage({ ticket: data.ticket, error: String(error) });
  }
};

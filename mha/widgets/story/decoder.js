// A small trained decoder in plain JavaScript: tokenizer, layers of heads, and a key-value cache that one can look into
// and change. No dependency and no build step. worker.js runs it beside a page; tests run it as it is.

// ---- the file: mha/lab/story_file.py tells its layout -------------------------------------------------------------

async function unzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Every matrix is whole numbers times a step for each row; here it becomes float32
function readModel(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const tensors = {};
  let at = 4 + length;
  function floats(count) {
    at += 4 * count;
    return new Float32Array(bytes.slice(at - 4 * count, at).buffer); // its place in the file may be no multiple of 4
  }
  for (const [name, rows, columns] of header.matrices) {
    const steps = floats(rows);
    const whole = new Int8Array(bytes.buffer, bytes.byteOffset + at, rows * columns);
    const W = new Float32Array(rows * columns);
    for (let r = 0, i = 0; r < rows; r++) for (let c = 0; c < columns; c++, i++) W[i] = whole[i] * steps[r];
    tensors[name] = W;
    at += rows * columns;
  }
  for (const [name, size] of header.vectors) tensors[name] = floats(size);
  return { ...header, tensors };
}

// ---- the tokenizer ------------------------------------------------------------------------------------------------

const [UNKNOWN, START] = [0, 1];

// Of all neighbours whose union is a piece, the two are joined whose union has the smallest number, again and again
class Pieces {
  constructor(pieces) {
    this.pieces = pieces;
    this.number = new Map(pieces.map((piece, i) => [piece, i]));
  }

  encode(text) {
    const ids = Array.from(text ? ` ${text}` : "", (letter) => this.number.get(letter) ?? UNKNOWN);
    for (;;) {
      let [best, where] = [Infinity, -1];
      for (let i = 0; i + 1 < ids.length; i++) {
        const joined = this.number.get(this.pieces[ids[i]] + this.pieces[ids[i + 1]]);
        if (joined < best) [best, where] = [joined, i];
      }
      if (where < 0) return [START, ...ids];
      ids.splice(where, 2, best);
    }
  }

  // The letters of a text that are no piece, each once
  unknown(text) {
    return [...new Set(text)].filter((letter) => !this.number.has(letter));
  }

  decode(ids) {
    return ids.filter((id) => id !== START).map((id) => (id === UNKNOWN ? "\u25a1" : this.pieces[id])).join("")
      .replace(/^ /, "");
  }
}

// ---- the model ----------------------------------------------------------------------------------------------------

// out (n, rows) = x (n, columns) W^T. Four tokens at a time share one reading of a row of W
function linear(out, W, x, n, rows, columns) {
  let t = 0;
  for (; t + 4 <= n; t += 4) {
    const [a, b, c, d] = [0, 1, 2, 3].map((k) => (t + k) * columns);
    for (let r = 0, w = 0; r < rows; r++, w += columns) {
      let [p, q, s, u] = [0, 0, 0, 0];
      for (let i = 0; i < columns; i++) {
        const v = W[w + i];
        p += v * x[a + i];
        q += v * x[b + i];
        s += v * x[c + i];
        u += v * x[d + i];
      }
      const o = t * rows + r;
      out[o] = p;
      out[o + rows] = q;
      out[o + 2 * rows] = s;
      out[o + 3 * rows] = u;
    }
  }
  for (; t < n; t++) {
    const a = t * columns;
    for (let r = 0, w = 0; r < rows; r++, w += columns) {
      let [p, q, s, u] = [0, 0, 0, 0];
      for (let i = 0; i < columns; i += 4) {
        p += W[w + i] * x[a + i];
        q += W[w + i + 1] * x[a + i + 1];
        s += W[w + i + 2] * x[a + i + 2];
        u += W[w + i + 3] * x[a + i + 3];
      }
      out[t * rows + r] = p + q + s + u;
    }
  }
}

function normed(out, x, gain, n, d) {
  for (let t = 0; t < n; t++) {
    let total = 0;
    for (let i = t * d; i < (t + 1) * d; i++) total += x[i] * x[i];
    const scale = 1 / Math.sqrt(total / d + 1e-5);
    for (let i = 0; i < d; i++) out[t * d + i] = x[t * d + i] * scale * gain[i];
  }
}

function addTo(x, y) {
  for (let i = 0; i < x.length; i++) x[i] += y[i];
}

class Decoder {
  constructor(model) {
    Object.assign(this, model.sizes); // d, hidden, layers, heads, vocabulary, positions
    this.d_k = this.d / this.heads;
    this.t = model.tensors;
    this.speeds = Float64Array.from({ length: this.d_k / 2 }, (_, i) => 10000 ** ((-2 * i) / this.d_k));
    const room = () => Array.from({ length: this.layers }, () => new Float32Array(this.positions * this.d));
    [this.keys, this.values] = [room(), room()];
    this.off = new Uint8Array(this.layers * this.heads); // 0: on; 1: gives out zeros; 2: gives out its mean
    this.hiddenFrom = new Float64Array(this.positions).fill(Infinity); // the first query that does not see a token
    this.length = 0;
  }

  // Put what another text keeps of token `theirs` in the place of what this one keeps of token `own`. what: "keys" or
  // "values"; heads: pairs [layer, head]. Keys have been turned by their position, so the two should be the same.
  lend(other, own, theirs, what, heads) {
    for (const [l, h] of heads) {
      const from = theirs * this.d + h * this.d_k;
      this[what][l].set(other[what][l].subarray(from, from + this.d_k), own * this.d + h * this.d_k);
    }
  }

  // Neighbouring pairs of x (n, d) turn by their position times a speed of their own
  rotate(x, n) {
    const { d_k, heads } = this;
    for (let t = 0; t < n; t++) for (let i = 0; i < d_k / 2; i++) {
      const angle = (this.length + t) * this.speeds[i];
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let h = 0; h < heads; h++) {
        const at = (t * heads + h) * d_k + 2 * i;
        const [a, b] = [x[at], x[at + 1]];
        x[at] = a * c - b * s;
        x[at + 1] = a * s + b * c;
      }
    }
  }

  // One row of weights: of head h of layer l, with the query of token `last`, which stands at q[at...]
  weigh(row, l, h, last, q, at) {
    const { d, d_k, hiddenFrom } = this;
    const K = this.keys[l];
    let [most, total] = [-Infinity, 0];
    for (let j = 0; j <= last; j++) {
      let score = 0;
      for (let c = 0, key = j * d + h * d_k; c < d_k; c++) score += q[at + c] * K[key + c];
      row[j] = j < last && last >= hiddenFrom[j] ? -Infinity : score / Math.sqrt(d_k); // it always sees itself
      if (row[j] > most) most = row[j];
    }
    for (let j = 0; j <= last; j++) {
      row[j] = Math.exp(row[j] - most);
      total += row[j];
    }
    for (let j = 0; j <= last; j++) row[j] /= total;
  }

  // What the heads of layer l give out, side by side (n, d), and their new rows of weights
  attend(l, q, n, weights) {
    const { d, d_k, heads, length: first, off } = this;
    const [m, V, out] = [first + n, this.values[l], new Float32Array(n * d)];
    for (let h = 0; h < heads; h++) for (let i = 0; i < n; i++) {
      const [start, at] = [((l * heads + h) * n + i) * m, i * d + h * d_k];
      const row = weights.subarray(start, start + m);
      this.weigh(row, l, h, first + i, q, at);
      if (off[l * heads + h] === 2) out.set(this.t[`${l}.means`].subarray(h * d_k, (h + 1) * d_k), at);
      if (off[l * heads + h]) continue;
      for (let j = 0; j <= first + i; j++) {
        const w = row[j];
        for (let c = 0, value = j * d + h * d_k; c < d_k; c++) out[at + c] += w * V[value + c];
      }
    }
    return out;
  }

  // Read n more tokens. Gives the logits after the last (vocabulary), or after each (n, vocabulary) where all are
  // wanted; and the new rows of weights, (layers, heads, n, length), which are zero where a query does not see.
  read(ids, all = false) {
    const { d, hidden, layers, heads, t, length: first } = this;
    const [n, m] = [ids.length, first + ids.length];
    if (m > this.positions) throw new RangeError(`${m} tokens are over the model's ${this.positions} positions`);
    const [x, y, z, q] = [0, 1, 2, 3].map(() => new Float32Array(n * d));
    const [gate, up] = [0, 1].map(() => new Float32Array(n * hidden));
    const weights = new Float32Array(layers * heads * n * m);
    ids.forEach((id, i) => x.set(t.embedding.subarray(id * d, (id + 1) * d), i * d));
    for (let l = 0; l < layers; l++) {
      normed(y, x, t[`${l}.norm_1`], n, d);
      const [k, v] = [this.keys[l], this.values[l]].map((kept) => kept.subarray(first * d, m * d));
      [[q, "W_Q"], [k, "W_K"], [v, "W_V"]].forEach(([out, name]) => linear(out, t[`${l}.${name}`], y, n, d, d));
      this.rotate(q, n);
      this.rotate(k, n);
      linear(z, t[`${l}.W_O`], this.attend(l, q, n, weights), n, d, d);
      addTo(x, z);
      normed(y, x, t[`${l}.norm_2`], n, d);
      linear(gate, t[`${l}.gate`], y, n, hidden, d);
      linear(up, t[`${l}.up`], y, n, hidden, d);
      for (let i = 0; i < n * hidden; i++) gate[i] *= up[i] / (1 + Math.exp(-gate[i]));
      linear(z, t[`${l}.down`], gate, n, d, hidden);
      addTo(x, z);
    }
    this.length = m;
    normed(y, x, t.norm, n, d);
    const some = all ? n : 1;
    const logits = new Float32Array(some * this.vocabulary);
    linear(logits, t.embedding, all ? y : y.subarray((n - 1) * d), some, this.vocabulary, d);
    return { logits, weights };
  }
}

// ---- the next token -----------------------------------------------------------------------------------------------

function chances(logits, temperature = 1) {
  let [most, total] = [-Infinity, 0];
  for (const value of logits) if (value > most) most = value;
  const p = Float64Array.from(logits, (value) => Math.exp((value - most) / temperature));
  for (const value of p) total += value;
  return p.map((value) => value / total);
}

// A stream of numbers from 0 to 1 that a seed settles: mulberry32, as `uniform` of common.js
function randomOf(seed) {
  let count = 0;
  return () => {
    count += 1;
    let x = Math.imul(count + seed, 0x6d2b79f5);
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

const likeliest = (p) => p.reduce((best, value, i) => (value > p[best] ? i : best), 0);

// The likeliest token at temperature 0, else one drawn
function choose(logits, temperature, next) {
  if (!temperature) return likeliest(logits);
  const p = chances(logits, temperature);
  let left = next();
  for (let i = 0; i < p.length; i++) {
    left -= p[i];
    if (left < 0) return i;
  }
  return likeliest(p);
}

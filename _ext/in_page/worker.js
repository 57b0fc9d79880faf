// Runs Python beside the page. Before it stand Pyodide's own two programs; the rest comes as one file, which the page
// names. A message in is { ticket, act, ... }; its answer has the same ticket. Between them go { printed } and
// { loaded }. An endless loop ends with the worker: the page starts another.
/* global loadPyodide */

const store = () => caches.open("mha-python").catch(() => null); // not every page may keep something
let [python, inside] = [];

// The file, from the browser's own store, where it is kept by its name, which has the sha256 in it
async function bytesOf(address, total) {
  const kept = await store();
  const found = await kept?.match(address);
  if (found) return { stream: found.body, source: "kept" };
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the site answers ${answer.status}`);
  const [body, copy] = answer.body.tee();
  let had = 0;
  const counted = body.pipeThrough(new TransformStream({
    transform(chunk, out) {
      had += chunk.length;
      self.postMessage({ loaded: Math.min(1, had / total) });
      out.enqueue(chunk);
    },
  }));
  const keep = async () => {
    for (const old of (await kept?.keys()) ?? []) if (old.url.endsWith(".bin")) await kept.delete(old);
    await kept?.put(address, new Response(copy)).catch(() => null); // a full store keeps nothing, and nothing is lost
  };
  return { stream: counted, source: "site", keeping: keep() };
}

async function unpacked(stream) {
  const whole = new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  const end = whole.indexOf(10);
  let at = end + 1;
  return Object.fromEntries(JSON.parse(new TextDecoder().decode(whole.subarray(0, end))).map(([name, length]) => {
    const part = whole.subarray(at, at + length);
    at += length;
    return [name, part];
  }));
}

const acts = {
  async start({ archive, bytes, chapter, prelude }) {
    const { stream, source, keeping } = await bytesOf(archive, bytes);
    const files = await unpacked(stream);
    self.postMessage({ loaded: 1 });
    const beyond = self.fetch;
    const type = { headers: { "Content-Type": "application/wasm" } }; // of the one file that must have its own
    self.fetch = async (address, ...more) => {
      const own = files[String(address.url ?? address).split("/").pop()];
      return own ? new Response(own, type) : beyond(address, ...more);
    };
    python = await loadPyodide({ indexURL: new URL(".", self.location).href });
    self.fetch = beyond;
    // Before numpy reuses the memory of a large array it asks who called it; here none can say, and new memory is taken
    python._module.LDSO.loadedLibsByName.__main__.exports.backtrace = () => 0;
    for (const name of ["numpy.zip", "book.zip"]) {
      python.unpackArchive(files[name], "zip", { extractDir: "/lib/python3.12/site-packages" });
    }
    python.FS.writeFile("/lib/python3.12/site-packages/inside.py", files["inside.py"]);
    inside = python.pyimport("inside");
    const known = inside.start(chapter, JSON.stringify(prelude), (text) => self.postMessage({ printed: text }));
    keeping?.catch(() => null);
    return { source, known: JSON.parse(known), heap: python._module.HEAP8.length };
  },
  run: ({ source }) => JSON.parse(inside.run(source)),
  check: ({ id, source, record }) => JSON.parse(inside.check(id, source, JSON.stringify(record))),
  hint: ({ id, record }) => JSON.parse(inside.hint(id, JSON.stringify(record))),
};

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ ticket: data.ticket, ...(await acts[data.act](data)) });
  } catch (error) {
    self.postMessage({ ticket: data.ticket, error: String(error.message ?? error) });
  }
};

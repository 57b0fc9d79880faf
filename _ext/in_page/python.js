// One worker with Python for the page: brought by the first question, ended and begun again by Stop.
const FILES = FILES_OF_THE_BUILD;
const here = (name) => new URL(name, import.meta.url).href;
const listeners = [];
let worker = null; // { started: a promise, ask }
let isKept = false; // this page, for a time without a network
let busy = ""; // "start" while Python comes, "run" while it runs

export const isBusy = () => busy;

// Call it when isBusy() changes, and now
export function onChange(hear) {
  listeners.push(hear);
  hear();
}

function turn(state) {
  busy = state;
  listeners.forEach((hear) => hear());
}

function begin() {
  const thread = new Worker(here(FILES.worker));
  const waiting = new Map();
  let ticket = 0;
  const one = { thread, hear: {} };
  thread.onmessage = ({ data }) => {
    if (data.printed !== undefined) return one.hear.printed?.(data.printed);
    if (data.loaded !== undefined) {
      const share = Math.round(100 * data.loaded);
      return one.hear.told?.(share < 100 ? `Python is coming: ${share} %` : "Python starts \u2026");
    }
    const [resolve, reject] = waiting.get(data.ticket);
    waiting.delete(data.ticket);
    return data.error ? reject(new Error(data.error)) : resolve(data);
  };
  const failed = new Promise((_, reject) => {
    thread.onerror = (event) => reject(new Error(event.message || "its worker does not start"));
    one.end = (why) => {
      thread.terminate();
      reject(new Error(why));
    };
  });
  failed.catch(() => null);
  one.ask = (act, more) => Promise.race([failed, new Promise((resolve, reject) => {
    ticket += 1;
    waiting.set(ticket, [resolve, reject]);
    thread.postMessage({ ticket, act, ...more });
  })]);
  const { chapter, prelude } = JSON.parse(document.getElementById("python-of-this-page").textContent);
  one.started = one.ask("start", { archive: here(FILES.archive), bytes: FILES.bytes, chapter, prelude });
  one.started.then(() => {
    if (!isKept) keepPage().catch(() => null);
    isKept = true;
  }, () => { if (worker === one) worker = null; });
  return one;
}

// The answer of Python; hear.printed(text) and hear.told(text) say what happens before it
export async function ask(act, more, hear) {
  worker ??= begin();
  const mine = worker;
  mine.hear = hear;
  turn("start");
  try {
    const started = await mine.started;
    turn("run");
    return act === "ready" ? started : await mine.ask(act, more);
  } catch (error) {
    if (worker !== mine) throw busy === "start" ? new Error(`Python could not be brought: ${error.message}.`) : error;
    mine.end("");
    worker = null;
    throw new Error(`Python itself broke down (${error.message}). The next press starts it anew.`);
  } finally {
    mine.hear = {};
    turn("");
  }
}

// This page, and what it has loaded, works without a network from now on; where the browser lets it
async function keepPage() {
  await navigator.serviceWorker.register(here("../../offline.js"));
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const own = [location.href.split("#")[0], here(FILES.worker), ...loaded]
    .filter((url) => url.startsWith(here("../../")) && !url.endsWith(".bin") && !url.endsWith("offline.js"));
  const pages = await caches.open("mha-pages");
  for (const { url } of await pages.keys()) if (/\/worker-\w+\.js$/.test(url)) await pages.delete(url);
  await Promise.allSettled([...new Set(own)].map((url) => pages.add(url)));
}

// End what runs, at once; a new Python starts behind it
export function stop(why) {
  if (busy !== "run") return;
  worker.end(why);
  worker = begin();
}

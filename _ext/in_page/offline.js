// Keeps the pages of those who have let Python come: without a network they get what they had last, Python included.
// With one, everything comes from the site, as ever. The big file is kept by the worker itself (worker.js).
const PAGES = "mha-pages";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function answer(event) {
  const { request } = event;
  const store = await caches.open(PAGES);
  try {
    const found = await fetch(request);
    if (found.status === 200) event.waitUntil(store.put(request, found.clone()).catch(() => null));
    return found;
  } catch (error) {
    const kept = await store.match(request, { ignoreSearch: true });
    if (!kept) throw error;
    return kept;
  }
}

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(self.registration.scope) && !url.endsWith(".bin")) {
    event.respondWith(answer(event));
  }
});

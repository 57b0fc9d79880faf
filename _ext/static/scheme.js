// Settled before the first paint: light, dark, or as the reader's system says; furo.js changes it later.
document.body.dataset.theme = "auto";
try {
  document.body.dataset.theme = localStorage.getItem("theme") || "auto";
} catch {
  // A browser that keeps nothing.
}

// While figures start, what stands below one is not shown (book.css): it would jump when the figure takes its height.
if (document.currentScript.dataset.figures) {
  document.documentElement.classList.add("figures-start");
  setTimeout(() => document.documentElement.classList.remove("figures-start"), 1500);
}

// Brings the editor under an exercise in code, on a press, or at once where the reader has written before. All that it
// takes comes then (_ext/page_python.py).
(() => {
  "use strict";
  const { store, meet } = window.mha;
  const editor = new URL("python/editor.js", document.currentScript.src).href;

  function wake(form) {
    const kept = store.get("written")[form.dataset.exercise];
    const button = form.querySelector(".write-open");
    form.querySelector("fieldset").disabled = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    const open = async (pressed) => {
      button.setAttribute("aria-disabled", "true"); // it keeps the focus
      try {
        (await import(editor)).open(form, pressed);
      } catch {
        button.removeAttribute("aria-disabled");
        form.querySelector(".write-about").textContent = "The editor could not be loaded.";
      }
    };
    button.addEventListener("click", () => button.ariaDisabled !== "true" && open(true));
    if (!kept) return;
    form.style.minHeight = `${kept.height}px`; // so that nothing moves when it comes
    open(false);
  }

  meet("write-here", wake);
})();

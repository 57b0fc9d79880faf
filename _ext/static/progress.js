// Shows what was solved: in the contents, beside each exercise, on the map, and as a code that carries it elsewhere.
(() => {
  "use strict";
  const { store, solve, element, solved, completed, done } = window.mha;
  const chapters = window.exercises ?? [];
  const everyItem = chapters.flatMap(([, items]) => items);
  const predicted = new Set(everyItem.filter(([, kind]) => kind === "predict").map(([id]) => id));

  // What is solved as a code to carry to another browser: for each chapter its number and a bit for each exercise
  function encode(ids) {
    const bits = {};
    for (const id of ids) {
      const [chapter, number] = id.split(".");
      bits[chapter] = (bits[chapter] ?? 0) | (1 << (number - 1));
    }
    const parts = Object.keys(bits).sort().map((chapter) => `${chapter}.${bits[chapter].toString(16)}`);
    const body = ["mha1", ...parts].join("-");
    return `${body}-${sign(body)}`;
  }

  function decode(written) {
    // It may have been pasted as progress("mha1-..."), or with dashes for its hyphens
    const hyphens = written.replace(/[\u2013\u2014\u2212]/g, "-").replace(/mha1/i, "mha1");
    const code = /mha1[-\w.]*/.exec(hyphens)?.[0] ?? written;
    const at = code.lastIndexOf("-");
    const [body, end] = [code.slice(0, at), code.slice(at + 1)];
    if (!/^mha1(-\w+\.[0-9a-f]+)*$/.test(body)) {
      const like = encode(["1.1", "2.1"]);
      if (!written.trim()) throw new Error(`Paste a code first. It looks like ${like}.`);
      throw new Error(`A code looks like ${like}; this is \u201c${code}\u201d.`);
    }
    const lost = `\u201c${code}\u201d was not copied whole: its last two signs do not fit the rest.`;
    if (end !== sign(body)) throw new Error(lost);
    return body.split("-").slice(1).flatMap((part) => {
      const [chapter, mask] = part.split(".");
      const bits = [...Array(31).keys()].filter((bit) => (parseInt(mask, 16) >> bit) & 1);
      return bits.map((bit) => `${chapter}.${bit + 1}`);
    });
  }

  // Two signs that change when a sign of the code is lost, altered or moved
  function sign(body) {
    const weighed = [...body].map((character, i) => (i + 1) * character.codePointAt(0));
    const total = weighed.reduce((a, b) => a + b, 0) % 1296;
    return Math.floor(total / 36).toString(36) + (total % 36).toString(36);
  }

  // ---- what the page shows -------------------------------------------------------------------------
  function show() {
    document.querySelectorAll("section.exercise").forEach(showExercise);
    for (const [chapter, items] of chapters) {
      const count = items.filter(([id]) => done(id)).length;
      showChapter(chapter, count, items.length);
    }
    const out = document.getElementById("progress-out");
    const ids = everyItem.flatMap(([id]) => [id, completed(id)]);
    if (out) out.value = encode(ids.filter(solved));
  }

  function showExercise(section) {
    const heading = section.querySelector("h3");
    const id = heading.textContent.split(" ")[0];
    section.classList.toggle("is-solved", solved(id));
    heading.querySelector(".done")?.remove();
    const mark = !solved(id) ? " ◐ completed" : predicted.has(id) ? " ✓ guessed" : " ✓ solved";
    if (done(id)) heading.append(element("span", { className: "done" }, mark));
  }

  function showChapter(chapter, count, all) {
    for (const link of document.querySelectorAll(".sidebar-tree a")) {
      if (!link.pathname.endsWith(`/${chapter}.html`)) continue;
      link.querySelector(".done")?.remove();
      if (!count) continue;
      const title = `${count} of ${all} exercises done`;
      link.append(element("span", { className: "done", title }, count === all ? " ✓" : ` ${count}/${all}`));
    }
    const cell = document.querySelector(`article [data-chapter="${chapter}"]`);
    if (cell) cell.textContent = `${count} of ${all}`;
  }

  function wakePanel(panel) {
    const form = panel.querySelector("form");
    const place = form.querySelector(".ask-reply");
    function tell(ok, verdict, ...lines) {
      place.classList.toggle("is-wrong", !ok);
      const said = element("p", { className: "ask-verdict" }, `${ok ? "✓" : "×"} ${verdict}`);
      place.replaceChildren(said, ...lines.map((line) => element("p", {}, line)));
    }
    form.querySelector("fieldset").disabled = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        const ids = decode(form.querySelector("#progress-in").value);
        solve(...ids);
        tell(true, "Added.", `${ids.length} ${ids.length === 1 ? "exercise is" : "exercises are"} in the code.`);
      } catch (error) {
        tell(false, "Not added.", error.message, "Nothing was changed.");
      }
    });

    async function copy() {
      const out = form.querySelector("#progress-out");
      out.select();
      try {
        await navigator.clipboard.writeText(out.value);
        tell(true, "Copied.");
      } catch {
        tell(false, "Not copied.", "The code is marked: copy it by keyboard.");
      }
    }
    function forget() {
      if (!confirm("Forget all that was solved, bet, judged and written in this browser?")) return;
      store.forget();
      tell(true, "Forgotten.");
    }
    form.addEventListener("click", (event) => {
      if (event.target.dataset.do === "copy") copy();
      if (event.target.dataset.do === "forget") forget();
    });

    if (store.keeps()) return;
    tell(false, "For now only.", "This browser keeps nothing for this page, so progress lasts until you close it.");
  }

  show();
  document.querySelectorAll(".progress-panel").forEach(wakePanel);
  for (const name of ["progressed", "keptelsewhere"]) addEventListener(name, show);
  Object.assign(window.mha, { encode, decode });
})();

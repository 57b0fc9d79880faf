// Lets the programs with blanks answer: every reply was given by mha.exercises.check when the book was built
// (mha/exercises/engine/feedback.py, _ext/completion.py). A program is judged whole, never a blank.
(() => {
  "use strict";
  const { store, solve, element, completed, done, meet } = window.mha;
  const SIGNS = { "+": ["✓", "right"], "-": ["×", "wrong numbers"], "!": ["!", "stops with an error"] };
  const PATIENCE = 3; // tries before help is offered

  function wake(form) {
    const data = JSON.parse(form.querySelector("script").textContent);
    const selects = [...form.querySelectorAll("select")];
    const button = form.querySelector("button[type=submit]");
    const count = form.querySelector(".complete-count");
    const place = form.querySelector(".ask-reply");
    const id = form.dataset.exercise;
    // The fragments as they read: a place may hold another one in the next version of the book.
    const { [id]: before, [`${id}+`]: judgedThen } = store.get("blanks");
    let [tries, ...chosen] = [before ?? 0].flat();
    const read = () => selects.map((select) => select.selectedOptions[0]?.text);
    function choose(texts) {
      selects.forEach((select, i) => {
        const found = [...select.options].find((option) => option.text === texts[i]);
        if (found) found.selected = true;
      });
      return key();
    }
    const key = () => selects.map((select) => (select.value === "" ? " " : Number(select.value).toString(36))).join("");
    const keepChoices = () => store.put("blanks", { [id]: [tries, ...read()] });
    let judged = Array.isArray(judgedThen) ? choose(judgedThen) : "";
    choose(chosen);

    function refresh() {
      const empty = selects.filter((select) => select.value === "").length;
      button.setAttribute("aria-disabled", empty > 0 || key() === judged); // it keeps the focus
      const left = `${empty} of ${selects.length} blanks ${empty === 1 ? "is" : "are"} empty.`;
      count.textContent = empty ? left : key() === judged ? "Change something to check again." : "";
    }

    function answer() {
      judged = key();
      tries += 1;
      const ok = tell();
      if (ok) solve(completed(id));
      keepChoices();
      store.put("blanks", { [`${id}+`]: read() });
      refresh();
      place.scrollIntoView({ block: "nearest" });
    }

    function tell() {
      const ok = data.right.includes(judged);
      const tried = `${tries} ${tries === 1 ? "try" : "tries"}`;
      const verdict = !ok ? "× Not yet." : done(id) ? "✓ Right." : `✓ Right, after ${tried}.`;
      place.classList.toggle("is-wrong", !ok);
      place.replaceChildren(
        element("p", { className: "ask-verdict" }, verdict),
        ...(ok ? [] : [tests(data, judged)]),
        ...said(data, judged, ok),
        ...(!ok && tries >= PATIENCE ? [help(data, selects, judged)] : []),
      );
      return ok;
    }

    form.querySelector("fieldset").disabled = false;
    form.addEventListener("change", () => {
      keepChoices();
      refresh();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (button.getAttribute("aria-disabled") === "false") answer();
    });
    if (data.signs[judged]) tell();
    refresh();
  }

  // One sign for each test input; which ones fail says where to look.
  function tests(data, key) {
    const signs = [...data.signs[key]];
    const right = signs.filter((sign) => sign === "+").length;
    const items = signs.map((sign, i) => {
      const title = `${data.inputs[i]}: ${SIGNS[sign][1]}`;
      return element("li", { className: sign === "+" ? "passes" : "", title }, SIGNS[sign][0],
        element("span", { className: "visually-hidden" }, ` ${title}`));
    });
    const all = right === signs.length ? ", and something else is not" : "";
    return element("div", { className: "complete-seen" }, `${right} of ${signs.length} test inputs are right${all}: `,
      element("ul", { className: "complete-tests" }, ...items));
  }

  // The question and the counterexample at once, the mistake's name on request
  function said(data, key, ok) {
    if (!data.said[key]) return [line(data.far)];
    const [named, asks, evidence] = data.said[key].map((part) => part.map((i) => line(data.lines[i])));
    if (ok) return evidence;
    const more = [...named, ...evidence.slice(1)];
    const first = [...asks, ...evidence.slice(0, 1)];
    if (!more.length) return first;
    return [...first, opener(named.length ? "Name the mistake" : "What else was seen", () => more)];
  }

  const line = (html) => element("template", { innerHTML: html }).content.firstChild;

  // A button whose place, and focus, is taken by what it asks for
  function opener(words, lines) {
    const button = element("button", { type: "button", className: "quiet" }, words);
    button.addEventListener("click", () => {
      const [first, ...rest] = lines();
      button.replaceWith(first, ...rest);
      first.tabIndex = -1;
      first.focus();
    });
    return button;
  }

  // A choice that is in no right program goes, one that is not chosen now: nobody is told which blank is wrong.
  function help(data, selects, key) {
    return opener("Take one wrong choice away", () => {
      const gone = selects.flatMap((select, i) => [...select.options].filter((option) => {
        const sign = option.value && Number(option.value).toString(36);
        return sign && !option.disabled && sign !== key[i] && data.right.every((right) => right[i] !== sign);
      }))[0];
      if (!gone) return [element("p", {}, "Only choices that fit somewhere, and those of yours, are left.")];
      gone.disabled = true;
      return [element("p", {}, "Gone: ", element("code", {}, gone.textContent))];
    });
  }

  meet("complete", wake);
})();

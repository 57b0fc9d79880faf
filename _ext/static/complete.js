// Lets the programs with blanks answer: every reply was given by mha.exercises.check when the book was built
// (mha/exercises/engine/replies.py, _ext/completion.py). A program is judged whole, never a blank.
(() => {
  "use strict";
  const { element, paragraph, completed, done, BLANKS, kept, keep } = window.mhaExercises;
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
    const { [id]: before, [`${id}+`]: judgedThen } = kept(BLANKS);
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
    const keepChoices = () => keep(BLANKS, id, [tries, ...read()]);
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
      if (ok) completed(id);
      keepChoices();
      keep(BLANKS, `${id}+`, read());
      refresh();
      place.scrollIntoView({ block: "nearest" });
    }

    function tell() {
      const ok = data.right.includes(judged);
      const tried = `${tries} ${tries === 1 ? "try" : "tries"}`;
      place.className = `ask-reply ${ok ? "is-right" : "is-wrong"}`;
      place.replaceChildren(
        element("p", "ask-verdict", !ok ? "× Not yet." : done(id) ? "✓ Right." : `✓ Right, after ${tried}.`),
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
    const list = element("ul", "complete-tests");
    signs.forEach((sign, i) => {
      const item = element("li", sign === "+" ? "passes" : "", SIGNS[sign][0]);
      item.title = `${data.inputs[i]}: ${SIGNS[sign][1]}`;
      item.append(element("span", "visually-hidden", ` ${item.title}`));
      list.append(item);
    });
    const all = right === signs.length ? ", and something else is not" : "";
    const line = element("div", "complete-seen", `${right} of ${signs.length} test inputs are right${all}: `);
    line.append(list);
    return line;
  }

  // The question and the counterexample at once, the mistake's name on request
  function said(data, key, ok) {
    if (!data.said[key]) return [paragraph(data.far)];
    const [named, asks, evidence] = data.said[key].map((part) => part.map((i) => data.lines[i]));
    if (ok) return evidence.map(line);
    const more = [...named, ...evidence.slice(1)].map(line);
    const first = [...asks, ...evidence.slice(0, 1)].map(line);
    if (!more.length) return first;
    const show = element("button", "quiet", named.length ? "Name the mistake" : "What else was seen");
    show.type = "button";
    show.addEventListener("click", () => tell(show, ...more));
    return [...first, show];
  }

  // What a button asked for takes its place, and its focus.
  function tell(button, ...lines) {
    button.replaceWith(...lines);
    lines[0].tabIndex = -1;
    lines[0].focus();
  }

  const line = (text) => (text.startsWith(" ") ? element("pre", "", text) : paragraph(text));

  // A choice that is in no right program goes, one that is not chosen now: nobody is told which blank is wrong.
  function help(data, selects, key) {
    const button = element("button", "quiet", "Take one wrong choice away");
    button.type = "button";
    button.addEventListener("click", () => {
      const wrong = selects.flatMap((select, i) => [...select.options].filter((option) => {
        const sign = option.value && Number(option.value).toString(36);
        return sign && !option.disabled && sign !== key[i] && data.right.every((right) => right[i] !== sign);
      }));
      const gone = wrong[0];
      if (gone) gone.disabled = true;
      const left = "Only choices that fit somewhere, and those of yours, are left.";
      tell(button, paragraph(gone ? `Gone: \`${gone.textContent}\`` : left));
    });
    return button;
  }

  document.querySelectorAll("form.complete").forEach(wake);
})();

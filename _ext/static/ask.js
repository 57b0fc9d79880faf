// Asks: covers what came of each prediction until the reader has bet, and lets the questions of a page answer.
//
// The build wrote the boxes and the forms, with every reply beside them (_ext/replies.py), and put what follows a box
// into a cover (_ext/bets.py). This runs before the page is parsed, and meets each when it is whole and not yet
// painted: so nothing flashes or jumps.
(() => {
  "use strict";
  const { store, solve, element } = window.mha;
  const root = document.documentElement;
  // Covered text is found by the browser's search where the browser can do that.
  const HIDDEN = "onbeforematch" in root ? "until-found" : "";
  const LETTERS = "abcdef";

  // ---- the reply to an answer ------------------------------------------------------------------------
  // A number, a fraction or a percentage, as people write them; null where it is none, or could be two. As read_number
  // of mha/exercises/engine/question.py
  const GROUPED = /^[-+]?\d{1,3}((,\d{3}){2,}|([ _'\u2019\u00a0\u202f]\d{3})+)$/;
  const SEPARATORS = /[ ,_'\u2019\u00a0\u202f]/g;
  const TRAILING = /(\d)[.,](?=\s*([/%]|$)|[eE])/g; // 256. and 3./4
  const AMBIGUOUS = /^[-+]?[1-9]\d{0,2},\d{3}$/; // 1,000 is one or a thousand
  const NUMBER = /^\s*([-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?)(?:\s*\/\s*(\d*[.,]?\d+))?\s*(%?)\s*$/;

  function readNumber(written) {
    const plain = written.replace(/\u2212/g, "-").trim().replace(TRAILING, "$1");
    const text = GROUPED.test(plain) ? plain.replace(SEPARATORS, "") : plain;
    const match = AMBIGUOUS.test(text) ? null : NUMBER.exec(text);
    if (!match) return null;
    const [above, below] = [match[1], match[2] ?? "1"].map((part) => Number(part.replace(",", ".")));
    return below === 0 ? null : above / below / (match[3] ? 100 : 1);
  }

  const shown = (number) => String(Number.isInteger(number) ? number : Number(number.toPrecision(6)));

  // reply(data, said) -> {how, html}, as the build made it; undefined where an old answer has none any more.
  function reply({ replies, numbers, pieces }, said) {
    const typed = said?.trim();
    const number = numbers && typed ? readNumber(typed) : null;
    const near = number !== null && numbers.find(([value, within]) => Math.abs(number - value) <= within);
    const side = number < numbers?.[0][0] ? "below" : "above";
    const kind = number === null ? "none" : Number.isFinite(number) ? side : "beyond";
    const answer = said === null ? "shown" : numbers && typed ? kind : typed;
    const found = near ? near[2] : Object.hasOwn(replies, answer) ? replies[answer] : replies.any;
    return found && made(found, pieces, typed, number);
  }

  function made([how, ...places], pieces, said, number) {
    const typed = element("span", {}, said ?? "").innerHTML;
    const html = places.map((place) => pieces[place]).join("");
    return { how, html: html.replace("{said}", () => typed).replace("{number}", () => shown(number)) };
  }

  const dataOf = (box) => JSON.parse(box.querySelector("script").textContent);

  // ---- a bet --------------------------------------------------------------------------------------
  function optionButton(item, letter, several) {
    const words = item.querySelector(":scope > p") ?? item;
    const button = element("button", { type: "button", className: "bet-option", value: letter });
    button.append(element("span", {}, ...words.childNodes));
    if (several) button.setAttribute("role", "checkbox");
    item.setAttribute("role", "presentation");
    item.replaceChildren(button);
    return button;
  }

  const pressed = (button) => (button.getAttribute("role") ? "aria-checked" : "aria-pressed");

  function wakeBet(box, following) {
    const cover = following?.matches(".bet-cover") ? following : null;
    const data = dataOf(box);
    const list = data.right ? box.querySelector(":scope > ul") : null;
    const options = [...(list?.children ?? [])].map((li, i) => optionButton(li, LETTERS[i], data.several));
    if (list) {
      const question = list.previousElementSibling;
      question.id = `${box.id}-asks`;
      list.setAttribute("role", "group");
      list.setAttribute("aria-labelledby", question.id);
    }
    const blank = box.querySelector(".bet-blank");
    const field = blank && element("input", { type: "text", autocomplete: "off", ariaLabel: "Your number" });
    blank?.append(field);
    const bet = { box, cover, data, options, field, place: box.querySelector(".bet-reply") };
    bets.push(bet);
    const go = box.querySelector(".bet-go");

    options.forEach((option) => option.addEventListener("click", () => {
      if (box.classList.contains("is-made")) return;
      if (data.several) option.ariaChecked = String(option.ariaChecked !== "true");
      else make(bet, option.value);
    }));
    go?.addEventListener("click", () => answer(bet));
    field?.addEventListener("keydown", (event) => event.key === "Enter" && !field.readOnly && answer(bet));
    box.querySelector(".bet-show").addEventListener("click", () => make(bet, null));
    cover?.addEventListener("beforematch", () => make(bet, null)); // found by the browser's search, or linked to
    show(bet);
  }

  // A bet that takes more than one press
  function answer(bet) {
    const { data, field, options, place } = bet;
    const unit = field?.parentElement.nextSibling?.textContent.trim().startsWith("%");
    const picked = options.filter((option) => option.ariaChecked === "true").map((option) => option.value).join("");
    const said = field ? field.value.replace(unit ? "%" : "", "").trim() : picked;
    const { how, html } = reply(data, said);
    if (how !== "refused") return make(bet, said);
    field?.focus();
    place.innerHTML = html;
    place.scrollIntoView({ block: "nearest" });
  }

  function make(bet, said) {
    const { box, cover, data, place } = bet;
    store.put("bets", { [data.id]: said });
    const lost = box.querySelector(".bet-foot").contains(document.activeElement); // its buttons go
    show(bet);
    cover?.classList.add("is-new");
    if (data.exercise && reply(data, said).how === "right") solve(data.id);
    if (lost) place.focus({ preventScroll: true });
    tally();
    dispatchEvent(new Event("uncovered"));
    if (said !== null) place.scrollIntoView({ block: "nearest" });
  }

  // Of an exercise, whose outcome was seen
  function guessAgain(bet) {
    store.put("bets", { [bet.data.id]: undefined, [`${bet.data.id}+`]: 1 });
    show(bet);
    (bet.field ?? bet.options[0]).focus();
  }

  const isOff = () => !root.classList.contains("bets");

  const replyOf = ({ data }) => {
    const { [data.id]: said, [`${data.id}+`]: again } = store.get("bets");
    const found = said === null || typeof said === "string" ? reply(data, said) : undefined;
    return found?.how === "right" && again ? made(data.replies.again, data.pieces) : found;
  };

  // Brings box and cover to what was said.
  function show(bet) {
    const { box, cover, data, options, field, place } = bet;
    const found = replyOf(bet);
    const isMade = Boolean(found);
    const said = isMade ? store.get("bets")[data.id] : undefined;
    box.classList.toggle("is-made", isMade);
    box.classList.toggle("is-asked", !isOff() || Boolean(data.exercise)); // else it is a question with a plain list
    if (isMade || isOff()) cover?.removeAttribute("hidden");
    else cover?.setAttribute("hidden", HIDDEN);
    cover?.classList.remove("is-new");
    for (const option of options) {
      const [mine, came] = [said, data.right].map((letters) => isMade && Boolean(letters?.includes(option.value)));
      option.classList.toggle("is-mine", mine);
      option.classList.toggle("came", came);
      option.setAttribute(pressed(option), String(mine));
      option.setAttribute("aria-disabled", String(isMade));
      option.querySelector(".bet-tag")?.remove();
      const tag = mine && came ? "as you said" : mine ? "you said" : came ? "so it came" : "";
      if (tag) option.append(element("span", { className: "bet-tag" }, tag));
    }
    if (field) {
      [field.value, field.readOnly] = [said ?? "", isMade];
      field.style.width = isMade ? `${field.value.length + 0.2}ch` : "";
    }
    place.tabIndex = -1;
    place.innerHTML = found?.html ?? "";
    if (!isMade || found.how === "right" || !data.exercise) return;
    const again = { type: "button", className: "bet-guess", onclick: () => guessAgain(bet) };
    place.append(element("button", again, "Guess again"));
  }

  // ---- a form --------------------------------------------------------------------------------------
  function wakeForm(form) {
    const data = dataOf(form);
    const place = form.querySelector(".ask-reply");
    const words = form.querySelector("textarea");
    const typed = words ?? form.querySelector("input[type=text]");
    const options = [...form.querySelectorAll("input:not([type=text])")];
    const { [data.id]: before, [`${data.id}+`]: judged } = store.get("words");
    const keep = (name, value) => store.put("words", { [name]: value });
    const picked = () => options.filter((option) => option.checked).map((option) => option.value).join("");
    const said = () => (typed ? typed.value : picked());
    const ticks = () => [...place.querySelectorAll("input")];

    function tell(answer, ticked = []) {
      const { how, html } = reply(data, answer) ?? { html: "" };
      place.classList.toggle("is-wrong", how === "wrong" || how === "refused");
      place.innerHTML = html;
      ticks().forEach((tick, i) => (tick.checked = ticked.includes(i)));
      return how;
    }
    form.querySelector("fieldset").disabled = false;
    if (typeof before === "string") {
      if (typed) typed.value = before;
      else options.forEach((option) => (option.checked = before.includes(option.value)));
    }
    if (words ? Array.isArray(judged) : typeof judged === "string") tell(words ? said() : judged, judged);
    form.addEventListener("input", ({ target }) => {
      if (!place.contains(target)) return keep(data.id, said());
      const ticked = ticks().flatMap((tick, i) => (tick.checked ? [i] : []));
      keep(`${data.id}+`, ticked);
      if (ticked.length === ticks().length) solve(data.id); // the learner says so
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const how = tell(said());
      if (how !== "refused") keep(`${data.id}+`, words ? [] : said());
      if (how === "right" && !words) solve(data.id);
      place.scrollIntoView({ block: "nearest" });
    });
  }

  // ---- the page ------------------------------------------------------------------------------------
  const TOLD = { right: "as you said", wrong: "otherwise", thought: "answered in your head",
    shown: "shown without a bet", "": "still covered" };

  const ofChapter = () => bets.filter(({ data }) => !data.exercise);

  function tally() {
    const panel = document.querySelector(".bet-tally");
    if (!panel) return;
    const hows = ofChapter().map((bet) => replyOf(bet)?.how ?? "");
    const count = (how) => hows.filter((one) => one === how).length;
    const judged = count("right") + count("wrong");
    const sum = judged ? [`${count("right")} of ${judged} came as you said`] : [];
    const told = isOff() ? { ...TOLD, "": TOLD.shown } : TOLD;
    for (const how of ["thought", "shown", ""]) if (count(how)) sum.push(`${count(how)} ${told[how]}`);
    panel.querySelector(".bet-sum").textContent = `${sum.join(", ")}.`;
    panel.querySelectorAll(".bet-dots a").forEach((dot, i) => {
      dot.className = hows[i];
      dot.title = told[hows[i]];
      dot.ariaLabel = `Bet ${i + 1}: ${told[hows[i]]}`;
    });
    panel.querySelector(".bet-again").hidden = count("") === hows.length;
  }

  // With bets or without
  function turn() {
    const on = store.get("settings").bets !== "off";
    root.classList.toggle("bets", on);
    root.classList.toggle("bets-off", !on);
    bets.forEach(show);
    tally();
    dispatchEvent(new Event("uncovered"));
  }

  // A link to a place under a cover, where the browser does not open it by itself
  function openTarget() {
    const at = document.querySelector(":target");
    const bet = at && bets.find(({ cover }) => cover?.hasAttribute("hidden") && cover.contains(at));
    if (!bet) return;
    make(bet, null);
    at.scrollIntoView();
  }

  const bets = [];
  const kinds = [];

  // wake(box, what follows it) is called for each box of this class
  function meet(name, wake) {
    kinds.push({ boxes: document.getElementsByClassName(name), met: 0, wake });
  }

  // A box is whole when something follows it, or what holds it.
  function isWhole(box) {
    return box !== null && (box.nextElementSibling !== null || isWhole(box.parentElement));
  }

  function meetNew(all) {
    for (const kind of kinds) {
      while (kind.met < kind.boxes.length) {
        const box = kind.boxes[kind.met];
        if (!all && !isWhole(box)) break;
        kind.met += 1;
        kind.wake(box, box.nextElementSibling);
      }
    }
  }

  meet("bet", wakeBet);
  meet("question", wakeForm);
  turn();
  const parser = new MutationObserver(() => meetNew(false));
  parser.observe(root, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", () => {
    parser.disconnect();
    meetNew(true);
    tally();
    openTarget();
    document.addEventListener("click", ({ target }) => {
      if (target.matches(".bet-off, .bet-on")) {
        const on = target.matches(".bet-on");
        store.put("settings", { bets: on ? "on" : "off" });
        turn();
        // The button goes. Its counterpart gets the focus or, where that is not to be seen, what comes next.
        const place = target.closest("section, aside, .bet");
        const seen = (el) => el.checkVisibility({ visibilityProperty: true });
        const stops = [...document.querySelectorAll(":is(article, footer) :is(a[href], button, input, select)")];
        const heir = [...place.querySelectorAll(on ? ".bet-off" : ".bet-on")].find(seen)
          ?? stops.find((el) => target.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING && seen(el))
          ?? place.parentElement.closest("section");
        if (heir.matches("section")) heir.tabIndex = -1;
        heir.focus({ preventScroll: true });
      }
      if (target.matches(".bet-again")) {
        store.put("bets", Object.fromEntries(ofChapter().map(({ data }) => [data.id, undefined])));
        bets.forEach(show);
        tally();
        dispatchEvent(new Event("uncovered"));
        document.querySelector(".bet").scrollIntoView();
        document.querySelector(".bet :is(.bet-option, input, .bet-go)").focus({ preventScroll: true });
      }
    });
  });
  addEventListener("hashchange", openTarget);
  addEventListener("keptelsewhere", () => {
    tally();
    turn();
  });
  Object.assign(window.mha, { readNumber, meet });
})();

// Covers what came of each prediction until the reader has bet. A bet is kept in this browser, and nowhere else.
//
// The build wrote the boxes, with their replies, and put what follows each into a cover (_ext/bets.py). This runs
// before the page is parsed, and meets each box when it is whole and not yet painted: so nothing flashes or jumps.
(() => {
  "use strict";
  // {"01_soft_lookup:3f2a9c": what was said, null where it was shown; "6.7+": 1 once 6.7 is guessed again}
  const BETS = "mha-bets";
  const OFF = "mha-bets-off";
  const root = document.documentElement;
  // Covered text is found by the browser's search where the browser can do that.
  const HIDDEN = "onbeforematch" in root ? "until-found" : "";
  const LETTERS = "abcdef";

  // ---- what was said -------------------------------------------------------------------------------
  function stored(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  }

  function store(name, value) {
    try {
      if (value === null) localStorage.removeItem(name);
      else localStorage.setItem(name, JSON.stringify(value));
    } catch {
      // A browser that keeps nothing: then it holds for this visit.
    }
  }

  const read = () => Object(stored(BETS));
  let made = read();

  function say(bet, said) {
    const all = { ...made, ...read() }; // another tab may have bet
    if (said === undefined) delete all[bet];
    else all[bet] = said;
    made = all;
    store(BETS, made);
  }

  // A number, a fraction or a percentage, as people write them; null where it is none, or could be two
  const GROUPED = /^[-+]?\d{1,3}((,\d{3}){2,}|([ _'\u2019\u00a0\u202f]\d{3})+)$/;
  const SEPARATORS = /[ ,_'\u2019\u00a0\u202f]/g;
  const AMBIGUOUS = /^[-+]?[1-9]\d{0,2},\d{3}$/; // 1,000 is one or a thousand
  const NUMBER = /^\s*([-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?)(?:\s*\/\s*(\d*[.,]?\d+))?\s*(%?)\s*$/;

  function readNumber(written) {
    const plain = written.replace(/\u2212/g, "-").trim();
    const text = GROUPED.test(plain) ? plain.replace(SEPARATORS, "") : plain;
    const match = AMBIGUOUS.test(text) ? null : NUMBER.exec(text);
    if (!match) return null;
    const [above, below] = [match[1], match[2] ?? "1"].map((part) => Number(part.replace(",", ".")));
    return below === 0 ? null : above / below / (match[3] ? 100 : 1);
  }

  // ---- judging -------------------------------------------------------------------------------------
  // judge(bet, said) -> {how, lead, line}; how: as-said, otherwise, thought, shown
  function judge({ data, options }, said) {
    if (said === null) return { how: "shown", lead: "Shown without a bet." };
    if (data.numbers) return judgeNumber(data, said);
    if (!data.right) return { how: "thought", lead: "Compare with your answer." };
    const how = said === data.right ? "as-said" : "otherwise";
    const wrong = LETTERS.split("").filter((letter) => said.includes(letter) !== data.right.includes(letter)).length;
    const where = data.several ? ` in ${wrong} of ${options.length}. So it came` : "";
    const end = data.exercise ? "." : ":"; // the replies of an exercise are sentences, those of a chapter's bets go on
    const lead = (how === "as-said" ? "As you said" : `You said otherwise${where}`) + end;
    return { how, lead, line: data.several ?? data.replies[said] };
  }

  function judgeNumber({ numbers, exercise }, said) {
    const near = ({ is, within }) => Math.abs(readNumber(said) - readNumber(is)) <= readNumber(within) + 1e-9;
    const [right] = numbers;
    const known = numbers.find(near);
    const nearly = exercise || readNumber(said) === readNumber(right.is) ? "" : ", nearly";
    const [how, lead] = known === right ? ["as-said", `As you said${nearly}.`] : ["otherwise", `You said ${said}.`];
    if (exercise) return { how, lead, line: (known ?? right).says };
    const came = `It is ${right.is}: ${right.says}`;
    const line = how === "otherwise" && known ? `${known.says[0].toUpperCase()}${known.says.slice(1)} ${came}` : came;
    return { how, lead, line };
  }

  // ---- a box ---------------------------------------------------------------------------------------
  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

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

  function wake(box, cover) {
    const data = JSON.parse(box.querySelector("script").textContent);
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
    const bet = { box, cover, data, options, field, reply: box.querySelector(".bet-reply") };
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
    return bet;
  }

  // A bet that takes more than one press
  function answer(bet) {
    const { data, field, options, reply } = bet;
    if (field) {
      const unit = field.parentElement.nextSibling?.textContent.trim().startsWith("%");
      const said = unit ? field.value.replace("%", "").trim() : field.value.trim();
      if (readNumber(said) !== null) return make(bet, said);
      field.focus();
      return refuse(reply, "A number is asked for, such as 0.4 or 2/5.");
    }
    if (!data.several) return make(bet, "");
    const said = options.filter((option) => option.ariaChecked === "true").map((option) => option.value).join("");
    if (said) make(bet, said);
    else refuse(reply, "Pick at least one.");
  }

  function refuse(reply, why) {
    reply.replaceChildren(element("p", {}, why));
    reply.scrollIntoView({ block: "nearest" });
  }

  function make(bet, said) {
    say(bet.data.bet, said);
    const lost = bet.box.querySelector(".bet-foot").contains(document.activeElement); // its buttons go
    show(bet);
    bet.cover?.classList.add("is-new");
    const { exercise } = bet.data;
    if (exercise && judge(bet, said).how === "as-said") mhaExercises.solve([exercise]);
    if (lost) bet.reply.focus({ preventScroll: true });
    tally();
    dispatchEvent(new Event("uncovered"));
    if (said !== null) bet.reply.scrollIntoView({ block: "nearest" });
  }

  // Of an exercise, whose outcome was seen
  function guessAgain(bet) {
    say(bet.data.bet);
    say(`${bet.data.bet}+`, 1);
    show(bet);
    (bet.field ?? bet.options[0]).focus();
  }

  const isOff = () => !root.classList.contains("bets");

  // Brings box and cover to what was said.
  function show(bet) {
    const { box, cover, data, options, field, reply } = bet;
    const said = made[data.bet];
    const isMade = said !== undefined;
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
    reply.tabIndex = -1;
    reply.replaceChildren();
    if (!isMade) return;
    const { how, lead, line = "" } = judge(bet, said);
    const isRight = how === "as-said";
    const told = isRight && made[`${data.bet}+`] ? "As you said, once you had seen it." : lead;
    reply.append(element("p", {}, element("b", {}, told), " ", element("span", { innerHTML: line })));
    if (isRight || !data.exercise) return;
    const again = { type: "button", className: "bet-guess", onclick: () => guessAgain(bet) };
    reply.append(element("button", again, "Guess again"));
  }

  // ---- the page ------------------------------------------------------------------------------------
  const TOLD = { "as-said": "as you said", otherwise: "otherwise", thought: "answered in your head",
    shown: "shown without a bet", "": "still covered" };

  const ofChapter = () => bets.filter(({ data }) => !data.exercise);

  function tally() {
    const place = document.querySelector(".bet-tally");
    if (!place) return;
    const hows = ofChapter().map((bet) => {
      const said = made[bet.data.bet];
      return said === undefined ? "" : judge(bet, said).how;
    });
    const count = (how) => hows.filter((one) => one === how).length;
    const judged = count("as-said") + count("otherwise");
    const sum = judged ? [`${count("as-said")} of ${judged} came as you said`] : [];
    for (const how of ["thought", "shown", ""]) if (count(how)) sum.push(`${count(how)} ${TOLD[how]}`);
    place.querySelector(".bet-sum").textContent = `${sum.join(", ")}.`;
    place.querySelectorAll(".bet-dots a").forEach((dot, i) => {
      dot.className = hows[i];
      dot.title = TOLD[hows[i]];
      dot.ariaLabel = `Bet ${i + 1}: ${TOLD[hows[i]]}`;
    });
    place.querySelector(".bet-again").hidden = count("") === hows.length;
  }

  function turn(on) {
    root.classList.toggle("bets", on);
    root.classList.toggle("bets-off", !on);
    bets.forEach(show);
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

  const boxes = document.getElementsByClassName("bet");
  const bets = [];

  // A box is whole when something follows it.
  function meet(all) {
    while (bets.length < boxes.length) {
      const box = boxes[bets.length];
      const next = box.nextElementSibling;
      if (!next && !all) return;
      bets.push(wake(box, next?.matches(".bet-cover") ? next : null));
    }
  }

  turn(!stored(OFF));
  const parser = new MutationObserver(() => meet(false));
  parser.observe(root, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", () => {
    parser.disconnect();
    meet(true);
    tally();
    openTarget();
    document.addEventListener("click", ({ target }) => {
      if (target.matches(".bet-off, .bet-on")) {
        const on = target.matches(".bet-on");
        store(OFF, on ? null : 1);
        turn(on);
        // The button goes. Its counterpart gets the focus or, where that is not to be seen, what comes next.
        const place = target.closest("section, aside, .bet");
        const seen = (el) => el.checkVisibility({ visibilityProperty: true });
        const stops = [...document.querySelectorAll("article :is(a[href], button, input, select)")];
        const heir = [...place.querySelectorAll(on ? ".bet-off" : ".bet-on")].find(seen)
          ?? stops.find((el) => target.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING && seen(el))
          ?? place.parentElement.closest("section");
        if (heir.matches("section")) heir.tabIndex = -1;
        heir.focus({ preventScroll: true });
      }
      if (target.matches(".bet-again")) {
        ofChapter().forEach(({ data }) => say(data.bet));
        bets.forEach(show);
        tally();
        dispatchEvent(new Event("uncovered"));
        document.querySelector(".bet").scrollIntoView();
        document.querySelector(".bet :is(.bet-option, input, .bet-go)").focus({ preventScroll: true });
      }
    });
  });
  addEventListener("hashchange", openTarget);
  addEventListener("storage", ({ key }) => {
    if (![BETS, OFF, null].includes(key)) return;
    made = read();
    tally();
    turn(!stored(OFF));
  });
  window.mhaBets = { readNumber };
})();

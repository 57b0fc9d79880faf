// Makes the claims of the folklore a game: a verdict first, then what came out.
// Covered is by style alone (html.bets, set by ask.js): without a script, or without bets, all stands open.
(() => {
  "use strict";
  const { store, element } = window.mha;
  const VERDICTS = ["right", "true at some sizes", "true in some settings", "true in one reading",
    "true of some heads or runs", "wrong", "not found here"]; // as mha.lab.folklore.VERDICTS
  const FORMER = "true under a condition"; // said before there were four kinds of it
  const cards = [...document.querySelectorAll(".claim")].map((card) => ({ card, ...card.dataset }));

  const agree = (mine, verdict) => mine === verdict || (mine === FORMER && verdict.startsWith("true "));
  const said = () => store.get("claims"); // {"12": "wrong"}
  let last = null; // the card just judged: it stays until something else is to be shown

  // ---- a card --------------------------------------------------------------------------------------
  function wake({ card, number }) {
    const buttons = VERDICTS.map((verdict) => element("button", { type: "button", value: verdict, ariaLabel: verdict },
      verdict.replace(/^true |(?<=some heads) or runs| here$/g, ""))); // so that they fit in one row
    const ask = element("div", { className: "claim-ask", role: "group", ariaLabel: `Your verdict on claim ${number}` },
      ...buttons);
    const told = element("p", { className: "claim-told", tabIndex: -1 });
    card.querySelector(".claim-came").before(ask, told);
    ask.addEventListener("click", ({ target }) => {
      if (!target.matches("button")) return;
      store.put("claims", { [number]: target.value });
      last = card;
      show();
      told.focus({ preventScroll: true });
      card.scrollIntoView({ block: "nearest" });
    });
  }

  function showCard({ card, number, verdict }) {
    const mine = said()[number];
    card.classList.toggle("is-judged", Boolean(mine));
    if (!mine) return;
    const came = agree(mine, verdict) ? "It came out so." : "It came out otherwise."; // as the next words say
    card.querySelector(".claim-told").textContent = `You said: ${mine}. ${came}`;
  }

  // ---- the score, and what is shown ----------------------------------------------------------------
  const SHOWN = {
    "all claims": () => true,
    "not judged yet": ({ number }) => !said()[number],
    "as you said": ({ number, verdict }) => agree(said()[number], verdict),
    "otherwise than you said": ({ number, verdict }) => said()[number] && !agree(said()[number], verdict),
    ...Object.fromEntries(VERDICTS.map((name) => [
      `judged, and ${name}`, ({ number, verdict }) => said()[number] && verdict === name,
    ])),
  };
  const chapters = [...new Set(cards.map(({ chapter }) => chapter))]
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const ofLab = new Set(cards.filter(({ page }) => page === "lab").map(({ chapter }) => chapter));
  const listed = (chapter) => // a lab's claims are listed with its chapter's, which the list says
    (chapter === "A" ? "only here" : `chapter ${chapter}${ofLab.has(chapter) ? " and its lab" : ""}`);
  const sum = element("p", { role: "status" });
  const which = select("Show", Object.keys(SHOWN));
  const where = select("of", ["all chapters", ...chapters.map(listed)]);
  const share = element("button", { type: "button" }, "Copy your score");
  const again = element("button", { type: "button" }, "Judge them all again");

  function select(label, options) {
    const field = element("select", {}, ...options.map((option) => element("option", {}, option)));
    field.addEventListener("change", () => {
      last = null;
      show();
    });
    return element("label", {}, `${label} `, field);
  }

  const valueOf = (label) => label.lastElementChild.value;
  const judged = () => cards.filter(({ number }) => said()[number]);
  const hits = () => judged().filter(({ number, verdict }) => agree(said()[number], verdict));

  function show() {
    cards.forEach(showCard);
    const fits = SHOWN[valueOf(which)];
    for (const one of cards) {
      const asked = fits(one) && ["all chapters", listed(one.chapter)].includes(valueOf(where));
      one.card.hidden = !asked && one.card !== last;
    }
    const count = cards.filter(({ card }) => !card.hidden).length;
    const score = judged().length
      ? `You judged ${judged().length} of ${cards.length}: ${hits().length} came out as you said.`
      : `${cards.length} claims. Say of each what you think, and see what came out.`;
    sum.textContent = count === cards.length ? score : `${score} ${count} ${count === 1 ? "is" : "are"} shown.`;
    share.hidden = again.hidden = !judged().length;
  }

  async function copy() {
    const link = document.querySelector("link[rel=canonical]")?.href ?? location.href.split("#")[0];
    const text = `The folklore of attention: ${hits().length} of ${judged().length} claims came out as I said. ${link}`;
    try {
      await navigator.clipboard.writeText(text);
      sum.textContent = `Copied: ${text}`;
    } catch {
      sum.textContent = text;
    }
  }

  if (!cards.length) return;
  cards.forEach(wake);
  share.addEventListener("click", copy);
  again.addEventListener("click", () => {
    last = null;
    store.put("claims", Object.fromEntries(cards.map(({ number }) => [number, undefined])));
    show();
    which.lastElementChild.focus(); // the button goes
  });
  addEventListener("keptelsewhere", show);
  const panel = element("aside", { className: "claims-panel", ariaLabel: "Your verdicts" }, sum,
    element("p", { className: "claims-filter" }, which, " ", where),
    element("p", {}, share, " ", again, " ",
      element("button", { type: "button", className: "bet-off" }, "Show all that came out"),
      element("button", { type: "button", className: "bet-on" }, "Judge first after all")));
  cards[0].card.closest("article > section > section")?.before(panel);
  show();
})();

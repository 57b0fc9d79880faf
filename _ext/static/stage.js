// A stage: the drawing of a live figure stays in sight, and each step behind it sets the figure when it comes to the
// reading line, in the room below the drawing (_ext/stages.py). What a hand sets stays until the next step is reached.
(() => {
  "use strict";
  const LINE = 0.3; // of that room lies above the line
  const PASSED = 1e5; // pixels above the line in which a step is one that was passed
  const REST = 15; // frames without scrolling, after which the page has come to where it went,
  const TOLD = 60; // and milliseconds in which an observer is told of it

  function wake(steps) {
    const figure = steps.closest(".live-figure");
    const drawing = figure.querySelector(".live-canvas");
    const all = [...steps.children];
    const wanted = all.map((step) => JSON.parse(step.dataset.set));
    if (!figure.settings || !wanted.every(figure.settings.knows)) return;
    const buttons = all.map((step, i) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "show-go", textContent: i + 1 });
      button.setAttribute("aria-label", `${i + 1} of ${all.length}: show this in the figure`);
      button.addEventListener("click", () => go(i));
      button.addEventListener("focus", () => button.matches(":focus-visible") && show(i));
      step.firstElementChild.prepend(button);
      return button;
    });
    // What the steps do not need stands below the last one, with the controls, and on a phone what is said as well
    const foot = Object.assign(document.createElement("div"), { className: "mha-figure show-foot" });
    foot.append(...figure.querySelectorAll(".mha-figure > :is(.reset, .copy-link, details.numbers)"));
    const controls = figure.querySelector(".live-controls");
    controls.append(foot);
    const phone = matchMedia("(max-width: 600px)");
    const said = figure.querySelector(".mha-figure > .status");
    const home = document.createComment("what is said");
    said?.before(home);
    const speak = () => said && (phone.matches ? foot.prepend(said) : home.after(said));
    phone.addEventListener("change", speak);
    speak();

    let now = -1;
    function mark(i) {
      now = i;
      buttons.forEach((button, k) => {
        all[k].classList.toggle("is-now", k === i);
        if (k === i) button.setAttribute("aria-current", "step");
        else button.removeAttribute("aria-current");
      });
    }
    function show(i) {
      mark(i);
      figure.settings.glide(wanted[i], () => {});
    }

    // Where the page itself goes to a place in the figure (figure_buttons.js, host.js), what it passes sets nothing
    let [held, frame, end] = [false, 0, 0];
    function seek() {
      let [left, at] = [REST, NaN];
      const wait = () => {
        left = scrollY === at ? left - 1 : REST;
        at = scrollY;
        if (left) frame = requestAnimationFrame(wait);
        else end = setTimeout(() => { held = false; }, TOLD);
      };
      held = true;
      clearTimeout(end);
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(wait);
    }
    figure.addEventListener("sought", seek);
    foot.parentElement.addEventListener("focusin", seek); // so is a control that the keyboard goes to
    function go(i, behavior) {
      seek();
      all[i].scrollIntoView({ block: "start", behavior });
      show(i);
    }

    // An address that sets the figure is not set aside by the step that lies there, until its reader moves on
    const asked = all.findIndex((step) => `#${step.id}` === location.hash);
    let arriving = asked < 0 && location.hash !== "";
    for (const hand of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      addEventListener(hand, () => { arriving = false; }, { once: true, passive: true });
    }

    // The drawing goes with the page once the controls have come up to it, so that it covers none of them; where the
    // window has no room for both, it covers as much of them as that takes (book.css)
    function part() {
      const { top, bottom } = controls.getBoundingClientRect();
      const lacks = Math.max(0, free + bottom - top - innerHeight);
      const foot = figure.querySelector(".live-vbox").getBoundingClientRect().bottom - top - lacks;
      figure.style.setProperty("--foot", `${Math.max(0, foot)}px`);
    }

    let [free, line] = [0, 0];
    const onTheLine = () => {
      const boxes = all.map((step) => step.getBoundingClientRect());
      return boxes.findIndex(({ top, bottom }) => top <= line && line < bottom);
    };
    const lastPassed = () => all.findLastIndex((step) => step.getBoundingClientRect().top <= line);
    // What a hand sets, the step that has come to the line with it does not take away
    figure.addEventListener("input", () => {
      const i = onTheLine();
      if (i >= 0) mark(i);
    });

    let watch = [];
    function follow() {
      watch.forEach((one) => one.disconnect());
      const { position, top } = getComputedStyle(drawing);
      const stays = position === "sticky"; // in a low window it goes with the page, and each step has its own picture
      if (controls.previousElementSibling !== (stays ? steps : drawing)) (stays ? steps : drawing).after(controls);
      free = stays ? parseFloat(top) + drawing.offsetHeight : 0; // from here down
      line = Math.round(free + LINE * (innerHeight - free));
      figure.style.setProperty("--drawing", `${drawing.offsetHeight}px`);
      figure.style.setProperty("--reading", `${line}px`);
      part();
      if (!stays) return;
      // Told of each step that comes to the line or leaves it, and of one that was jumped over by who had come to one
      // before; its entries lie in the order of the steps, not of time
      const below = Math.max(0, innerHeight - line - 1);
      watch = [line, -PASSED].map((above) => new IntersectionObserver(() => {
        const passing = held || arriving;
        const i = passing || now < 0 ? onTheLine() : lastPassed();
        if (i < 0 || i === now) return;
        if (passing) mark(i);
        else show(i);
      }, { rootMargin: `${-above}px 0px -${below}px` }));
      for (const one of watch) all.forEach((step) => one.observe(step));
    }
    new ResizeObserver(follow).observe(drawing);
    new ResizeObserver(part).observe(controls);
    addEventListener("resize", follow);
    follow();
    if (asked >= 0) go(asked, "instant"); // a smooth one is broken off while the page loads
  }

  addEventListener("figureslive", () => document.querySelectorAll(".show-steps").forEach(wake));
})();

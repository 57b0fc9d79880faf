// Brings the live figures of a page to life, with no kernel and no widget manager.
//
// The build wrote each figure's controls as disabled HTML, a picture of the first setting in place of its
// canvas, and the states of the widgets of all figures, in their order (_ext/live_figures.py). Here the links
// of jslink are tied again, the figure's own module (an anywidget) draws in place of the picture, and the
// controls wake up. A figure that fails keeps its picture, says so in one line, and leaves the others alone.
(() => {
  "use strict";
  const PREFIX = "IPY_MODEL_";

  // ---- models ------------------------------------------------------------------------------------
  // What a front-end module sees of a widget: get, set, on, off, save_changes. Changes are told at once; a
  // module that several traits redraw waits for the next frame itself, as it must beside a kernel.
  class Model {
    constructor(record, fail) {
      this.name = record.model_name;
      this.state = record.state;
      this.fail = fail;
      this.callbacks = {};
      for (const buffer of record.buffers ?? []) this.unpack(buffer);
    }
    unpack({ path, data }) {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      const owner = path.slice(0, -1).reduce((part, key) => part[key], this.state);
      owner[path.at(-1)] = new DataView(bytes.buffer);
    }
    get(key) {
      return this.state[key];
    }
    set(key, value) {
      if (typeof key === "object") return Object.entries(key).forEach(([k, v]) => this.set(k, v));
      if (Object.is(this.state[key], value)) return;
      this.state[key] = value;
      for (const event of ["change:" + key, "change"])
        for (const callback of [...(this.callbacks[event] ?? [])]) this.tell(callback, value);
    }
    tell(callback, value) {
      try {
        callback(this, value);
      } catch (error) {
        this.fail(error);
      }
    }
    on(events, callback) {
      for (const event of events.split(" ")) (this.callbacks[event] ??= []).push(callback);
    }
    off(events, callback) {
      for (const event of events?.split(" ") ?? Object.keys(this.callbacks))
        this.callbacks[event] = callback ? (this.callbacks[event] ?? []).filter((other) => other !== callback) : [];
    }
    // With a kernel these two would talk to it.
    save_changes() {}
    send() {}
  }

  function tie(models) {
    const end = ([reference, key]) => [models.get(reference.slice(PREFIX.length)), key];
    for (const link of models.values()) {
      if (link.name !== "LinkModel" && link.name !== "DirectionalLinkModel") continue;
      const [source, from] = end(link.get("source"));
      const [target, to] = end(link.get("target"));
      const forward = () => target.set(to, source.get(from));
      source.on("change:" + from, forward);
      if (link.name === "LinkModel") target.on("change:" + to, () => source.set(from, target.get(to)));
      forward();
    }
  }

  // ---- controls ----------------------------------------------------------------------------------
  // One function for each data-kind of _ext/controls.py. `follow` calls now and at each change.
  function follow(model, keys, show) {
    for (const key of keys) model.on("change:" + key, show);
    show();
  }

  // The same rule as `number` in _ext/controls.py.
  function readable(value, format) {
    const [, digits, kind] = /^\.(\d+)([fe%])/.exec(format ?? "") ?? [];
    if (kind === "f") return value.toFixed(digits);
    if (kind === "%") return (100 * value).toFixed(digits) + "%";
    if (kind === "e") return value.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2");
    return String(value);
  }

  function range(key, text) {
    return (element, model) => {
      const input = element.querySelector("input");
      const output = element.querySelector("output");
      input.addEventListener("input", () => model.set(key, Number(input.value)));
      follow(model, [key, "min", "max", "step"], () => {
        for (const limit of ["min", "max", "step"])
          if (key === "value" && model.get(limit) !== undefined) input[limit] = model.get(limit);
        input.value = model.get(key);
        output.value = text(model);
        input.setAttribute("aria-valuetext", output.value);
      });
    };
  }

  function choice(element, model) {
    const select = element.querySelector("select");
    select.addEventListener("input", () => model.set("index", select.selectedIndex));
    follow(model, ["index"], () => (select.selectedIndex = model.get("index")));
  }

  const KINDS = {
    value: range("value", (model) =>
      readable(model.get("value"), model.get("readout_format")).replaceAll("-", "\u2212")),
    index: range("index", (model) => model.get("_options_labels")[model.get("index")]),
    select: choice,
    checked(element, model) {
      const input = element.querySelector("input");
      input.addEventListener("input", () => model.set("value", input.checked));
      follow(model, ["value"], () => (input.checked = model.get("value")));
    },
    radio(element, model) {
      const inputs = [...element.querySelectorAll("input")];
      inputs.forEach((input, index) => input.addEventListener("input", () => model.set("index", index)));
      follow(model, ["index"], () => inputs.forEach((input, index) => (input.checked = index === model.get("index"))));
    },
    text: (element, model) => follow(model, ["value"], () => (element.textContent = model.get("value"))),
    html: (element, model) => follow(model, ["value"], () => (element.innerHTML = model.get("value"))),
  };

  function wake(element, model, models) {
    const { kind } = element.dataset;
    KINDS[kind]?.(element, model);
    const fields = element.querySelectorAll("input, select");
    if (kind)
      follow(model, ["disabled"], () => {
        for (const field of fields) field.disabled = !!model.get("disabled");
      });
    const layout = models.get(String(model.get("layout")).slice(PREFIX.length));
    if (layout)
      follow(layout, ["display", "visibility"], () => {
        element.style.display = layout.get("display") ?? "";
        element.style.visibility = layout.get("visibility") ?? "";
      });
  }

  // ---- canvas ------------------------------------------------------------------------------------
  async function draw(place, model) {
    const widget = window.figureModules[model.get("module")];
    const el = document.createElement("div");
    el.className = "live-view";
    place.append(el);
    await widget.render({ model, el });
    name(place.closest("figure"), el.querySelector("[data-figure]"));
  }

  // In a notebook the drawing has the figure's name itself; here it stands on the controls and the drawing together,
  // and would be read twice. Where the two differ, the drawing's is of what moves, and the other of the first picture.
  function name(figure, drawing) {
    figure.setAttribute("aria-label", drawing.getAttribute("aria-label"));
    for (const attribute of ["role", "aria-label"]) drawing.removeAttribute(attribute);
  }

  // ---- settings, as a page and an address ask for them (figure_buttons.js, `obey`) ---------------------------
  // What a reader can change of a figure has names such as "step", and "painted.7" or "given.WO.1.0" for a number of a
  // list.
  const plain = (value) => ["number", "string", "boolean"].includes(typeof value);
  function leaves(value, name) {
    if (plain(value)) return [[name, value]];
    if (!value || value instanceof DataView) return [];
    return Object.entries(value).flatMap(([key, part]) => leaves(part, `${name}.${key}`));
  }

  const GLIDE = 520; // milliseconds; who wants none of it, isStill of the figures' common.js says
  const eased = (share) => (share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) ** 2);

  // put(wanted): name -> value, or a choice as its control says it, and all else as the figure opened; glide: the same,
  // in motion; holds: is it so
  function settingsOf(models, figure) {
    const all = [...models.values()];
    const canvas = all.find((model) => model.get("module"));
    const isCanvas = (end) => end && models.get(end[0].slice(PREFIX.length)) === canvas;
    const controls = new Map(all.filter((link) => isCanvas(link.get("target"))).map((link) =>
      [link.get("target")[1], models.get(link.get("source")[0].slice(PREFIX.length))]));
    const names = [...canvas.get("setting_names")]
      .sort((a, b) => controls.has(b) - controls.has(a)); // a control may set the rest
    const first = Object.fromEntries(names.map((name) => [name, canvas.get(name)]));
    const opening = new Map(names.flatMap((name) => leaves(first[name], name)));

    const labelsOf = (name) => controls.get(name)?.get("_options_labels");
    function valueOf(name, said) {
      const index = labelsOf(name)?.indexOf(String(said)) ?? -1;
      return index < 0 ? said : index;
    }
    function fits(name, value) {
      if (typeof value !== typeof opening.get(name)) return false;
      if (typeof value !== "number" || !controls.has(name)) return value === value && Math.abs(value) !== Infinity;
      const { min = 0, max = (labelsOf(name)?.length ?? 1) - 1, step = 1 } = controls.get(name).state;
      const steps = (value - min) / step;
      return value >= min && value <= max && Math.abs(steps - Math.round(steps)) < 1e-6;
    }
    const entries = (wanted) => Object.entries(wanted).map(([name, said]) => [name, valueOf(name, said)]);

    // First as the figure opened, then what is wanted: twice, for some controls hold others within bounds. What is no
    // control, and not wanted itself, is then left to the controls. What the book asks for itself is not doubted
    function put(wanted, isOurs) {
      const asked = new Set(Object.keys(wanted).map((name) => name.split(".")[0]));
      for (const isWanted of [false, true, true]) {
        const next = structuredClone(first);
        for (const [name, value] of isWanted ? entries(wanted) : []) {
          const path = name.split(".");
          const part = path.slice(0, -1).reduce((whole, key) => whole[key], next);
          if (isOurs || fits(name, value)) part[path.at(-1)] = value;
        }
        for (const name of names) {
          const leave = isWanted && !controls.has(name) && !asked.has(name);
          const same = String(leaves(next[name], "")) === String(leaves(canvas.get(name), ""));
          if (!leave && !same) canvas.set(name, next[name]);
        }
      }
    }

    // As `put`, but sliders move there, through settings that the figure computes: no number between is made up. What
    // the reader does in the figure meanwhile ends it where it stands; what else is asked for begins there.
    let frame = 0;
    const live = () => figure.querySelectorAll("[aria-live]");
    function stop() {
      cancelAnimationFrame(frame);
      live().forEach((element) => element.removeAttribute("aria-busy"));
    }
    function onItsWay(name, from, to, share) {
      const { min = 0, step = 1 } = controls.get(name).state;
      const steps = Math.round((from + share * (to - from) - min) / step);
      return Number((min + step * steps).toFixed(10));
    }
    function glide(wanted, done) {
      stop();
      const before = new Map(names.filter((name) => controls.get(name)?.name.includes("Slider"))
        .map((name) => [name, canvas.get(name)]));
      put(wanted, true);
      const moves = [...before].map(([name, from]) => ({ name, from, to: canvas.get(name) }))
        .filter(({ name, from, to }) => from !== to && fits(name, from));
      if (isStill() || !moves.length) return done();
      const show = (share) => moves.forEach(({ name, from, to }) => canvas.set(name, onItsWay(name, from, to, share)));
      live().forEach((element) => element.setAttribute("aria-busy", "true")); // what is said is said once, at the end
      const begin = performance.now();
      const tick = (now) => {
        const share = (now - begin) / GLIDE;
        if (share < 1) {
          show(eased(Math.max(share, 0)));
          frame = requestAnimationFrame(tick);
          return;
        }
        stop();
        put(wanted, true);
        done();
      };
      show(0);
      frame = requestAnimationFrame(tick);
    }
    for (const event of ["pointerdown", "keydown"]) figure.addEventListener(event, stop);

    return {
      put,
      glide,
      knows: (wanted) => entries(wanted).every(([name, value]) => typeof opening.get(name) === typeof value),
      holds: (wanted) => entries(wanted).every(([name, value]) => canvas.get(name) === value),
      watch: (wanted, tell) => canvas.on(Object.keys(wanted).map((name) => `change:${name}`).join(" "), tell),
      changed: () => names.flatMap((name) => leaves(canvas.get(name), name))
        .filter(([name, value]) => opening.has(name) && opening.get(name) !== value)
        .map(([name, value]) => [name, labelsOf(name)?.[value] ?? value]),
    };
  }

  // ---- figures -----------------------------------------------------------------------------------
  async function start(figure, index) {
    const fail = once((error) => lay(figure, error));
    try {
      const records = Object.entries(window.figureStates[index].models);
      const models = new Map(records.map(([id, record]) => [id, new Model(record, fail)]));
      const elements = [...figure.querySelectorAll("[data-model]")];
      const parts = elements.map((element) => [element, models.get(element.dataset.model)]);
      tie(models);
      for (const [element, model] of parts) if (element.dataset.kind === "canvas") await draw(element, model);
      for (const [element, model] of parts) if (element.dataset.kind !== "canvas") wake(element, model, models);
      figure.settings = settingsOf(models, figure);
      offerLink(figure);
      figure.addEventListener("input", take);
      new ResizeObserver(() => makeRoom(figure)).observe(figure);
      figure.classList.add("is-live");
    } catch (error) {
      fail(error);
    }
  }

  // The control that is moved, or its row of switches, is what stays in sight on a phone (book.css).
  function take({ currentTarget, target }) {
    const taken = target.closest(".live-switches") ?? target.closest(".live-control");
    if (!taken || taken.matches(".in-hand")) return;
    currentTarget.querySelector(".in-hand")?.classList.remove("in-hand");
    taken.classList.add("in-hand");
    makeRoom(currentTarget);
  }

  // What else a figure keeps in sight, and what has the focus, stands above the controls that stay at the foot.
  function makeRoom(figure) {
    const stays = (el) => getComputedStyle(el).position === "sticky";
    const heights = [...figure.querySelectorAll(".live-controls, .in-hand")].filter(stays)
      .map((el) => el.offsetHeight);
    figure.style.setProperty("--controls", `${Math.max(0, ...heights)}px`);
  }

  // ---- a setting's address: 06_multi_head.html#head-grid?num_heads=16+heads&d_k=24 ------------------
  // A plain #step=5 is one of the first figure. What no figure has, or its controls do not reach, is passed over.
  const OFFER = "Copy a link to this";
  const ADDRESS = /^#(?:([\w-]+)\?)?(.*)$/;
  const kindOf = (figure) => figure.querySelector("[data-figure]")?.dataset.figure;

  // Of several alike on a page, the second one has the name heads-sorted-2
  function nameOf(figure) {
    const alike = [...document.querySelectorAll(".live-figure")].filter((one) => kindOf(one) === kindOf(figure));
    return kindOf(figure) + (alike[0] === figure ? "" : `-${alike.indexOf(figure) + 1}`);
  }

  function offerLink(figure) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy-link" });
    const text = Object.assign(document.createElement("span"), { ariaLive: "polite", textContent: OFFER });
    button.append(text);
    button.addEventListener("click", async () => {
      const asked = new URLSearchParams(figure.settings.changed());
      history.replaceState(history.state, "", `#${nameOf(figure)}?${asked}`);
      try {
        await navigator.clipboard.writeText(location.href);
        text.textContent = "Copied";
      } catch {
        text.textContent = "It is in the address bar";
      }
      setTimeout(() => (text.textContent = OFFER), 3000);
    });
    figure.querySelector(".reset")?.after(button);
  }

  // A number, true or false where the text is one, letter for letter: "5.10" is a head's name
  const asRead = (text) => [true, false, Number(text)].find((value) => String(value) === text) ?? text;

  function obey() {
    const [, name, query] = ADDRESS.exec(location.hash);
    const figures = [...document.querySelectorAll(".live-figure.is-live")];
    const figure = name ? figures.find((one) => nameOf(one) === name) : figures[0];
    if (!figure || (!name && !query.includes("="))) return;
    const wanted = Object.fromEntries([...new URLSearchParams(query)].map(([key, said]) => [key, asRead(said)]));
    if (!name && !figure.settings.knows(wanted)) return;
    figure.closest(".bet-cover[hidden]")?.dispatchEvent(new Event("beforematch")); // it is opened (ask.js)
    figure.settings.put(wanted);
    figure.dispatchEvent(new Event("sought")); // a stage lets it stand (stage.js)
    figure.scrollIntoView({ block: "start", behavior: "instant" }); // a smooth one is broken off while the page loads
  }

  // Back to the picture and the controls of the first setting, with a line that says why.
  function lay(figure, error) {
    console.error("A live figure failed:", figure.getAttribute("aria-label"), error);
    figure.classList.remove("is-live");
    figure.setAttribute("aria-label", figure.querySelector(".live-first [aria-label]").getAttribute("aria-label"));
    figure.querySelectorAll(".live-view").forEach((view) => view.remove());
    for (const field of figure.querySelectorAll("input, output, select")) {
      field.disabled = true;
      field.checked = field.defaultChecked;
      field.value = field.defaultValue ?? field.querySelector("[selected]").value;
    }
    const text = "This figure could not run, so it shows its first setting.";
    figure.append(Object.assign(document.createElement("p"), { className: "live-note", textContent: text }));
  }

  function once(action) {
    let done = false;
    return (...values) => {
      if (!done) action(...values);
      done = true;
    };
  }

  // What was answered on a page before stands again when its document is read (ask.js): nothing shows before that
  const isRead = new Promise((done) => addEventListener("DOMContentLoaded", done));
  const starts = [...document.querySelectorAll(".live-figure")].map(start);
  Promise.all([isRead, ...starts]).then(() => {
    document.documentElement.classList.remove("figures-start");
    dispatchEvent(new Event("figureslive"));
    if (location.hash) obey();
    addEventListener("hashchange", () => location.hash && obey());
  });
})();

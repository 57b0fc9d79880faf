"""Operating the controls of a live figure in the page, all in one call, and reading what it then shows."""
import base64
import functools

import numpy as np

from mha.widgets import FIGURES

# What a figure shows: the numbers on its root (common.js), packed as float64, for they are many.
READ = """
  (index) => {
    function pack(numbers) {
      const bytes = new Uint8Array(Float64Array.from(numbers).buffer);
      let text = "";
      for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
      return btoa(text);
    }
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const list = (numbers) => (typeof numbers === "number" ? [numbers] : numbers);
    return Object.fromEntries(Object.entries(root.numbers).map(([name, numbers]) => [name, pack(list(numbers))]));
  }
"""

# A control's name, as its widget is described, where set symbols are "d_k" and "W_Q"
NAME = """
  (control) => {
    const label = control.querySelector("label, legend")?.cloneNode(true);
    label?.querySelectorAll(".formula").forEach((symbol) => symbol.replaceWith(symbol.dataset.typed));
    return label?.textContent;
  }
"""

HEIGHT = "(index) => document.querySelectorAll('.live-figure')[index].getBoundingClientRect().height"

# plan: [[{name, kind, value}, ...], ...], one list for each setting. Returns for each setting what `read` gives.
OPERATE = """
  ([index, plan]) => {
    const read = %s;
    const figure = document.querySelectorAll(".live-figure")[index];
    const name = %s;
    const controls = new Map([...figure.querySelectorAll(".live-control")].map((el) => [name(el), el]));
    function put(name, value) {
      const el = controls.get(name);
      if (!el) throw Error(`no control is called ${name}`);
      const radio = el.dataset.kind === "radio";
      const field = radio ? el.querySelectorAll("input")[value] : el.querySelector("input, select");
      const property = { radio: "checked", checked: "checked", select: "selectedIndex" }[el.dataset.kind] ?? "value";
      const wanted = radio || (property === "value" ? String(value) : value);
      if (field[property] === wanted) return;
      field[property] = wanted;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      flushFrames();
    }
    return plan.map((setting) => { for (const { name, value } of setting) put(name, value); return read(index); });
  }
"""


@functools.cache
def figure_called(name):
    """A figure of the package as it opens, made once for all tests."""
    return FIGURES[name]()


def unpack(shown):
    """What READ gives, as {name: array}."""
    return {name: np.frombuffer(base64.b64decode(packed)) for name, packed in shown.items()}


def operate(page, index, figure, settings):
    """The numbers that the page's index-th live figure shows at each setting: a list of {name: array}."""
    return [unpack(shown) for shown in after_each(page, index, figure, settings, READ)]


def after_each(page, index, figure, settings, read):
    """What the script `read` says of the page's index-th live figure at each setting."""
    plan = [[{"name": figure.controls[name].description, "value": value} for name, value in setting.items()]
            for setting in settings]
    return page.evaluate(OPERATE % (read.strip(), NAME.strip()), [index, plan])

"""Prints the work of the main thread for each move of a figure's controls. No test asserts a time.

    .venv/bin/python tests/browser/moves.py [SITE ...] [--only FIGURE ...] [--rounds N]

A move is one input event and all that follows until the second frame, in milliseconds of the thread's own clock, which
other work of the machine does not wind. Each figure stands at its largest setting: every slider at its upper end, and
LARGEST.
Several built sites are looked at in turns, figure by figure. "nothing" is a move that changes nothing: the floor.
"""
import argparse
import json
import re
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import served
from operate import NAME

# What makes a figure largest beside the upper ends of its sliders: label of a control -> its value
LARGEST = {"head-grid": {"hold h · d_k = 384": False}, "trained-heads": {"seen on": 1}}
FIGURES = "() => [...document.querySelectorAll('.live-figure [data-figure]')].map((root) => root.dataset.figure)"
PREPARE = """
  ([index, largest]) => {
    const name = %s;
    const figure = document.querySelectorAll(".live-figure")[index];
    figure.scrollIntoView({ block: "center", behavior: "instant" });
    const controls = [...figure.querySelectorAll(".live-control")];
    for (const control of [...controls, ...controls]) { // twice, for a switch may tie others
      const input = control.querySelector("input, select");
      const wanted = largest[name(control)];
      if (input.type === "range") input.value = wanted ?? input.max;
      else if (wanted !== undefined) input.checked = wanted;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
""" % NAME.strip()
# Each control goes through up to 13 of its values and back to the one it had; marks bound what the trace counts
MOVE = """
  async (index) => {
    const figure = document.querySelectorAll(".live-figure")[index];
    const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const calm = () => new Promise((done) => setTimeout(done, 30));
    function moves(control) {
      const inputs = [...control.querySelectorAll("input, select")];
      const [input] = inputs;
      const tell = (put, to = input) => () => { put(); to.dispatchEvent(new Event("input", { bubbles: true })); };
      if (input.type === "radio")
        return [...inputs.filter((one) => !one.checked), ...inputs.filter((one) => one.checked)]
          .map((one) => tell(() => { one.checked = true; }, one));
      if (input.type === "checkbox") return [0, 1].map(() => tell(() => { input.checked = !input.checked; }));
      const [key, ...range] = input.tagName === "SELECT" ? ["selectedIndex", 0, input.length - 1, 1]
        : ["value", input.min, input.max, input.step || 1];
      const [low, high, step] = range.map(Number);
      const stride = Math.max(1, Math.floor((high - low) / step / 12)) * step;
      const values = [];
      for (let value = low; value <= high + 1e-9; value += stride) values.push(value);
      return [...values.filter((value) => value !== Number(input[key])), input[key]]
        .map((value) => tell(() => { input[key] = value; }));
    }
    async function timed(name, move) {
      await frames();
      await calm();
      performance.mark(`${name} starts`);
      move();
      await frames();
      performance.mark(`${name} ends`);
    }
    for (let i = 0; i < 10; i++) await timed("nothing", () => {});
    for (const control of figure.querySelectorAll(".live-control")) {
      const name = control.querySelector("label, legend").textContent;
      for (const move of moves(control)) await timed(name, move);
    }
  }
"""


def work(trace):
    """The milliseconds between the marks of a trace: name of the move -> list."""
    events = json.loads(trace)["traceEvents"]
    marks = [e for e in events if e.get("cat") == "blink.user_timing" and re.search(" (starts|ends)$", e["name"])]
    marks.sort(key=lambda e: e["ts"])
    thread = marks[0]["pid"], marks[0]["tid"]
    tasks = [e for e in events if e["name"] == "ThreadControllerImpl::RunTask" and "dur" in e
             and (e["pid"], e["tid"]) == thread]
    found = defaultdict(list)
    for start, end in zip(marks[::2], marks[1::2]):
        inside = (e for e in tasks if start["ts"] < e["ts"] + e["dur"] < end["ts"])
        found[start["name"].removesuffix(" starts")].append(sum(e.get("tdur", 0) for e in inside) / 1000)
    return found


def measure(chrome, address, page, index, name):
    tab = chrome.new_page(viewport={"width": 1200, "height": 900})
    tab.add_init_script(served.WITHOUT_BETS)
    tab.goto(address + page, wait_until="load")
    tab.evaluate(served.SETTLED)
    tab.evaluate(PREPARE, [index, LARGEST.get(name, {})])
    chrome.start_tracing(page=tab, categories=["toplevel", "blink.user_timing"])
    tab.evaluate(MOVE, index)
    found = work(chrome.stop_tracing())
    tab.close()
    return found


def report(name, site, times):
    times = sorted(times)
    low, high = (times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
    print(f"  {name:42} {site:12} {len(times):6} {low:8.1f} {high:8.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sites", nargs="*", type=Path, default=[served.HTML])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with ExitStack() as stack:
        sites = {site.name: stack.enter_context(served.site(site)) for site in options.sites}
        chrome = stack.enter_context(served.browser())
        print(f"{'figure, its controls':44} {'site':12} {'moves':>6} {'median':>8} {'95 %':>8}")
        for page in served.chapters():
            tab = chrome.new_page()
            tab.goto(next(iter(sites.values())) + page, wait_until="load")
            tab.evaluate(served.SETTLED)
            names = tab.evaluate(FIGURES)
            tab.close()
            for index, name in enumerate(names):
                if options.only and name not in options.only:
                    continue
                found = {site: defaultdict(list) for site in sites}
                for _ in range(options.rounds):
                    for site, address in sites.items():
                        for move, times in measure(chrome, address, page, index, name).items():
                            found[site][move] += times
                print(name)
                for move in next(iter(found.values())):
                    for site in sites:
                        report(move, site, found[site][move])
                for site in sites:
                    report("ALL", site, [t for move, times in found[site].items() if move != "nothing" for t in times])


if __name__ == "__main__":
    main()

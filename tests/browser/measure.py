"""Prints what the book weighs, how soon it is seen, and how fast its figures follow. No test asserts a time.

    .venv/bin/python tests/browser/measure.py
"""
import statistics

import served

# Long tasks are those that keep a page from answering for more than 50 ms.
LONG = """
  window.longTasks = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longTasks += entry.duration - 50;
  }).observe({ type: "longtask", buffered: true });
"""
# Of a page: its height, the top of its first drawing, how many pictures it has and the longest way without one.
PICTURES = """
  () => {
    scrollTo({ top: 0, behavior: "instant" });
    const article = document.querySelector("article");
    const whole = article.getBoundingClientRect();
    const seen = [...article.querySelectorAll("figure, .live-figure, svg, img, table")]
      .filter((one) => !one.closest("details:not([open])"))
      .filter((one) => !one.parentElement.closest("figure, .live-figure, svg, table"))
      .map((one) => one.getBoundingClientRect()).filter(({ width, height }) => width > 100 && height > 60);
    let [end, longest] = [whole.top, 0];
    for (const box of [...seen, { top: whole.bottom, bottom: whole.bottom }].sort((a, b) => a.top - b.top)) {
      longest = Math.max(longest, box.top - end);
      end = Math.max(end, box.bottom);
    }
    const first = article.querySelector(":is(.live-figure, figure.picture)");
    const drawing = [".glance", ".live-view", "svg"].map((one) => first?.querySelector(one)).find(Boolean);
    const { top, bottom } = drawing?.getBoundingClientRect() ?? { top: 0, bottom: 1 };
    return [whole.height, top, Math.min(1, Math.max(0, (innerHeight - top) / (bottom - top))), seen.length, longest];
  }
"""
PAINTED = "() => Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)"
# One movement: the event, the frame it asks for, and the layout that the frame needs.
MOVE = """
  (index) => {
    const figure = document.querySelectorAll(".live-figure")[index];
    const times = [];
    for (const input of figure.querySelectorAll("input[type=range]")) {
      const first = input.value;
      const [low, high, step] = [input.min, input.max, input.step].map(Number);
      const stride = Math.max(1, Math.floor((high - low) / step / 20)) * step;
      for (let i = 0; i <= Math.min(20, (high - low) / step); i++) {
        const start = performance.now();
        input.value = low + i * stride;
        input.dispatchEvent(new Event("input", { bubbles: true }));
        flushFrames();
        figure.getBoundingClientRect();
        times.push(performance.now() - start);
      }
      input.value = first;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      flushFrames();
    }
    return [figure.querySelector("[data-figure]").dataset.figure, times];
  }
"""


def measure_page(chrome, address, page):
    visit = served.Visit(chrome, address, page, script=LONG)
    plain, packed, requests = visit.weight()
    painted = visit.page.evaluate(PAINTED)
    long = visit.page.evaluate("longTasks")
    shift = visit.page.evaluate("layoutShift")
    print(f"{page:34} {plain:7.0f} {packed:10.0f} {requests:8} {painted:8} {long:8.0f} {shift:8.4f}")
    visit.close()


def measure_pictures(chrome, address, page):
    visit = served.Visit(chrome, address, page)
    visit.page.set_viewport_size({"width": 1200, "height": 900})
    height, top, _, count, longest = visit.page.evaluate(PICTURES)
    visit.page.set_viewport_size({"width": 390, "height": 844})
    share = visit.page.evaluate(PICTURES)[2]
    print(f"{page:44} {height:8.0f} {top:6.0f} {share:8.0%} {count:8} {longest:8.0f}")
    visit.close()


def measure_figures(chrome, address, page, width):
    visit = served.Visit(chrome, address, page, script=served.FRAMES, width=width)
    for index in range(len(served.live_figures(page))):
        name, times = visit.page.evaluate(MOVE, index)
        if not times:
            continue                            # it has no slider
        slowest = statistics.quantiles(times, n=20)[-1]
        print(f"{page:34} {name:20} {width:6} {len(times):6} {statistics.median(times):8.1f} {slowest:8.1f}")
    visit.close()


def main():
    with served.site() as address, served.browser() as chrome:
        print(f"{'page':34} {'KiB':>7} {'compressed':>10} {'requests':>8} {'paint ms':>8} {'block ms':>8} {'shift':>8}")
        for page in served.chapters() + ["search.html"]:
            measure_page(chrome, address, page)
        print(f"\n{'page':44} {'height':>8} {'top':>6} {'on phone':>8} {'pictures':>8} {'longest':>8}   "
              "(px at 1200 x 900; the share of the first drawing on a phone's first screen)")
        for page in served.chapters():
            measure_pictures(chrome, address, page)
        print(f"\n{'page':34} {'figure':20} {'px':>6} {'moves':>6} {'median':>8} {'95 %':>8}   (ms from a slider's "
              "event to the laid-out figure)")
        for page in served.chapters():
            for width in (1200, 390):
                measure_figures(chrome, address, page, width)


if __name__ == "__main__":
    main()

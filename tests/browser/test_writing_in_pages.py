"""Code that is written in the page: Python comes on a press, runs and judges it, is stopped, and works offline."""
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import served

FOUND = served.HTML / "_static" / "python"
PAGE = next((page for page in served.chapters() if 'class="ask write-here"' in (served.HTML / page).read_text("utf8")),
            "") if served.chromium() else ""
pytestmark = pytest.mark.skipif(not PAGE, reason="this book was built without Python for its pages")
WRONG = "def softmax(s):\n    e = s.exp()\n    return e / e.sum(-1)\n"
RIGHT = "def softmax(s):\n    e = (s - s.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)\n"
IDLE = "(form) => form.querySelector('textarea') && !form.querySelector('[aria-disabled=true]')"
KEPT = "async () => (await Promise.all(['mha-python', 'mha-pages'].map(async (name) => "\
       "(await (await caches.open(name)).keys()).length))).every((count) => count)"


class Editor:
    """The first of a page."""

    def __init__(self, visit, place="form.write-here >> nth=0"):
        self.visit, self.page, self.form = visit, visit.page, visit.page.locator(place)

    def open(self):
        self.press("Write it here")
        return self.idle()

    def idle(self):
        self.form.locator("textarea").wait_for(timeout=90000)
        self.page.wait_for_function(IDLE, arg=self.form.element_handle(), timeout=90000)
        return self

    def press(self, name):
        self.form.get_by_role("button", name=re.compile(f"^{name}")).click()

    def ask(self, name, source):
        """What it says to a source."""
        self.form.locator("textarea").fill(source)
        self.press(name)
        return self.idle().said()

    def said(self):
        return self.form.locator(".ask-reply").inner_text()

    def printed(self):
        return self.form.locator(".write-printed").inner_text()


@pytest.fixture
def editor(visit):
    return Editor(visit(PAGE))


def test_before_a_press_nothing_of_python_is_asked_for(editor):
    assert not [url for url in editor.visit.requested if "/python/" in url]
    assert re.search(r"^Write it here: \d\.\d MB", editor.form.inner_text())


def test_a_reader_writes_runs_is_judged_and_finds_it_again_without_a_network(editor):
    page, form = editor.page, editor.open().form
    assert "softmax" in form.locator("textarea").input_value()
    assert "Line 2" in editor.ask("Run", "x = 1\nfoo(x)") and "NameError: name 'foo'" in editor.said()
    form.get_by_role("button", name="Line 2").click()
    assert page.evaluate("() => document.activeElement.value.slice(document.activeElement.selectionStart)") == "foo(x)"
    assert editor.ask("Run", "print(2)\ntorch.ones(2)") == "" and editor.printed() == "2\ntensor([1., 1.])"
    said = editor.ask("Run", "import matplotlib")
    assert "is beyond this page: import matplotlib" in said and "torch can say" in said
    assert "not yet" in editor.ask("Check", WRONG) and "Your line: return e / e.sum(-1)" in editor.said()
    editor.press("Hint")
    assert editor.idle().form.locator(".write-hints").inner_text().startswith("Hint 1 of ")
    page.wait_for_function(KEPT, timeout=30000)
    page.wait_for_function("() => navigator.serviceWorker.controller", timeout=30000)
    assert editor.visit.errors == [] and editor.visit.foreign == []
    editor.visit.context.set_offline(True)
    page.reload()
    editor.idle()
    assert form.locator("textarea").input_value() == WRONG and "not yet" in editor.said()
    assert form.locator(".write-hints").inner_text().startswith("Hint 1 of ")
    assert "right" in editor.ask("Check", RIGHT) and page.evaluate("() => mha.solved('1.1')")


def test_a_key_that_is_pressed_while_python_comes_waits_for_it(editor):
    editor.press("Write it here")
    editor.form.locator("textarea").fill(RIGHT)
    editor.page.keyboard.press("Control+Enter")
    expect(editor.form.locator(".ask-verdict")).to_contain_text("right", timeout=90000)


def test_an_endless_loop_is_stopped_at_once_and_a_cell_of_ones_own_takes_the_next_python(editor):
    editor.open().form.locator("textarea").fill("while True: pass")
    editor.press("Run")
    editor.form.get_by_role("button", name="Stop").wait_for()
    editor.press("Stop")
    expect(editor.form.locator(".ask-reply")).to_have_text("Stopped.")
    expect(editor.form.locator("textarea")).to_be_focused()
    own = Editor(editor.visit, "#own-cell form")
    own.press("Open a cell")
    assert re.search(r"Known here: torch, math, F, mha", own.idle().form.inner_text())
    own.ask("Run", "mha.attention(torch.eye(2), torch.eye(2), torch.eye(2))[0].shape")
    assert own.printed() == "torch.Size([2, 2])"


def test_large_arrays_are_reckoned_with_and_a_python_that_breaks_down_is_followed_by_another(editor):
    editor.open().ask("Run", "c = torch.rand(300, 300)\nprint((c * c + (c + c) * 2).shape, torch.randn(70000).shape)")
    assert editor.printed().strip() == "torch.Size([300, 300]) torch.Size([70000])"
    assert "Python itself broke down" in editor.ask("Run", "import os\nos.abort()")
    assert editor.ask("Run", "print(3)") == "" and editor.printed().strip() == "3"


# --- Where it was written before, the editor is there at once, and Python is not ------------------------------------

def kept(visit, **options):
    said = {"ok": False, "started": True, "text": ["1.1: not yet."], "html": ["1.1: not yet. " + 40 * "long "]}
    before = json.dumps({"source": WRONG + "# " + 60 * "long ", "tries": 1, "given": [], "said": said, "height": 400})
    return Editor(visit(PAGE, script=served.keeping(f'"written": {{"1.1": {before}}}'), **options)).idle()


def test_tab_indents_and_after_escape_it_leaves(visit):
    editor = kept(visit)
    area, keys = editor.form.locator("textarea"), editor.page.keyboard
    area.fill("def f(x):")
    for key in ("Enter", "y = x", "Enter", "Backspace", "f(1)"):
        keys.press(key) if key in ("Enter", "Backspace") else keys.type(key)
    assert area.input_value() == "def f(x):\n    y = x\nf(1)"
    keys.press("Tab")
    assert area.input_value().endswith("f(1)    ")
    keys.press("Shift+Tab")
    keys.press("Escape")
    keys.press("Tab")
    assert editor.page.evaluate("() => document.activeElement.textContent") == "Check"
    assert not [url for url in editor.visit.requested if url.endswith(".bin")]


def test_what_start_over_puts_away_is_taken_back(visit):
    editor = kept(visit)
    area, before = editor.form.locator("textarea"), editor.form.locator("textarea").input_value()
    editor.press("Start over")
    assert "..." in area.input_value()
    editor.press("Take it back")
    assert area.input_value() == before
    editor.press("Start over")
    area.press("End")
    area.press("x")
    expect(editor.form.get_by_role("button", name="Start over")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_it_fits_nothing_moves_and_all_has_a_name_and_contrast(visit, scheme):
    editor = kept(visit, width=390, scheme=scheme)
    assert editor.visit.shift < 0.001 and "not yet" in editor.said() and editor.page.evaluate(served.OVERFLOW) <= 0
    assert Axe().run(editor.page, context="#write-1-1").response["violations"] == []

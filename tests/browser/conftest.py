"""A real Chromium on the built book."""
import inspect

import pytest

import served

NO_CHROMIUM = "there is no Chromium here; on Debian or Ubuntu: sudo apt-get install chromium"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """All that is asked of one page goes to one worker, in a row, so that it is opened few times (`opened`, below)."""
    def page_of(item):
        asked = item.callspec.params if hasattr(item, "callspec") else {}
        page, item = asked.get("page"), asked.get("item")      # something else where no page of this book has any
        if isinstance(page, str):
            return page
        return f"chapters/{item.chapter}.html" if hasattr(item, "chapter") else ""

    items.sort(key=page_of)
    for item in items:
        if page := page_of(item):
            item.add_marker(pytest.mark.xdist_group(page))
        if not served.chromium():
            item.add_marker(pytest.mark.skip(reason=NO_CHROMIUM))


@pytest.fixture(scope="session")
def address():
    with served.site() as address:
        yield address


@pytest.fixture(scope="session")
def chrome():
    with served.browser() as chrome:
        yield chrome


@pytest.fixture
def visit(chrome, address):
    """Open a page of the book; all that a test opened is closed after it."""
    opened = []

    def open_page(path, **options):
        opened.append(served.Visit(chrome, address, path, **options))
        return opened[-1]

    yield open_page
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def opened(chrome, address):
    """As `visit`, for tests that leave a page to the next one as it is: it stays open until another is asked for."""
    tabs, usual = {}, {name: known.default for name, known in inspect.signature(served.Visit).parameters.items()}

    def open_once(path, **options):
        asked = (path, *sorted((name, value) for name, value in options.items() if value != usual[name]))
        if asked not in tabs:
            for other in [other for other in tabs if other[0] != path]:
                tabs.pop(other).close()
            tabs[asked] = served.Visit(chrome, address, path, **options)
        return tabs[asked]

    yield open_once
    for one in tabs.values():
        one.close()


@pytest.fixture(scope="session")
def unscripted(chrome, address):
    """A page as it is without JavaScript, open until another is asked for; what a test unfolds there stays so. Its
    fonts are waited for, however slow this machine is.
    """
    context = chrome.new_context(java_script_enabled=False)

    def wait_for_fonts(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("font-display: optional", "font-display: block"))

    context.route("**/*.css*", wait_for_fonts)
    tab = context.new_page()
    at = []

    def open_once(path, width=1280, height=720):
        tab.set_viewport_size({"width": width, "height": height})
        tab.emulate_media(media="screen")
        if at != [path]:
            tab.goto(address + path, wait_until="load")
            tab.evaluate("document.fonts.ready")
            at[:] = [path]
        return tab

    yield open_once
    context.close()

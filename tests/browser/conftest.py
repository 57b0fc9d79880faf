"""A real Chromium on the built book."""
import inspect

import pytest

import served

NO_CHROMIUM = "there is no Chromium here; on Debian or Ubuntu: sudo apt-get install chromium"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """All that is asked of one page goes to one worker, in a row, so that it is opened few times (`opened`, below);
    first what is asked of every page, as it is when it has loaded.
    """
    def page_of(item):
        asked = item.callspec.params if hasattr(item, "callspec") else {}
        page, chapter = asked.get("page"), getattr(asked.get("item"), "chapter", "")
        if isinstance(page, str):                              # something else where no page of this book has any
            return page
        return f"chapters/{chapter}.html" if chapter else getattr(item.module, "PAGE", None) or ""

    items.sort(key=lambda item: (page_of(item), item.path.name != "test_pages.py"))
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
    """As `visit`, for tests that leave a page to the next one as it is: it stays until another is asked for, and each
    gets it in its size. Its frames pass when a test says so.
    """
    known = inspect.signature(served.Visit).parameters
    tabs, usual = {}, {name: one.default for name, one in known.items()} | {"script": served.FRAMES}

    def open_once(path, **options):
        asked = tuple(sorted((name, value) for name, value in options.items() if value != usual[name]))
        if asked not in tabs:
            tabs[asked] = served.Visit(chrome, address, path, **{"script": served.FRAMES} | options)
            tabs[asked].load(path)                    # again: a browser that has just started may be too late for fonts
        one, size = tabs[asked], {"width": options.get("width", usual["width"]), "height": 900}
        if one.page.viewport_size != size:
            one.page.set_viewport_size(size)
            one.page.evaluate(served.DRAWN)
        if one.path != path:
            one.go(path)
        return one

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

"""A real Chromium on the built book."""
import pytest

import served

NO_CHROMIUM = "there is no Chromium here; on Debian or Ubuntu: sudo apt-get install chromium"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """All that is asked of one page goes to one worker, so that each page is looked at once (`look`, below)."""
    for item in items:
        asked = item.callspec.params if hasattr(item, "callspec") else {}
        page = asked.get("page") or "item" in asked and f"chapters/{asked['item'].chapter}.html"
        if page:
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
    """As `visit`, for tests that leave a page to the next one as it is: the last few pages stay open."""
    tabs = {}

    def open_once(path, **options):
        asked = (path, *sorted(options.items()))
        if asked not in tabs:
            tabs[asked] = served.Visit(chrome, address, path, **options)
            if len(tabs) > 4:
                tabs.pop(next(iter(tabs))).close()
        return tabs[asked]

    yield open_once
    for one in tabs.values():
        one.close()

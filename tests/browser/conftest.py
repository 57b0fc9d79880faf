"""A real Chromium on the built book. The book is built first where it is missing or older than its sources."""
import functools

import pytest

import served


def pytest_collection_modifyitems(items):
    if not served.chromium():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="there is no Chromium here; on Debian or Ubuntu: sudo apt-get "
                                                    "install chromium"))


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
def look(chrome, address):
    """What was found on a page at one width and in one scheme: looked at once, asked about by several tests."""
    from inspection import inspect

    @functools.cache
    def look_once(path, width, scheme):
        one = served.Visit(chrome, address, path, width=width, scheme=scheme)
        try:
            return inspect(one)
        finally:
            one.close()

    return look_once

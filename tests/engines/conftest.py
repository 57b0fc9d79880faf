"""Firefox and WebKit on the built book."""
import os
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

sys.path.append(str(Path(__file__).parents[1] / "browser"))     # what both suites ask stands there

import engines  # noqa: E402
import served  # noqa: E402
from first import Listening  # noqa: E402

MISSING = {name: line for name in engines.ENGINES if (line := engines.missing(name))}


def pytest_configure():
    if MISSING and os.environ.get("ENGINES") == "all":            # as .ci/run says, which installs them
        pytest.exit("\n".join(MISSING.values()), returncode=1)


def pytest_terminal_summary(terminalreporter):
    for name, line in MISSING.items():
        terminalreporter.write_line(f"Nothing was tried in {name}: {line}")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.callspec.params["engine"] in MISSING:
            item.add_marker(pytest.mark.skip(reason=MISSING[item.callspec.params["engine"]]))


class OneWorkerForEachEngine(LoadScopeScheduling):
    """So that the engines run side by side and each of them starts once."""

    def _split_scope(self, nodeid):
        return next(name for name in engines.ENGINES if f"[{name}" in nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return OneWorkerForEachEngine(config, log)


@pytest.fixture(scope="session")
def address():
    with served.site(handler=Listening) as address:
        yield address


@pytest.fixture(scope="session", params=engines.ENGINES)
def engine(request):
    """An engine that has seen the book: its fonts are optional, and a first page may be drawn without them."""
    with engines.ENGINES[request.param]() as browser:
        for _ in range(2):
            browser.go(request.getfixturevalue("address") + "chapters/00_the_whole.html")
            browser.evaluate(served.SETTLED)
        yield browser

"""What several test files share. conftest.py hands the fixtures to all of them."""
import itertools
import os
import random
import shutil
from pathlib import Path

import nbformat
import pytest
import torch
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

import mha

ROOT = Path(__file__).parents[1]
SEED = int(os.environ.get("MHA_TEST_SEED", 7))
ROADS = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "weights"])


# --- Random numbers --------------------------------------------------------------------------------------------------

@pytest.fixture(autouse=True)
def seed():
    """torch draws the same numbers in a test whichever tests run before it; MHA_TEST_SEED=8 tries others."""
    torch.manual_seed(SEED)


@pytest.fixture
def some():
    """Choices that are others at each run. A test that fails shows their seed, and with it they are the same again."""
    number = SEED if "MHA_TEST_SEED" in os.environ else random.randrange(10**6)
    print(f"MHA_TEST_SEED={number} draws this again")
    return random.Random(number)


@pytest.fixture(autouse=True)
def compiled_afresh(request):
    """torch counts what it compiled of a function, over all tests of a process, and stops at eight."""
    yield
    if "compil" in request.node.name:
        torch._dynamo.reset()


def tokens(*shape):
    """Random vectors in float64, to be compared to the last digits."""
    return torch.randn(*shape, dtype=torch.float64)


# --- Grids -----------------------------------------------------------------------------------------------------------

def pairwise(**factors):
    """Few settings in which each value of each factor meets each value of every other: a list of dicts."""
    def pairs(places):
        return set(itertools.combinations(enumerate(places), min(2, len(places))))

    grid = list(itertools.product(*(range(len(values)) for values in factors.values())))
    open_pairs, chosen = set().union(*map(pairs, grid)), []
    while open_pairs:
        chosen.append(max(grid, key=lambda places: len(pairs(places) & open_pairs)))
        open_pairs -= pairs(chosen[-1])
    return [{name: values[i] for (name, values), i in zip(factors.items(), places)} for places in chosen]


def every_pair(**factors):
    """pytest's parametrize by the settings of `pairwise`."""
    return pytest.mark.parametrize(", ".join(factors), [tuple(setting.values()) for setting in pairwise(**factors)])


# --- Comparing -------------------------------------------------------------------------------------------------------

def close(a, b, tolerance=1e-12):
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def see(n, m, rule):
    """An (n, m) mask, entry by entry, from a rule about i and j."""
    return torch.tensor([[rule(i, j) for j in range(m)] for i in range(n)])


def refused(errors):
    """A test of a table of wrong calls, name -> (call, kind of error, words of its sentence)."""
    @pytest.mark.parametrize("case", errors)
    def test(case):
        call, kind, words = errors[case]
        with pytest.raises(kind, match=words):
            call()

    return test


def nothing_leaks(function, x):
    """Whether token i of the output depends on every token of x (n, d) up to i, and with a zero gradient on no later
    one.
    """
    gradients = torch.autograd.functional.jacobian(function, x).abs().amax((1, 3))       # (n, n)
    future = see(len(x), len(x), lambda i, j: j > i)
    return bool((gradients[future] == 0).all() and (gradients[~future] > 0).all())


# --- What not every machine has --------------------------------------------------------------------------------------

def needs_gpu(test):
    return pytest.mark.gpu(pytest.mark.skipif(mha.pick_device().type == "cpu", reason="no GPU")(test))


def needs_cuda(test):
    """For what is computed in float64, which not every GPU can."""
    return pytest.mark.gpu(pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")(test))


def needs_compiler(test):
    found = shutil.which("g++") or shutil.which("clang++")
    return pytest.mark.slow(pytest.mark.skipif(not found, reason="no C++ compiler for torch.compile")(test))


# --- The sources of the pages ----------------------------------------------------------------------------------------

PAGES = [*sorted((ROOT / "chapters").glob("*.ipynb")), *sorted((ROOT / "chapters").glob("*.md"))]


def formulas_of(path):
    """[TeX, whether it is displayed] of every formula of a page, as they stand in its Markdown."""
    text = path.read_text("utf8")
    if path.suffix == ".ipynb":
        text = "\n\n".join(cell.source for cell in nbformat.reads(text, 4).cells if cell.cell_type == "markdown")
    tokens = MarkdownIt().enable("table").use(dollarmath_plugin).parse(text)
    return [[token.content.strip(), "block" in token.type or "double" in token.type]
            for parent in tokens for token in [parent, *(parent.children or [])] if token.type.startswith("math_")]


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine with no weights and no network."""
    def refuse(url, *args, **kwargs):
        raise OSError(f"no route to {url}")
    monkeypatch.delenv("MHA_MODELS", raising=False)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    monkeypatch.setattr(torch.hub, "download_url_to_file", refuse)
    return tmp_path

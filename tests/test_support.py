"""A failure can be seen again: each test draws the same random numbers, whichever tests ran before it."""
import ast
import itertools
import math
from pathlib import Path

import pytest
import torch

from support import SEED, pairwise

TESTS = Path(__file__).parent
DRAWS = {"bernoulli", "normal", "rand", "randint", "randn", "random", "randperm"}


@pytest.mark.parametrize("run", ["first", "after another"])
def test_each_test_starts_from_the_same_random_numbers(run):
    assert torch.equal(torch.rand(5), torch.rand(5, generator=torch.Generator().manual_seed(SEED)))


def at_import(tree):
    """The nodes of a syntax tree that are computed when its file is imported: all but the bodies of functions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            waiting += [node.args, *getattr(node, "decorator_list", [])]
        else:
            waiting += ast.iter_child_nodes(node)


def draws(source):
    """The calls that draw random numbers when a file is imported."""
    calls = [node for node in at_import(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if ast.unparse(call.func).split(".")[-1] in DRAWS]


def test_no_file_draws_random_numbers_before_a_test_begins():
    found = {path.name: draws(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize("source", [
    "x = torch.rand(3)",
    "f = lambda m=torch.rand(3): m",
    "def f(m=torch.rand(3)): pass",
    "@pytest.mark.parametrize('m', [torch.rand(3)])\ndef test(m): pass",
])
def test_a_draw_at_import_is_found_wherever_it_stands(source):
    assert draws(source) == ["torch.rand(3)"]


@pytest.mark.parametrize("sizes", [(2, 3, 4), (5, 2, 2, 2), (3,)], ids=str)
def test_each_value_of_a_factor_meets_each_of_every_other_in_few_settings(sizes):
    factors = {f"factor {i}": list(range(size)) for i, size in enumerate(sizes)}
    few = pairwise(**factors)
    for one, other in itertools.combinations(factors, 2):
        met = {(setting[one], setting[other]) for setting in few}
        assert met == set(itertools.product(factors[one], factors[other]))
    assert len(few) <= 2 * math.prod(sorted(sizes)[-2:])


def test_a_draw_inside_a_function_is_none_at_import():
    assert draws("def f():\n    return torch.rand(3)\n\ng = lambda: torch.rand(3)") == []

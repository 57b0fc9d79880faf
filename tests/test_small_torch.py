"""The small torch of the page gives what torch gives, or says that it is not here.

Both run in processes of their own. A run takes of each large set every Nth, which of them does not change;
MHA_SMALL_TORCH=whole takes all, in about ten minutes of one core.
"""
import ast
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tools import make_names

ROOT = Path(__file__).parents[1]
SMALL, HERE = ROOT / "small_torch", Path(__file__).parent / "small_torch"
EVERY = {"references": 1, "right": 3, "mistakes": 20, "mutants": 60, "slips": 30, "samples": 17}
if os.environ.get("MHA_SMALL_TORCH") == "whole":
    EVERY = dict.fromkeys(EVERY, 1)
SHARE = {"references": 0, "right": 0, "mistakes": 0.03, "mutants": 0.08, "slips": 0.08}


def run(script, *args, small):
    """A script of tests/small_torch under one of the two."""
    path = [str(SMALL)] * small + [str(HERE), str(ROOT / "tests"), str(ROOT)]
    subprocess.run([sys.executable, str(HERE / script), *map(str, args)], cwd=ROOT, check=True,
                   env=os.environ | {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"})


# One test for each pair of processes, since tests are shared out among workers.

@pytest.mark.slow
def test_every_report_is_the_same_text_or_not_here(tmp_path):
    found = []
    for small in False, True:
        run("reports.py", tmp_path / "reports.json", *(f"{name}:{n}" for name, n in EVERY.items() if name in SHARE),
            small=small)
        found.append(json.loads((tmp_path / "reports.json").read_text()))
    for name, answers in found[0].items():
        absent = {key: said["not_here"] for key, said in found[1][name].items() if "not_here" in said}
        print(f"{name}: {len(answers)}, of which not here {len(absent)}")
        assert {key: (said, found[1][name][key]) for key, said in answers.items()
                if key not in absent and said != found[1][name][key]} == {}
        assert len(absent) <= SHARE[name] * len(answers), absent


# --- The words of errors ----------------------------------------------------------------------------------------------

def test_a_line_gives_the_same_or_raises_the_same_words_and_every_error_is_met_by_one(tmp_path):
    found = []
    for small in False, True:
        run("lines.py", tmp_path / "lines.pkl", small=small)
        found.append(pickle.loads((tmp_path / "lines.pkl").read_bytes()))
    written = (HERE / "lines.txt").read_text(encoding="utf-8").splitlines()
    known = [both for both in zip(written, *found, strict=True) if "not_here" not in both[2]]
    assert {line: why for line, ours, small in known if (why := difference(ours, small))} == {}
    assert len(known) > 0.8 * len(written)
    met = {tuple(small["place"]) for _, _, small in known if small.get("place")}
    assert [f"{file}:{first}" for file, first, last in errors()
            if not any((file, number) in met for number in range(first, last + 1))] == []


def errors():
    """(file, its first line, its last) of every error that the small torch words."""
    for path in (SMALL / "torch").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) == "error":
                yield path.relative_to(SMALL / "torch").as_posix(), node.lineno, node.end_lineno


# --- torch's own samples ----------------------------------------------------------------------------------------------

@pytest.mark.slow
def test_torchs_own_samples_give_the_same(tmp_path):
    """Value, dtype, shape, strides, gradient; each sample also with its axes in another order in memory, and in
    place.
    """
    run("samples.py", "torch", tmp_path / "calls.pkl", "--every", EVERY["samples"], small=False)
    run("samples.py", "small", tmp_path / "calls.pkl", tmp_path / "small.pkl", small=True)
    calls = pickle.loads((tmp_path / "calls.pkl").read_bytes())
    found = pickle.loads((tmp_path / "small.pkl").read_bytes())
    known = [(call, small) for call, small in zip(calls, found, strict=True) if "not_here" not in small]
    print(f"{len(calls)} calls, of which not here {len(calls) - len(known)}")
    assert {call["key"]: why for call, small in known if (why := difference(call["torch"], small))} == {}
    assert len(known) > 0.6 * len(calls) and len(calls) > 500


NEAR = {"float64": 1e-9, "complex128": 1e-9, "float32": 3e-5, "complex64": 3e-5, "bfloat16": 1e-2, "float16": 2e-3}


def difference(ours, small):
    """What differs between two outcomes, in words; empty where nothing does."""
    if "raised" in ours or "raised" in small:
        said = ours.get("raised"), small.get("raised")
        return f"raised {said[0]!r} and {said[1]!r}" if said[0] != said[1] else ""
    found = unlike(ours.get("result", {}), small.get("result", {}))
    if found or "gradients" not in ours and "gradients" not in small:
        return found
    return unlike(["list", ours.get("gradients", [])], ["list", small.get("gradients", [])])


def unlike(one, other):
    if isinstance(one, list) and isinstance(other, list):
        if one[0] != other[0] or len(one[1]) != len(other[1]):
            return f"{one[0]} of {len(one[1])} and {other[0]} of {len(other[1])}"
        return next(filter(None, map(unlike, one[1], other[1])), "")
    if not (isinstance(one, dict) and isinstance(other, dict) and "tensor" in one and "tensor" in other):
        return "" if repr(one) == repr(other) else f"{one} and {other}"
    x, y = one["tensor"], other["tensor"]
    for what, a, b in (("dtype", one["dtype"], other["dtype"]), ("shape", x.shape, y.shape),
                       ("requires_grad", one["requires_grad"], other["requires_grad"])):
        if a != b:
            return f"{what} {a} and {b}"
    near = NEAR.get(one["dtype"], 0)
    if not np.allclose(x, y, rtol=near, atol=near, equal_nan=True):
        return f"{x.reshape(-1)[:5]} and {y.reshape(-1)[:5]}"
    steps = [[step for step, size in zip(side["strides"] or [], x.shape) if size > 1] for side in (one, other)]
    return f"strides {steps}" if other["strides"] is not None and x.size and steps[0] != steps[1] else ""


# --- What it promises -------------------------------------------------------------------------------------------------

def on_small(source):
    """What a script prints under the small torch."""
    made = subprocess.run([sys.executable, "-c", source], env=os.environ | {"PYTHONPATH": str(SMALL)}, check=True,
                          capture_output=True, text=True)
    return made.stdout.strip()


def test_what_is_not_here_is_remembered_whatever_swallows_it():
    assert on_small("import torch\ntry:\n    torch.fft.fft(torch.ones(2))\nexcept:\n    pass\n"
                    "print(torch.not_here)") == "['torch.fft']"
    assert on_small("import torch\ntry:\n    try: torch.ones(2).numpy()\n    except Exception: print('lost')\n"
                    "except torch.NotHere: print('NotHere')") == "NotHere"


def test_a_sign_that_torch_leaves_open_is_not_here_where_the_answer_depends_on_it():
    told = on_small("import torch\nA = torch.tensor([[2., 1.], [1., 3.]])\nvectors = lambda: torch.linalg.eigh(A)[1]\n"
                    "print(torch.sure(lambda: (vectors() @ vectors().T).abs().round().tolist()))\n"
                    "try: torch.sure(lambda: vectors().tolist())\nexcept torch.NotHere as failure: print(failure)")
    assert told == "[[1.0, 0.0], [0.0, 1.0]]\nwhat hangs on the last digit"


def test_it_knows_the_names_of_this_torch():
    told = subprocess.check_output([sys.executable, "-m", "tools.make_names", "print"], cwd=ROOT, text=True)
    assert {name: json.loads((make_names.FOLDER / name).read_text()) for name in make_names.MADE} == json.loads(told)
    assert torch.__version__.split("+")[0] in on_small("import torch; print(torch.__version__)")


def test_its_files_are_read_in_one_sitting_and_it_is_not_in_the_wheel():
    for path in SMALL.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 320, path
    assert 'packages = ["mha"]' in (ROOT / "pyproject.toml").read_text()
    assert "It is not torch" in (SMALL / "torch/__init__.py").read_text(encoding="utf-8")

"""The names that torch has, for the small torch: what is none of them is a reader's slip, in torch's own words.

    python -m tools.make_names        writes small_torch/torch/names.json
"""
import json
import subprocess
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

FILE = Path(__file__).parents[1] / "small_torch/torch/names.json"
HOMES = {"torch": torch, "Tensor": torch.Tensor, "F": functional, "nn": nn, "linalg": torch.linalg,
         "special": torch.special, "Module": nn.Module}


CLAIMED = "import torch, json; print(json.dumps(sorted(torch._base.OPS)))"


def one_form():
    """Of the functions of the small torch those that take a tensor first in each of their forms, and say so."""
    listed = subprocess.run([sys.executable, "-c", CLAIMED], env={"PYTHONPATH": str(FILE.parents[1])}, check=True,
                            capture_output=True, text=True)
    for claimed in json.loads(listed.stdout):
        home, _, name = claimed.rpartition(".")
        function = getattr({"": torch, "nn.functional": functional}.get(home), name, None)
        told = [refusal(function, *args) for args in ((2,), (2, 0), (2, 0, True))] if function else []
        said = f"{name}(): argument 'input' (position 1) must be Tensor, not int"
        if said in told and not any("invalid combination" in text for text in told):
            yield claimed


def refusal(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as failure:
        return str(failure)
    return ""


def names():
    """home -> its public names, as a Python has them that has imported nothing but torch."""
    public = {home: sorted(name for name in dir(value) if name[0] != "_") for home, value in HOMES.items()}
    return public | {"one form": sorted(one_form())}


if __name__ == "__main__":
    told = json.dumps(names())
    if sys.argv[1:] == ["print"]:
        print(told)
    else:
        FILE.write_text(told, encoding="utf-8")

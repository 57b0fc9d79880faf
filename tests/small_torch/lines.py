"""Lines of code, most of them wrong: what each gives or raises under whichever torch comes first on the path.

    PYTHONPATH=small_torch:tests/small_torch python tests/small_torch/lines.py FILE

The small torch also says at which of its lines each error was raised: every error that it words must be met.
"""
import math
import pickle
import sys
import traceback
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F

from samples import encoded

LINES = (Path(__file__).parent / "lines.txt").read_text(encoding="utf-8").splitlines()
OWN = str(Path(torch.__file__).parent)


def outcome(line):
    """What the last part of a line gives; the parts before it are statements."""
    *before, last = line.split("; ")
    world = {"torch": torch, "F": F, "math": math}
    try:
        for statement in before:
            exec(statement, world)
        try:
            code = compile(last, "line", "eval")
        except SyntaxError:
            return {"ran": exec(last, world)}
        return {"result": shown(eval(code, world))}
    except BaseException as failure:
        if type(failure).__name__ == "NotHere":
            return {"not_here": str(failure)}
        place = next(((Path(frame.f_code.co_filename).relative_to(OWN).as_posix(), number) for frame, number in
                      reversed(list(traceback.walk_tb(failure.__traceback__)))
                      if frame.f_code.co_filename.startswith(OWN)), None)
        return {"raised": f"{type(failure).__name__}: {failure}".split("\n")[0], "place": place}


def shown(value):
    try:
        return encoded(value)
    except TypeError:
        return str(value)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    Path(sys.argv[1]).write_bytes(pickle.dumps([outcome(line) for line in LINES]))

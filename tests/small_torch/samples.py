"""torch's own samples of inputs, `op_db`: what each function of the small torch gives for them, and what torch gives.

    python tests/small_torch/samples.py torch FILE [--every N] [--only NAME]        writes calls and torch's results
    PYTHONPATH=small_torch python tests/small_torch/samples.py small FILE RESULTS     makes the calls again
"""
import argparse
import pickle
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import torch

RANDOM = {"empty", "empty_like", "new_empty", "randn", "randn_like", "rand", "rand_like", "randint", "randperm",
          "normal_", "uniform_", "zero_", "fill_"}
KINDS = "float64", "float32", "int64", "bool", "complex128", "bfloat16"
ORDER = {"where": (1, 0, 2), "einsum": (1, 0), "nn.functional.embedding": (1, 0)}
WITHOUT = {"cdist", "cholesky_solve", "det", "inverse", "pinverse", "median", "mode", "nn.functional.cosine_similarity"}
EACH = 40                                                # samples of one function in one dtype, evenly drawn


# --- Tensors in a file ------------------------------------------------------------------------------------------------

def encoded(value):
    """What is pickled in place of tensors and dtypes."""
    if isinstance(value, torch.Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        return {"tensor": numbers(value.detach()), "dtype": kind, "strides": strides(value),
                "requires_grad": value.requires_grad}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, (tuple, list)):
        return [type(value).__name__ if type(value) in (tuple, list) else "tuple", [encoded(item) for item in value]]
    if isinstance(value, dict):
        return {"dict": {key: encoded(item) for key, item in value.items()}}
    if isinstance(value, slice):
        return {"slice": [encoded(part) for part in (value.start, value.stop, value.step)]}
    if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str)):
        return {"value": value}
    raise TypeError(f"{type(value).__name__} cannot be kept")


def numbers(value):
    if hasattr(value, "array"):
        return np.array(value.array)
    value = value.float() if value.dtype in (torch.bfloat16, torch.float16) else value
    return value.resolve_conj().resolve_neg().contiguous().numpy().copy()


def strides(value):
    """None where the small torch does not tell them."""
    try:
        return list(value.stride())
    except BaseException as failure:
        if type(failure).__name__ != "NotHere":
            raise
        return None


def decoded(value):
    """The same for the small torch."""
    from torch._base import make
    if isinstance(value, list):
        return (tuple if value[0] == "tuple" else list)(map(decoded, value[1]))
    if "tensor" in value:
        array, kind = value["tensor"], getattr(torch, value["dtype"])
        laid = np.zeros(1 + sum(max(n - 1, 0) * step for n, step in zip(array.shape, value["strides"])), array.dtype)
        laid = np.lib.stride_tricks.as_strided(laid, array.shape, [step * array.itemsize for step in value["strides"]])
        laid[...] = array
        made = make(laid, kind)
        return made.requires_grad_(value["requires_grad"])
    if "slice" in value:
        return slice(*map(decoded, value["slice"]))
    if "dict" in value:
        return {key: decoded(item) for key, item in value["dict"].items()}
    return getattr(torch, value["dtype"]) if "dtype" in value else value["value"]


# --- One call ---------------------------------------------------------------------------------------------------------

def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def outcome(name, function, args, kwargs, in_place):
    """What a function gives, and the gradients of its arguments; or what it raises."""
    leaves = [tensor for tensor in tensors_in([args, kwargs]) if tensor.requires_grad]
    try:
        if in_place:
            args = (args[0].clone(), *args[1:])
        result = COMPARED.get(name, lambda result: result)(function(*args, **kwargs))
        found = {"result": encoded(result)}
        outputs = [tensor for tensor in tensors_in(result) if tensor.requires_grad]
        if outputs and leaves:
            given = [torch.tensor([(i % 7 - 3) / 4 for i in range(output.numel())], dtype=output.dtype
                                  ).reshape(output.shape) for output in outputs]
            found["gradients"] = [encoded(gradient) for gradient in torch.autograd.grad(
                outputs, leaves, given, allow_unused=True)]
        return found
    except BaseException as failure:
        if type(failure).__name__ == "NotHere":
            return {"not_here": str(failure)}
        if not isinstance(failure, Exception):
            raise
        return {"raised": f"{type(failure).__name__}: {failure}".split("\n")[0]}


# --- Both sides -------------------------------------------------------------------------------------------------------

ORDERED = {"where": torch.where, "einsum": torch.einsum, "nn.functional.embedding": torch.nn.functional.embedding}
# what is compared: not the signs that each library chooses, nor what is not here whatever the input
COMPARED = {"linalg.svd": lambda parts: svd_without_signs(*parts), "linalg.lstsq": lambda parts: parts[0],
            "linalg.eigh": lambda parts: [part.abs() for part in parts]}


def svd_without_signs(U, S, Vh):
    """Nor the vectors to which no singular value belongs."""
    count = S.shape[-1]
    return [U[..., :count].abs(), S, Vh[..., :count, :].abs()]


def without_gradients(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    return type(value)(map(without_gradients, value)) if type(value) in (tuple, list) else value


def turned(value):
    """The same numbers with the axes in the other order in memory, as after a transpose."""
    if isinstance(value, torch.Tensor) and value.ndim > 1:
        with torch.no_grad():
            return value.detach().mT.contiguous().mT.requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(map(turned, value))
    return value


def samples(claimed, every, only):
    """(function, dtype, number, sample) of op_db: of the functions that are claimed and their dtypes one in N."""
    from torch.testing._internal.common_methods_invocations import op_db
    for info in op_db:
        if info.name not in claimed or info.name in RANDOM or only and info.name != only:
            continue
        for kind in KINDS:
            dtype = getattr(torch, kind)
            if not info.supports_dtype(dtype, "cpu"):
                continue
            if zlib.crc32(f"{info.name} {kind}".encode()) % every:      # so that a new name moves no other
                continue
            torch.manual_seed(0)
            grad = info.supports_autograd and dtype.is_floating_point | dtype.is_complex
            drawn = list(info.sample_inputs("cpu", dtype, requires_grad=grad and kind != "bfloat16"))
            for i, sample in enumerate(drawn[::max(1, len(drawn) // EACH)]):
                yield info, kind, i, sample


def on_torch(file, every, only):
    import json
    import subprocess
    root = Path(__file__).parents[2]
    listed = subprocess.run([sys.executable, "-c", "import torch, json; print(json.dumps(list(torch._base.OPS)))"],
                            env={"PYTHONPATH": str(root / "small_torch")}, capture_output=True, text=True, check=True)
    claimed, found = set(json.loads(listed.stdout)), []
    for info, kind, i, sample in samples(claimed, every, only):
        for way in "as it is", "turned", "in place":
            args, kwargs, function = (sample.input, *sample.args), sample.kwargs, info.op
            if info.name in ORDER:                      # op_db gives them to a lambda that puts them in order
                args, function = tuple(args[k] for k in ORDER[info.name]), ORDERED[info.name]
            if info.name.startswith("linalg") and info.name != "linalg.vector_norm" or info.name in WITHOUT:
                args = without_gradients(args)
            if way == "turned":
                args = turned(args)
            if way == "in place":
                function = info.inplace_variant
                if function is None or f"{info.name}_" not in claimed:
                    continue
            try:
                call = {"name": info.name, "way": way, "key": f"{info.name} {info.variant_test_name} {kind} {i} {way}",
                        "args": encoded(args), "kwargs": encoded(kwargs)}
            except TypeError:
                continue
            found.append(call | {"torch": outcome(info.name, function, args, kwargs, way == "in place")})
    Path(file).write_bytes(pickle.dumps(found))


def on_small(file, results):
    found = []
    for call in pickle.loads(Path(file).read_bytes()):
        in_place = call["way"] == "in place"
        function = torch._base.OPS[call["name"] + "_" * in_place]
        found.append(outcome(call["name"], function, decoded(call["args"]), decoded(call["kwargs"]), in_place))
    Path(results).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=["torch", "small"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only")
    asked = parser.parse_args()
    if asked.side == "torch":
        on_torch(*asked.files, asked.every, asked.only)
    else:
        on_small(*asked.files)

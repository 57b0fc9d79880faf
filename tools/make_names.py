"""What torch has by which name, and what each of its functions takes, for the small torch: a name that it has not, or a
call that fits none of its signatures, is a reader's slip, in torch's own words.

    python -m tools.make_names        writes small_torch/torch/names.json and signatures.json
"""
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

FOLDER = Path(__file__).parents[1] / "small_torch/torch"
HOMES = {"torch": torch, "Tensor": torch.Tensor, "F": functional, "nn": nn, "linalg": torch.linalg,
         "special": torch.special, "Module": nn.Module}
CLAIMED = "import torch, json; print(json.dumps(sorted(torch._base.OPS)))"
# A type of a signature, as the small torch writes it; any other is a * there, and not looked at.
TYPES = {"Tensor": "tensor", "Number": "number", "Scalar": "number", "int": "int", "SymInt": "int", "bool": "bool",
         "float": "float", "str": "str", "torch.dtype": "dtype", "ScalarType": "dtype", "torch.device": "device",
         "Device": "device", "tuple of ints": "ints", "tuple of Tensors": "tensors"}
# Read by hand: what has no schema, and what is not Python behind what is.
MORE = {"torch": {"tensor": ["tensor", "data:* * dtype:dtype?= device:*?= pin_memory:bool= requires_grad:bool="],
                  "as_tensor": ["as_tensor", "data:* dtype:dtype?= device:*?="]},
        "Tensor": {"size": ["size", "dim:int?="], "stride": ["stride", "dim:int?="],
                   **{name: [name, "* memory_format:*?="] for name in (
                       "bfloat16", "bool", "double", "float", "half", "int", "long", "short")}}}
INSIDE = {"Tensor": {"unflatten": ["unflatten", "dim:int sizes:ints?"]},
          "F": {"pad": ["pad", "input:tensor pad:ints mode:str= value:float?="]}}


def names():
    """home -> its public names, as a Python has them that has imported nothing but torch."""
    return {home: sorted(name for name in dir(value) if name[0] != "_") for home, value in HOMES.items()}


# --- What a function takes -------------------------------------------------------------------------------------------

def signatures():
    """home -> name -> what a call of it may look like: "none" of no arguments, ["python", its name, its signature] of
    what is Python, [the name that its errors have, signature, ...] of what is not.
    """
    listed = subprocess.run([sys.executable, "-c", CLAIMED], env={"PYTHONPATH": str(FOLDER.parent)}, check=True,
                            capture_output=True, text=True)
    found = {home: {} for home in ("torch", "Tensor", "F", "linalg")}
    for claimed in json.loads(listed.stdout):
        prefix, _, name = claimed.rpartition(".")
        for home in {"": ("torch", "Tensor", "F"), "nn.functional": ("F",), "linalg": ("linalg",)}.get(prefix, ()):
            function = getattr(HOMES[home], name, None)
            told = takes(function, home, name) if callable(function) and not name.startswith("_") else None
            if told:
                found[home][name] = told
    return {home: told | MORE.get(home, {}) for home, told in found.items()}


def takes(function, home, name):
    if inspect.isfunction(function):
        bare = [parameter.replace(annotation=parameter.empty, default=parameter.empty if parameter.default is
                                  parameter.empty else None)
                for parameter in inspect.signature(function).parameters.values()]
        inside = INSIDE.get(home, {}).get(name, [])
        return ["python", function.__qualname__, str(inspect.Signature(bare)), *inside]
    of_self = [torch.ones(2)] * (home == "Tensor")
    said = refusal(function, *of_self, *[object()] * 40)
    if "takes no arguments" in said:
        return "none"
    schemas = [schema for schema in schemas_of(home, name)]
    listed = [line.strip(" *") for line in said.split("expected", 1)[1].splitlines() if "(" in line] \
        if "invalid combination" in said else []
    if listed:
        hidden = ["..."] * ("expected one of" not in said)          # an old form, which it does not list
        return [said.partition("(")[0], *hidden, *(signature(text[text.index("(") + 1:text.rindex(")")], schemas)
                                          for text in listed)]
    counts = re.match(r"(\w+)\(\) takes (?:from (\d+) to )?(\d+) positional", said)
    if not counts:
        return None
    if any(".out" in schema or "_out(" in schema for schema in schemas) and home != "Tensor":
        more = ", *, Tensor out=None"
    else:
        more = ""
    for schema in schemas:
        text = of_schema(schema, home, more)
        if text is not None and sum("=" not in part and part != "*" for part in text.split()) == int(
                counts[2] or counts[3]) and len(re.split(r" ?\*(?= )", text)[0].split()) == int(counts[3]):
            return [counts[1], text]
    return None


def schemas_of(home, name):
    aten = f"linalg_{name}" if home == "linalg" else name
    return [str(schema) for schema in torch._C._jit_get_schemas_for_operator(f"aten::{aten}")]


def arguments(schema):
    """The arguments of a schema, as text."""
    return re.sub(r"\([a-z]!?( -> \*)?\)", "", schema[schema.index("(") + 1:schema.index(") ->")])


def of_schema(schema, home, more):
    """The signature of a function of Python that calls this; None of one that it does not show."""
    inside = arguments(schema)
    if "Dimname" in inside or ".out" in schema or "_out(" in schema or "[] self" in inside:
        return None
    if home == "Tensor" and not inside.startswith("Tensor self"):
        return None
    inside = re.sub(r"^Tensor self(, )?", "", inside) if home == "Tensor" else inside
    if "pin_memory" in inside:
        inside += ", bool requires_grad=None"
    return signature(inside + (more.replace(", *", "") if "*, " in inside else more), [schema])


def signature(text, schemas):
    """The parameters of a signature as words: name:type, with ? where it may be None, = where it may be left out."""
    known = [arguments(schema) for schema in schemas]
    words = []
    for part in text.split(", "):
        if part in ("", "*"):
            words += [part] if part else []
            continue
        declared, _, default = part.partition("=")
        kind, name = declared.strip().rsplit(" ", 1)
        kind = re.sub(r"^(Sym)?[Ii]nt\[\d*\]", "tuple of ints", re.sub(r"^Tensor\??\[\]", "tuple of Tensors", kind))
        same = [found for inside in known for found in re.findall(rf"([\w\[\]]+\??) {name}\b", inside)]
        one = any(re.match(r"(Sym)?[Ii]nt\[\d\]", found) for found in same)
        none = any(found.endswith("?") for found in same) or default.strip() in ("None", "[]")
        name = "input" if name == "self" and "tuple" not in kind else name
        words.append(f"{name}:{TYPES.get(kind.rstrip('?'), '*')}{'1' * one}{'?' * none}{'=' * bool(default)}")
    return " ".join(words)


def refusal(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as failure:
        return str(failure)
    return ""


MADE = {"names.json": names, "signatures.json": signatures}


if __name__ == "__main__":
    told = {name: make() for name, make in MADE.items()}
    if sys.argv[1:] == ["print"]:
        print(json.dumps(told))
    else:
        for name, content in told.items():
            (FOLDER / name).write_text(json.dumps(content), encoding="utf-8")

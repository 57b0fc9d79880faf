"""Make conventions.json: `python -m tools.make_conventions` asks every library that is installed, in a minute.

What is not installed, or lacks what is called here, keeps what is stored of it. All of them, in an environment of their
own, with the package on the path (PYTHONPATH=.):

    pip install torch transformers x-transformers jax flax keras onnx onnxruntime

Two doors need a GPU and were read: `tools/conventions/read.py`. A test asks torch and transformers again.
"""
import importlib.metadata
import json
import sys

from mha.lab.assets.conventions import CONVENTIONS
from tools.conventions import in_jax, in_torch
from tools.conventions.read import READ

ORDER = ("torch · function", "torch · layer", "HF · eager", "HF · sdpa", "flash-attn", "xformers", "Keras", "jax",
         "flax", "x-transformers", "ONNX")
NEEDS = {                                       # what makes the doors -> what must be installed
    in_torch.torch_doors: ("torch",), in_torch.hugging_face_doors: ("transformers",),
    in_torch.x_transformers_doors: ("x-transformers",), in_jax.jax_doors: ("jax",), in_jax.flax_doors: ("flax",),
    in_jax.keras_doors: ("keras",), in_jax.onnx_doors: ("onnx", "onnxruntime"),
}


def version(package):
    """Of an installed package, without the build; None where there is none."""
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def installed():
    """The doors of what is installed; a line names each library whose version lacks what is called here."""
    found = []
    for make, packages in NEEDS.items():
        if all(map(version, packages)):
            try:
                found += make()
            except ImportError as error:
                not_asked(packages[0], error)
    return found


def not_asked(package, error):
    """Name a library that keeps what is stored of it."""
    print(f"{package} {version(package)} is not asked: {error}", flush=True)


def stored():
    return json.loads(CONVENTIONS.read_text(encoding="utf-8")) if CONVENTIONS.exists() else []


def main():
    found = {entry["name"]: entry for entry in [*stored(), *READ]}
    for door in installed():
        try:
            found[door.name] = door.told(version(door.package))
        except Exception as error:              # noqa: BLE001 onnxruntime's errors are Exceptions and nothing narrower
            not_asked(door.package, error)
        else:
            print(door.name, found[door.name]["version"], found[door.name]["found"], flush=True)
    entries = [json.dumps(found[name], ensure_ascii=False, indent=1) for name in ORDER if name in found]
    CONVENTIONS.write_text("[\n" + ",\n".join(entries) + "\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

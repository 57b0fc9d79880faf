"""Python for the pages: from the npm registry by version and sha256, packed into one file.

Pyodide is CPython for a browser; its package in the registry brings no numpy, and that of emscripten-forge, made for
the same version of Python and the same compiler, fits. What was fetched is kept beside the weights of trained models.
"""
import gzip
import hashlib
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import torch

# Of the same Python (3.12) and the same Emscripten (3.1.58): both go up together or not at all.
PYODIDE = "https://registry.npmjs.org/pyodide/-/pyodide-0.27.8.tgz"
PYODIDE_SHA256 = "2595c4b6800f8fc21d1e9b5222b3b3458b479b5f55fd241fee9ec6be0ad7edae"
NUMPY = "https://registry.npmjs.org/@emscripten-forge/numpy/-/numpy-2.0.1-py312h4e66579-0.tgz"
NUMPY_SHA256 = "7c6dab4b681b15286f10ab9972147f599d91df4ea881f61fb58ad39349423d84"
# A wheel of the real torch for this Python, once there is one: its path here, and the small torch stays out.
TORCH_WHEEL = os.environ.get("BOOK_TORCH_WHEEL")

WANTED = ("pyodide.asm.wasm", "pyodide.asm.js", "pyodide.js", "pyodide-lock.json", "python_stdlib.zip")
IN_NUMPY = "lib/python3.12/site-packages/"
OF_NUMPY = ("/tests/", "/f2py/", "/distutils/", "/include/", "/lib/libnpy", "_simd.cpython",
            "conftest.py")
OF_MHA = ("mha/widgets/", "mha/viz/", "mha/lab/look/", "mha/exercises/classroom/")
EPOCH = (1980, 1, 1, 0, 0, 0)                       # of every file of an archive: the same build gives the same bytes


def fetched(address, sha256):
    """A file of the registry, checked; OSError where it cannot be had."""
    kept = Path(torch.hub.get_dir()) / "mha" / "python_in_page" / address.rpartition("/")[2]
    if "MHA_MODELS" in os.environ and (there := Path(os.environ["MHA_MODELS"]) / "python_in_page" / kept.name).exists():
        kept = there
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            torch.hub.download_url_to_file(address, str(kept), hash_prefix=sha256, progress=False)
        except RuntimeError as error:                                        # another sha256
            raise ValueError(f"{address}: {error}") from error
    data = kept.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{kept} is not the file with sha256 {sha256}")
    return data


def python():
    """name -> bytes of what a page needs of Pyodide."""
    with tarfile.open(fileobj=io.BytesIO(fetched(PYODIDE, PYODIDE_SHA256))) as package:
        return {name: package.extractfile(f"package/{name}").read() for name in WANTED}


def numpy():
    """numpy as a zip, without its tests and what only a compiler reads."""
    with tarfile.open(fileobj=io.BytesIO(fetched(NUMPY, NUMPY_SHA256))) as package:
        inner = next(name for name in package.getnames() if name.endswith(".tar.gz"))
        with tarfile.open(fileobj=io.BytesIO(package.extractfile(inner).read())) as files:
            return zipped({name.removeprefix(IN_NUMPY): files.extractfile(name).read() for name in files.getnames()
                           if name.startswith(IN_NUMPY + "numpy/") and name.endswith((".py", ".so"))
                           and not any(part in name for part in OF_NUMPY)})


def book(root):
    """This package's Python, as it is, and the small torch (or the wheel of the real one)."""
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted((root / "mha").rglob("*.py"))}
    files = {name: data for name, data in files.items() if not name.startswith(OF_MHA)}
    if TORCH_WHEEL:
        with zipfile.ZipFile(TORCH_WHEEL) as wheel:
            return zipped(files | {name: wheel.read(name) for name in wheel.namelist() if name[-1] != "/"})
    small = root / "small_torch"
    return zipped(files | {path.relative_to(small).as_posix(): path.read_bytes()
                           for path in sorted(small.rglob("*")) if path.suffix in (".py", ".json")})


def zipped(files):
    """A zip in which nothing is packed: the archive is, as a whole, and Python need not unpack it again."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, data in files.items():
            out.writestr(zipfile.ZipInfo(name, EPOCH), data)
    return made.getvalue()


def stored(data):
    """A zip as `zipped` makes one."""
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        return zipped({name: found.read(name) for name in found.namelist()})


def empty_lock(python):
    """Which packages Pyodide could fetch: none."""
    return json.dumps({**json.loads(python["pyodide-lock.json"]), "packages": {}}).encode()


def archive(parts):
    """All files in one: gzip of a line of JSON, [[name, length], ...], and then their bytes."""
    head = json.dumps([[name, len(data)] for name, data in parts.items()]).encode() + b"\n"
    return gzip.compress(head + b"".join(parts.values()), 9, mtime=0)

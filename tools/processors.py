"""Runs the package's tests and every notebook as on other processors: `python3 book.py processors`.

`python -m tools.processors NAME ...` runs them as on some, for the names see PROCESSORS.

torch and its libraries choose a kernel by what the processor can do, and may be told to see less of it. So this one
stands in for older ones. What it lacks itself, such as the bfloat16 tiles (AMX) of some Xeons, no variable gives it,
and nothing stands in for an Arm. It takes about ten minutes for each processor, on two cores. All of them are tried,
and a table in the end says which were green.
"""
import os
import subprocess
import sys
import tempfile
import time

import book

# name: what torch (ATEN), oneDNN and MKL are told
PROCESSORS = {
    "this": {},
    "onednn-avx512": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "onednn-avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    "torch-avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "torch-default": {"ATEN_CPU_CAPABILITY": "default"},
    "oldest": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_CBWR": "COMPATIBLE"},
}
CAPABILITY = "import torch; print(torch.backends.cpu.get_cpu_capability())"


def capability(told):
    """What torch says that it uses, with these variables."""
    return subprocess.check_output([book.ROOT / book.PYTHON, "-c", CAPABILITY], env={**os.environ, **told},
                                   encoding="utf-8").strip()


def judge(stage, told):
    """Run a stage of `book.py test` with these variables: "green" or "RED".

    What inductor compiled for one processor gives wrong numbers on another, and a run of a notebook is kept for the
    build: both go to a folder of their own.
    """
    with tempfile.TemporaryDirectory() as own:
        os.environ.update(told, TORCHINDUCTOR_CACHE_DIR=own, BOOK_RUNS=own)
        try:
            book.STAGES[stage]()
            return "green"
        except book.Failed as failure:
            print(failure, flush=True)
            return "RED"
        finally:
            for name in (*told, "TORCHINDUCTOR_CACHE_DIR", "BOOK_RUNS"):
                del os.environ[name]


def main():
    names = sys.argv[1:] or list(PROCESSORS)
    if not set(names) <= set(PROCESSORS):
        sys.exit(f"There are {', '.join(PROCESSORS)}; not {', '.join(sorted(set(names) - set(PROCESSORS)))}.")
    table = []
    for name in names:
        told = PROCESSORS[name]
        start, results = time.monotonic(), [judge(stage, told) for stage in ("package", "notebooks")]
        table.append((name, *results, f"{time.monotonic() - start:.0f} s", capability(told),
                      " ".join(f"{variable}={value}" for variable, value in told.items())))
        print(*("{:14} package {:6} notebooks {:6} {:>7}  torch: {:10} {}".format(*row) for row in table),
              sep="\n", flush=True)
    sys.exit(any("RED" in row for row in table))


if __name__ == "__main__":
    main()

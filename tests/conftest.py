"""One thread for torch: the tests' tensors are tiny, and on busy cores threads that wait for each other cost 470 s
instead of 27 s.
"""
import os
import tempfile

# read when torch is first imported, and by every process that a test starts
os.environ.setdefault("OMP_NUM_THREADS", "1")
# what a test solves is nobody's progress
os.environ["MHA_PROGRESS"] = os.path.join(tempfile.mkdtemp(), "progress.json")

# fixtures for every test; they import torch, so after the above
from support import compiled_afresh, nowhere, seed, some  # noqa: E402, F401

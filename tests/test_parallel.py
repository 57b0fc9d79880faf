"""mha.parallel, mha.ring: on several processes, as torchrun starts them, what is split computes what is whole.

    MHA_PROCESSES=4 python -m pytest tests/test_parallel.py        # by hand; two in an ordinary run
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed as dist

ROOT, SCRIPT = Path(__file__).parents[1], Path(__file__).parent / "processes" / "run.py"
PROCESSES = os.environ.get("MHA_PROCESSES", "2")
EXACT = 1e-12


def on_processes(path):
    """What every process found, a list: one launch for all checks, for a launch costs seconds."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(SCRIPT.parent)]), "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", PROCESSES,
                          str(SCRIPT), str(path)], cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
    assert not run.returncode, run.stderr[-4000:]
    return json.loads(path.read_text("utf-8"))


# One test, since tests are shared out among workers.

@pytest.mark.slow
@pytest.mark.skipif(not (dist.is_available() and dist.is_gloo_available()), reason="this torch has no gloo, by which "
                                                                                    "processes on CPUs speak")
def test_what_is_split_computes_what_is_whole_and_a_wrong_plan_meets_a_sentence(tmp_path):
    found = on_processes(tmp_path / "found.json")
    assert len(found) == int(PROCESSES)
    far = {f"process {rank}, {check}, {name}, {kind}": error for rank, checks in enumerate(found)
           for check, cases in checks.items() if check != "check_sentences"
           for name, errors in cases.items() for kind, error in errors.items() if not abs(error) <= EXACT}
    raw = {f"process {rank}, {name}": said for rank, checks in enumerate(found)
           for name, (said, words, ours) in checks["check_sentences"].items()
           if not ours or not re.search(f"(?s){words}", said)}
    assert far == {}
    assert raw == {}
    assert all(len(checks["check_sentences"]) >= 20 for checks in found)

"""What `tests/test_parallel.py` starts on several processes: torchrun run.py OUT.

Every check of every file here runs in each process, and the first one writes what all found, as JSON: errors, the
largest of them; sentences, name -> what the wrong call met; facts, what must be equal in all.
"""
import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

import heads
import rings
import wrong_calls

FILES = (heads, rings, wrong_calls)


def main(path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    found = {}
    for file in FILES:
        for name, check in list(vars(file).items()):  # torch.compile adds to a module
            if name.startswith("check_"):
                torch.manual_seed(7)
                found[name] = check(mesh)
    of_all = [None] * dist.get_world_size()
    dist.all_gather_object(of_all, found)
    if dist.get_rank() == 0:
        Path(path).write_text(json.dumps(of_all), encoding="utf-8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])

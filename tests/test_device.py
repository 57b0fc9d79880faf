"""The device that the chapters run on."""
import torch

import mha


def test_cuda_is_picked_first_then_mps_then_the_cpu(monkeypatch):
    for cuda, mps, wanted in [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
        assert mha.pick_device() == torch.device(wanted)

"""Where to run: one function that picks the best device of this machine."""

import torch


def pick_device() -> torch.device:
    """The fastest kind of device that is present: CUDA, else Apple's MPS, else the CPU.

    Returns:
        torch.device: give it to `device=` of a module, or to `.to(...)`.
    """
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")

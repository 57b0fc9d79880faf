"""How a stored file is read."""
from pathlib import Path

import torch

FOLDER = Path(__file__).parent


def arrays(path, start=""):
    """What a stored file holds under names that begin so: the rest of the name -> tensor, or a list of words."""
    import numpy as np

    with np.load(path, allow_pickle=False) as stored:
        found = {name.removeprefix(start): stored[name] for name in stored.files if name.startswith(start)}
    return {name: array.tolist() if array.dtype.kind == "U" else torch.from_numpy(array).to(_wide(array.dtype))
            for name, array in found.items()}


def _wide(dtype):
    """The dtype to compute with: float16 is for storing only."""
    return torch.float32 if dtype.kind == "f" else {"uint8": torch.uint8}.get(dtype.name, torch.long)

"""The last step of each make_NAME.py."""
import numpy as np


def keep(path, arrays):
    """Write arrays, {name: numpy array}, to a compressed .npz file, and say how large it is."""
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {path.stat().st_size:,} bytes; {', '.join(arrays)}", flush=True)

"""Make rename_roles in heads_that_write.npz: `python -m tools.make_roles` exchanges the keys of hero and friend.

The rest of that file is made by `tools.make_heads_that_write`; this takes seconds.
"""
import sys

import numpy as np
import torch

from mha.lab import causes, openings
from mha.lab.assets.writing import WRITING
from tools.kept import keep
from tools.make_heads_that_write import NAME, Found, named, right

FRIEND = "Max"                                      # in the first opening


def roles(found):
    """(2, 2, 45), of own name and friend: 5.1's keys of the hero are the friend's, and the two are exchanged."""
    ids = named(found, openings.NAMED[0])
    own = found.words([name for name, _, _ in openings.with_others(found.tokenizer)])
    hero, friend = ((ids == name[:, None]).all(0).nonzero().flatten().tolist()
                    for name in (own, found.words([FRIEND])))
    wanted = ids[:, hero[0]], ids[:, friend[0]]
    runs = [causes.read(found.model, ids, causes.keys_moved(NAME, *places, found.model), last=True)
            for places in ((hero, friend), (hero + friend, friend + hero))]
    return torch.stack([torch.stack([right(run, want) for want in wanted]) for run in runs])


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    keep(WRITING, dict(np.load(WRITING)) | {"rename_roles": np.asarray(roles(Found()), dtype=np.float16)})
    sys.exit(0)

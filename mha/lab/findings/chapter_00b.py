"""The tables of chapter 0b: how hundreds of small transformers ended (`mha.lab.assets.learned`)."""
from collections import Counter

import torch

from mha import viz
from mha.lab.assets.learned import TEXTS, learned


def ended(*names: str) -> viz.Table:
    """Of 100 runs of each kind: how many have every text right, how many exactly 7 in 8, and the run in the middle."""
    runs = [learned(name) for name in names]
    return viz.columns(names, corner="of 100 runs", all_right=torch.tensor([int(run.solved.sum()) for run in runs]),
                       right_in_7_of_8=torch.tensor([int((run.right == TEXTS * 7 // 8).sum()) for run in runs]),
                       median_share_right=torch.stack([run.right.double().median() / TEXTS for run in runs]))


def early(name: str = "two heads") -> tuple[int, int]:
    """How many of 100 runs have every text right after 200 steps, and after 500."""
    run = learned(name)
    return int((run.early == TEXTS).sum()), int(run.solved.sum())


def roles(name: str = "two heads") -> viz.Table:
    """Of the runs that have every text right, in how many a head gives at least half its weight so, at the last noun.

    "not": to the "not" of texts that have one; "adjective": to the adjective, with "not" and without; both: one head
    the one, the other head the other.
    """
    run = learned(name)
    looks = run.looks[run.solved]                                       # (runs, head, with "not" or without, 4 places)
    denies, adjective = looks[:, :, 0, 2] >= 0.5, (looks[:, :, :, 1] >= 0.5).all(-1)
    both = (denies & adjective.flip(1)).any(1)
    names = ['one head is on "not"', "one head is on the adjective", "both of these"]
    found = [denies.any(1), adjective.any(1), both]
    return viz.columns(names, corner=f"of {len(looks)} runs", runs=torch.tensor([int(each.sum()) for each in found]))


def dearer_head(name: str = "two heads") -> viz.Table:
    """Share right in the median run that had every text right, without the head that it needs more, and the other."""
    run = learned(name)
    shares = (run.without[run.solved] * torch.tensor([0.25, 0.75])).sum(-1).sort(-1).values
    return viz.columns(["without the head it needs more", "without the other"], share_right=shares.median(0).values)


def unseen(name: str = "two heads") -> dict[str, int]:
    """What the runs with every text right say after "so good cake and good news": word -> how many."""
    run = learned(name)
    said = [word for word, solved in zip(run.unseen, run.solved.tolist()) if solved]
    return dict(Counter(said).most_common())

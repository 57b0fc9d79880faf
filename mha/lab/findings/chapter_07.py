"""The tables of chapter 7, from layers of h heads that were trained on r relations (`mha.lab.assets.trained_heads`)."""
import torch
from torch import Tensor

from mha import viz
from mha.lab.assets import FIXED_HEADS, FIXED_WIDTHS, HEADS, RELATIONS, trained_heads
from mha.lab.findings.bounds import said


def errors() -> Tensor:
    """(r, h, 24 runs): the mean squared error after 600 steps, for all RELATIONS and HEADS."""
    return torch.stack([torch.stack([trained_heads(r, h)[0] for h in HEADS]) for r in RELATIONS])


def fixed_errors() -> dict[int, Tensor]:
    """d_k -> (h, 24 runs), the error with four relations where d_k is not 64 / h."""
    return {d_k: torch.stack([trained_heads(4, h, d_k)[0] for h in FIXED_HEADS]) for d_k in FIXED_WIDTHS}


def above_floors() -> str:
    """How far the runs with too few heads end above their floors."""
    gaps = torch.stack([error - (1 - h / r) for r, rows in zip(RELATIONS, errors()) for h, error in zip(HEADS, rows)
                        if h < r])
    return (f"settings, runs: {tuple(gaps.shape)}\n"
            f"every run is {said(gaps, 'less than 0.03')} above its floor, and "
            f"{'not' if -gaps.min() < 0.02 else 'not always less than'} 0.02 below")


def best_heads() -> str:
    """Whether the best number of heads is that of the relations, and whether 32 are worse than it."""
    least, best = errors().min(1)                                     # (r, runs) each
    hits, worse = best == torch.arange(len(RELATIONS))[:, None], errors()[:, -1] - least > 0.2
    return (f"the best h is r in {int(hits.sum())} of {best.numel()} pairs of r and run\n"
            f"32 heads are worse by more than 0.2: {worse.all(-1).tolist()}")


def all_runs() -> viz.Picture:
    """The error of each run, by h and r, and the floor of each."""
    floors = [[max(0, 1 - h / r) for h in HEADS] for r in RELATIONS]
    return viz.dots([f"h = {h}" for h in HEADS], "error", floors=floors,
                    **{f"r = {r}": rows for r, rows in zip(RELATIONS, errors())})


def fixed_width() -> viz.Picture:
    """The error of each run with four relations, by h and d_k."""
    return viz.dots([f"h = {h}" for h in FIXED_HEADS], "error, r = 4",
                    **{f"d_k = {d_k}": rows for d_k, rows in fixed_errors().items()})


def both_widths_fixed() -> viz.Table:
    """The median error of 16 heads and of 32, where neither d_k nor d_v changes with their number."""
    widths = {"d_k = 4, d_v = 2": (4, 2), "d_k = 4, d_v = 4": (4, 4), "d_k = 1, d_v = 4": (1, 4)}

    def medians(h):
        return [trained_heads(4, h, d_k, d_v=None if d_v == 64 // h else d_v)[0].median()
                for d_k, d_v in widths.values()]
    return viz.columns(widths, corner="median error", of_16_heads=medians(16), of_32_heads=medians(32))


def widened() -> str:
    """How 4 to 32 heads for four relations end where d_k is kept at 16."""
    return f"d_k = 16, from 4 heads to 32: all {said(fixed_errors()[16][2:], 'below 0.05')}"


def sixteen_to_thirty_two() -> str:
    """What 32 heads lose against 16 at each of the fixed d_k, where d_v still shrinks."""
    lost = {d_k: error[5] - error[4] for d_k, error in fixed_errors().items()}
    narrow, wide = (torch.stack([lost[d_k] for d_k in widths]) for widths in ((1, 4), (16, 64)))
    return (f"from 16 to 32 heads the error rises by {said(narrow, 'more than 0')} with d_k = 1 and 4,\n"
            f"by {said(wide, 'less than 0.01')} with d_k = 16 and 64")


def in_time() -> viz.Picture:
    """The error of each run of 4, 8 and 16 heads for four relations, after 600 steps and after 3000."""
    heads = (4, 8, 16)
    return viz.dots([f"h = {h}" for h in heads], "error, r = 4", **{
        f"{steps} steps": torch.stack([trained_heads(4, h, long=long)[0] for h in heads])
        for steps, long in ((600, False), (3000, True))})


def late() -> str:
    """What five times as many steps do to the errors of 8 and 16 heads for four relations."""
    soon, end = ({h: trained_heads(4, h, long=long)[0] for h in (4, 8, 16)} for long in (False, True))
    return (f"4 heads: after 3000 steps all {said(end[4], 'below 0.01')}\n" + "\n".join(
        f"{h} heads: after 600 steps all {said(soon[h], 'above 0.1', 'above 0.03')}, "
        f"after 3000 all {said(end[h], 'below 0.01', 'below 0.05')}" for h in (8, 16)))


def all_found() -> str:
    """In how many runs of eight heads for eight relations each relation has a head, after 3000 steps."""
    end, shares = trained_heads(8, 8, long=True)
    whole = (shares.amax(1) > 0.9).all(-1)
    return f"3000 steps: all eight found in {int(whole.sum())} of {len(whole)} runs, errors {said(end, 'below 0.02')}"


def one_each() -> viz.Table:
    """In how many of 24 runs the heads give most to a relation each, where there are as many of both."""
    ended = {f"r = h = {r}": trained_heads(r, r)[1] for r in RELATIONS}       # (runs, h, r) each
    ended["r = h = 8, after 3000 steps"] = trained_heads(8, 8, long=True)[1]
    taken = [shares.argmax(-1).sort(-1).values for shares in ended.values()]
    return viz.columns(ended, runs_of_24_in_which_each_relation_has_its_own_head=[
        (one == torch.arange(one.shape[-1])).all(-1).sum() for one in taken])


def _crowd(long):
    """What 16 heads give to four relations, (runs, 16, 4), and which of them give one more than half."""
    shares = trained_heads(4, 16, long=long)[1]
    return shares, (shares > 0.5).any(-1)


def busy() -> viz.Table:
    """How many of 16 heads give more than half to one of four relations."""
    counts = [_crowd(long)[1].sum(-1) for long in (False, True)]
    return viz.columns(["after 600 steps", "after 3000 steps"], digits=0,
                       corner="heads with more than half on one relation",
                       fewest_of_24_runs=[count.min() for count in counts], most=[count.max() for count in counts])


def second_relation() -> str:
    """How much the busy heads give to the second of their relations, after 3000 steps."""
    shares, busy = _crowd(long=True)
    second = shares.sort(-1).values[..., -2][busy]
    return (f"to another relation these give: median {said(second.median(), 'below 0.1')}, "
            f"{said(second, 'at most 0.4')}")


def narrow() -> str:
    """The errors of one head for one relation, narrow and wide."""
    alone, wide = trained_heads(1, 1, d_k=2, long=True)[0], trained_heads(1, 1)[0]
    return (f"one head, one relation, d_k = 2, 3000 steps: all {said(alone, 'above 0.5')}\n"
            f"one head, one relation, d_k = 64, 600 steps: all {said(wide, 'below 0.01')}")


def switched_off(left: Tensor) -> viz.Picture:
    """The errors with 1 to h heads left, from `prune_heads`: (runs, h + 1)."""
    return viz.dots([f"{k} left" for k in range(1, left.shape[1])], "error, r = 4",
                    lines=[(0.75, ""), (0.5, ""), (0.25, "")], grain=0.3,
                    **{"eight, switched off": left[:, 1:].T})

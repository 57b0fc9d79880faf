"""The card of a shared link: of the size that sites ask for, aligned, and with nothing cut off."""
from pathlib import Path

import matplotlib.image
import numpy as np

CARD = matplotlib.image.imread(Path(__file__).parents[1] / "_ext" / "static" / "card.png")[..., :3]
INK = np.abs(CARD - CARD[0, 0]).max(-1) > 0.3                # another colour than the corner's
MARGIN = 24


def lines():
    """(first row, end) of each run of rows with ink, from above."""
    edges = np.flatnonzero(np.diff(np.r_[0, INK.any(1), 0]))
    return list(zip(edges[::2], edges[1::2]))


def test_it_has_the_size_that_sites_ask_for():
    assert CARD.shape[:2] == (630, 1200)


def test_title_subtitle_and_legend_begin_at_one_edge():
    starts = [INK[first:end].any(0).argmax() for first, end in lines()[:3]]
    assert max(starts) - min(starts) <= 2


def test_nothing_is_cut_off():
    inside = INK[MARGIN:-MARGIN, MARGIN:-MARGIN]
    assert inside.any() and inside.sum() == INK.sum()

"""Live figures: each computes in the browser, with or without a kernel. One .py, one hand-written .js and one .css a figure."""
from mha.widgets.arcs import HeadArcs
from mha.widgets.head_grid import HeadGrid
from mha.widgets.lookup import SoftLookup
from mha.widgets.scale import ScoreScale

FIGURES = {"soft-lookup": SoftLookup, "score-scale": ScoreScale, "head-arcs": HeadArcs, "head-grid": HeadGrid}      # data-figure -> constructor

__all__ = ["FIGURES", *(figure.__name__ for figure in FIGURES.values())]

"""Live figures: each computes in the browser, with or without a kernel. One .py and one hand-written .js a figure."""
from mha.widgets.arcs import HeadArcs
from mha.widgets.head_grid import HeadGrid
from mha.widgets.lookup import SoftLookup

FIGURES = {"soft-lookup": SoftLookup, "head-arcs": HeadArcs, "head-grid": HeadGrid}      # data-figure -> constructor

__all__ = ["FIGURES", "HeadArcs", "HeadGrid", "SoftLookup"]

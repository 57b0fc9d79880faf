"""Live figures: each computes in the browser, with or without a kernel.

A figure is one .py, one hand-written .js and one .css.
"""
from mha.widgets.arcs import HeadArcs
from mha.widgets.arrows import TwoArrows
from mha.widgets.asks import WhoAsks
from mha.widgets.browser import HeadBrowser
from mha.widgets.by_hand import HeadByHand
from mha.widgets.channel import OneChannel
from mha.widgets.cycle import BeatsCycle
from mha.widgets.explained import ExplainedShares
from mha.widgets.fitter import PatternFitter
from mha.widgets.form import OneForm
from mha.widgets.gate import ForgetGate
from mha.widgets.head_grid import HeadGrid
from mha.widgets.head_sum import HeadSum
from mha.widgets.heads_gone import HeadsGone
from mha.widgets.hidden_share import HiddenShare
from mha.widgets.inside import HullPoint
from mha.widgets.key_ring import KeyRing
from mha.widgets.left_behind import LeftBehind
from mha.widgets.lookup import SoftLookup
from mha.widgets.loudest import LoudestSentences
from mha.widgets.lucky import LuckyBest
from mha.widgets.margin import HitMargin
from mha.widgets.masked_rows import MaskedRows
from mha.widgets.masks import MaskPainter
from mha.widgets.padded_batch import PaddedBatch
from mha.widgets.parameters import Parameters
from mha.widgets.parts import LoudAndLong
from mha.widgets.price import PriceOfLength
from mha.widgets.read import BooksRead
from mha.widgets.removal import HeadRemoval
from mha.widgets.row import ScaledRow
from mha.widgets.row_shift import RowShift
from mha.widgets.scale import ScoreScale
from mha.widgets.sharing_costs import SharingCosts
from mha.widgets.split_heads import SplitHeads
from mha.widgets.stairs import WeightStairs
from mha.widgets.strokes import SoftmaxStrokes
from mha.widgets.trained import TrainedHeads
from mha.widgets.values import ValueMap
from mha.widgets.walks import ProductWalks
from mha.widgets.whole import WholeGlance, WholeLayer
from mha.widgets.window_reach import WindowReach

FIGURES = {  # data-figure -> constructor
    "whole-glance": WholeGlance,
    "whole-layer": WholeLayer,
    "soft-lookup": SoftLookup,
    "two-arrows": TwoArrows,
    "softmax-strokes": SoftmaxStrokes,
    "books-read": BooksRead,
    "score-scale": ScoreScale,
    "scaled-row": ScaledRow,
    "head-by-hand": HeadByHand,
    "product-walks": ProductWalks,
    "beats-cycle": BeatsCycle,
    "weight-stairs": WeightStairs,
    "who-asks": WhoAsks,
    "one-form": OneForm,
    "value-map": ValueMap,
    "hull-point": HullPoint,
    "one-channel": OneChannel,
    "loud-and-long": LoudAndLong,
    "mask-painter": MaskPainter,
    "masked-rows": MaskedRows,
    "hidden-share": HiddenShare,
    "padded-batch": PaddedBatch,
    "window-reach": WindowReach,
    "head-arcs": HeadArcs,
    "head-grid": HeadGrid,
    "head-sum": HeadSum,
    "split-heads": SplitHeads,
    "parameters": Parameters,
    "forget-gate": ForgetGate,
    "price-of-length": PriceOfLength,
    "trained-heads": TrainedHeads,
    "explained-shares": ExplainedShares,
    "key-ring": KeyRing,
    "pattern-fitter": PatternFitter,
    "head-browser": HeadBrowser,
    "lucky-best": LuckyBest,
    "row-shift": RowShift,
    "head-removal": HeadRemoval,
    "loudest": LoudestSentences,
    "heads-gone": HeadsGone,
    "hit-margin": HitMargin,
    "left-behind": LeftBehind,
    "sharing-costs": SharingCosts,
}

__all__ = ["FIGURES", *(figure.__name__ for figure in FIGURES.values())]

"""Live figures: each computes in the browser, with or without a kernel.

A figure is one .py, one hand-written .js and one .css.
"""
from mha.widgets.alibi_slope import AlibiSlope
from mha.widgets.beats_cycle import BeatsCycle
from mha.widgets.books_read import BooksRead
from mha.widgets.clock_hands import ClockHands
from mha.widgets.explained_shares import ExplainedShares
from mha.widgets.forget_gate import ForgetGate
from mha.widgets.head_arcs import HeadArcs
from mha.widgets.head_browser import HeadBrowser
from mha.widgets.head_by_hand import HeadByHand
from mha.widgets.head_grid import HeadGrid
from mha.widgets.head_removal import HeadRemoval
from mha.widgets.head_sum import HeadSum
from mha.widgets.heads_gone import HeadsGone
from mha.widgets.heads_sorted import HeadsSorted
from mha.widgets.hidden_share import HiddenShare
from mha.widgets.hit_margin import HitMargin
from mha.widgets.hull_point import HullPoint
from mha.widgets.key_ring import KeyRing
from mha.widgets.left_behind import LeftBehind
from mha.widgets.loud_and_long import LoudAndLong
from mha.widgets.loudest import Loudest
from mha.widgets.lucky_best import LuckyBest
from mha.widgets.mask_painter import MaskPainter
from mha.widgets.masked_rows import MaskedRows
from mha.widgets.one_channel import OneChannel
from mha.widgets.one_form import OneForm
from mha.widgets.padded_batch import PaddedBatch
from mha.widgets.parameters import Parameters
from mha.widgets.pattern_fitter import PatternFitter
from mha.widgets.price_of_length import PriceOfLength
from mha.widgets.product_walks import ProductWalks
from mha.widgets.row_shift import RowShift
from mha.widgets.scaled_row import ScaledRow
from mha.widgets.score_scale import ScoreScale
from mha.widgets.sharing_costs import SharingCosts
from mha.widgets.soft_lookup import SoftLookup
from mha.widgets.softmax_strokes import SoftmaxStrokes
from mha.widgets.split_heads import SplitHeads
from mha.widgets.trained_heads import TrainedHeads
from mha.widgets.two_arrows import TwoArrows
from mha.widgets.value_map import ValueMap
from mha.widgets.weight_stairs import WeightStairs
from mha.widgets.who_asks import WhoAsks
from mha.widgets.whole_layer import WholeGlance, WholeLayer
from mha.widgets.window_reach import WindowReach

FIGURES = {figure.name(): figure for figure in (  # in the order of the book
    WholeGlance, WholeLayer, SoftLookup, TwoArrows, SoftmaxStrokes, BooksRead, ScoreScale, ScaledRow, HeadByHand,
    ProductWalks, BeatsCycle, WeightStairs, WhoAsks, OneForm, ValueMap, HullPoint, OneChannel, LoudAndLong,
    MaskPainter, MaskedRows, HiddenShare, PaddedBatch, WindowReach, HeadArcs, HeadGrid, HeadSum, SplitHeads,
    Parameters, ForgetGate, PriceOfLength, TrainedHeads, ExplainedShares, KeyRing, PatternFitter, HeadBrowser,
    LuckyBest, HeadsSorted, RowShift, HeadRemoval, Loudest, HeadsGone, HitMargin, ClockHands, AlibiSlope,
    LeftBehind, SharingCosts)}

__all__ = ["FIGURES", *(figure.__name__ for figure in FIGURES.values())]

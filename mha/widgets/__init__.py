"""Live figures: each computes in the browser, with or without a kernel.

A figure is one .py, one hand-written .js and one .css. Its module is imported when it is first asked for, so that what
a chapter says depends on its own figures alone (stored/imports.py).
"""
import importlib
import re

_IN_ORDER = (  # of the book
    "WholeGlance", "WholeLayer", "SoftLookup", "TwoArrows", "SoftmaxStrokes", "BooksRead", "ScoreScale", "ScaledRow",
    "HeadByHand", "ProductWalks", "BeatsCycle", "WeightStairs", "WhoAsks", "OneForm", "ValueMap", "HullPoint",
    "OneChannel", "LoudAndLong", "MaskPainter", "MaskedRows", "HiddenShare", "PaddedBatch", "WindowReach", "HeadArcs",
    "HeadGrid", "HeadSum", "SplitHeads", "Parameters", "ForgetGate", "PriceOfLength", "TrainedHeads", "ExplainedShares",
    "KeyRing", "PatternFitter", "HeadBrowser", "LuckyBest", "RowShift", "HeadRemoval", "Loudest", "HeadsGone",
    "HitMargin", "ClockHands", "AlibiSlope", "LeftBehind", "SharingCosts")

__all__ = ["FIGURES", *_IN_ORDER]  # noqa: F822, they are made below


def __getattr__(name):
    """A figure's class, BooksRead of books_read.py; or FIGURES: the name of each in a page -> its class."""
    if name == "FIGURES":
        return {figure.name(): figure for figure in map(__getattr__, _IN_ORDER)}
    if name not in _IN_ORDER:
        raise AttributeError(f"mha.widgets has no {name}; it has {', '.join(_IN_ORDER)}", name=name)
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return getattr(importlib.import_module(f"mha.widgets.{module}"), name)

"""The tables of chapter 9, from what is stored of heads that are off (`mha.lab.assets.pruning`)."""
import torch
from torch import Tensor

from mha import viz
from mha.lab.assets import pruning
from mha.lab.measure import rank_correlation

LEAST = 0.9                                              # the cosine that is to stay


# --- Scores of single heads -----------------------------------------------------------------------------------------

def with_targets(**scores: Tensor) -> viz.Table:
    """How scores (6, 12) rank the heads, beside three things that a head can cost: a column of rank correlations each.
    """
    stored = pruning()
    targets = {"cosine lost": stored.alone, "mean size of the rise": stored.rises.abs().mean(0),
               "size of the mean rise": stored.rises.mean(0).abs()}
    return viz.columns(targets, **{
        name: [rank_correlation(score.flatten(), target.flatten()) for target in targets.values()]
        for name, score in scores.items()})


def between_halves(one: Tensor, other: Tensor) -> viz.Table:
    """Rank correlations of what one half of the 60 sentences says of the heads with what that half or the other says.

    Args:
        one, other: (ways, 30) each, the numbers of the sentences. The table gives the mean over the ways.
    """
    stored = pruning()
    slope, rise, there = stored.slopes[one], stored.rises[one], stored.rises[other]  # (ways, 30, 6, 12)
    found = {
        "minus mean slope, mean rise, same half": (-slope.mean(1), rise.mean(1)),
        "minus mean slope, mean rise on the other": (-slope.mean(1), there.mean(1)),
        "mean rise, mean rise on the other half": (rise.mean(1), there.mean(1)),
        "mean size of slope, of rise on the other": (slope.abs().mean(1), there.abs().mean(1)),
        "size of mean slope, of mean rise on the other": (slope.mean(1).abs(), there.mean(1).abs()),
        "mean size of slope, size of mean rise there": (slope.abs().mean(1), there.mean(1).abs()),
        "median rise, median rise on the other": (rise.median(1).values, there.median(1).values),
    }
    return viz.columns(found, rank_correlation=[rank_correlation(a.flatten(1), b.flatten(1)).mean()
                                                for a, b in found.values()])


def by_sentence(*heads: str) -> viz.Table:
    """For how many of the 60 sentences the loss falls, and for how many it rises, without a head such as "3.4"."""
    rises = [pruning().rises[:, layer, head] for layer, head in (map(int, name.split(".")) for name in heads)]
    return viz.columns([f"without {name}" for name in heads], loss_falls=[(rise < 0).sum() for rise in rises],
                       loss_rises=[(rise > 0).sum() for rise in rises])


def layers() -> viz.Table:
    """What the heads of each layer cost in cosine: the sum of the twelve, one by one, and all twelve at once."""
    one_by_one, at_once = pruning().alone.sum(-1), 1 - pruning().whole_layers.cosine
    return viz.columns([f"layer {i}" for i in range(len(at_once))], digits=3, one_by_one=one_by_one,
                       all_twelve_at_once=at_once, ratio=[f"{ratio:.1f}" for ratio in at_once / one_by_one])


def flat() -> str:
    """How large a derivative by a gate gets, of the loss that is at its least and of the one that is not."""
    found = {"1 - cosine": (pruning().flat_gradient, "1e-6"), "the matching loss": (pruning().size, "1e-3")}
    return "\n".join(f"largest derivative of {loss}: {'below' if sizes.max() < float(bound) else 'above'} {bound}"
                     for loss, (sizes, bound) in found.items())


def with_cosine() -> viz.Table:
    """How rounding, the layer's number and a true score rank the heads, beside the cosine that each costs."""
    stored = pruning()
    layer = torch.arange(6.0)[:, None].expand(6, 12)
    scores = {"rounding": stored.flat_gradient, "rounding in float64": stored.flat_gradient_double,
              "the layer's number": layer, "mean size of the gradient": stored.slopes.abs().mean(0)}
    return viz.columns(
        scores, corner="rank correlation with cosine lost",
        of_all_heads=[rank_correlation(score.flatten(), stored.alone.flatten()) for score in scores.values()],
        within_a_layer=["none" if score is layer else rank_correlation(score, stored.alone).mean()
                        for score in scores.values()])


# --- Orders ---------------------------------------------------------------------------------------------------------

def _gone():
    """Kind of order -> how many heads go while the cosine stays; of those of which one order is stored."""
    return {kind: int(kept.heads_gone(LEAST)) for kind, kept in pruning().curves.items() if len(kept.cosine) == 1}


def heads_gone() -> viz.Table:
    """How many heads go in each order while the cosine stays."""
    gone = _gone()
    return viz.columns(gone, corner=f"cosine {LEAST} or more", heads_gone=gone.values())


def by_chance() -> viz.Table:
    """How many heads go in random orders while the cosine stays: the least, the most and three quantiles."""
    found = pruning().chance
    quantiles = {"least": 0, "1 in 20": 0.05, "median": 0.5, "19 in 20": 0.95, "most": 1}
    return viz.columns(found, corner=f"of {len(found['random'])} orders", **{
        name: [int(each.double().quantile(q, interpolation="nearest")) for each in found.values()]
        for name, q in quantiles.items()})


def beside_place() -> viz.Table:
    """How many heads go in five orders, and how many random orders that spare the last layer do as well."""
    place, gone = pruning().chance["random, last layer last"], _gone()
    scored = ["greedy", "mean size of the gradient", "gradient that is zero", "gradient that is zero, in float64",
              "size of the mean gradient"]
    return viz.columns(scored, heads_gone=[gone[kind] for kind in scored],
                       equalled_by_orders_that_spare_the_last_layer=[
                           f"{int((place >= gone[kind]).sum())} of {len(place)}" for kind in scored])


# --- Tests of what is left ------------------------------------------------------------------------------------------

def _curves(test):
    """Kind of order -> (orders, 73): a test of the model with 0 to 72 heads gone; and the least of all, with a name."""
    curves = {kind: getattr(kept, test) for kind, kept in pruning().curves.items()}
    every = torch.cat(list(curves.values()))
    return curves, {f"least of the {len(every)} curves kept": every.min()}


def share_found() -> viz.Table:
    """How often the counterpart is the nearest of 60, with all heads, with none, and with less than heads."""
    curves, least = _curves("found")
    all_on, off = curves["greedy"][0, [0, 72]]
    found = {"all heads": all_on, "no heads": off, "mean of the word embeddings alone": pruning().words.found, **least}
    return viz.columns(found, found=found.values())


def nearer_than_decoy() -> viz.Table:
    """How often the counterpart is nearer than the decoy, beside a coin and one question."""
    curves, least = _curves("beats_decoy")
    all_on, off = curves["greedy"][0, [0, 72]]
    found = {"all heads": all_on, "no heads": off, "a coin": 0.5, "one question of 60": 1 / 60, **least,
             "18 heads gone, first random order": curves["random"][0, 18]}
    return viz.columns(found, nearer_than_decoy=found.values())


def _shown():
    """The five orders of section 5, each the mean of those stored of its kind."""
    kinds = {"greedy": "greedy", "mean size": "mean size of the gradient", "random": "random",
             "last layer last": "random, last layer last", "matching loss alone": "matching loss alone"}
    return {name: pruning().curves[kind].mean for name, kind in kinds.items()}


def along_orders(test: str, **layout) -> viz.Table:
    """A test of what is left, "found" or "loss", after some of the heads have gone in five orders. layout: that of
    `mha.viz.columns`.
    """
    curves = {name: getattr(kept, test) for name, kept in _shown().items()}
    return viz.columns(curves, **layout, **{f"{heads} gone": [curve[heads] for curve in curves.values()]
                                            for heads in (0, 36, 48, 60, 72)})


def loss_curves() -> viz.Picture:
    """The matching loss against the heads that are off, in four orders, beside that of no heads."""
    curves = {name: kept.loss for name, kept in _shown().items() if name != "mean size"}
    return viz.curves(range(67), "heads that are off", "matching loss", points=12,
                      no_heads=curves["greedy"][72].expand(67),
                      **{name: loss[:67] for name, loss in curves.items()})

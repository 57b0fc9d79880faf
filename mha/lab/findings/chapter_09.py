"""The tables of chapter 9 and of its lab, from what is stored of heads that are off (`mha.lab.assets.pruning`)."""
import torch
from torch import Tensor

from mha import viz
from mha.lab.assets import SCALES, pruning
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


def halves(ways: int = 200, of: int = 60) -> tuple[Tensor, Tensor]:
    """So many ways to halve the sentences: (ways, of / 2) twice, drawn anew from the same seed each time."""
    g = torch.Generator().manual_seed(0)
    return torch.stack([torch.randperm(of, generator=g) for _ in range(ways)]).split(of // 2, dim=1)


def agreement(without: int = 0) -> str:
    """How well halves of the 60 sentences agree which heads the matching loss needs, and who makes its changes; then
    the same without so many of the sentences that make most of them.
    """
    rises = pruning().rises
    moved, loudest = rises.abs().mean((1, 2)).sort(descending=True)                  # by sentence
    left = rises[loudest[without:].sort().values]
    one, other = (left[half] for half in halves(of=len(left)))                       # (ways, half of them, 6, 12)
    found = {"mean": (one.mean(1), other.mean(1)), "median": (one.median(1).values, other.median(1).values)}
    lines = [f"{name} rise, two halves: rank correlation {rank_correlation(a.flatten(1), b.flatten(1)).mean():.2f}"
             for name, (a, b) in found.items()]
    return "\n".join(lines if without else
                     [*lines, f"ten of 60 sentences make {moved[:10].sum() / moved.sum():.2f} of all changes"])


def by_scale() -> viz.Table:
    """For how many of 60 sentences the loss rises without head 3.4, and falls without head 1.0, at five scales."""
    signs = pruning().signs_at
    return viz.columns(SCALES, corner="scale of the loss",
                       **{"rises without 3.4": (signs[:, :, 3, 4] > 0).sum(1), "falls without 1.0":
                          (signs[:, :, 1, 0] < 0).sum(1)})


def in_float32() -> viz.Table:
    """Without head 1.0, at five scales: sentences whose loss falls, and what float32 makes of them."""
    exact, rounded = pruning().signs_at[:, :, 1, 0], pruning().rounded_at[..., 1]
    return viz.columns(SCALES, corner="scale of the loss", falls=(exact < 0).sum(1), **{
        f"float32: {name}": (rounded == sign).sum(1) for name, sign in (("falls", -1), ("rises", 1), ("neither", 0))})


def most_sentences(least: int = 41) -> viz.Table:
    """Heads without which the loss rises, or falls, for at least so many of 60 sentences, at five scales and at all."""
    up, down = ((pruning().signs_at == sign).sum(1) >= least for sign in (1, -1))    # (5, 6, 12)
    return viz.columns([*SCALES, "at all five"], corner="scale of the loss", **{
        name: [*one.sum((1, 2)), one.all(0).sum()] for name, one in (("rises for most", up), ("falls for most", down))})


def closest() -> viz.Table:
    """The heads that help, and that hinder, the most sentences at all five scales: at how many they do at the least."""
    signs = pruning().signs_at
    counts = {name: (signs == sign).sum(1).amin(0).flatten() for name, sign in (("rises", 1), ("falls", -1))}
    rows = [f"{name} without {head // 12}.{head % 12}" for name, count in counts.items()
            for head in count.topk(3).indices.tolist()]
    return viz.columns(rows, corner="of 60 sentences, the loss", at_least=[
        int(n) for count in counts.values() for n in count.topk(3).values])


def nearer_together() -> viz.Table:
    """The mean loss of the whole model at two scales, beside that with half of the heads gone at random at twice each.

    Cosines c times as far apart would give at a scale s what the whole model gives at c s.
    """
    whole, *half = pruning().half_at                                                 # (5,) each, one for each scale
    half, at = torch.stack(half), [(SCALES.index(s), SCALES.index(2 * s)) for s in (5, 40)]
    return viz.columns([f"whole at {SCALES[i]}, half gone at {SCALES[j]}" for i, j in at], corner="matching loss",
                       whole=[f"{whole[i]:.2g}" for i, _ in at],
                       **{"half, least of 5": [f"{half[:, j].min():.2g}" for _, j in at],
                          "half, most of 5": [f"{half[:, j].max():.2g}" for _, j in at],
                          "orders above the whole": [int((half[:, j] > whole[i]).sum()) for i, j in at]})


def half_gone() -> viz.Table:
    """How many times larger the mean loss is with 36 heads gone at random, at five scales."""
    whole, *half = pruning().half_at                                                 # (5,) each, one for each scale
    times = torch.stack(half) / whole
    return viz.columns(SCALES, corner="scale of the loss", all_heads=[f"{loss:.2g}" for loss in whole],
                       **{"times, least of 5": [f"{x:.1f}" for x in times.amin(0)],
                          "times, most of 5": [f"{x:.1f}" for x in times.amax(0)]})


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


# --- Another way to be off ------------------------------------------------------------------------------------------

def one_head_off() -> viz.Picture:
    """What each head costs alone, in cosine, with 0 in the place of its output and with its mean: a dot for each."""
    stored = pruning()
    return viz.dots([f"layer {i}" for i in range(6)], "cosine lost", grain=0.001, each="head",
                    zero_ablation=stored.alone, mean_ablation=stored.means.alone)


def means_for_zeros() -> viz.Table:
    """What it costs to put 0, or a head's mean, in the place of its output."""
    stored = pruning()
    none, off = stored.curves["greedy"], stored.means.none
    kinds = {"random order": "random", "last layer last": "random, last layer last"}
    same = {kind: stored.chance[kind][:len(gone)] for kind, gone in stored.means.chance.items()}
    chance = [[int(gone[kind].double().quantile(0.5, interpolation="nearest")) for kind in kinds.values()]
              for gone in (same, stored.means.chance)]
    return viz.columns(
        ["no heads: cosine", "no heads: share found", "no heads: matching loss",
         *(f"heads gone, {kind}, median of {len(stored.means.chance['random'])}" for kind in kinds)],
        digits=3, zero=[*(f"{x[0, 72]:.3f}" for x in (none.cosine, none.found, none.loss)), *chance[0]],
        mean=[*(f"{x:.3f}" for x in (off.cosine, off.found, off.loss)), *chance[1]])


def more_with_means() -> viz.Table:
    """How many more heads go with means than with zeros, in each of ten random orders of either kind."""
    stored = pruning()
    more = {kind: (gone - stored.chance[kind][:len(gone)]).sort().values for kind, gone in stored.means.chance.items()}
    return viz.columns(more, corner="heads more with means", least=[m[0] for m in more.values()],
                       median=[m.median() for m in more.values()], most=[m[-1] for m in more.values()],
                       orders_that_gain_none=[(m < 1).sum() for m in more.values()])


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


def matched() -> viz.Table:
    """How many heads go, and the cosine with 49 gone, in greedy's order, in random ones that take each head from the
    layer from which greedy takes it, and the count in those that only spare the last layer.
    """
    stored = pruning()
    greedy, (gone, kept) = stored.curves["greedy"], (stored.matched, stored.matched_cosine)
    spared = stored.chance["random, last layer last"]
    last, at = int(greedy.heads_gone(LEAST)), f"cosine with {int(greedy.heads_gone(LEAST))} gone"
    return viz.columns(
        ["greedy", f"random, greedy's layers (of {len(gone)})", f"random, last layer last (of {len(spared)})"],
        corner=f"cosine {LEAST} or more", least=[last, gone.min(), spared.min()],
        median=[last, gone.median(), spared.median()], most=[last, gone.max(), spared.max()],
        **{at: [f"{greedy.cosine[0, last]:.2f}", f"{kept.min():.2f} to {kept.max():.2f}", ""]})


def beside_chance() -> viz.Table:
    """How many heads go in four orders and, in the median, in three random kinds while the cosine stays."""
    stored, gone = pruning(), _gone()
    middle = {f"{kind} (median of {len(found)})": int(found.double().quantile(0.5, interpolation="nearest"))
              for kind, found in stored.chance.items()}
    middle[f"random, greedy's layers (median of {len(stored.matched)})"] = int(stored.matched.median())
    found = {kind: gone[kind] for kind in ("greedy", "mean size of the gradient", "cosine lost alone",
                                           "most costly first")} | middle
    found = dict(sorted(found.items(), key=lambda pair: -pair[1]))
    return viz.columns(found, corner=f"cosine {LEAST} or more", heads_gone=found.values())


def beside_place() -> viz.Table:
    """How many heads go in five orders, and how many random orders that spare the last layer do as well."""
    place, gone = pruning().chance["random, last layer last"], _gone()
    scored = ["greedy", "mean size of the gradient", "gradient that is zero", "gradient that is zero, in float64",
              "size of the mean gradient"]
    return viz.columns(scored, heads_gone=[gone[kind] for kind in scored],
                       equalled_by_orders_that_spare_the_last_layer=[
                           f"{int((place >= gone[kind]).sum())} of {len(place)}" for kind in scored])


def at_bounds(bounds=(0.95, 0.9, 0.85)) -> viz.Table:
    """How many heads go at other bounds of the cosine: greedy's order, and the median of the random ones kept."""
    shown = {"greedy": "greedy", "random": "random", "last layer last": "random, last layer last"}
    return viz.columns(bounds, corner="cosine, at least", **{
        name: [int(pruning().curves[kind].heads_gone(least).median()) for least in bounds]
        for name, kind in shown.items()})


# --- Tests of what is left ------------------------------------------------------------------------------------------

def _curves(test):
    """(orders, 73), a test of the model with 0 to 72 heads gone, in all orders that are kept."""
    return torch.cat([getattr(kept, test) for kept in pruning().curves.values()])


def hits() -> str:
    """How often the counterpart is found, in words, with all heads, with half of them and with none."""
    stored, least = pruning(), _curves("found").amin(1)
    random = stored.curves["random"].mean.found
    found = {"all heads": random[0], "36 gone at random, mean of five orders": random[36], "no heads": random[72],
             "mean of the word embeddings": stored.words.found}
    return "\n".join([*(f"share found, {name}: {share:.2f}" for name, share in found.items()),
                      f"least on each of {len(least)} orders kept: {least.min():.2f} to {least.max():.2f}"])


def nearer_than_decoy() -> viz.Table:
    """How often the counterpart is nearer than the decoy, beside a coin and one question."""
    every = _curves("beats_decoy")                                                   # (19, 73)
    most, least = every.amax(1), every.amin(1)
    found = {"all heads": every[0, 0], "no heads": every[0, 72], "a coin": 0.5, "one question of 60": 1 / 60}
    rows = {name: f"{share:.2f}" for name, share in found.items()} | {
        f"{name} on each of {len(every)} orders kept": f"{ends.min():.2f} to {ends.max():.2f}"
        for name, ends in (("most", most), ("least", least))}
    return viz.columns(rows, nearer_than_decoy=rows.values())


def _shown():
    """The five orders of section 8 of the lab, each the mean of those stored of its kind."""
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

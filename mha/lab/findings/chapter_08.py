"""The tables of chapter 8: of the heads of all-MiniLM-L6-v2 (`mha.lab.findings.heads`), and of small models that copy
(`mha.lab.assets.induction_runs`).
"""
from functools import cache

import torch
from torch import Tensor

from mha import viz
from mha.lab import measure
from mha.lab.assets import KINDS, induction_runs, path_runs, real_heads, switched_off, without_cls
from mha.lab.findings import heads
from mha.lab.findings.bounds import said

# --- "It", of an animal and a street ----------------------------------------------------------------------------------

ENDINGS = ("tired", "wide")


def _from_it():
    """What "it" gives to the animal and to the street, (2 endings, 72) each."""
    return torch.stack([heads.from_it(ending) for ending in ENDINGS]).unbind(-1)


def prefer_the_animal() -> viz.Table:
    """How many heads give more to the animal than to the street, whatever the ending."""
    animal, street = _from_it()
    return viz.columns(ENDINGS, heads_that_prefer_the_animal=(animal > street).sum(-1))


def from_it(*names: str) -> viz.Table:
    """What heads such as "3.1" give from "it" to the animal and to the street."""
    (tired_animal, wide_animal), (tired_street, wide_street) = _from_it()
    at = [heads.number_of(name) for name in names]
    return viz.columns(names, corner="head", tired_animal=tired_animal[at], tired_street=tired_street[at],
                       wide_animal=wide_animal[at], wide_street=wide_street[at])


def right_both_times() -> viz.Table:
    """The same for the heads that prefer the animal where it was tired, and the street where it was wide."""
    animal, street = _from_it()
    right = (animal[0] > street[0]) & (animal[1] < street[1])
    return from_it(*map(heads.name_of, right.nonzero().flatten().tolist()))


# --- Relations of grammar -------------------------------------------------------------------------------------------

relations = cache(heads.relations)                                     # name -> Found


def compared() -> viz.Picture:
    """How often the best head is right in each relation, beside the best offset and heads that were never trained."""
    found = relations().values()
    return viz.dots([name.replace(" ", "\n") for name in relations()], "share right", grain=0.1,
                    best_head_held_out=torch.stack([f.held_out.mean()[None] for f in found]),
                    best_offset=torch.stack([torch.tensor([f.offset[1]]) for f in found]),
                    best_of_72_untrained=torch.stack([f.best_untrained for f in found]))


def leads() -> viz.Table:
    """The best head of each relation, and where the middle 95 % of its leads over the best offset lie."""
    found = relations().values()
    low, high = zip(*(f.lead for f in found))
    return viz.columns(relations(), head=[f.best for f in found], held_out=[f.held_out.mean() for f in found],
                       offset=[f.offset[1] for f in found], words_away=[f"{f.offset[0]:+d}" for f in found],
                       lead_low=low, lead_high=high, untrained=[f.best_untrained.max() for f in found])


def leads_of_one_head(*names: str) -> viz.Table:
    """Where the middle 95 % of the leads lie in the same draws, if each of them scores the head that is best on all."""
    found = {name: relations()[name] for name in names}
    drawn = [measure.leads(f.right[[heads.number_of(f.best)]], f.by_offset, f.sentence) for f in found.values()]
    return viz.columns(names, head=[f.best for f in found.values()], lead_low=[leads[25] for leads in drawn],
                       lead_high=[leads[-26] for leads in drawn])


def _by_sentence(found):
    """How many words more each head gets right than the best offset, sentence by sentence: (72, S)."""
    more = found.right.double() - (~found.missed).double()
    return torch.zeros(len(more), int(found.sentence.max()) + 1).double().index_add(-1, found.sentence, more)


def lead_of_a_fixed_head(found: heads.Found, draws=1000, seed=0) -> tuple[float, float]:
    """Where 95 % of the leads of the best head over the best offset lie when sentences are drawn anew and both stay."""
    more = _by_sentence(found)[heads.number_of(found.best)]
    words = torch.zeros_like(more).index_add(0, found.sentence, torch.ones(len(found.sentence)).double())
    picked = torch.randint(len(more), (draws, len(more)), generator=torch.Generator().manual_seed(seed))
    leads = (more[picked].sum(-1) / words[picked].sum(-1)).sort().values
    return float(leads[round(0.025 * draws)]), float(leads[-1 - round(0.025 * draws)])


def best_of_flips(found: heads.Found, flips=10000, seed=0) -> float:
    """How often the luckiest of 72 heads leads the best offset by as much as the best one does, when in each sentence
    a coin decides whether heads and offset change places.
    """
    more = _by_sentence(found)
    signs = 2.0 * torch.randint(2, (flips, more.shape[-1]), generator=torch.Generator().manual_seed(seed)) - 1
    luckiest = (signs.double() @ more.T).amax(-1)
    return float((luckiest >= more.sum(-1).max() - 1e-9).double().mean())


def only_one_right() -> viz.Table:
    """On how many words only the best head of each relation is right, and only the best offset; the sentences in which
    either gets more; and two more tests of the lead.
    """
    found = relations()
    pairs = {name: (f.right[heads.number_of(f.best)], ~f.missed) for name, f in found.items()}
    more = [_by_sentence(f)[heads.number_of(f.best)] for f in found.values()]
    low, high = zip(*map(lead_of_a_fixed_head, found.values()))
    return viz.columns(found, head=[f.best for f in found.values()],
                       words=[f"{int((h & ~o).sum())} : {int((o & ~h).sum())}" for h, o in pairs.values()],
                       sentences=[f"{int((m > 0).sum())} : {int((m < 0).sum())}" for m in more],
                       lead_low=low, lead_high=high,
                       by_flips=[f"{best_of_flips(f):.4f}" for f in found.values()])


def winners() -> dict[str, list[int]]:
    """Relation -> the heads that are right on the most words: one, or several that tie."""
    right = {name: found.right.sum(-1) for name, found in relations().items()}
    return {name: (words == words.max()).nonzero().flatten().tolist() for name, words in right.items()}


def ties() -> viz.Table:
    """The relations that several heads find equally often."""
    tied = {name: best for name, best in winners().items() if len(best) > 1}
    right = {name: relations()[name].right.sum(-1).max() for name in tied}
    return viz.columns(tied, these_tie=[" and ".join(map(heads.name_of, best)) for best in tied.values()],
                       right=[f"{most} of {len(relations()[name].missed)}" for name, most in right.items()])


def leads_that_may_be_none() -> viz.Table:
    """How often the middle 95 % of the leads contain 0, when the sentences are drawn 1000 times, four times over."""
    def contains_0(found, seed):
        drawn = measure.leads(found.right, found.by_offset, found.sentence, seed=seed)
        return int(drawn[25] <= 0 <= drawn[-26])
    return viz.columns(relations(), contains_0_in_4_times_1000_draws=[
        sum(contains_0(found, seed) for seed in range(4)) for found in relations().values()])


def where_the_offset_is_wrong() -> viz.Table:
    """How often the best head of each relation is right on the words where the best offset is right, and where not."""
    def on_each(right, missed):                                        # (2, ...): where the offset is right, and wrong
        return torch.stack([right[..., ~missed].sum(-1), right[..., missed].sum(-1)])
    found = relations().values()
    best = [on_each(f.right[heads.number_of(f.best)], f.missed) for f in found]
    words = [on_each(torch.ones(len(f.missed)).long(), f.missed) for f in found]
    right, wrong = ([f"{b[k]} of {w[k]}" for b, w in zip(best, words)] for k in (0, 1))
    return viz.columns(relations(), corner="where the offset is", head=[f.best for f in found], right=right,
                       wrong=wrong, untrained=[on_each(f.untrained, f.missed)[1].max() for f in found],
                       an_offset_on_both=[on_each(f.by_offset, f.missed).amin(0).max() for f in found])


# --- What the other maps show ---------------------------------------------------------------------------------------

def widths() -> viz.Table:
    """From how many tokens the sharpest head reads, the median one and the widest: exp(entropy)."""
    spread = real_heads().entropy.float().exp()                        # (72,)
    return viz.columns(["sharpest", "median", "widest"], corner="reads as if from",
                       head=[heads.name_of(spread.argmin()), "", heads.name_of(spread.argmax())],
                       tokens=[f"{x:.1f}" for x in (spread.min(), spread.median(), spread.max())])


def likeness(layers=range(6)) -> viz.Table:
    """How alike the maps of two heads are on average, within a layer and between layers."""
    layer = torch.arange(72) // heads.HEADS
    counted = torch.isin(layer, torch.tensor(layers))
    pairs = counted[:, None] & counted & ~torch.eye(72, dtype=torch.bool)
    within, alike = layer[:, None] == layer, real_heads().likeness
    name = "all layers" if len(layers) == 6 else f"layers {layers[0]} to {layers[-1]} only"
    return viz.columns(["within a layer", "between layers"],
                       **{name: [alike[pairs & within].mean(), alike[pairs & ~within].mean()]})


def surgeries(*names: str) -> viz.Table:
    """What is left of the model after some surgeries."""
    cuts = [real_heads().surgeries[name] for name in names]
    return viz.columns(names, cosine=[cut.cosine for cut in cuts], found=[cut.found for cut in cuts],
                       on_itself=[cut.on_itself for cut in cuts])


def learned() -> viz.Table:
    """How often heads with jobs are right as trained, and when two matrices or one were learned in their place."""
    found, rare = relations(), heads.rare()
    jobs = {"3.1 det": found["det"], "3.1 from pobj": found["from pobj"], "0.9 rare words": rare}
    right = {name: (f.right[:, f.unseen], *f.learned[..., f.unseen]) for name, f in jobs.items()}
    right["1.3 pronouns"] = heads.pronouns(again=True).right, *heads.pronouns_learned()
    trained, one, two = zip(*([rows[heads.number_of(name[:3])].double().mean() for rows in models]
                              for name, models in right.items()))
    return viz.columns(right, trained=trained, two_learned=two, one_learned=one)


# --- Models that copy -----------------------------------------------------------------------------------------------

GUESS = 1 / 16 + 15 / 16 / 32       # right by a guess among the symbols of a pattern of 16


def copying() -> viz.Picture:
    """How many tokens small models of four kinds get right, at two periods of the text."""
    return viz.dots([kind.replace(", ", ",\n") for kind in KINDS], "share of tokens right", **{
        f"period_{period}": torch.stack([induction_runs(kind).at_period(period).accuracy for kind in KINDS])
        for period in (16, 10)})


def learned_to_copy() -> viz.Picture:
    """The same of the first three kinds at period 16, beside what a guess among the symbols of a pattern gets."""
    kinds = {kind: induction_runs(kind).at_period(16).accuracy[None] for kind in list(KINDS)[:3]}
    return viz.dots(["period 16"], "share of tokens right", lines=[(GUESS, "a guess")], **kinds)


def copied() -> str:
    """What all runs of three kinds get right at period 16, and what a guess would."""
    two, one, smeared = (induction_runs(kind).at_period(16).accuracy for kind in list(KINDS)[:3])
    return (f"two layers: {said(two, 'above 0.9')} in all {len(two)} runs. "
            f"One layer: {said(one, 'below 0.6')} in all.\n"
            f"One layer with smeared keys: {said(smeared, 'above 0.8')} in all.\n"
            f"a guess among the symbols of the pattern: {GUESS:.2f}")


def best_heads() -> str:
    """How well the best head of either layer matches prefixes, and how much it gives to the token before."""
    two = induction_runs("two layers").at_period(16)
    prefix, before = two.prefix.amax(-1), two.previous.amax(-1)        # (runs, layers) each
    return (f"best prefix matching: layer 0 {said(prefix[:, 0], 'below 0.1')}, "
            f"layer 1 {said(prefix[:, 1], 'above 0.7')}, in all {len(prefix)} runs\n"
            f"best previous token: layer 0 {_from(before[:, 0], 0.25, 0.4)}, "
            f"layer 1 {said(before[:, 1], 'below 0.15')}, in all")


def _from(values: Tensor, low: float, high: float) -> str:
    """Two bounds in words."""
    return ("" if low < values.min() and values.max() < high else "not always ") + f"from {low} to {high}"


def grown(steps=(0, 200, 400, 1200)) -> viz.Picture:
    """The maps of the head of layer 1 that matches prefixes best in the end, on the way there."""
    runs = path_runs()
    best = runs.prefix[0, 1].argmax()                                  # of the first run, which learns
    maps = torch.stack([runs.grown[runs.at.tolist().index(step), 1, best] for step in steps])
    return viz.heatmaps(maps, [str(token) for token in runs.tokens.tolist()],
                        ["before training", *(f"{step} steps" for step in steps[1:])])


READ = "all four", "keys", "queries", "values", "output"        # what reads a head of layer 0: see `PathRuns.without`


def _by_reader():
    """The head that looks back most in each run that learns to copy, and the one that looks most at itself -> the loss
    without it, in multiples of the whole model's, when it is kept from each reader: (5, R).
    """
    runs = path_runs().learned
    rows = torch.arange(len(runs.seeds))
    return {name: runs.times[rows, :, looks.argmax(-1)].T
            for name, looks in (("looks_back_most", runs.before), ("looks_at_itself_most", runs.itself))}


def kept_from() -> viz.Picture:
    """The loss of each run when one of two heads of layer 0 is kept from one reader."""
    return viz.dots(READ, "loss, in multiples", lines=[(1, "whole")], grain=1, **_by_reader())


def paths() -> viz.Table:
    """The same as medians, and in how many runs each of the four readers is the one that needs the head most."""
    back, own = _by_reader().values()
    most = [["", *(times[1:].argmax(0) == reader for reader in range(4))] for times in (back, own)]
    counted = [[told if isinstance(told, str) else int(told.sum()) for told in one] for one in most]
    return viz.columns(READ, digits=1, corner="kept from", **{
        "looks back": back.median(-1).values, "most in": counted[0],
        "looks at itself": own.median(-1).values, "most in ": counted[1]})


# --- Interventions on the trained model -----------------------------------------------------------------------------

def without() -> viz.Table:
    """How close the vectors of sentences stay to the model's own when something is taken from all heads."""
    kept = {name: cosine for name, (cosine, _) in without_cls().items()}
    words = torch.tensor([cosine for name, cosine in kept.items() if name.startswith("word")])
    rows = {"[CLS] hidden": kept["[CLS]"], "[SEP] hidden": kept["[SEP]"],
            "one word hidden": float(words.median()), "[CLS] hidden, one more score": kept["one more logit"],
            "the value of [CLS] dropped": kept["its value"]}
    return viz.columns(rows, digits=3, corner="in all heads", cosine=rows.values())


def off(job: str, *names: str) -> str:
    """How far the vectors of the words that ask move without some heads, beside the other words, and the ranks."""
    moved = switched_off(job)                                          # (72, 2)
    ratio = moved[:, 0] / moved[:, 1]
    lines = []
    for name in names:
        n = heads.number_of(name)
        lines += [f"{name} off: {job} move by {moved[n, 0]:.3f},",
                  f"  others by {moved[n, 1]:.3f}; by the ratio rank {1 + int((ratio > ratio[n]).sum())} of 72"]
    return "\n".join(lines)

"""Chapter 13, first half: what stories15M writes when something is changed (`mha.lab.assets.writing`). What the heads
of two decoders do is in `decoders`.
"""
import torch
from torch import Tensor

from mha import viz
from mha.lab.assets.decoders import PATHS_KEPT
from mha.lab.assets.writing import HEADS, MEASURED_OFF, SWAPS, TELLERS, WAYS, WINDOWS, writing

OPENINGS = "first", "second", "third"
UNREAD = dict(zip(PATHS_KEPT, ("whole model", "not read by queries", "not read by keys", "not read by values",
                               "by none of them", "head is off")))      # what a head wrote, for pictures


def name_of(head) -> str:
    """(5, 1) -> "5.1"."""
    layer, h = (int(n) for n in head)
    return f"{layer}.{h}"


def at(name: str) -> int:
    """The place of a head of stories15M, such as "5.1", in HEADS."""
    return HEADS.index(tuple(map(int, name.split("."))))


# --- Renaming in the cache ------------------------------------------------------------------------------------------

def after(swap: str) -> Tensor:
    """(3, 2, 45): the probability of the own name and of the other after an exchange, for each opening."""
    return writing().rename[:, SWAPS.index(swap)]


def renamed(*swaps: str) -> viz.Table:
    """Mean probabilities of the own name and of the other, and in how many of the pairs the other one is ahead."""
    rows = {swap: after(swap) for swap in swaps or SWAPS}
    own, other = (torch.stack([row[:, k].mean() for row in rows.values()]) for k in (0, 1))
    ahead = [f"{int((row[:, 1] > row[:, 0]).sum())} of {row[:, 0].numel()}" for row in rows.values()]
    return viz.columns(rows, digits=3, corner="put in from the other text", own_name=own, other_name=other,
                       other_ahead=ahead)


def exchanged(swaps: dict[str, str]) -> viz.Picture:
    """Bars of the same two probabilities: what stands beside them -> the exchange, one of SWAPS."""
    own, other = torch.stack([after(swap).mean((0, 2)) for swap in swaps.values()]).T
    return viz.bars([*swaps], 3, "The probability of either name after an exchange in the cache, 135 pairs on average.",
                    chance_of_the_own_name=own, chance_of_the_other_name=other)


def other_ahead(*swaps: str) -> str:
    """In how many of the pairs the other name is likelier after an exchange."""
    rows = {swap: after(swap) for swap in swaps}
    return "\n".join(f"with {swap} the other name is likelier in {int((row[:, 1] > row[:, 0]).sum())} of "
                     f"{row[:, 0].numel()}" for swap, row in rows.items())


def renamed_by_opening(swap: str = "values of 5.1") -> viz.Table:
    """The same for one exchange, opening by opening, with the pair that it serves worst."""
    found = after(swap)
    return viz.columns(OPENINGS, digits=3, corner="opening", own_name=found[:, 0].mean(-1),
                       other_name=found[:, 1].mean(-1), least=found[:, 1].min(-1).values,
                       other_ahead=[f"{int(n)} of 45" for n in (found[:, 1] > found[:, 0]).sum(-1)])


def one_head_renames() -> viz.Table:
    """The heads whose values alone make the other name likeliest: the best three of 36, and the median."""
    found = writing().rename_one.mean((0, 2))                          # (36,)
    best = found.topk(3).indices.tolist()
    rows = {**{name_of(HEADS[k]): found[k] for k in best}, "median of 36": found.median()}
    return viz.columns(rows, digits=3, corner="values of", other_name=rows.values())


def goes_on(swap: str = "values of 5.1") -> str:
    """In how many stories own and other name stand in the next 40 tokens after an exchange."""
    told = (writing().rename_told > 0).sum((0, 3))                     # (3 exchanges, 2)
    own, other = told[("nothing", "values of 5.1", "all keys and values").index(swap)].tolist()
    return f"and in 40 tokens more the own name comes in {own} of 135, the other in {other}"


def roles() -> str:
    """What head 5.1 finds in the first opening when the keys of hero and friend, Max, are exchanged in it."""
    own, friend = writing().rename_roles[1]
    return (f"keys of hero and Max exchanged: P(hero) {own.mean():.3f}, P(Max) {friend.mean():.3f};\n"
            f"Max is likelier in {int((friend > own).sum())} of {own.numel()}")


def thing_named() -> str:
    """The probability of a thing, such as "ball", whose values 5.1 has been given."""
    return f"P(the thing) with its values in 5.1: {writing().rename_thing.mean():.3f}"


# --- Heads off ------------------------------------------------------------------------------------------------------

def names_without(*heads: str) -> viz.Table:
    """The mean probability of the name with one head off, by zero, by its mean and with another story's output."""
    off = writing().name_off.mean(-1).mean(1)                          # (kinds, 36)
    whole = writing().name_whole.mean()
    rows = {"none": [whole] * 3, **{head: off[:, at(head)] for head in heads}, "median of 36": off.median(-1).values}
    return viz.columns(rows, digits=3, corner="head off", **{
        {"zero": "zero", "mean": "mean", "resample": "another_story"}[kind]: [row[k] for row in rows.values()]
        for k, kind in enumerate(MEASURED_OFF)})


def left(*heads: str) -> str:
    """The same of some heads, in a line each."""
    off = writing().name_off.mean(-1).mean(1)                          # (kinds, 36)
    return "\n".join(f"P(name) without {head}: " + ", ".join(
        f"{p:.3f} by {kind}" for p, kind in zip(off[:, at(head)].tolist(), ("zero", "mean", "another story")))
        for head in heads)


def costs() -> viz.Picture:
    """What each head costs: by how much the probability of the name falls without it, by zero and by its mean."""
    kept = writing()
    cost = (kept.name_whole.mean() - kept.name_off.mean((1, 3))).unflatten(-1, (6, 6))
    return viz.head_grid({"by zero": cost[0], "by its mean": cost[1]}, "By how much the probability of the name falls "
                         "with one of 36 heads off: 0 in its place, or its mean.", least=0.5)


def ways() -> dict[str, Tensor]:
    """Who reads 4.4 -> the probability of the name, (3, 45)."""
    kept = dict(zip(UNREAD, writing().name_path.unbind(1))) | dict(zip(WAYS, writing().name_ways.unbind(1)))
    return {"whole model": kept["whole"], "not read by queries": kept["queries"], "not read by keys": kept["keys"],
            "not read by values": kept["values"], "not by network 4": kept["network"],
            "not by queries, network 4": kept["queries and network"], "by none of these four": kept["all and network"],
            "by queries alone": kept["queries alone"], "head is off": kept["off"]}


def path_of_names() -> viz.Picture:
    """The probability of the name, by who reads 4.4."""
    return viz.bars([*ways()], 3, "The probability of the name, with head 4.4 kept from what layer 5 reads or from "
                    "network 4, read by queries alone, or off.",
                    probability_of_the_name=torch.stack([found.mean() for found in ways().values()]))


def ways_by_opening() -> viz.Table:
    """The same, opening by opening."""
    return viz.columns(ways(), digits=3, corner="4.4", **{
        place: [found[k].mean() for found in ways().values()] for k, place in enumerate(OPENINGS)})


def names_by_opening(head: str = "5.1") -> viz.Table:
    """The same for one head, opening by opening, beside the head that costs most but for it."""
    kept = writing()
    off = kept.name_off[0].mean(-1)                                    # (3, 36), by zero
    rest = torch.stack([row[[k for k in range(36) if k != at(head)]].min() for row in off])
    return viz.columns(OPENINGS, digits=3, corner="opening", whole=kept.name_whole.mean(-1), off=off[:, at(head)],
                       largest=kept.name_off[0][:, at(head)].max(-1).values, next_worst_head=rest,
                       attends_to_the_name=kept.name_looks[:, at(head)])


def shuffled() -> str:
    """What is left of the name where the opening's words are shuffled, whole and with 5.1 off."""
    whole, off = writing().name_shuffled.mean((1, 2)).tolist()
    return f"shuffled openings: P(name) {whole:.3f}, with 5.1 off {off:.3f}"


def first_choice() -> str:
    """How often the name is the likeliest token, whole and with 5.1 off."""
    whole, off = writing().name_first.sum((1, 2)).tolist()
    return f"the name is the likeliest token: {whole} of 135, with 5.1 off {off} of 135"


def told(*tellers: str) -> viz.Table:
    """Of stories: the share that names its hero, of runs of four tokens that came before, of pronouns that fit."""
    kept = writing().told                                              # (TELLERS, 3, 50)
    rows = {teller: kept[TELLERS.index(teller)].nanmean(-1) for teller in tellers or TELLERS}
    return viz.columns(rows, digits=3, corner="head off, and how", hero_named=[row[0] for row in rows.values()],
                       runs_of_four_again=[row[1] for row in rows.values()],
                       pronouns_that_fit=[row[2] for row in rows.values()])


def repeats() -> str:
    """The share of repeated runs of four in stories, whole and without 1.2."""
    rows = {name: teller[1] for name, teller in zip(TELLERS, writing().told.nanmean(-1).tolist())}
    return "\n".join(f"runs of four again, {name}: {rows[f'whole, {place}']:.3f}, 1.2 off "
                     f"{rows[f'1.2 zero, {place}']:.3f}" + (
                         f", its mean {rows[f'1.2 mean, {place}']:.3f}" if f"1.2 mean, {place}" in rows else "")
                     for name, place in (("likeliest tokens", "opening 0"), ("sampled", "drawn opening 0")))


def repeats_most() -> viz.Table:
    """The share of repeated runs of four with each of 36 heads off: the three largest, and the median."""
    again = writing().told_off[:, 1].mean(-1)
    best = again.topk(3).indices.tolist()
    rows = {**{name_of(HEADS[k]): again[k] for k in best}, "median of 36": again.median()}
    return viz.columns(rows, digits=3, corner="head off", runs_of_four_again=rows.values())


def agreement() -> viz.Table:
    """The share of the right word of two, whole, with 4.4 off by zero and by its mean, with 5.3 off, with both, and
    with the worst of all other heads off; a noun alone and with an s apart.
    """
    kept = writing()
    rows = {"she or he": (kept.pronoun_whole, kept.pronoun_off, None)}
    for k, place in enumerate(("3 back", "4 back")):
        every = kept.number_whole[k], kept.number_off[:, k], kept.number_both[:, k]
        for half, number in enumerate(("one", "many")):
            rows[f"{number}, {place}"] = [found.chunk(2, -1)[half] for found in every]
    two, three = at("4.4"), at("5.3")
    rest = [k for k in range(36) if k not in (two, three)]

    def of(index, kind):
        return [off[kind, index].mean() for _, off, _ in rows.values()]
    found = {"none": [whole.mean() for whole, _, _ in rows.values()], "4.4": of(two, 0), "4.4, its mean": of(two, 1),
             "5.3": of(three, 0), "5.3, its mean": of(three, 1),
             "both": ["" if both is None else f"{both[0].mean():.3f}" for _, _, both in rows.values()],
             "the worst of 34 others": [off[0][rest].mean(-1).min() for _, off, _ in rows.values()]}
    return viz.columns(found, digits=3, corner="head off", **{
        name: [row[k] for row in found.values()] for k, name in enumerate(rows)})


def number() -> viz.Picture:
    """The share of "was" after a noun alone and of "were" after one with an s, in two openings, heads off by zero."""
    kept = writing()
    rest = [k for k, head in enumerate(HEADS) if name_of(head) not in ("4.4", "5.3")]
    panels = {}
    for k, back in enumerate((3, 4)):
        whole, off, both = (found.unflatten(-1, (2, -1)).mean(-1) for found in (
            kept.number_whole[k], kept.number_off[0, k], kept.number_both[0, k]))
        rows = torch.stack([whole, off[at("4.4")], off[at("5.3")], both, off[rest].amin(0)])
        panels |= {f"was, {back} back": rows[:, 0], f"were, {back} back": rows[:, 1]}
    return viz.bars(["none off", "4.4 off", "5.3 off", "both off", "worst of 34"], alt="The share of the right one of "
                    "was and were, with a noun 3 tokens back, and 4, and with heads off.", **panels)


def she_or_he() -> str:
    """The share of the right one of "she" and "he", whole and without 4.4."""
    kept = writing()
    return (f"she or he: {kept.pronoun_whole.mean():.3f}, without 4.4 {kept.pronoun_off[0, at('4.4')].mean():.3f}")


def unseen() -> str:
    """The share of the right word with the noun hidden from the last token."""
    shares = writing().number_unseen.unflatten(-1, (2, -1)).mean(-1)          # (openings, one and many)
    return ", ".join(f"{share:.3f}" for share in shares.flatten().tolist())


def reach() -> viz.Table:
    """By how much the loss rises with a window, of all tokens and of names that came before; a standard error."""
    kept = writing()
    more = kept.reach[1:] - kept.reach[0]                              # (6, 32)
    names = kept.reach_names[1:] - kept.reach_names[0]
    return viz.columns([*(f"last {w} tokens" for w in WINDOWS), "all but the first token"], digits=3,
                       corner="each token sees", all_tokens=more.mean(-1),
                       standard_error=more.std(-1) / more.shape[1] ** 0.5, names=names.mean(-1))


def first_token() -> str:
    """What the first token is needed for: by how much the loss rises when it is hidden, by opening, or left out."""
    kept = writing()
    hidden = (kept.reach[-1] - kept.reach[0]).view(8, 4).mean(-1)      # eight openings of four stories
    out = kept.first_left_out[1] - kept.first_left_out[0]
    top = kept.first_weight.flatten().topk(2)
    heads = " and ".join(f"{name_of(HEADS[k])} {w:.2f}" for w, k in zip(top.values.tolist(), top.indices.tolist()))
    return (f"hidden: the loss rises by {hidden.min():.3f} to {hidden.max():.3f}, by opening;\n"
            f"after \"Once upon a time\" by {hidden[0]:.3f}\nleft out: behind token 10 it rises by {out.mean():.3f}\n"
            f"largest mean weight on it: heads {heads}")

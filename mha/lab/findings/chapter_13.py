"""The tables of chapter 13: of what stories15M writes when something is changed (`mha.lab.assets.writing`), and of the
heads of two decoders (`mha.lab.assets.decoder_heads`).
"""
import torch
from torch import Tensor

from mha import viz
from mha.lab.assets.decoders import PATHS_KEPT, TURNED, decoder_heads, parts
from mha.lab.assets.writing import HEADS, MEASURED_OFF, SWAPS, TELLERS, WINDOWS, writing

OPENINGS = "first", "second", "third"


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


def goes_on() -> viz.Table:
    """In how many stories own and other name stand in the next 40 tokens after an exchange."""
    told = (writing().rename_told > 0).sum((0, 3))                     # (3 exchanges, 2)
    return viz.columns(("nothing", "values of 5.1", "all keys and values"), corner="put in from the other text",
                       own_name_told=[f"{int(n)} of 135" for n in told[:, 0]],
                       other_name_told=[f"{int(n)} of 135" for n in told[:, 1]])


# --- Heads off ------------------------------------------------------------------------------------------------------

def names_without(*heads: str) -> viz.Table:
    """The mean probability of the name with one head off, by zero, by its mean and with another story's output."""
    off = writing().name_off.mean(-1).mean(1)                          # (kinds, 36)
    whole = writing().name_whole.mean()
    rows = {"none": [whole] * 3, **{head: off[:, at(head)] for head in heads}, "median of 36": off.median(-1).values}
    return viz.columns(rows, digits=3, corner="head off", **{
        {"zero": "zero", "mean": "mean", "resample": "another_story"}[kind]: [row[k] for row in rows.values()]
        for k, kind in enumerate(MEASURED_OFF)})


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


# --- Two decoders ---------------------------------------------------------------------------------------------------

def copies() -> viz.Table:
    """Losses on random tokens that come twice, the share found in the second half, and the best induction scores."""
    rows = {name: decoder_heads(name) for name in ("stories15m", "smollm2")}
    best = [kept.induction.mean(0).max() for kept in rows.values()]
    return viz.columns(rows, corner="model", heads=[kept.induction[0].numel() for kept in rows.values()],
                       first_half=[kept.loss[0].mean() for kept in rows.values()],
                       second_half=[kept.loss[1].mean() for kept in rows.values()],
                       best_score=best, without_a_repeat=[kept.induction_once.mean(0).max() for kept in rows.values()])


def used(name: str = "smollm2") -> viz.Table:
    """Heads of the highest induction score, and of the token before: score, and the loss with each off."""
    kept = decoder_heads(name)
    mean = kept.pairs_twice[TURNED.index("none")].mean()               # the whole model, on the same tokens
    rows = {name_of(head): k for k, head in enumerate(kept.used_heads)}
    chosen = [(label, k) for label, k in rows.items() if k < 4 or 8 <= k < 12]
    pick = [k for _, k in chosen]
    heads = kept.used_heads[pick].long()
    score, before = (each.mean(0)[heads[:, 0], heads[:, 1]] for each in (kept.induction, kept.previous))
    rise = kept.used.mean(-1) - mean
    rest = rise[:, 16:]
    return viz.columns([*(label for label, _ in chosen), "8 others, the largest"], corner="head off",
                       induction=[*(f"{x:.2f}" for x in score), ""], token_before=[*(f"{x:.2f}" for x in before), ""],
                       rise_by_zero=[*rise[0, pick], rest[0].max()], rise_by_mean=[*rise[1, pick], rest[1].max()])


def together() -> viz.Table:
    """The loss of the second half without the 1, 3 and 9 best induction heads of smollm2, and of as many others."""
    kept = decoder_heads("smollm2")
    others = kept.off_others.mean(-1)                                  # (3, 4 draws)
    return viz.columns(("1", "3", "9"), corner="heads off", by_zero=kept.off[:, 0].mean(-1),
                       by_the_mean=kept.off[:, 1].mean(-1), others_least=others.min(-1).values,
                       others_most=others.max(-1).values)


def in_texts() -> str:
    """The loss of stories without the three best induction heads of smollm2."""
    whole, zero, mean = decoder_heads("smollm2").off_texts.mean(-1).tolist()
    return f"loss of stories: {whole:.3f}, three induction heads off {zero:.3f}, by their means {mean:.3f}"


def cost_in_texts() -> float:
    """By how much the loss of stories rises without these three."""
    whole, zero, _ = decoder_heads("smollm2").off_texts.double().mean(-1)
    return float(zero - whole)


def kept_from() -> viz.Table:
    """The loss of the second half, and the four best induction scores, when 16.0 or 11.1 is kept from readers."""
    kept = decoder_heads("smollm2")
    scores = [" ".join(f"{x:.2f}" for x in row) for row in kept.path_looks[0].mean(-1).tolist()]
    return viz.columns(PATHS_KEPT, corner="kept from later", **{
        "loss, head 11.1": kept.path_loss[1].mean(-1), "loss, head 16.0": kept.path_loss[0].mean(-1),
        "four induction scores, head 16.0": scores})


def sinks() -> viz.Table:
    """Of each model the weight on the first token, with its start token and without, heads above a half, the largest
    ratio of the stream's length at the first token to the median of others, and the rise of the loss.
    """
    rows = {name: decoder_heads(name) for name in ("stories15m", "smollm2")}
    even = float((1 / torch.arange(9.0, 101)).mean())                  # a head that attends alike, tokens 9 to 100
    return viz.columns(rows, corner="model", weight=[kept.sink[0].mean() for kept in rows.values()],
                       uniform_weight=[even, even],
                       heads_above_half=[int((kept.sink[0] > 0.5).sum()) for kept in rows.values()],
                       weight_without_start=[kept.sink[1].mean() for kept in rows.values()],
                       times_as_long=[f"{(kept.stream[0, :, 0] / kept.stream[0, :, 1]).max():.0f}"
                                      for kept in rows.values()],
                       loss_rises_by=[(kept.sink_loss[1] - kept.sink_loss[0]).mean() for kept in rows.values()])


def pairs() -> viz.Table:
    """Losses when some pairs of rotary positions do not turn: stories, and random tokens that come twice."""
    small, large = decoder_heads("stories15m"), decoder_heads("smollm2")
    return viz.columns(TURNED, corner="pairs that do not turn", stories15m_stories=small.pairs_texts.mean(-1),
                       smollm2_stories=large.pairs_texts.mean(-1), smollm2_twice=large.pairs_twice.mean(-1))


def groups() -> str:
    """How far maps of heads that share keys are apart, and of heads that do not."""
    kept = decoder_heads("smollm2")
    return f"apart, same keys: {kept.apart_same.mean():.3f}; keys of their own: {kept.apart_other.mean():.3f}"


# --- Scores, taken apart --------------------------------------------------------------------------------------------

def _kinds(names, values):
    """Sums over the embedding, over heads, and over networks."""
    kinds = {"embedding": lambda n: n == "embedding", "heads": lambda n: "." in n,
             "networks": lambda n: n.startswith("network")}
    return torch.stack([sum(v for n, v in zip(names, values) if is_one(n)) for is_one in kinds.values()])


def where_from() -> viz.Table:
    """Which kinds of parts make the lead of the name's score in 5.1, on either side, for each opening."""
    kept, names = decoder_heads("stories15m").apart, parts(5, 6)
    rows = {f"{place} opening, {side}": _kinds(names, kept[k].sum(axis)) for k, place in enumerate(OPENINGS)
            for side, axis in (("key", 0), ("query", 1))}
    return viz.columns(rows, corner="lead of the name's score, parts of the", **{
        kind: [row[k] for row in rows.values()] for k, kind in enumerate(("embedding", "heads", "networks"))},
        sum=[row.sum() for row in rows.values()])


def largest_parts(side: str = "query") -> viz.Table:
    """The three largest parts of the key's or the query's side, and the weight without each, for each opening."""
    kept, names = decoder_heads("stories15m"), parts(5, 6)
    rows = []
    for k, place in enumerate(OPENINGS):
        by_part = kept.apart[k].sum(0 if side == "key" else 1)
        rows.append([", ".join(f"{names[i]} {by_part[i]:+.2f}" for i in by_part.topk(3).indices.tolist())])
    return viz.columns(OPENINGS, corner="opening", **{f"{side}_side": [row[0] for row in rows]})


def left_out() -> viz.Table:
    """The weight of 5.1 on the name with the part left out of its keys that lowers it most."""
    kept, names = decoder_heads("stories15m"), parts(5, 6)
    least = kept.apart_without.min(-1)
    return viz.columns(OPENINGS, corner="opening", weight=kept.apart_whole.mean(-1), without=[
        names[i] for i in least.indices.tolist()], weight_then=least.values)


def induction_score_from() -> viz.Table:
    """The largest parts of the key, and of the query, in the lead of 17.4's score in smollm2."""
    kept, names = decoder_heads("smollm2"), parts(17, 9)
    key, query = kept.apart_keys.topk(3), kept.apart_queries.topk(3)
    return viz.columns(("1", "2", "3"), corner="", part_of_the_key=[names[i] for i in key.indices.tolist()],
                       adds=key.values, part_of_the_query=[names[i] for i in query.indices.tolist()],
                       adds_too=query.values)

"""Chapter 13, second half: what the heads of two trained decoders do (`mha.lab.assets.decoder_heads`), and where their
scores come from.
"""
import torch

from mha import viz
from mha.lab.assets.decoders import PATHS_KEPT, TURNED, decoder_heads, parts
from mha.lab.findings.chapter_13 import OPENINGS, UNREAD, name_of


def copies() -> str:
    """Losses on random tokens that come twice, or are followed by others, and the best induction scores."""
    def of(name):
        kept = decoder_heads(name)
        first, second = kept.loss.mean(-1).tolist()
        heads = kept.induction[0].numel()
        other, texts = kept.loss_once.mean(), len(kept.loss_once)
        return (f"{name}, {texts} texts: loss {first:.2f}, the second time {second:.2f}, of other tokens {other:.2f};\n"
                f"the best of its {heads} heads scores {kept.induction.mean(0).max():.2f}")
    return "\n".join(map(of, ("stories15m", "smollm2")))


def own_tokens() -> str:
    """The same of stories15m on tokens that its own stories have, and where these come again in another order."""
    kept = decoder_heads("stories15m")
    same, mixed, other = kept.own_tokens.mean(-1).tolist()
    return (f"stories15m, {kept.own_tokens.shape[1]} texts of its own stories' tokens: loss the second time {same:.2f},"
            f"\nin another order {mixed:.2f}, of other tokens {other:.2f}; the best head scores "
            f"{kept.own_induction.max():.2f}")


def order_counts() -> str:
    """By how much their loss rises where they come again in another order, with its standard error; the best head."""
    kept = decoder_heads("stories15m")
    more = kept.own_tokens[1] - kept.own_tokens[0]
    best = divmod(int(kept.own_induction.argmax()), kept.own_induction.shape[1])
    return (f"stories15m, its stories' tokens in another order: {more.mean():.2f} more, standard error "
            f"{more.std() / len(more) ** 0.5:.2f};\nits best head on them: {name_of(best)}")


def no_repeat() -> str:
    """The best induction scores where the second half repeats nothing."""
    best = [float(decoder_heads(name).induction_once.mean(0).max()) for name in ("stories15m", "smollm2")]
    return f"the largest score without a repeat: {best[0]:.2f} in stories15m, {best[1]:.2f} in smollm2"


def used(name: str = "smollm2") -> viz.Picture:
    """Heads of the highest induction score, and of the token before, and of eight others the one that costs most: both
    scores, and what each costs when off.
    """
    kept = decoder_heads(name)
    mean = kept.pairs_twice[TURNED.index("none")].mean()               # the whole model, on the same tokens
    heads, rise = kept.used_heads.long(), kept.used.mean(-1)[0] - mean
    pick = [*range(4), *range(8, 12), 16 + int(rise[16:].argmax())]
    induction, before = (each.mean(0)[heads[pick, 0], heads[pick, 1]] for each in (kept.induction, kept.previous))
    return viz.bars([name_of(heads[k]) for k in pick], alt="Nine heads of SmolLM2: induction weight, weight on the "
                    "token before, and what the loss rises by without the head.", induction_weight=induction,
                    weight_one_back=before, rise_of_the_loss=rise[pick])


def used_by_mean(name: str = "smollm2") -> viz.Table:
    """What these heads cost by zero and by their mean; of the eight others the largest."""
    kept = decoder_heads(name)
    rise = kept.used.mean(-1) - kept.pairs_twice[TURNED.index("none")].mean()     # (2, 24)
    pick = [*range(4), *range(8, 12)]
    rows = torch.cat([rise[:, pick], rise[:, 16:].amax(1, keepdim=True)], 1)
    return viz.columns([*(name_of(kept.used_heads[k]) for k in pick), "8 others, the largest"], corner="head off",
                       rise_by_zero=rows[0], rise_by_mean=rows[1])


def costliest(name: str = "smollm2") -> str:
    """Of all heads, the four that cost most by zero and by the mean, with what each costs."""
    lines = []
    for kind, each in zip(("zero", "the mean"), decoder_heads(name).each_off):     # (layers, h)
        best = each.flatten().topk(4)
        lines.append(f"by {kind}: " + ", ".join(f"{name_of(divmod(i, each.shape[1]))} {cost:.2f}" for i, cost in zip(
            best.indices.tolist(), best.values.tolist())))
    return "\n".join(lines)


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


def kept_from() -> viz.Picture:
    """The loss of the second half, and what 17.4 gives by induction, when 16.0 or 11.1 is kept from later layers."""
    kept = decoder_heads("smollm2")
    return viz.bars([*UNREAD.values()], alt="What is left when 16.0, or 11.1, is kept from later "
                    "queries, keys or values: the loss, and what 17.4 gives by induction without 16.0.", **{
        "loss, 16.0": kept.path_loss[0].mean(-1), "loss, 11.1": kept.path_loss[1].mean(-1),
        "weight by 17.4": kept.path_looks[0].mean(-1)[:, 1]})


def losses_kept() -> str:
    """Some of these losses, in a line for each head."""
    first, second = (dict(zip(PATHS_KEPT, row.mean(-1).tolist())) for row in decoder_heads("smollm2").path_loss)
    return ("loss, 16.0 kept from nothing {whole:.2f}, queries {queries:.2f}, keys {keys:.2f}, values {values:.2f}"
            .format(**first) + f"\nloss, 11.1 kept from all three {second['all']:.2f}")


def least_left() -> str:
    """The least of the four best induction scores where 16.0 is kept from queries or values, the largest from keys."""
    looks = dict(zip(PATHS_KEPT, decoder_heads("smollm2").path_looks[0].mean(-1)))
    least = min(float(looks[kind].min()) for kind in ("queries", "values"))
    return f"four scores: at least {least:.2f} without queries or values, {looks['keys'].max():.2f} without keys"


def path() -> viz.Picture:
    """From 16.0 to 17.4, drawn with what 17.4 gives by induction when 16.0 is kept from one kind of projection."""
    looks = dict(zip(PATHS_KEPT, decoder_heads("smollm2").path_looks[0].mean(-1)[:, 1].tolist()))
    return viz.composition("16.0", "17.4", looks["whole"], {part: looks[part] for part in ("queries", "keys",
                                                                                           "values")})


def sinks() -> viz.Table:
    """Of each model the weight on the first token, with its start token and without, heads above a half, the largest
    ratio of the stream's length at the first token to the median of others, and the rise of the loss.
    """
    rows = {name: decoder_heads(name) for name in ("stories15m", "smollm2")}
    even = float((1 / torch.arange(9.0, 101)).mean())                  # a head that attends alike, tokens 9 to 100
    return viz.columns(rows, corner="model", heads=[kept.sink[0].numel() for kept in rows.values()],
                       weight=[kept.sink[0].mean() for kept in rows.values()],
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


def fastest() -> viz.Table:
    """Random tokens that come twice where the fastest pair does not turn in some layers of smollm2."""
    loss, weight = decoder_heads("smollm2").fastest.mean(-1).T
    return viz.columns(("none", "all", "16", "all but 16"), corner="stopped in layers", loss_the_second_time=loss,
                       **{"weight of 16.0 one back": weight})


def one_coordinate() -> str:
    """The share of one coordinate in the square of the longest first vector."""
    return ", ".join(f"{decoder_heads(name).one_coordinate.item():.2f} in {name}" for name in ("stories15m", "smollm2"))


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
    return viz.columns(rows, corner="difference of scores, parts of the", **{
        kind: [row[k] for row in rows.values()] for k, kind in enumerate(("embedding", "heads", "networks"))},
        sum=[row.sum() for row in rows.values()])


def query_side() -> viz.Picture:
    """What the query's parts add to the lead of the name's score in 5.1, for each opening."""
    kept, names = decoder_heads("stories15m").apart.sum(2), parts(5, 6)          # (3, parts)
    kinds = {"embedding": [0], "head 4.4": [names.index("4.4")],
             "29 other heads": [k for k, name in enumerate(names) if "." in name and name != "4.4"],
             "5 networks": [k for k, name in enumerate(names) if name.startswith("network")]}
    return viz.bars([*kinds], alt="What the parts of the query add to the name's score in 5.1, less others' mean.", **{
                    f"{place} opening": [row[k].sum() for k in kinds.values()]
                                 for place, row in zip(OPENINGS, kept)})


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


def from_16_0() -> str:
    """The two largest parts of the key in the lead of 17.4's score in smollm2."""
    names, key = parts(17, 9), decoder_heads("smollm2").apart_keys.topk(2)
    return "17.4, parts of the key: " + ", ".join(f"{names[i]} {x:+.2f}" for i, x in zip(key.indices.tolist(),
                                                                                       key.values.tolist()))


def induction_score_from() -> viz.Table:
    """The largest parts of the key, and of the query, in the lead of 17.4's score in smollm2."""
    kept, names = decoder_heads("smollm2"), parts(17, 9)
    key, query = kept.apart_keys.topk(3), kept.apart_queries.topk(3)
    return viz.columns(("1", "2", "3"), corner="", part_of_the_key=[names[i] for i in key.indices.tolist()],
                       adds=key.values, part_of_the_query=[names[i] for i in query.indices.tolist()],
                       adds_too=query.values)

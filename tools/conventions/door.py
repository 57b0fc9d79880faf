"""A door: one function or layer of a library that computes attention, and the questions that are put to it.

Its `call` takes q, k and v as `mha.attention` does, tensors (B, h, n, d), permutes them as the library wants them and
permutes what comes back; a mask, a bias, a scale it hands on untouched. So what differs from `mha` is the library's.
"""
from collections.abc import Callable
from dataclasses import dataclass

import torch

from mha import attention, masks

B, H, N, M, D = 2, 4, 3, 5, 8                   # sequences, heads, queries, keys, width: no two alike
REFUSALS = (TypeError, ValueError, RuntimeError, NotImplementedError, KeyError, IndexError, AttributeError)


@dataclass(frozen=True, kw_only=True)
class Door:
    """A function or layer.

    Args:
        name: as the tables call it. package: on PyPI, whose version is told. calls: what is called, as one imports it.
        axes: of its queries. out: of what comes back, where these are others. order: of its arguments.
        call: (q, k, v, *, mask, bias, causal, scale, weights) -> out (B, h, n, d), or (out, weights).
        line: code that gives the answer of `mha.attention(q, k, v, mask=mask)[0]`, from the same tensors.
        names: what the line needs beside q, k, v and mask, which are numpy's arrays if `arrays`.
        mask, bias, scale, dropout, weights, is_causal, grouped: what its arguments for these are called.
        default_scale: where none is given, if that cannot be tried.
    """
    name: str
    package: str
    calls: str
    axes: str
    call: Callable
    line: str
    names: Callable = dict
    arrays: bool = False
    out: str = ""
    order: str = "q, k, v"
    mask: str = ""
    bias: str = ""
    scale: str = ""
    default_scale: str = ""
    dropout: str = ""
    dropped: Callable | None = None             # (q, k, v, training) -> out, with half of the weights lost
    weights: str = ""
    is_causal: str = ""
    grouped: str = ""

    def told(self, version):
        """What is stored of it: what its author wrote here, and what came out when it was asked."""
        names = ("name", "package", "calls", "axes", "out", "order", "line")
        arguments = ("mask", "bias", "scale", "dropout", "weights", "is_causal", "grouped")
        return {**{name: getattr(self, name) for name in names}, "version": version, "how": "run",
                "arguments": {name: getattr(self, name) for name in arguments}, "found": asked(self)}


def inputs(kv_heads=H, n=N, m=M):
    """q, k, v, float32, the same each time."""
    made = torch.Generator().manual_seed(0)
    return [torch.randn(B, heads, length, D, generator=made) for heads, length in
            ((H, n), (kv_heads, m), (kv_heads, m))]


def a_mask(n=N, m=M):
    """(B, 1, n, m): neither it nor its opposite hides a whole row."""
    return masks.padding([m, m - 1], m) & masks.window(n, m, left=1, right=1, offset=1)


def matching(out, **answers):
    """The name of the answer that an output equals; "something else" where it equals none."""
    close = [name.replace("_", " ") for name, answer in answers.items()
             if out.shape == answer.shape and torch.allclose(out, answer, atol=1e-4)]
    return close[0] if close else "something else"


def refused(ask, *tensors, **options):
    """What a call gives, or None where it is refused."""
    try:
        return ask(*tensors, **options)
    except REFUSALS:
        return None


def true_means(call):
    """What a boolean mask means to it."""
    q, k, v = inputs()
    mask = a_mask()
    out = refused(call, q, k, v, mask=mask)
    return "refused" if out is None else matching(
        out, may_attend=attention(q, k, v, mask=mask)[0], masked=attention(q, k, v, mask=~mask)[0],
        **{"1 more to the score": attention(q, k, v, bias=mask.float())[0]}, ignored=attention(q, k, v)[0])


def floats_are(call):
    """What it makes of a mask of floats: random ones, then 0 for visible keys and -1e9 for the others."""
    q, k, v = inputs()
    bias = torch.randn(B, 1, N, M, generator=torch.Generator().manual_seed(1))
    out = refused(call, q, k, v, bias=bias)
    if out is None:
        return "refused"
    found = matching(out, added=attention(q, k, v, bias=bias)[0], ignored=attention(q, k, v)[0])
    mask = a_mask()
    other = call(q, k, v, bias=~mask * -1e9)
    inverted = matching(other, inverted=attention(q, k, v, mask=~mask)[0]) == "inverted"
    return "cast to booleans" if found == "ignored" and inverted else found


def default_scale(call):
    """Its scale where none is given."""
    q, k, v = inputs()
    return matching(call(q, k, v), **{"1/sqrt(d)": attention(q, k, v)[0], "1": attention(q, k, v, scale=1.0)[0]})


def scale_given(call):
    """Whether its argument is the factor of the scores."""
    q, k, v = inputs()
    out = refused(call, q, k, v, scale=0.7)
    return "refused" if out is None else matching(
        out, factor=attention(q, k, v, scale=0.7)[0], divisor=attention(q, k, v, scale=1 / 0.7)[0])


def groups(call):
    """In which order four query heads share two KV heads."""
    q, k, v = inputs(kv_heads=2)
    out = refused(call, q, k, v)
    tiled = [tensor.repeat(1, 2, 1, 1) for tensor in (k, v)]
    return "refused" if out is None else matching(out, interleaved=attention(q, k, v)[0], tiled=attention(q, *tiled)[0])


def causal(call, n=N, m=M):
    """Where its causal mask stands if there are more keys than queries."""
    q, k, v = inputs(n=n, m=m)
    out = refused(call, q, k, v, causal=True)
    return "refused" if out is None else matching(
        out, upper_left=attention(q, k, v, causal=True, offset=0)[0],
        lower_right=attention(q, k, v, causal=True, offset=m - n)[0], ignored=attention(q, k, v)[0])


def the_weights(call):
    """The weights that come out: "each head", "their mean", or "none"."""
    q, k, v = inputs()
    found = refused(call, q, k, v, weights=True)
    if found is None or found[1] is None:
        return "none"
    ours = attention(q, k, v, need_weights=True)[1]
    return matching(found[1], each_head=ours, their_mean=ours.mean(1))


def drops(dropped, training):
    """Whether weights are lost while a model trains, or is evaluated."""
    q, k, v = inputs()
    return not torch.allclose(dropped(q, k, v, training), attention(q, k, v)[0], atol=1e-4)


def alike(dropped):
    """Whether all heads and sequences lose the same weights."""
    q, k, v = (tensor[:1, :1].expand(B, H, -1, -1) for tensor in inputs())
    out = dropped(q, k, v, True)
    return torch.allclose(out, out[:1, :1].expand_as(out), atol=1e-6)


def line_holds(door: Door):
    """Whether its line gives the answer of mha, for a causal mask of five tokens."""
    q, k, v = inputs(n=M)
    mask = masks.causal(M)
    given = {"q": q, "k": k, "v": v, "mask": mask}
    if door.arrays:
        given = {name: tensor.numpy() for name, tensor in given.items()}
    out = eval(door.line, given | door.names())                                              # a line of our own
    return torch.allclose(torch.tensor(out.tolist()), attention(q, k, v, mask=mask)[0], atol=1e-4)


def asked(door: Door):
    """Every question put to a door: name -> what came out."""
    call, dropped = door.call, door.dropped
    return {"true": true_means(call), "floats": floats_are(call),
            "scale": door.default_scale or default_scale(call), "scale_given": scale_given(call),
            "drops_in_training": bool(dropped) and drops(dropped, True),
            "drops_in_eval": bool(dropped) and drops(dropped, False),
            "drops_alike": bool(dropped) and alike(dropped),
            "weights": the_weights(call), "groups": groups(call), "causal": causal(call),
            "causal_one_query": causal(call, n=1), "line_holds": line_holds(door)}

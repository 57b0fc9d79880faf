"""Interventions in a trained decoder (`mha.lab.stories`): change one thing on the way from tokens to the next token.

    whole = causes.read(model, ids)                                    # .logits (B, n, vocabulary)
    without = causes.read(model, ids, causes.off({(5, 1): 0.0}))       # head 1 of layer 5 gives nothing

A change is a function (name, layer, tensor) -> tensor. It is called with each of NAMES on the way and returns what is
to stand there instead.
"""
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha.multihead import merge_heads, split_heads

Change = Callable[[str, int, Tensor], Tensor]

NAMES = (
    "into queries", "into keys", "into values",  # the stream (B, n, d_model) that each projection reads
    "queries", "keys", "values",  # (B, h or h_kv, n, d), rotated
    "weights",  # (B, h, n, m)
    "heads",  # what each head returns, before W_O: (B, h, n, d_v)
    "mlp",  # what the layer's network adds, (B, n, d_model)
)


@dataclass(frozen=True)
class Run:
    """What came out.

    Attributes:
        logits: (B, n, vocabulary), or (B, 1, vocabulary) of the last token.
        seen: name -> a tensor for each layer, of the names that were asked for.
        past: keys and values of each layer, rotated: what a cache holds.
    """

    logits: Tensor
    seen: dict[str, list[Tensor]]
    past: list[tuple[Tensor, Tensor]]

    def probability(self, ids: Tensor) -> Tensor:
        """Of one token for each text, ids (B,), as the next one after the last: (B,)."""
        return self.logits[:, -1].softmax(-1).gather(1, ids[:, None])[:, 0]


@torch.no_grad()
def read(model: nn.Module, ids: Tensor, change: Change | None = None, *, past: list | None = None,
         mask: Tensor | None = None, last: bool = False, see: tuple[str, ...] = (),
         begin: tuple[int, Tensor] | None = None) -> Run:
    """Read tokens, step by step.

    Args:
        model: a `mha.lab.stories.StoryTeller`.
        ids: (B, n), numbers of tokens.
        change: what to change; nothing by default.
        past: keys and values of earlier tokens, `Run.past` of them.
        mask: (n, m), True = may attend; what is causal besides stays hidden.
        last: return the logits of the last token only.
        see: of which NAMES to keep what stood there.
        begin: (layer, stream): start before this layer with the stream (B, n, d_model) that another run had there,
            which saves the layers below.
    Raises:
        ValueError: a name that is none of NAMES.
    """
    for name in see:
        if name not in NAMES:
            raise ValueError(f"see must hold names of {', '.join(NAMES)}, got {name!r}")
    before = 0 if past is None else past[0][0].shape[2]
    skipped, x = (0, model.embedding(ids)) if begin is None else begin
    n, seen, kept = ids.shape[1], {name: [] for name in see}, []
    places = torch.arange(before, before + n)
    allowed = torch.arange(before + n) <= places[:, None]  # (n, m)
    allowed = allowed if mask is None else allowed & mask
    for number, layer in list(enumerate(model.layers))[skipped:]:
        def at(name, tensor):
            tensor = tensor if change is None else change(name, number, tensor)
            if name in seen:
                seen[name].append(tensor)
            return tensor

        attention = layer.attention
        Q, K, V = (split_heads(W(layer.norm_1(at(f"into {name}", x))), h) for name, W, h in (
            ("queries", attention.W_Q, attention.num_heads), ("keys", attention.W_K, attention.num_kv_heads),
            ("values", attention.W_V, attention.num_kv_heads)))
        Q, K = attention.on_qk(Q, K, places, places)
        Q, K, V = at("queries", Q), at("keys", K), at("values", V)
        if past is not None:
            K, V = (torch.cat([old, new], 2) for old, new in zip(past[number], (K, V)))
        kept.append((K, V))
        group = attention.num_heads // attention.num_kv_heads
        scores = Q @ K.repeat_interleave(group, 1).mT / math.sqrt(attention.d_k)  # (B, h, n, m)
        weights = at("weights", scores.masked_fill(~allowed, -torch.inf).softmax(-1))
        x = x + attention.W_O(merge_heads(at("heads", weights @ V.repeat_interleave(group, 1))))
        y = layer.norm_2(x)
        x = x + at("mlp", layer.down(F.silu(layer.gate(y)) * layer.up(y)))
    x = model.norm(x[:, -1:] if last else x)
    return Run(x @ model.embedding.weight.T, seen, kept)


# --- Changes --------------------------------------------------------------------------------------------------------

def off(heads: dict[tuple[int, int], float | Tensor]) -> Change:
    """Replace what heads return: (layer, head) -> 0.0, its mean (d_v,), or what it returned elsewhere, (B, n, d_v)."""
    def change(name, layer, tensor):
        if name != "heads" or all(l != layer for l, _ in heads):
            return tensor
        tensor = tensor.clone()
        for (l, h), instead in heads.items():
            if l == layer:
                tensor[:, h] = instead
        return tensor
    return change


def kept_from(head: tuple[int, int], readers: dict[str, list[int]], model: nn.Module, run: Run,
              mean: Tensor | None = None) -> Change:
    """Take what one head wrote out of the stream that some projections of later layers read; all else stays.

    Args:
        head: (layer, head), the writer.
        readers: "queries", "keys", "values" -> layers that shall not read it.
        run: of the same texts, with "heads" seen.
        mean: (d_v,), put in its place; nothing by default.
    """
    added = written_by(head, model, run, mean)

    def change(name, number, tensor):
        reads = name.startswith("into ") and number in readers.get(name.removeprefix("into "), ())
        return tensor - added if reads else tensor
    return change


def written_by(head: tuple[int, int], model: nn.Module, run: Run, mean: Tensor | None = None) -> Tensor:
    """What one head added to the stream, (B, n, d_model); with a mean (d_v,), what is more than that mean adds."""
    layer, h = head
    attention = model.layers[layer].attention
    written = run.seen["heads"][layer][:, h]  # (B, n, d_v)
    written = written if mean is None else written - mean
    return written @ attention.W_O.weight[:, h * attention.d_v:(h + 1) * attention.d_v].T


def path_change(kind: str, head: tuple[int, int], later: list[int], model: nn.Module, run: Run) -> Change | None:
    """What one row of `mha.lab.assets.decoders.PATHS_KEPT` changes.

    Args:
        kind: "whole" changes nothing, "off" lets the head return 0, "queries", "keys" and "values" keep it from what
            these projections read, "all" from what all three read.
        head: (layer, head). later: the layers that shall not read it.
        run: of the same texts, with "heads" seen.
    """
    if kind in ("whole", "off"):
        return off({head: 0.0}) if kind == "off" else None
    names = ("queries", "keys", "values") if kind == "all" else (kind,)
    return kept_from(head, {name: later for name in names}, model, run)


def way_change(kind: str, head: tuple[int, int], model: nn.Module, whole: Run, without: Run) -> Change:
    """What one row of `mha.lab.assets.writing.WAYS` changes: who reads a head in its own layer and in the next.

    Args:
        kind: "network" keeps the head from its own layer's network; "queries and network" also from the next layer's
            queries, "all and network" from its keys and values too; "queries alone" leaves it to those queries only.
        head: (layer, head).
        whole, without: runs of the same texts, with "heads" and "mlp" seen; in the second the head is off.
    """
    layer, added, gone = head[0], written_by(head, model, whole), off({head: 0.0})
    names = {"network": (), "all and network": ("queries", "keys", "values")}.get(kind, ("queries",))

    def change(name, number, tensor):
        is_read = number == layer + 1 and name in {f"into {each}" for each in names}
        if kind == "queries alone":
            return tensor + added if is_read else gone(name, number, tensor)
        if name == "mlp" and number == layer:
            return without.seen["mlp"][layer]
        return tensor - added if is_read else tensor
    return change


def exchanged(past: list, other: list, places: list[int], heads: dict[str, list[tuple[int, int]]]) -> list:
    """A cache in which some heads' keys or values at some places are those of another text.

    Args:
        past, other: `Run.past` of two texts of equal length. places: positions of tokens.
        heads: "keys", "values" -> the (layer, KV head) whose rows are taken from the other.
    """
    new = [(K.clone(), V.clone()) for K, V in past]
    for part, name in enumerate(("keys", "values")):
        for layer, h in heads.get(name, ()):
            new[layer][part][:, h, places] = other[layer][part][:, h, places]
    return new


def keys_moved(head: tuple[int, int], places: list[int], sources: list[int], model: nn.Module) -> Change:
    """A KV head's keys at some places are those of other places of the same text, rotated for where they now stand.

    Args:
        head: (layer, KV head).
        places, sources: positions; the key of sources[k] is put at places[k].
    """
    layer, h = head
    attention, read_by_keys = model.layers[layer].attention, []

    def change(name, number, tensor):
        if number == layer and name == "into keys":
            read_by_keys[:] = [tensor.clone()]
            read_by_keys[0][:, places] = tensor[:, sources]
        if number != layer or name != "keys":
            return tensor
        K = split_heads(attention.W_K(model.layers[layer].norm_1(read_by_keys[0])), attention.num_kv_heads)
        at = torch.arange(K.shape[2])
        tensor = tensor.clone()
        tensor[:, h] = attention.on_qk(K, K, at, at)[1][:, h]
        return tensor
    return change


# --- Where a score comes from ---------------------------------------------------------------------------------------

def parts_of_stream(model: nn.Module, ids: Tensor, layer: int) -> tuple[list[str], Tensor]:
    """Names and vectors of all that was added to the stream before a layer: the embedding, each head, each network.

    Returns:
        names such as "embedding", "0.3", "network 0"; (parts, B, n, d_model). Their sum is what the layer reads.
    """
    run = read(model, ids, see=("heads", "mlp"))
    names, parts = ["embedding"], [model.embedding(ids)]
    for number in range(layer):
        attention = model.layers[number].attention
        by_head = attention.W_O.weight.unflatten(1, (attention.num_heads, -1))  # (d_model, h, d_v)
        parts += torch.einsum("bhnv,dhv->hbnd", run.seen["heads"][number], by_head).unbind()
        names += [f"{number}.{h}" for h in range(attention.num_heads)]
        parts.append(run.seen["mlp"][number])
        names.append(f"network {number}")
    return names, torch.stack(parts).detach()


@torch.no_grad()
def score_parts(model: nn.Module, parts: Tensor, layer: int, head: int, query: int, key: int, *,
                lead: bool = False) -> Tensor:
    """One score as a sum over pairs of parts: what part p of the query's stream gets from part q of the key's.

    RMSNorm divides by a number for each token, r. With r as it was, queries and keys are sums over parts, and the score
    is a bilinear form of them:

        score = sum over p, q of (x_p g / r_i) W_Q R_(i-j) W_K^T (x_q g / r_j)^T / sqrt(d_k)

    Args:
        parts: (parts, B, n, d_model) of `parts_of_stream`. query, key: positions.
        lead: take off the mean score of the other keys that the query sees, all but the first; a softmax sees no more.
    Returns:
        (B, parts, parts), summed over both the score before the softmax, or its lead.
    """
    block = model.layers[layer]
    attention, norm = block.attention, block.norm_1
    parts = parts[:, :, :query + 1]
    size = (parts.sum(0).square().mean(-1, keepdim=True) + norm.eps).sqrt()  # (B, n, 1)
    d, kv = attention.d_k, head // (attention.num_heads // attention.num_kv_heads)
    W_Q = attention.W_Q.weight[head * d:(head + 1) * d] * norm.weight  # (d_k, d_model)
    W_K = attention.W_K.weight[kv * d:(kv + 1) * d] * norm.weight
    Q, K, places = (parts[:, :, -1:] / size[:, -1:]) @ W_Q.T, (parts / size) @ W_K.T, torch.arange(query + 1)
    Q, K = attention.on_qk(Q, K, places[-1:], places)  # (parts, B, 1, d_k), (parts, B, n, d_k)
    chosen = K[:, :, key]
    if lead:
        others = [j for j in range(1, query + 1) if j != key]
        chosen = chosen - K[:, :, others].mean(2)
    return torch.einsum("pbd,qbd->bpq", Q[:, :, 0], chosen) / math.sqrt(d)

"""Trainings of whole layers: heads on hidden relations, what each finds, and what is lost without it.

All of them work on `data.KeyTask`. Nothing else is in the models, no layer norm and no MLP, so nothing can hide.
"""
import math

import torch
from torch import Tensor

from mha.attention import attention
from mha.lab.data import KeyTask
from mha.lab.train.loop import fit, xavier


def attend(asking: Tensor, x: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, h: int) -> tuple[Tensor, Tensor]:
    """Let one token of each sentence ask, with h heads.

    The scores q (x W_K)^T are (q W_K^T) x^T, so W_K may as well be applied to the query. Then a head is one more query
    among the tokens as they stand, and W_V is applied to their mixture. With one token that asks this saves the
    projection of all the others. To `attention` the B sentences stand where heads stand, and the h heads where queries
    stand.

    Args:
        asking: (R, B, d), the token that asks.
        x: (R, B, n, d), its sentence.
        W_Q, W_K: (R, d, h d_k).
        W_V: (R, d, h d_v).
    Returns:
        outs: (R, B, h, d_v).
        weights: (R, B, h, n), from 0 to 1, each row sums to 1.
    """
    W_K, W_V = (W.unflatten(-1, (h, -1)) for W in (W_K, W_V))  # (R, d, h, .)
    Q = (asking @ W_Q).unflatten(-1, (h, -1))  # (R, B, h, d_k)
    asked = torch.einsum("rbhk,rdhk->rbhd", Q, W_K)  # (R, B, h, d)
    mixed, weights = attention(asked, x, x, scale=Q.shape[-1] ** -0.5, need_weights=True)  # (R, B, h, d)
    return torch.einsum("rbhd,rdhv->rbhv", mixed, W_V), weights


def short_task(runs: int, r: int, seed: int) -> KeyTask:
    """The task of `fit_heads` in small, for trainings that a reader waits for.

    It has 32 names, d_model = 32 and sentences of 8 tokens.
    """
    return KeyTask(runs, r, names=32, d_name=28, n=8, seed=seed)


def fit_heads(h, r, *, d_k=None, d_v=None, task=None, steps=600, rate=0.01, runs=8, batch=128, samples=0, seed=0,
              device=None):
    """Train one layer of h heads on a task with r relations, 128 names and d_model = 64; one W_O mixes their outputs.

    With d_k = d_v = 64 / h the number of parameters does not depend on h.

    Args:
        h: number of heads, a divisor of d_model.
        r: number of relations.
        d_k: width of queries and keys; d_model // h by default.
        d_v: width of a value; d_model // h by default.
        task: another KeyTask, of as many runs and relations.
        steps, rate: of `fit`.
        runs: independent runs.
        batch: sentences in a step.
        samples: how many single sentences to look at besides.
        seed: of all runs.
    Returns:
        error (runs,): mean squared error on 2048 fresh sentences. The contents have variance 1, so a model that knows
            nothing gets 1.
        shares (runs, h, r): the mean weight that each head gives to the token of each relation.
        weights (runs, samples, h, n), only with samples: those of each head on single sentences, whose first r tokens
            are those of the relations.
    Raises:
        ValueError: h does not divide d_model.
    """
    look, answer = train_heads(h, r, d_k=d_k, d_v=d_v, task=task, steps=steps, rate=rate, runs=runs, batch=batch,
                               seed=seed, device=device)
    with torch.no_grad():
        seen = [look(1024) for _ in range(2)]
        errors = torch.stack([(answer(outs) - wanted).square().mean((1, 2)) for outs, _, wanted in seen])
        shares = torch.stack([weights for _, weights, _ in seen]).mean((0, 2))[..., :r]
        single = [look(samples)[1].cpu()] if samples else []
    return errors.mean(0).cpu(), shares.cpu(), *single


def train_heads(h, r, *, d_k=None, d_v=None, W_O=True, mix=None, task=None, steps=600, rate=0.01, runs=8, batch=128,
                seed=0, device=None):
    """The layers of `fit_heads` after their training, handed out so that they can be cut open.

    Args:
        W_O: False leaves it out, so that the h d_v numbers of the heads are the answer as they stand.
        mix: (r c, r c), a matrix that the wanted contents are multiplied by.
        h, r, d_v and the others: as in `fit_heads`.
    Returns:
        look: function of a number B of sentences -> outs (R, B, h, d_v), weights (R, B, h, n), wanted (R, B, r c).
        answer: function of outs -> (R, B, r c), W_O applied to them.
    Raises:
        ValueError: h does not divide d_model.
    """
    task = task or KeyTask(runs, r, names=128, d_name=60, n=16, seed=seed)
    d, c = task.d_model, task.content
    if h < 1 or d % h:
        raise ValueError(f"h must divide {d}, got {h}")
    d_k, d_v = d_k or d // h, d_v or d // h
    g = torch.Generator().manual_seed(seed + 1)
    W_Q, W_K, W_V = (xavier(g, runs, d, h * width, device=device) for width in (d_k, d_k, d_v))
    last = [xavier(g, runs, h * d_v, r * c, device=device)] if W_O else []

    def look(size):
        asking, x, contents = (t.to(device) for t in task.draw(size))  # (R, B, d), (R, B, n, d), (R, B, r, c)
        wanted = contents.flatten(2)
        return *attend(asking, x, W_Q, W_K, W_V, h), wanted if mix is None else wanted @ mix.to(device)

    def answer(outs):
        return outs.flatten(2) @ last[0] if W_O else outs.flatten(2)

    def errors():
        outs, _, wanted = look(batch)
        return (answer(outs) - wanted).square().mean((1, 2))

    fit([W_Q, W_K, W_V, *last], errors, steps=steps, rate=rate)
    return look, answer


def prune_heads(h, r, *, d_k=None, steps=600, rate=0.01, runs=8, batch=64, seed=0, device=None):
    """Train layers as `fit_heads` does, then switch their heads off one after the other, the cheapest first.

    The cheapest is the head without which the error is least. A head that is off gives 0, and nothing is trained after
    that, not even W_O. The task is small: 32 names, d_model = 32, sentences of 8 tokens.

    Args:
        h: number of heads, a divisor of 32.
        r and the others: as in `fit_heads`.
    Returns:
        left (runs, h + 1): the error with 0, 1, ..., h heads on, on 2048 fresh sentences.
        without (runs, h): the error on the same sentences with all heads on but the first, the second, ..., the last.
    Raises:
        ValueError: h does not divide d_model.
    """
    look, answer = train_heads(h, r, d_k=d_k, task=short_task(runs, r, seed), steps=steps, rate=rate, runs=runs,
                               batch=batch, seed=seed, device=device)

    with torch.no_grad():
        outs, _, wanted = look(2048)

        def error(on):
            return (answer(outs * on[:, None, :, None].to(outs)) - wanted).square().mean((1, 2)).cpu()

        return prune(error, runs, h)


def prune(error, runs: int, h: int) -> tuple[Tensor, Tensor]:
    """Switch heads off one after the other, the cheapest first, and return what `prune_heads` returns.

    Args:
        error: function (runs, h) -> (runs,) of which heads are on (1) and which are off (0).
    """
    on, others = torch.ones(runs, h), 1 - torch.eye(h)  # row i of others: all but head i
    left, without = [error(on)], []
    for _ in range(h):
        errors = torch.stack([error(on * row) for row in others], -1)  # (runs, h)
        errors = errors.masked_fill(on == 0, math.inf)  # a head that is off cannot be switched off again
        without.append(errors)
        least, cheapest = errors.min(-1)
        left.append(least)
        on = on * others[cheapest]
    return torch.stack(left[::-1], -1), without[0]


TARGETS = ("blocks", "mixed")


def fit_output(target, *, W_O, steps=600, rate=0.01, runs=8, batch=64, seed=0, device=None) -> Tensor:
    """Train four heads on four relations of the task of `prune_heads`, with W_O or without it.

    Without W_O block i of the answer is what head i gives as it stands. Both have 5632 parameters: with W_O d_k = 16
    and d_v = 8, without it d_k = 20, and d_v = 4, the width of a block.

    Args:
        target: "blocks", in which block i of the answer is the content of relation i; or "mixed", in which each number
            of the answer is half the sum, with signs, of four numbers, one from each content and each from another
            coordinate. It holds the same 16 numbers, turned in space.
        W_O: True or False.
        steps, rate: of `fit`.
        runs: independent runs.
        batch: sentences in a step.
        seed: of all runs.
    Returns:
        (runs,), the mean squared error on 2048 fresh sentences; a model that knows nothing gets 1.
    Raises:
        ValueError: an unknown target.
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}, got {target!r}")
    d_k, d_v = (16, 8) if W_O else (20, 4)
    look, answer = train_heads(4, 4, d_k=d_k, d_v=d_v, W_O=W_O, mix=mixing() if target == "mixed" else None,
                               task=short_task(runs, 4, seed), steps=steps, rate=rate, runs=runs, batch=batch,
                               seed=seed, device=device)
    with torch.no_grad():
        outs, _, wanted = look(2048)
        return (answer(outs) - wanted).square().mean((1, 2)).cpu()


def mixing() -> Tensor:
    """An orthogonal matrix (16, 16) that mixes four contents of four numbers.

    Coordinate j of block b takes from each content k its coordinate j - k (modulo 4), times 1/2 or -1/2.
    """
    signs = torch.tensor([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2  # (b, k), orthogonal
    shifts = torch.stack([torch.eye(4).roll(k, 1) for k in range(4)])  # (k, 4, 4)
    return torch.einsum("bk,kij->kibj", signs, shifts).reshape(16, 16)


def fit_layers(layers, heads, *, relations=2, steps=600, rate=0.01, runs=8, batch=64, seed=0,
               device=None) -> tuple[Tensor, Tensor]:
    """Train one layer or several on two relations of the task of `prune_heads`, all with 3328 parameters, or on more.

    Each layer asks with the asking token's vector (32 numbers), attends to the sentence, and adds to that vector what
    its heads found, times its own W_O (heads * d_v, 32). So a second layer sees the sentence and the first one's
    result. The other tokens stay as they are. At the end one matrix (32, 4 relations) reads the answer off the sum of
    all that was added. The number of parameters stays the same because d_k = d_v = 24 / (layers * heads).

    Args:
        layers, heads: numbers of layers and of heads in each; their product divides 24.
        relations: how many are wanted.
        steps, rate: of `fit`.
        runs: independent runs.
        batch: sentences in a step.
        seed: of all runs.
    Returns:
        error (runs,): mean squared error on 2048 fresh sentences; a model that knows nothing gets 1.
        shares (runs, layers * heads, relations): the mean weight that each head gives to the token of each relation,
            first layer first.
    Raises:
        ValueError: layers * heads does not divide 24.
    """
    if layers < 1 or heads < 1 or 24 % (layers * heads):
        raise ValueError(f"layers * heads must divide 24, got {layers} * {heads}")
    task = short_task(runs, relations, seed)
    d, width = task.d_model, 24 // layers  # width: of all the heads of a layer
    g = torch.Generator().manual_seed(seed + 1)
    shapes = [(d, width), (d, width), (d, width), (width, d)]  # of W_Q, W_K, W_V and W_O
    stack = [[xavier(g, runs, *shape, device=device) for shape in shapes] for _ in range(layers)]
    W = xavier(g, runs, d, relations * task.content, device=device)

    def answer(size):
        asking, x, contents = (t.to(device) for t in task.draw(size))  # (R, B, d), (R, B, n, d), (R, B, r, c)
        added, weights = torch.zeros_like(asking), []
        for W_Q, W_K, W_V, W_O in stack:
            outs, seen = attend(asking + added, x, W_Q, W_K, W_V, heads)
            added = added + outs.flatten(2) @ W_O
            weights.append(seen)
        return (added @ W - contents.flatten(2)).square().mean((1, 2)), torch.cat(weights, 2)

    fit([matrix for layer in stack for matrix in layer] + [W], lambda: answer(batch)[0], steps=steps, rate=rate)
    with torch.no_grad():
        error, weights = answer(2048)
    return error.cpu(), weights.mean(1)[..., :relations].cpu()

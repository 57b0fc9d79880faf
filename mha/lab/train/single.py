"""Trainings of one head: what its scores can point to, what it can carry, and how it compares with an LSTM."""
import math

import torch
from torch import Tensor

from mha import masks
from mha.attention import attention
from mha.lab.data import KeyTask, pointers
from mha.lab.train.loop import fit, normal, small_steps, xavier
from mha.multihead import MultiHeadAttention
from mha.position import rope


LOOKUP_LOSSES = ("mixture", "weights")


def fit_lookup(d_k, *, scale=None, start=1.0, rate=0.01, steps=300, tokens=None, loss="mixture", m=32, runs=8, seed=0,
               device=None) -> Tensor:
    """Let a head learn that each of m queries fetches the one of m values that was assigned to it.

    The values (m, 8) are random and fixed, and so is the assignment: out = softmax(scale Q K^T) V.

    Args:
        d_k: width of a query and of a key.
        scale: of the scores; 1 / sqrt(d_k) by default.
        start: standard deviation of the first queries and keys, or a pair, of queries and of keys.
        rate, steps: of Adam; the rate is constant.
        tokens: None, and the tables Q and K themselves are learned; else the width of 2 m fixed random tokens of
            variance 1, of which two learned matrices W_Q and W_K make queries and keys.
        loss: of what is learned: "mixture", the mean squared error of out, or "weights", the mean of -ln(weight on the
            assigned value).
        m: number of queries, of keys and of values.
        runs: independent runs, each with its own values, assignment and start.
        seed: of all runs.
    Returns:
        (runs,), the loss at the end. The values have variance 1, so the best constant answer has an error of about 1;
        equal weights have a loss of ln m.
    Raises:
        ValueError: an unknown loss.
    """
    if loss not in LOOKUP_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, LOOKUP_LOSSES))}, got {loss!r}")
    g = torch.Generator().manual_seed(seed)
    starts = start if isinstance(start, tuple) else (start, start)
    rows, unit = (m, 1.0) if tokens is None else (tokens, tokens**-0.5)
    W_Q, W_K = (normal(g, runs, rows, d_k, std=std * unit, device=device) for std in starts)
    values = torch.randn(runs, m, 8, generator=g).to(device)
    assigned = torch.rand(runs, m, generator=g).argsort(-1)[..., None].to(device)
    wanted = values.take_along_dim(assigned, 1)
    asking, asked = torch.randn(2, runs, m, rows, generator=g).to(device)

    def losses():
        Q, K = (W_Q, W_K) if tokens is None else (asking @ W_Q, asked @ W_K)    # (R, m, d_k)
        if loss == "weights":
            return -_log_weights(Q, K, scale=scale).take_along_dim(assigned, -1).mean((-2, -1))
        out, _ = attention(Q, K, values, scale=scale, need_weights=True)
        return (out - wanted).square().mean((-2, -1))

    fit([W_Q, W_K], losses, steps=steps, rate=rate, warm_up=0, eps=1e-12)
    with torch.no_grad():
        return losses().cpu()


class _Recaller(torch.nn.Module):
    """Symbols in, one of 8 answers out of the last output of a head (4224 parameters) or of an LSTM (4928)."""

    def __init__(self, layer, forget_bias=1.0):
        super().__init__()
        self.embed = torch.nn.Embedding(16, 32)  # 8 symbols, and the same 8 marked
        self.layer = MultiHeadAttention(32, 1) if layer == "head" else torch.nn.LSTM(32, 22, batch_first=True)
        self.answer = torch.nn.Linear(32 if layer == "head" else 22, 8)
        if layer == "LSTM":
            torch.nn.init.constant_(self.layer.bias_hh_l0[22:44], forget_bias)  # of the second of its four gates

    def forward(self, symbols):
        return self.answer(self.layer(self.embed(symbols))[0][:, -1])


def fit_recall(layer, n, *, forget_bias=1.0, steps=600, rate=0.003, runs=6, batch=32, seed=0, device=None) -> Tensor:
    """How long does a layer need to learn to name the first of n symbols after it has read them all?

    The first symbol is marked: it comes from a second set of 8, so that no positions are needed. The others are
    distractors.

    Args:
        layer: "head", one head of `MultiHeadAttention`, or "LSTM", torch's; d_model is 32 in both.
        n: number of symbols, at least 2.
        forget_bias: of the LSTM's forget gates at the start. At 1, a usual choice, they keep about 0.7 of what they
            hold at each symbol; at 5 they keep about 0.99.
        steps: the most steps that a run may take.
        rate: of Adam; it is constant.
        runs: trainings, one after the other, since an LSTM cannot be batched over runs.
        batch: sequences in a step.
        seed: of the first run; each further run takes the next one.
    Returns:
        (runs,), the number of steps after which five batches in a row are at least 95 % right; inf where that does not
        happen within `steps`.
    Raises:
        ValueError: an unknown layer, or n below 2.
    """
    if layer not in ("head", "LSTM") or n < 2:
        raise ValueError(f"layer must be 'head' or 'LSTM', and n at least 2; got {layer!r} and {n}")
    return torch.tensor([_recall(layer, forget_bias, n, steps, rate, batch, seed + run, device) for run in range(runs)])


def _recall(layer, forget_bias, n, steps, rate, batch, seed, device) -> float:
    """One run of `fit_recall`, which leaves the caller's random numbers as they were."""
    with torch.random.fork_rng(devices=[]), small_steps():
        torch.manual_seed(seed)
        model = _Recaller(layer, forget_bias).to(device)
        optimiser, in_a_row = torch.optim.Adam(model.parameters(), lr=rate), 0
        for step in range(steps):
            symbols = torch.randint(8, (batch, n)).to(device)
            wanted = symbols[:, 0].clone()
            symbols[:, 0] += 8
            answers = model(symbols)
            in_a_row = in_a_row + 1 if (answers.argmax(-1) == wanted).float().mean() >= 0.95 else 0
            if in_a_row == 5:
                return float(step)
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(answers, wanted).backward()
            optimiser.step()
    return math.inf


def _log_weights(Q: Tensor, K: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    """The logarithms of attention's weights: (..., n, d_k), (..., m, d_k) -> (..., n, m), at most 0.

    These are `attention`'s weights in a wider range. A weight under 1e-45 is rounded to 0, its logarithm is -inf, and a
    run that is so wrong would get no gradient to lead it away; log_softmax never forms the weight itself.
    """
    scores = Q @ K.mT / Q.shape[-1] ** 0.5 if scale is None else Q @ K.mT * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.log_softmax(-1)


SCORES = ("two matrices", "one symmetric form", "one matrix")


def fit_pointers(task, score, *, exclude_self=True, rotary=False, steps=400, rate=0.01, d_k=16, runs=8, batch=64,
                 seed=0, device=None) -> Tensor:
    """Train one head to put its weight where a task points (`mha.lab.data.pointers` lists the tasks).

    Args:
        task: one of `mha.lab.data.POINTERS`.
        score: "two matrices", x W_Q (x W_K)^T; "one matrix", x W (x W)^T; or "one symmetric form", x W D (x W)^T with a
            learned diagonal D of any sign, which stands for every symmetric matrix of rank d_k.
        exclude_self: no token attends to itself.
        rotary: queries and keys are rotated by their positions (`mha.position.rope`).
        steps, rate: of `fit`.
        d_k: width of a query and of a key.
        runs: independent runs.
        batch: sentences in a step.
        seed: of all runs.
    Returns:
        (runs,), the mean of -ln(weight on the target), in nats, over 20 batches at the end.
    Raises:
        ValueError: an unknown task or score.
    """
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}, got {score!r}")
    g = torch.Generator().manual_seed(seed)
    draw, d_model, no_future = pointers(task, runs, g)
    W_Q, W_K = (normal(g, runs, d_model, d_k, std=d_model**-0.5, device=device) for _ in range(2))
    diagonal = normal(g, runs, 1, 1, d_k, device=device)

    # For two matrices K stands apart from Q; else it is Q, or Q stretched by the diagonal.
    learned = [W_Q]
    if score == "two matrices":
        learned.append(W_K)
    elif score == "one symmetric form":
        learned.append(diagonal)

    def losses():
        x, target, asked = (t.to(device) for t in draw(batch))  # (R, B, n, d_model), (R, B, n), (n,)
        n = x.shape[-2]
        mask = masks.causal(n, device=device) if no_future else torch.ones(n, n, dtype=torch.bool, device=device)
        if exclude_self:
            mask = mask & ~torch.eye(n, dtype=torch.bool, device=device)
        Q = K = torch.einsum("rbnd,rdk->rbnk", x, W_Q)
        if score == "two matrices":
            K = torch.einsum("rbnd,rdk->rbnk", x, W_K)
        elif score == "one symmetric form":
            K = Q * diagonal
        if rotary:
            Q, K = (rope(t, torch.arange(n, device=device)) for t in (Q, K))
        logs = _log_weights(Q, K, mask)[..., asked, :]
        return -logs.take_along_dim(target[..., asked, None], -1).mean((1, 2, 3))

    fit(learned, losses, steps=steps, rate=rate)
    with torch.no_grad():
        return torch.stack([losses() for _ in range(20)]).mean(0).cpu()


CARRIERS = {  # what is mixed and handed on: are there W_V, is there a W_O?
    "the inputs": (False, False),
    "W_V": (True, False),
    "the inputs, then W_O": (False, True),
    "W_V, then W_O": (True, True),
    "fixed maps, then W_O": (True, True),
}


def fit_carrier(carries, *, heads=1, places=1, turned=False, steps=400, rate=0.01, d_k=16, runs=8, batch=64, seed=0,
                device=None) -> Tensor:
    """Train heads on `data.KeyTask` to bring back the content of related tokens; the heads' outputs are added up.

    Args:
        carries: what is mixed and handed on. "the inputs": the tokens themselves, and the answer is read off their
            content coordinates; "W_V": the tokens times a matrix of each head's own; "the inputs, then W_O": the
            tokens, added up over heads, then one matrix; "W_V, then W_O": both; "fixed maps, then W_O": the tokens
            times a random matrix of each head's own that is never trained, added up over heads, then one matrix.
        heads: number of heads.
        places: number of related tokens whose contents are wanted.
        turned: ask for the content after a quarter turn in its first two coordinates and one in its last two. What is
            wanted then stands at right angles to the content that is found, so handing that on as it is does not help.
        steps, rate: of `fit`.
        d_k: width of a query and of a key.
        runs: independent runs.
        batch: sentences in a step.
        seed: of all runs.
    Returns:
        (runs,), the mean squared error on 1024 fresh sentences. The contents have variance 1, so a model that knows
        nothing gets 1.
    Raises:
        ValueError: an unknown way to carry; or "the inputs" for more than one place, whose answer would not fit.
    """
    if carries not in CARRIERS:
        raise ValueError(f"carries must be one of {', '.join(map(repr, CARRIERS))}, got {carries!r}")
    has_W_V, has_W_O = CARRIERS[carries]
    task = KeyTask(runs, places, seed=seed)
    if places > 1 and not has_W_V and not has_W_O:
        raise ValueError(f"the inputs hold one content of {task.content} numbers, and {places} places are wanted: "
                         "use 'the inputs, then W_O'")
    g = torch.Generator().manual_seed(seed + 1)
    d, wanted = task.d_model, places * task.content
    W_Q = xavier(g, runs, heads, d, d_k, device=device)
    W_K = xavier(g, runs, heads, d, d_k, device=device)
    learned = [W_Q, W_K]
    fixed = carries == "fixed maps, then W_O"
    if has_W_V:  # fixed maps are so wide that their sum tells the heads apart
        W_V = xavier(g, runs, heads, d, heads * d if fixed else task.content if has_W_O else wanted, device=device)
        learned += [W_V] * (not fixed)
    if has_W_O:  # heads without a learned W_V of their own share one W_O
        shape = (1, heads * d, wanted) if fixed else (heads, task.content, wanted) if has_W_V else (1, d, wanted)
        W_O = xavier(g, runs, *shape, device=device)
        learned.append(W_O)
    quarter = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    turn = torch.block_diag(quarter, quarter).to(device)

    def errors(batch):
        asking, x, contents = (t.to(device) for t in task.draw(batch))  # (R, B, d), (R, B, n, d), (R, B, places, c)
        Q = torch.einsum("rbd,rhdk->rhbk", asking, W_Q)[..., None, :]  # (R, h, B, 1, d_k)
        K = torch.einsum("rbnd,rhdk->rhbnk", x, W_K)  # (R, h, B, n, d_k)
        tokens = x[:, None].expand(-1, heads, -1, -1, -1)  # (R, h, B, n, d)
        out = attention(Q, K, tokens)[0][..., 0, :]  # (R, h, B, d)
        if has_W_V:
            out = out @ W_V  # the weights act on tokens, W_V on coordinates: either may come first
        if has_W_O:
            out = out @ W_O
        out = out.sum(1)[..., -wanted:]  # (R, B, wanted): the content stands last in a token
        answer = (contents @ turn if turned else contents).flatten(2)
        return (out - answer).square().mean((1, 2))

    fit(learned, lambda: errors(batch), steps=steps, rate=rate)
    with torch.no_grad():
        return errors(1024).cpu()


def fit_pattern(pattern, d_k, *, steps=600, rate=0.05, runs=8, seed=0, device=None) -> Tensor:
    """Fit free queries and keys (n, d_k) so that their attention weights come close to a given pattern.

    Args:
        pattern: (n, n), each row sums to 1.
        d_k: width of a query and of a key.
        steps, rate: of `fit`.
        runs: independent starts.
        seed: of all runs.
    Returns:
        (runs, n, n), the weights at the end.
    Raises:
        ValueError: pattern is not square, or a row does not sum to 1.
    """
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1] or (pattern.sum(-1) - 1).abs().max() > 1e-4:
        raise ValueError(f"pattern must be (n, n) with rows that sum to 1, got shape {tuple(pattern.shape)} and sums "
                         f"{pattern.sum(-1)}")
    g = torch.Generator().manual_seed(seed)
    Q, K = (normal(g, runs, len(pattern), d_k, device=device) for _ in range(2))
    pattern = pattern.float().to(device)

    def losses():
        return -(pattern * _log_weights(Q, K)).sum(-1).mean(-1)

    fit([Q, K], losses, steps=steps, rate=rate)
    with torch.no_grad():
        return _log_weights(Q, K).exp().cpu()

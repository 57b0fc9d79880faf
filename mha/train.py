"""Small trainings for the chapters: many independent runs in one process.

Every parameter has a leading axis of R runs, and the loss of a step is the sum of the runs' own losses. Adam treats
each number by itself, so the runs never touch: it is R separate trainings, each with its own start, data and task, for
little more than the time of one.
"""
import math
from contextlib import contextmanager

import torch

from mha import masks
from mha.attention import attention
from mha.data import KeyTask, pointers
from mha.multihead import MultiHeadAttention


def fit(parameters, loss, *, steps=400, rate=0.01, warm_up=50, eps=1e-8):
    """Adam on R runs at once; the rate climbs for warm_up steps, then falls along a cosine to 2 %.

    Args:
        parameters: list of leaf tensors (R, ...) that require gradients; changed in place.
        loss: function of no arguments -> (R,), the loss of each run on a fresh batch.
        steps: number of steps; rate: the largest learning rate; warm_up: 0 keeps the rate constant. eps: of Adam.
    Returns:
        (steps, R), the loss of each run before each step.
    Raises:
        ValueError: the loss is not one number for each run.
    """
    optimiser, history = torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.99), eps=eps), []
    with small_steps():
        for step in range(steps):
            if warm_up:
                cosine = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps))
                optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / warm_up) * cosine
            each = loss()
            if each.shape != parameters[0].shape[:1]:
                raise ValueError(f"loss() must give one number for each of the {parameters[0].shape[0]} runs, got "
                                 f"shape {tuple(each.shape)}")
            optimiser.zero_grad()
            each.sum().backward()
            optimiser.step()
            history.append(each.detach())
    return torch.stack(history)


@contextmanager
def small_steps():
    """What a CPU needs for many small steps: one thread, and no denormal numbers, which sharp softmaxes make and on
    which it is slow.

    With two threads each small product waits for both: a few per cent faster on an idle machine, ten times slower on a
    busy one.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)


def normal(generator, *shape, std=1.0, device=None):
    """A parameter of normal numbers, drawn on the CPU so that every device starts alike."""
    return (std * torch.randn(*shape, generator=generator)).to(device).requires_grad_()


def fit_lookup(d_k, *, scale=None, start=1.0, rate=0.01, steps=300, m=32, runs=8, seed=0, device=None):
    """Learn a table of m queries and m keys by which each query fetches the one value that it should.

    The values (m, 8) are random and fixed, and so is the assignment. Nothing else is learned: out =
    softmax(scale Q K^T) V.

    Args:
        d_k: width; scale: of the scores, 1 / sqrt(d_k) by default; start: standard deviation of the first queries and
            keys.
        rate, steps: of Adam, at a constant rate; runs: independent runs, each with its own values, assignment and
            start; seed: of all of them.
    Returns:
        (runs,), the mean squared error at the end. The values have variance 1, so 1 is what the best constant answer
        gets.
    """
    g = torch.Generator().manual_seed(seed)
    Q, K = (normal(g, runs, m, d_k, std=start, device=device) for _ in range(2))
    values = torch.randn(runs, m, 8, generator=g).to(device)
    assigned = torch.rand(runs, m, generator=g).argsort(-1).to(device)
    wanted = values.take_along_dim(assigned[..., None], 1)

    def errors():
        out, _ = attention(Q, K, values, scale=scale, need_weights=True)
        return (out - wanted).square().mean((-2, -1))

    fit([Q, K], errors, steps=steps, rate=rate, warm_up=0, eps=1e-12)
    with torch.no_grad():
        return errors().cpu()


SCORES = ("two matrices", "one symmetric form", "one matrix")


class _Recaller(torch.nn.Module):
    """Symbols in, one of 8 answers out of the last output of a head (4224 parameters) or of an LSTM (4928)."""
    def __init__(self, layer, forget_bias=1.0):
        super().__init__()
        self.embed = torch.nn.Embedding(16, 32)                                    # 8 symbols, and the same 8 marked
        self.layer = MultiHeadAttention(32, 1) if layer == "head" else torch.nn.LSTM(32, 22, batch_first=True)
        self.answer = torch.nn.Linear(32 if layer == "head" else 22, 8)
        if layer == "LSTM":
            torch.nn.init.constant_(self.layer.bias_hh_l0[22:44], forget_bias)     # of the second of its four gates

    def forward(self, symbols):
        return self.answer(self.layer(self.embed(symbols))[0][:, -1])


def fit_recall(layer, n, *, forget_bias=1.0, steps=600, rate=0.003, runs=6, batch=32, seed=0, device=None):
    """How long does a layer need to learn to name the first of n symbols after it has read them all?

    The first symbol is marked: it comes from a second set of 8, so that no positions are needed. The others are
    distractors.

    Args:
        layer: "head", one head of `MultiHeadAttention`, or "LSTM", torch's; d_model is 32 in both.
        forget_bias: of the LSTM's forget gates at the start: at 1, a usual choice, they keep about 0.7 of what they
            hold at each symbol, at 5 about 0.99.
        n: number of symbols, at least 2. steps: at most so many; rate: of Adam, constant.
        runs: trainings, one after the other, since an LSTM cannot be batched over runs; batch: sequences a step; seed:
            of the first run.
    Returns:
        (runs,), the number of steps after which five batches in a row are at least 95 % right; inf where that does not
        happen within `steps`.
    Raises:
        ValueError: an unknown layer, or n below 2.
    """
    if layer not in ("head", "LSTM") or n < 2:
        raise ValueError(f"layer must be 'head' or 'LSTM', and n at least 2; got {layer!r} and {n}")
    return torch.tensor([_recall(layer, forget_bias, n, steps, rate, batch, seed + run, device) for run in range(runs)])


def _recall(layer, forget_bias, n, steps, rate, batch, seed, device):
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


def fit_pointers(task, score, *, exclude_self=True, steps=400, rate=0.01, d_k=16, runs=8, batch=64, seed=0,
                 device=None):
    """Train one head to put its weight where a task points (`mha.data.pointers` lists the tasks).

    Args:
        score: "two matrices", x W_Q (x W_K)^T; "one matrix", x W (x W)^T; or "one symmetric form", x W D (x W)^T with a
            learned diagonal D of any sign, which stands for every symmetric matrix of rank d_k.
        exclude_self: no token attends to itself.
        steps, rate: of `fit`; runs: independent runs; batch: sentences a step; seed: of all runs.
    Returns:
        (runs,), the mean of -ln(weight on the target), in nats, over 20 batches at the end.
    Raises:
        ValueError: an unknown task or score.
    """
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}, got {score!r}")
    g = torch.Generator().manual_seed(seed)
    draw, d_model, no_future = pointers(task, runs, g)
    W_Q, W_K = (normal(g, runs, 1, d_model, d_k, std=d_model**-0.5, device=device) for _ in range(2))
    diagonal = normal(g, runs, 1, 1, d_k, device=device)

    def losses():
        x, target, asked = (t.to(device) for t in draw(batch))                     # (R, B, n, d_model), (R, B, n), (n,)
        n = x.shape[-2]
        mask = masks.causal(n, device=device) if no_future else torch.ones(n, n, dtype=torch.bool, device=device)
        if exclude_self:
            mask = mask & ~torch.eye(n, dtype=torch.bool, device=device)
        Q = x @ W_Q
        K = {"two matrices": lambda: x @ W_K, "one matrix": lambda: Q,
             "one symmetric form": lambda: Q * diagonal}[score]()
        scores = (Q @ K.mT / d_k**0.5).masked_fill(~mask, -math.inf)
        logs = scores[..., asked, :].log_softmax(-1)
        return -logs.take_along_dim(target[..., asked, None], -1).mean((1, 2, 3))

    fit({"two matrices": [W_Q, W_K], "one matrix": [W_Q], "one symmetric form": [W_Q, diagonal]}[score], losses,
        steps=steps, rate=rate)
    with torch.no_grad():
        return torch.stack([losses() for _ in range(20)]).mean(0).cpu()


CARRIERS = ("the inputs", "W_V", "the inputs, then W_O", "W_V, then W_O")


def fit_carrier(carries, *, heads=1, places=1, turned=False, steps=400, rate=0.01, d_k=16, runs=8, batch=64, seed=0,
                device=None):
    """Train heads on `mha.data.KeyTask` to bring back the content of related tokens; the heads' outputs are added up.

    Args:
        carries: what is mixed and handed on. "the inputs": the tokens themselves, and the answer is read off their
            content coordinates; "W_V": the tokens times a matrix of each head's own; "the inputs, then W_O": the
            tokens, added up over heads, then one matrix; "W_V, then W_O": both.
        heads: number of heads; places: number of related tokens whose contents are wanted.
        turned: ask for the content after a quarter turn in its first two coordinates and one in its last two; what
            comes out is at right angles to what went in, so that the content itself is no help towards it.
        steps, rate: of `fit`; runs: independent runs; batch: sentences a step; seed: of all runs.
    Returns:
        (runs,), the mean squared error on 1024 fresh sentences. The contents have variance 1: 1 is knowing nothing.
    Raises:
        ValueError: an unknown way to carry; or "the inputs" for more than one place, whose answer would not fit.
    """
    if carries not in CARRIERS:
        raise ValueError(f"carries must be one of {', '.join(map(repr, CARRIERS))}, got {carries!r}")
    if carries == "the inputs" and places > 1:
        raise ValueError(f"the inputs hold one content of {KeyTask.CONTENT} numbers, and {places} places are wanted: "
                         "use 'the inputs, then W_O'")
    task = KeyTask(runs, places, seed=seed)
    g = torch.Generator().manual_seed(seed + 1)
    d, wanted = task.d_model, places * task.CONTENT
    per_head = {"W_V": wanted, "W_V, then W_O": task.CONTENT}.get(carries)
    xavier = lambda *shape: normal(g, runs, *shape, std=(2 / sum(shape[-2:])) ** 0.5, device=device)      # noqa: E731
    W_Q, W_K = xavier(heads, d, d_k), xavier(heads, d, d_k)
    W_V = xavier(heads, d, per_head) if per_head else None
    W_O = {"the inputs, then W_O": lambda: xavier(1, d, wanted),
           "W_V, then W_O": lambda: xavier(heads, per_head, wanted)}.get(carries, lambda: None)()
    quarter = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    turn = torch.block_diag(quarter, quarter).to(device)

    def errors(batch):
        # (R, B, d), (R, B, n, d), (R, B, places, content)
        asking, x, contents = (t.to(device) for t in task.draw(batch))
        Q = torch.einsum("rbd,rhdk->rhbk", asking, W_Q)[..., None, :]              # (R, h, B, 1, d_k)
        K = torch.einsum("rbnd,rhdk->rhbnk", x, W_K)
        mixed = attention(Q, K, x[:, None].expand(-1, heads, -1, -1, -1))[0][..., 0, :]       # (R, h, B, d)
        if W_V is not None:
            mixed = mixed @ W_V                                                    # (w x) W_V = w (x W_V)
        if carries == "W_V, then W_O":
            mixed = mixed @ W_O
        out = mixed.sum(1)                                                         # (R, B, ...)
        out = out @ W_O[:, 0] if carries == "the inputs, then W_O" else out[..., -wanted:]
        answer = (contents @ turn if turned else contents).flatten(2)
        return (out - answer).square().mean((1, 2))

    fit([W for W in (W_Q, W_K, W_V, W_O) if W is not None], lambda: errors(batch), steps=steps, rate=rate)
    with torch.no_grad():
        return errors(1024).cpu()


def fit_heads(h, r, *, d_k=None, task=None, steps=600, rate=0.01, runs=8, batch=128, samples=0, seed=0, device=None):
    """Train one layer of h heads on `mha.data.KeyTask` with r relations, 128 names and d_model = 64; the heads' outputs
    are mixed by one W_O.

    With d_k = d_v = 64 / h the number of parameters does not depend on h. Nothing else is in the model, no layer norm,
    no MLP, so nothing can hide.

    Args:
        h: number of heads, a divisor of d_model; r: relations; d_k: width of queries and keys, d_model // h by default,
            which d_v is always.
        task: another KeyTask of as many runs and relations.
        steps, rate: of `fit`; runs: independent runs; batch: sentences a step; seed: of all runs.
        samples: how many single sentences to look at besides.
    Returns:
        error (runs,): mean squared error on 2048 fresh sentences; the contents have variance 1, so 1 is knowing
            nothing.
        shares (runs, h, r): the mean weight that each head gives to the token of each relation.
        Only with samples: weights (runs, samples, h, n), of each head on single sentences, whose first r tokens are
            those of the relations.
    Raises:
        ValueError: h does not divide d_model.
    """
    look, answer = _train_heads(h, r, d_k=d_k, task=task, steps=steps, rate=rate, runs=runs, batch=batch, seed=seed,
                                device=device)
    with torch.no_grad():
        seen = [look(1024) for _ in range(2)]
        errors = torch.stack([(answer(outs) - wanted).square().mean((1, 2)) for outs, _, wanted in seen])
        single = [look(samples)[1].cpu()] if samples else []
    return errors.mean(0).cpu(), torch.stack([w for _, w, _ in seen]).mean((0, 2))[..., :r].cpu(), *single


def _train_heads(h, r, *, d_k=None, d_v=None, W_O=True, mix=None, task=None, steps=600, rate=0.01, runs=8, batch=128,
                 seed=0, device=None):
    """The layers of `fit_heads` after their training, handed out so that they can be cut open.

    Args:
        d_v: d_model // h by default. W_O: False leaves it out, so that the h d_v numbers of the heads are the answer as
            they stand.
        mix: (r c, r c), a matrix that the wanted contents are multiplied by. The others as in `fit_heads`.
    Returns:
        look: function of a number B of sentences -> outs (R, B, h, d_v), weights (R, B, h, n), wanted (R, B, r c).
        answer: function of outs -> (R, B, r c), W_O applied to them.
    """
    task = task or KeyTask(runs, r, names=128, d_name=60, n=16, seed=seed)
    d, c = task.d_model, task.CONTENT
    if h < 1 or d % h:
        raise ValueError(f"h must divide {d}, got {h}")
    d_k, d_v = d_k or d // h, d_v or d // h
    g = torch.Generator().manual_seed(seed + 1)
    W_Q, W_K, W_V = (_xavier(g, runs, d, h * width, device) for width in (d_k, d_k, d_v))
    last = [_xavier(g, runs, h * d_v, r * c, device)] if W_O else []

    def look(size):
        asking, x, contents = (t.to(device) for t in task.draw(size))  # (R, B, d), (R, B, n, d), (R, B, r, c)
        contents = contents.flatten(2)
        return *_attend(asking, x, W_Q, W_K, W_V, h), contents if mix is None else contents @ mix.to(device)

    def answer(outs):
        return outs.flatten(2) @ last[0] if W_O else outs.flatten(2)

    def errors():
        outs, _, wanted = look(batch)
        return (answer(outs) - wanted).square().mean((1, 2))

    fit([W_Q, W_K, W_V, *last], errors, steps=steps, rate=rate)
    return look, answer


def _xavier(generator, runs, rows, columns, device):
    return normal(generator, runs, rows, columns, std=(2 / (rows + columns)) ** 0.5, device=device)


def _attend(asking, x, W_Q, W_K, W_V, h):
    """h heads for one asking token (R, B, d) on its sentence (R, B, n, d): their outputs (R, B, h, d_v) and weights
    (R, B, h, n).
    """
    Q, W_K, W_V = (asking @ W_Q).unflatten(-1, (h, -1)), W_K.unflatten(-1, (h, -1)), W_V.unflatten(-1, (h, -1))
    asked = torch.einsum("rbhk,rdhk->rbhd", Q, W_K)  # what each head asks of a token as it stands
    w = (asked @ x.mT / Q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("rbhd,rdhv->rbhv", w @ x, W_V), w


def _short_task(runs, r, seed):
    """The task of `fit_heads` in small, for trainings that a reader waits for: 32 names, d_model = 32, sentences of 8
    tokens.
    """
    return KeyTask(runs, r, names=32, d_name=28, n=8, seed=seed)


def prune_heads(h, r, *, d_k=None, steps=600, rate=0.01, runs=8, batch=64, seed=0, device=None):
    """Train layers as `fit_heads` does, then switch heads off one after the other, each time the head without which the
    error is least.

    The task is small: 32 names, d_model = 32, sentences of 8 tokens. A head that is off gives 0. Nothing is trained
    after that, not even W_O.

    Args:
        h: number of heads, a divisor of 32; the others as in `fit_heads`.
    Returns:
        left (runs, h + 1): the error with 0, 1, ..., h heads on, on 2048 fresh sentences.
        without (runs, h): the error on the same sentences with all heads on but the first, the second, ..., the last.
    Raises:
        ValueError: h does not divide d_model.
    """
    look, answer = _train_heads(h, r, d_k=d_k, task=_short_task(runs, r, seed), steps=steps, rate=rate, runs=runs,
                                batch=batch, seed=seed, device=device)
    with torch.no_grad():
        outs, _, wanted = look(2048)
        return _prune(lambda on: (answer(outs * on[:, None, :, None].to(outs)) - wanted).square().mean((1, 2)).cpu(),
                      len(outs), h)


def _prune(error, runs, h):
    """What `prune_heads` returns, for any error: a function (runs, h) -> (runs,) of which heads are on (1) and off (0).
    """
    on, others = torch.ones(runs, h), 1 - torch.eye(h)                             # row i of others: all but head i
    left, without = [error(on)], []
    for _ in range(h):
        # (runs, h); inf: is off already
        errors = torch.stack([error(on * row) for row in others], -1).masked_fill(on == 0, math.inf)
        without.append(errors)
        least, cheapest = errors.min(-1)
        left.append(least)
        on = on * others[cheapest]
    return torch.stack(left[::-1], -1), without[0]


TARGETS = ("blocks", "mixed")


def fit_output(target, *, W_O, steps=600, rate=0.01, runs=8, batch=64, seed=0, device=None):
    """Train four heads on four relations of the task of `prune_heads`, with W_O or without: then block i of the answer
    is what head i gives as it stands.

    Both have 5632 parameters: with W_O d_k = 16 and d_v = 8, without it d_k = 20, and d_v = 4, the width of a block.

    Args:
        target: "blocks", in which block i of the answer is the content of relation i; or "mixed", in which each number
            of the answer is half the sum, with signs, of four numbers, one from each content and each from another
            coordinate: the same 16 numbers, turned in space.
        W_O: True or False.
        steps, rate: of `fit`; runs: independent runs; batch: sentences a step; seed: of all runs.
    Returns:
        (runs,), the mean squared error on 2048 fresh sentences; 1 is knowing nothing.
    Raises:
        ValueError: an unknown target.
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}, got {target!r}")
    d_k, d_v = (16, 8) if W_O else (20, 4)
    look, answer = _train_heads(4, 4, d_k=d_k, d_v=d_v, W_O=W_O, mix=_mixing() if target == "mixed" else None,
                                task=_short_task(runs, 4, seed),
                                steps=steps, rate=rate, runs=runs, batch=batch, seed=seed, device=device)
    with torch.no_grad():
        outs, _, wanted = look(2048)
        return (answer(outs) - wanted).square().mean((1, 2)).cpu()


def _mixing():
    """An orthogonal matrix (16, 16): coordinate j of block b takes from each content k its coordinate j - k (modulo 4),
    times 1/2 or -1/2.
    """
    signs = torch.tensor([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2  # (b, k), orthogonal
    shifts = torch.stack([torch.eye(4).roll(k, 1) for k in range(4)])                                      # (k, 4, 4)
    return torch.einsum("bk,kij->kibj", signs, shifts).reshape(16, 16)


def fit_layers(layers, heads, *, steps=600, rate=0.01, runs=8, batch=64, seed=0, device=None):
    """Train one layer or several on two relations of the task of `prune_heads`, all with 3328 parameters: d_k = d_v =
    24 / (layers * heads).

    Each layer asks with the asking token's vector (32 numbers), attends to the sentence, and adds to that vector what
    its heads found, times its own W_O (heads * d_v, 32). So a second layer sees the sentence and the first one's
    result. The other tokens stay as they are. At the end one matrix (32, 8) reads the answer off the sum of all that
    was added. No layer norm, no MLP.

    Args:
        layers, heads: numbers of layers and of heads in each; their product divides 24.
        steps, rate: of `fit`; runs: independent runs; batch: sentences a step; seed: of all runs.
    Returns:
        error (runs,): mean squared error on 2048 fresh sentences; 1 is knowing nothing.
        shares (runs, layers * heads, 2): the mean weight that each head gives to the token of each relation, first
            layer first.
    Raises:
        ValueError: layers * heads does not divide 24.
    """
    if layers < 1 or heads < 1 or 24 % (layers * heads):
        raise ValueError(f"layers * heads must divide 24, got {layers} * {heads}")
    task = _short_task(runs, 2, seed)
    d, width = task.d_model, 24 // layers                                          # width: of all the heads of a layer
    g = torch.Generator().manual_seed(seed + 1)
    stack = [[_xavier(g, runs, *shape, device) for shape in [(d, width)] * 3 + [(width, d)]] for _ in range(layers)]
    W = _xavier(g, runs, d, 2 * task.CONTENT, device)

    def answer(size):
        asking, x, contents = (t.to(device) for t in task.draw(size))  # (R, B, d), (R, B, n, d), (R, B, 2, c)
        added, weights = torch.zeros_like(asking), []
        for W_Q, W_K, W_V, W_O in stack:
            outs, w = _attend(asking + added, x, W_Q, W_K, W_V, heads)
            added = added + outs.flatten(2) @ W_O
            weights.append(w)
        return (added @ W - contents.flatten(2)).square().mean((1, 2)), torch.cat(weights, 2)

    fit([matrix for layer in stack for matrix in layer] + [W], lambda: answer(batch)[0], steps=steps, rate=rate)
    with torch.no_grad():
        error, weights = answer(2048)
    return error.cpu(), weights.mean(1)[..., :2].cpu()


def fit_pattern(pattern, d_k, *, steps=600, rate=0.05, runs=8, seed=0, device=None):
    """Fit free queries and keys (n, d_k) so that their attention weights come close to a given pattern.

    Args:
        pattern: (n, n), each row sums to 1. d_k: width. steps, rate: of `fit`; runs: independent starts; seed: of all
            of them.
    Returns:
        weights (runs, n, n) at the end.
    Raises:
        ValueError: pattern is not square or a row does not sum to 1.
    """
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1] or (pattern.sum(-1) - 1).abs().max() > 1e-4:
        raise ValueError(f"pattern must be (n, n) with rows that sum to 1, got shape {tuple(pattern.shape)} and sums "
                         f"{pattern.sum(-1)}")
    g = torch.Generator().manual_seed(seed)
    Q, K = (normal(g, runs, len(pattern), d_k, device=device) for _ in range(2))
    pattern = pattern.float().to(device)

    def losses():
        return -(pattern * (Q @ K.mT / d_k**0.5).log_softmax(-1)).sum(-1).mean(-1)

    fit([Q, K], losses, steps=steps, rate=rate)
    with torch.no_grad():
        return (Q @ K.mT / d_k**0.5).softmax(-1).cpu()

"""Recall of pairs: names with their values are read one by one, then a name asks for its value.

A head keeps every pair that it has read, so what it keeps grows with them. A recurrent layer keeps a state of fixed
size: an LSTM its cell and its output, linear attention the sum of k^T v over all pairs, one matrix.

All three read the same pairs. A token is a name and a value, or a name alone, which asks; each is one row of a table,
so that the tables are the layer's matrices for tokens that are all zeros but two ones.
"""
import torch
from torch import Tensor
from torch.nn import functional as F

from mha.attention import attention
from mha.lab.train.loop import fit, normal

NAMES, VALUES, PARTS = 32, 8, 8
RECALLERS = ("head", "LSTM", "linear attention")


def draw_pairs(generator: torch.Generator, runs: int, batch: int, n: int) -> tuple[Tensor, Tensor]:
    """n different names (runs, batch, n) and a value for each (runs, batch, n); all of them are asked for."""
    names = torch.rand(runs, batch, NAMES, generator=generator).argsort(-1)[..., :n]
    return names, torch.randint(VALUES, (runs, batch, n), generator=generator)


def rows(table: Tensor, index: Tensor) -> Tensor:
    """Each run's rows of its own table: (R, m, d), (R, B, n) -> (R, B, n, d)."""
    runs, m, _ = table.shape
    return F.embedding(index + m * torch.arange(runs, device=index.device)[:, None, None], table.flatten(0, 1))


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One step of an LSTM, of the sums before its gates (..., 4 H), in torch's order, and its cell (..., H): output,
    cell.
    """
    enter, forget, candidate, out = gates.chunk(4, -1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
    return out.sigmoid() * cell.tanh(), cell


def read_by_lstm(names: Tensor, values: Tensor, name: Tensor, value: Tensor, U: Tensor) -> Tensor:
    """What an LSTM says that has read all pairs and is then asked for each of them: (R, B, n, H).

    All questions are asked of the same state, one step each; `value` has one row more, of a token without a value.
    """
    asks = rows(name, names)  # (R, B, n, 4 H)
    state = cell = asks.new_zeros(*names.shape[:2], U.shape[1])  # (R, B, H)
    for pair in (asks + rows(value, values)).unbind(2):
        state, cell = lstm_step(torch.baddbmm(pair, state, U), cell)
    asks = asks + value[:, None, -1:] + (state @ U)[:, :, None]
    return lstm_step(asks, cell[:, :, None])[0]


def read_by_head(names: Tensor, values: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """What one head says to each question: (R, B, n, d)."""
    return attention(rows(query, names), rows(key, names), rows(value, values))[0]


def read_by_linear(names: Tensor, values: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The same without the softmax, so that all pairs fit into one (d, d) matrix: (R, B, n, d)."""
    state = rows(key, names).mT @ rows(value, values)  # (R, B, d, d): the sum of k^T v
    return rows(query, names) @ state


def recaller(layer: str, width: int | tuple[int, int], runs: int, forget_bias: float,
             generator: torch.Generator) -> list[Tensor]:
    """Parameters of a layer (R, ...), and of the answer that is read from its output: the last two."""
    d_k, d_v = width if isinstance(width, tuple) else (width, width)
    if layer == "LSTM":
        tables = [normal(generator, runs, rows, 4 * width, std=0.5) for rows in (NAMES, VALUES + 1)]
        with torch.no_grad():
            tables[1][:, :, width:2 * width] += forget_bias
        tables.append(normal(generator, runs, width, 4 * width, std=0.5 * width**-0.5))
    else:
        shapes = (NAMES, d_k), (NAMES, d_k), (VALUES, d_v)
        tables = [normal(generator, runs, *shape, std=0.5) for shape in shapes]
    return [*tables, normal(generator, runs, d_v, VALUES, std=d_v**-0.5), normal(generator, runs, 1, VALUES)]


def fit_pairs(layer, n, *, width=8, forget_bias=3.0, steps=4000, rate=0.01, runs=4, batch=32, seed=0) -> Tensor:
    """Train a layer to answer with the value of any of the n names that it has read: one of 8 for each of 32 names.

    Args:
        layer: one of RECALLERS.
        n: number of pairs, at most 32.
        width: of the LSTM's cell; or of queries, keys and values; or a pair, of queries and keys and of values.
        forget_bias: of the LSTM's forget gates at the start.
        steps, rate: of `fit`.
        runs: independent runs.
        batch: texts of n pairs in a step; each is asked for all its names.
        seed: of all runs.
    Returns:
        (8, runs), the share of right answers in each eighth of the steps, each of which draws new texts. Chance is 1/8.
    Raises:
        ValueError: an unknown layer, or n that is not from 1 to 32.
    """
    if layer not in RECALLERS or not 1 <= n <= NAMES:
        raise ValueError(f"layer must be one of {RECALLERS}, and n from 1 to {NAMES}; got {layer!r} and {n}")
    g = torch.Generator().manual_seed(seed)
    *tables, W, b = recaller(layer, width, runs, forget_bias, g)
    read = {"head": read_by_head, "LSTM": read_by_lstm, "linear attention": read_by_linear}[layer]
    right = []

    def losses():
        names, values = draw_pairs(g, runs, batch, n)
        answers = read(names, values, *tables) @ W[:, None] + b[:, None]  # (R, B, n, 8)
        right.append((answers.argmax(-1) == values).float().mean((1, 2)))
        return F.cross_entropy(answers.flatten(0, 2), values.flatten(), reduction="none").view(runs, -1).mean(1)

    fit([*tables, W, b], losses, steps=steps, rate=rate)
    return torch.stack([part.mean(0) for part in torch.stack(right).chunk(PARTS)])


def unit_for_each_name() -> torch.nn.LSTM:
    """An LSTM made by hand that forgets no pair: cell j keeps the value of name j, and opens when name j asks.

    It reads tokens of 32 + 8 + 1 numbers: ones for the name and for its value, or for the name and, at the end, for the
    question. Value v is kept as (2 v - 7) / 8, and its output is tanh of that, or 0 of the other cells.
    """
    lstm, shut, open_ = torch.nn.LSTM(NAMES + VALUES + 1, NAMES, batch_first=True), -40.0, 80.0
    with torch.no_grad():
        for parameter in lstm.parameters():
            parameter.zero_()
        enter, forget, candidate, out = lstm.weight_ih_l0.view(4, NAMES, -1)
        bias = lstm.bias_ih_l0.view(4, NAMES)
        enter[:, :NAMES] = open_ * torch.eye(NAMES)                # a pair enters the cell of its name,
        enter[:, -1] = -open_                                      # a question does not
        bias[0] = shut
        bias[1] = -shut                                            # nothing is ever forgotten
        candidate[:, NAMES:-1] = ((2 * torch.arange(VALUES) - 7) / 8).atanh()
        out[:, :NAMES] = open_ * torch.eye(NAMES)                  # and only the cell that is asked for answers
        bias[3] = shut
    return lstm


def answer_by_hand(lstm: torch.nn.LSTM, names: Tensor, values: Tensor) -> Tensor:
    """The values that `unit_for_each_name` gives to the names (B, n) of pairs that it has read: (B, n)."""
    name, value = F.one_hot(names, NAMES).float(), F.one_hot(values, VALUES + 1).float()
    asks = torch.cat([name, F.one_hot(torch.full_like(names, VALUES), VALUES + 1).float()], -1)
    with torch.no_grad():
        _, state = lstm(torch.cat([name, value], -1))
        said = torch.stack([lstm(asks[:, i:i + 1], state)[0].sum(-1)[:, 0] for i in range(names.shape[1])], -1)
    codes = ((2 * torch.arange(VALUES) - 7) / 8).tanh()
    return (said[..., None] - codes).abs().argmin(-1)

"""Small models that were trained for the book: the layers of chapter 7 (`trained_heads.npz`), the language models of
chapter 8 (`induction.npz`), and the layers of chapters 6b (`pairs.npz`), 10 (`positions.npz`) and 11 (`sharing.npz`).
"""
from dataclasses import dataclass

import torch
from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays
from mha.lab.induction import Scores
from mha.lab.train import POSITIONS, TASKS

TRAINED_HEADS, INDUCTION = FOLDER / "trained_heads.npz", FOLDER / "induction.npz"
POSITION_RUNS = FOLDER / "positions.npz"
SHARING_FILE, LOOKUP_FILE, PAIRS_FILE = (FOLDER / f"{name}.npz" for name in ("sharing", "lookup", "pairs"))
RELATIONS, HEADS = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32)           # r and h of trained_heads, with d_k = 64 / h
FIXED_HEADS, FIXED_WIDTHS = (1, 2, 4, 8, 16, 32), (1, 4, 16, 64)          # h and d_k for r = 4
LONG_HEADS = ((4, 4, None), (4, 8, None), (4, 16, None), (8, 8, None), (1, 1, 2))    # r, h, d_k after 3000 steps
FIXED_VALUES = ((16, 4, 2), (32, 4, 4), (32, 1, 4))             # h, d_k, d_v for r = 4, where d_v is not 64 / h
KINDS = {                                                       # of induction_runs: arguments of fit_induction
    "two layers": {"layers": 2},
    "one layer": {"layers": 1},
    "one layer, smeared keys": {"layers": 1, "smeared": True},
    "one layer, fixed period": {"layers": 1, "period": 16},
}
SHARING = (                                                     # of shared_runs: task, h_kv, h, d_k, d_v, d_c
    *((task, h_kv, 4, 8, 4, None) for task in ("same", "slices", "fields") for h_kv in (4, 2, 1)),
    *((task, None, 4, 8, 4, d_c) for task in ("same", "slices", "fields") for d_c in (12, 24)),
    *(("fields", h_kv, 4, d_k, 4, None) for d_k in (2, 4) for h_kv in (4, 2, 1)),    # narrow keys
    *(("fields", 1, 4, d_k, 4, None) for d_k in (16, 32)),      # one wide key
    *(("slices", 1, 4, 8, d_v, None) for d_v in (8, 16)),       # one wide value
    *(("slices", h_kv, 8, 8, 2, None) for h_kv in (8, 4, 2, 1)),    # a floor with four stairs
)
PAIRS = (                                                       # of pair_runs: layer, width, n
    *(("LSTM", width, n) for width in (8, 16, 32) for n in (2, 4, 8, 16)),
    *(("head", 8, n) for n in (2, 4, 8, 16, 32)),
    *(("linear attention", width, n) for width in (4, 8, 16) for n in (2, 4, 8, 16, 32)),
)
LONG_PAIRS = (("LSTM", 32, 8), ("linear attention", 8, 16))     # after four times as many steps
LONG_SHARING = tuple(cell for cell in SHARING if cell[0] != "same" and cell[2] == 4 and cell[3] > 2)    # 4800 steps


# --- h heads on r relations ----------------------------------------------------------------------------------------

def trained_heads(r, h, d_k=None, long=False, d_v=None):
    """How 24 layers of h heads ended that were trained on r relations by `mha.lab.train.fit_heads`, with d_model = 64.

    Args:
        r: 1, 2, 4 or 8. h: 1, 2, 4, 8, 16 or 32, with d_k = 64 / h. d_k: 1, 4, 16 or 64 instead, for r = 4.
        long: after 3000 steps, not 600; for the r, h and d_k in LONG_HEADS.
        d_v: not 64 / h; for the h, d_k and d_v in FIXED_VALUES.
    Returns:
        error (24,): mean squared error, 1 is knowing nothing; eight runs of each of three seeds. shares (24, h, r): the
            mean weight of each head on the token of each relation.
    Raises:
        ValueError: nothing is stored for these numbers.
    """
    import numpy as np

    widths = "".join(f"_{name}{width}" for name, width in (("dk", d_k), ("dv", d_v)) if width)
    name = f"r{r}_h{h}{widths}" + "_long" * long
    with np.load(TRAINED_HEADS, allow_pickle=False) as stored:
        if f"{name}_error" not in stored:
            raise ValueError(f"nothing is stored for r={r}, h={h}, d_k={d_k}, d_v={d_v}, long={long}; r is one of "
                             f"{RELATIONS}, h one of {HEADS}; with a d_k of {FIXED_WIDTHS}, r is 4 and h one of "
                             f"{FIXED_HEADS}; long are {LONG_HEADS}; a d_v have {FIXED_VALUES}")
        return torch.from_numpy(stored[f"{name}_error"]), torch.from_numpy(stored[f"{name}_shares"].astype("float32"))


def trained_samples(r, h):
    """What the heads of the first eight runs of `trained_heads(r, h)` look at in single sentences: weights (8 runs, 4
    sentences, h, 16), in steps of 1/255.

    The first r tokens of a sentence are those of the relations.
    """
    import numpy as np

    trained_heads(r, h)                                                # refuses what is not stored
    with np.load(TRAINED_HEADS, allow_pickle=False) as stored:
        return torch.from_numpy(stored[f"r{r}_h{h}_samples"]) / 255


# --- The scale ------------------------------------------------------------------------------------------------------

LOOKUP_POWERS, LOOKUP_WIDTHS, LOOKUP_RATES = (0, 0.5, 1), (4, 16, 64, 256, 1024), (0.001, 0.003, 0.01, 0.03, 0.1)


def lookup_runs(learned, loss="mixture"):
    """How eight heads of chapter 2 ended, for each power of d_k that divides the scores, each d_k and each rate.

    Args:
        learned: "matrices", W_Q and W_K on tokens of 64 coordinates, or "tables", the queries and keys themselves.
        loss: "mixture" or "weights", of `mha.lab.train.fit_lookup`.
    Returns:
        (3 of LOOKUP_POWERS, 5 of LOOKUP_WIDTHS, 5 of LOOKUP_RATES, 8), the loss after 300 steps.
    Raises:
        ValueError: nothing of that name is stored.
    """
    import numpy as np

    with np.load(LOOKUP_FILE, allow_pickle=False) as stored:
        if f"{learned}_{loss}" not in stored:
            raise ValueError(f"learned is 'matrices' or 'tables', loss 'mixture' or 'weights'; got {learned!r} and "
                             f"{loss!r}")
        return torch.from_numpy(stored[f"{learned}_{loss}"])


# --- Heads that share keys and values ------------------------------------------------------------------------------

def shared_runs(task, h_kv=None, *, h=4, d_k=8, d_v=4, d_c=None, long=False):
    """How 24 layers ended whose h heads share h_kv keys and values: trained on one task by `mha.lab.train.fit_sharing`.

    Args:
        task: "same", "slices" or "fields".
        h_kv: number of heads of keys and values; None where they are made from a latent.
        h: number of heads. d_k: width of a key. d_v: width of a value. d_c: width of the latent. SHARING lists what is
            stored of them.
        long: after 4800 steps, not 1200; what is stored of them is in LONG_SHARING.
    Returns:
        (24,), the mean squared error of each run, eight of each of three seeds; 1 is knowing nothing.
    Raises:
        ValueError: nothing is stored for these numbers.
    """
    import numpy as np

    cell = (task, h_kv, h, d_k, d_v, d_c)
    if cell not in (LONG_SHARING if long else SHARING):
        raise ValueError(f"nothing is stored for task={task!r}, h_kv={h_kv}, h={h}, d_k={d_k}, d_v={d_v}, d_c={d_c}, "
                         f"long={long}; mha.lab.assets.{'LONG_' * long}SHARING lists what is")
    with np.load(SHARING_FILE, allow_pickle=False) as stored:
        return torch.from_numpy(stored[sharing_name(*cell, long)])


def sharing_name(task, h_kv, h, d_k, d_v, d_c, long):
    """How the errors of one cell of SHARING or LONG_SHARING are called in the file."""
    heads = f"dc{d_c}" if d_c else f"kv{h_kv}"
    return f"{task}_h{h}_{heads}_dk{d_k}_dv{d_v}" + "_long" * long


# --- Pairs that are recalled ---------------------------------------------------------------------------------------

def pair_runs(layer, width, n, long=False):
    """How 4 layers learned to recall the value of any of n names: `mha.lab.train.fit_pairs`, stored.

    Args:
        layer: "head", "LSTM" or "linear attention".
        width: of the LSTM's cell; of queries, keys and values.
        n: number of pairs. PAIRS lists what is stored of these.
        long: after 12,000 steps, not 3000; what is stored of them is in LONG_PAIRS.
    Returns:
        (8, 4), the share right in each eighth of the steps, of each run; chance is 1/8.
    Raises:
        ValueError: nothing is stored for these.
    """
    cell = (layer, width, n)
    if cell not in (LONG_PAIRS if long else PAIRS):
        raise ValueError(f"nothing is stored for layer={layer!r}, width={width}, n={n}, long={long}; "
                         f"mha.lab.assets.{'LONG_' * long}PAIRS lists what is")
    return arrays(PAIRS_FILE)[pairs_name(*cell, long)]


def pairs_name(layer, width, n, long):
    """How one cell of PAIRS or LONG_PAIRS is called in the file."""
    return f"{layer} {width}, n={n}" + ", long" * long


# --- Induction -----------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class InductionRuns:
    """Models of one kind, trained by `mha.lab.induction.fit_induction` from R seeds, and what each does at the end."""
    seeds: Tensor
    """(R,)."""
    at: Tensor
    """(S,), the steps after which a model was tested."""
    history: Scores
    """(R, S), the tests on the way."""
    periods: Tensor
    """(P,), the periods of the sequences at the end."""
    tests: Scores
    """(R, P), the tests at the end, one for each period."""
    without: Tensor
    """(R, layers, h), the later loss at period 16 without each head."""
    shown: Tensor
    """(2,), the periods of two sequences."""
    tokens: Tensor
    """(2, n), these sequences."""
    maps: Tensor
    """(R, 2, layers, h, n, n), the weights on them, in steps of 1/255."""

    def at_period(self, period):
        """The tests at the end on sequences of one period: Scores (R,)."""
        column = self.periods.tolist().index(period)
        return Scores(*(values[:, column] for values in vars(self.tests).values()))


def induction_runs(kind):
    """Load the runs of one kind that `tools/make_induction.py` made.

    Args:
        kind: "two layers", "one layer", "one layer, smeared keys" or "one layer, fixed period".
    Returns:
        InductionRuns, in float32 (stored as float16, the maps as bytes).
    Raises:
        ValueError: an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    part = arrays(INDUCTION, start=f"{kind}: ")
    history, tests = (Scores(*(part.pop(f"{name}.{field}") for field in Scores.__dataclass_fields__))
                      for name in ("history", "tests"))
    return InductionRuns(history=history, tests=tests, maps=part.pop("maps") / 255, **part)


# --- Where a token stands ------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class PositionRuns:
    """Causal layers trained by `mha.lab.train.fit_positions` on sentences of 24 or 96 tokens: 24 runs, 8 of each seed.

    An error is the part of the contents' variance that is not answered: 1 knows nothing.
    """
    lengths: Tensor
    """(L,), the tokens of the sentences that each was tried on: 24, 48 and 96, or 96 alone if it was trained there."""
    errors: Tensor
    """(24 runs, L)."""
    windowed: Tensor
    """(24 runs, L), where each token sees no further back than in training."""
    without: Tensor | None
    """(24 runs, 8), on 24 tokens, with one pair of the queries' numbers at 0, the fastest first; "rotary" only."""
    parameters: int


def position_runs(task, positions, long=False, n=24):
    """How the layers ended that found tokens by where they stand.

    Args:
        task: "offsets", the contents 1 and 3 places back; or "nearest", those of the nearest token of the same name.
        positions: how places are told: "none", "sinusoids", "learned", "rotary" or "ALiBi".
        long: after 2400 steps, not 800; for "rotary" and "ALiBi". n: tokens of a sentence in training, 24; or 96 for
            "nearest", not long.
    Returns:
        PositionRuns.
    Raises:
        ValueError: nothing is stored for these.
    """
    part = arrays(POSITION_RUNS, start=position_name(task, positions, long, n))
    if not part:
        raise ValueError(f"task must be one of {TASKS}, positions one of {POSITIONS} (long: 'rotary' or 'ALiBi'), and "
                         f"n 24 (or 96 for 'nearest', not long), got {task!r}, {positions!r} and {n}{', long' * long}")
    return PositionRuns(part["lengths"], part["errors"], part["windowed"], part.get("without"), int(part["parameters"]))


def position_name(task, positions, long, n):
    """How the arrays of one training begin in the file."""
    return f"{task}, {positions}{', long' * long}{f', on {n}' * (n != 24)}: "

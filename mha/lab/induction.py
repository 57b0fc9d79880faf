"""Induction heads: a small language model that learns to continue what it has seen before, and the scores that show
how.

In the middle of "A B ... A", an induction head looks at B: the token after the earlier A. A key has to say what stands
one place before it, and a first layer knows that of no key. `fit_induction` trains models that can learn it and models
that cannot; `mha.lab.assets.induction_runs` loads runs that are already trained.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha.attention import attention
from mha.multihead import MultiHeadAttention, merge_heads, split_heads
from mha.position import sinusoids
from mha.lab.train import small_steps


# --- The data -------------------------------------------------------------------------------------------------------

class Repeats:
    """Sequences in which a random pattern comes again and again: x_i = x_(i - p) from position p on.

    A symbol may stand in a pattern more than once, so what followed the current token is not always decided by that
    token alone.

    Args:
        V: number of symbols. n: tokens in a sequence. period: p, one number for all sequences; or "random", drawn for
            each sequence from `shortest` to n // 2, so that every pattern comes twice. seed: of everything that is
            drawn.
    Raises:
        ValueError: a period that leaves no room for a repetition.
    """

    def __init__(self, *, V=32, n=32, period="random", shortest=8, seed=0):
        self.V, self.n = V, n
        self.shortest, self.longest = (shortest, n // 2) if period == "random" else (period, period)
        if not 1 <= self.shortest <= self.longest < n:
            raise ValueError(f"periods must be at least 1 and less than n={n}, got period={period!r}: from "
                             f"{self.shortest} to {self.longest}")
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, batch):
        """tokens (batch, n), periods (batch,)."""
        patterns = torch.randint(self.V, (batch, self.n), generator=self.generator)
        periods = torch.randint(self.shortest, self.longest + 1, (batch,), generator=self.generator)
        return patterns.gather(1, torch.arange(self.n) % periods[:, None]), periods


# --- The model ------------------------------------------------------------------------------------------------------

class PositionedAttention(MultiHeadAttention):
    """Causal heads whose queries and keys know where a token stands; the values do not.

        Q = (x + positions) W_Q        K = (x + positions) W_K        V = x W_V

    So a position can decide where a head looks, and never becomes part of what it brings back.

    Args:
        smeared: mix each key with the one before it, K_j <- a K_j + (1 - a) K_(j-1), by a learned a = sigmoid(smear) of
            each head. The first key stays.
    Source:
        Positions: Press et al. 2021, "Shortformer". Smeared keys: Olsson et al. 2022, "In-context Learning and
            Induction Heads".
    """

    def __init__(self, d_model, num_heads, *, smeared=False):
        super().__init__(d_model, num_heads, bias=False, causal=True)
        self.smear = nn.Parameter(torch.zeros(num_heads)) if smeared else None

    def forward(self, x, positions, *, keys=None, values=None, head_mask=None, need_weights=False):
        """x (B, n, d_model), positions (n, d_model), head_mask (h,) or None -> out (B, n, d_model), weights
        (B, h, n, n) or None. Keys and values are made from x, too, or from what is given in its place.
        """
        keys, values = (x if given is None else given for given in (keys, values))
        Q = split_heads(self.W_Q(x + positions), self.num_heads)                   # (B, h, n, d_k)
        K = split_heads(self.W_K(keys + positions), self.num_heads)
        V = split_heads(self.W_V(values), self.num_heads)
        if self.smear is not None:
            K = smear(K, self.smear.sigmoid())
        out, weights = attention(Q, K, V, causal=True, need_weights=need_weights)
        if head_mask is not None:
            out = out * head_mask[:, None, None]
        return self.W_O(merge_heads(out)), weights


def smear(K, own):
    """Mix each key with the one before it: K (..., h, n, d_k), own (h,), the part of its own that a key keeps. The
    first key has none before it.
    """
    before = torch.cat([K[..., :1, :], K[..., :-1, :]], -2)
    own = own[:, None, None]
    return own * K + (1 - own) * before


class TokenModel(nn.Module):
    """A causal language model of attention alone: embed, add what each layer's heads bring back, read off the next
    token. No MLP.

    Positions start as waves (`sinusoids`) and are learned; they are one table for all layers.

    Args:
        layers: number of layers. V: number of symbols; n: longest sequence; d_model, num_heads: of each layer; smeared:
            as `PositionedAttention`.
    """

    def __init__(self, layers=2, *, V=32, n=32, d_model=64, num_heads=4, smeared=False):
        super().__init__()
        self.V, self.n = V, n
        self.embedding = nn.Embedding(V, d_model)
        self.positions = nn.Parameter(sinusoids(n, d_model))
        self.layers = nn.ModuleList(PositionedAttention(d_model, num_heads, smeared=smeared) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(layers + 1))
        self.unembedding = nn.Linear(d_model, V, bias=False)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens, *, head_mask=None, need_weights=False):
        """Score every symbol as the next token, at every position.

        Args:
            tokens: (B, n), integers. head_mask: (layers, h), a factor for each head's output: 0 switches it off.
            need_weights: return the weights of every layer.
        Returns:
            logits (B, n, V); weights, a list of (B, h, n, n), one for each layer, or None.
        Raises:
            ValueError: a sequence longer than the model's n.
        """
        if tokens.shape[-1] > self.n:
            raise ValueError(f"the model has positions for n={self.n} tokens, got {tokens.shape[-1]}")
        positions = self.positions[:tokens.shape[-1]]
        x, weights = self.embedding(tokens), []                                    # (B, n, d_model)
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms)):
            brought, w = layer(norm(x), positions, head_mask=None if head_mask is None else head_mask[i],
                               need_weights=need_weights)
            x = x + brought
            weights.append(w)
        return self.unembedding(self.norms[-1](x)), weights if need_weights else None


# --- The scores -----------------------------------------------------------------------------------------------------

def prefix_matching(weights, period):
    """How much a head looks at the token that followed the current one a period earlier: 1 is always, and at nothing
    else.

    The mean of weights[q, q - period + 1] over the queries q >= period: those whose token has stood one period earlier.
    Only the last copy counts: where a pattern comes three times and more, a head may share its weight among the copies
    and score low.

    Args:
        weights: (..., n, n), on sequences with this period (`Repeats`), 2 <= period < n.
    Returns:
        (...), from 0 to 1.
    Raises:
        ValueError: no query has such a token.
    Source:
        After Olsson et al. 2022, "In-context Learning and Induction Heads".
    """
    if not 2 <= period < weights.shape[-1]:
        raise ValueError(f"period must be from 2 to n - 1 = {weights.shape[-1] - 1}, got {period}")
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean(-1)  # starts at q = period - 1, whose token is new


def previous_token(weights):
    """How much a head looks one place back: the mean of weights[q, q - 1] over q >= 1. weights (..., n, n) -> (...),
    from 0 to 1.
    """
    return weights.diagonal(-1, -2, -1).mean(-1)


@dataclass(frozen=True)
class Scores:
    """What a model does on sequences of one period, and where its heads look there. Several of them share leading axes
    (...).

    first, later: (...), mean loss in nats, on the first pattern and on what repeats it; ln V is knowing nothing.
    accuracy: (...), how often the symbol with the highest score is right, on what repeats.
    prefix, previous: (..., layers, h), `prefix_matching` and `previous_token` of each head.
    """
    first: Tensor
    later: Tensor
    accuracy: Tensor
    prefix: Tensor
    previous: Tensor

    @classmethod
    def stack(cls, scores):
        """Many in one, along a new first axis."""
        return cls(*(torch.stack(values) for values in zip(*(vars(one).values() for one in scores))))


@torch.no_grad()
def evaluate(model, period, *, head_mask=None, batch=256, seed=999):
    """Test a TokenModel on sequences with this period.

    Position q predicts token q + 1. Up to q = period - 2 that token is new ("first"), from q = period on the current
    one has been there before ("later"). Position period - 1 is left out: its next token repeats, but nothing in the
    sequence says so yet.

    Args:
        period: 2 to n - 2. head_mask: as `TokenModel.forward`. batch: sequences; seed: of the sequences.
    Returns:
        Scores, on the CPU.
    """
    V, n = model.V, model.n
    tokens = Repeats(V=V, n=n, period=period, seed=seed).draw(batch)[0].to(model.positions.device)
    logits, weights = model(tokens[:, :-1], head_mask=head_mask, need_weights=True)
    loss = F.cross_entropy(logits.mT, tokens[:, 1:], reduction="none").mean(0)     # (n - 1,)
    right = (logits.argmax(-1) == tokens[:, 1:]).float().mean(0)
    weights = torch.stack([w.mean(0) for w in weights])                            # (layers, h, n - 1, n - 1)
    found = (loss[:period - 1].mean(), loss[period:].mean(), right[period:].mean(), prefix_matching(weights, period),
             previous_token(weights))
    return Scores(*(value.cpu() for value in found))


def without_each_head(model, period):
    """The later loss (`Scores`) with one head switched off at a time: (layers, h)."""
    layers, h = len(model.layers), model.layers[0].num_heads
    on = 1 - torch.eye(layers * h, device=model.positions.device).view(-1, layers, h)
    return torch.stack([evaluate(model, period, head_mask=mask).later for mask in on]).view(layers, h)


READERS = "keys", "queries", "values", "logits"


@torch.no_grad()
def without_paths(model, period, *, batch=256, seed=999):
    """The later loss (`Scores`) when what one head of layer 0 adds is kept from one reader: (5, h).

    Layer 1 makes keys, queries and values from it, and the last matrix reads it beside what layer 1 adds. The rows:
    the head is kept from all four, so it is switched off; then from each of `READERS` alone.

    Args:
        model: TokenModel of two layers. period, batch, seed: as `evaluate`.
    Source:
        Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", on K-, Q- and V-composition.
    """
    tokens = Repeats(V=model.V, n=model.n, period=period, seed=seed).draw(batch)[0].to(model.positions.device)
    positions, (one, two), (before, between, after) = model.positions[:model.n - 1], model.layers, model.norms
    embedded = model.embedding(tokens[:, :-1])                                     # (B, n - 1, d_model)

    def later(kept, head):
        mask = (torch.arange(one.num_heads, device=positions.device) != head).float()
        whole, less = (embedded + one(before(embedded), positions, head_mask=some)[0] for some in (None, mask))
        keys, queries, values, logits = (less if reader in kept else whole for reader in READERS)
        brought, _ = two(between(queries), positions, keys=between(keys), values=between(values))
        scores = model.unembedding(after(logits + brought))                        # (B, n - 1, V)
        return F.cross_entropy(scores[:, period:].mT, tokens[:, period + 1:]).cpu()

    return torch.stack([torch.stack([later(kept, head) for head in range(one.num_heads)])
                        for kept in (READERS, *((reader,) for reader in READERS))])


# --- The training ---------------------------------------------------------------------------------------------------

def fit_induction(layers, *, period="random", smeared=False, steps=1200, rate=3e-3, warm_up=50, batch=64, every=25,
                  seed=0, device=None, watch=None, **sizes):
    """Train a TokenModel to predict the next token of `Repeats`.

    Args:
        layers, smeared: of the model. period: of the data, "random" or one number for all sequences.
        steps, rate, warm_up: of Adam; the rate climbs for warm_up steps and then stays. batch: sequences a step; seed:
            of model and data.
        every: steps from one test to the next. watch: a function of the model, called at each test.
        sizes: V, n, d_model and num_heads of the model.
    Returns:
        model; at (S,), the steps before which it was tested; history, `Scores` with a leading axis S, at the period of
        the data, n // 2 for "random".
    """
    with torch.random.fork_rng(devices=[]):  # drawn on the CPU, so that every device starts alike
        torch.manual_seed(seed)
        model = TokenModel(layers, smeared=smeared, **sizes).to(device)
    data = Repeats(V=model.V, n=model.n, period=period, seed=seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    at, history = range(0, steps + 1, every), []
    with small_steps():
        for step in range(steps + 1):
            if step in at:
                history.append(evaluate(model, model.n // 2 if period == "random" else period))
                if watch:
                    watch(model)
            if step < steps:
                optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / warm_up)
                _step(model, optimiser, data.draw(batch)[0].to(device))
    return model, torch.tensor(at), Scores.stack(history)


def _step(model, optimiser, tokens):
    """One step down the mean loss of the next token. The gradient is cut to length 1 at most."""
    logits, _ = model(tokens[:, :-1])
    optimiser.zero_grad()
    F.cross_entropy(logits.mT, tokens[:, 1:]).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()

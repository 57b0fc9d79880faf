"""What the specimens are made of: one small layer, its tests, and inputs.

The bugs were written anew after the reports that the notes cite.
"""
import math

import torch

from mha.exercises.engine.probe import numbers

GITHUB = "https://github.com/"
B, N, D, H = 2, 4, 8, 2
TOKENS = tuple(f"{sentence}{i}" for sentence in "ab" for i in range(1, N + 1))
WORDS = ("1", "2", "3", "4")
X = numbers(900, B, N, D)
W_Q, W_K, W_V, W_O = (numbers(901 + i, D, D) / D**0.5 for i in range(4))
D_C = 16                                                # width of a latent, more than that of a head
W_DKV, W_UK, W_UV = numbers(905, D, D_C) / D**0.5, numbers(906, D_C, D) / D_C**0.5, numbers(907, D_C, D) / D_C**0.5
CAUSAL = torch.ones(N, N).tril() > 0
LENGTHS = torch.tensor([4, 2])
REAL = torch.arange(N) < LENGTHS[:, None]               # (B, m)
SCORES = 1.5 * numbers(910, N, N)
PADDED = 1.5 * numbers(912, N, N)
WIDE = numbers(913, 3, 64), numbers(914, 5, 64)         # three queries, five keys
OLD = numbers(915, 2, 6)


# --- A layer --------------------------------------------------------------------------------------------------------

def split(x, h=H):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def merge(y):
    return y.transpose(1, 2).flatten(2)


def weights(scores, mask=None, axis=-1):
    return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(axis)


def attend(Q, K, V, mask=None, axis=-1):
    return weights(Q @ K.mT / Q.shape[-1] ** 0.5, mask, axis) @ V


def layer(mask=None, axis=-1, split=split, merge=merge):
    """A layer as it should be, or with another way to cut heads and to merge them: a function of x, and of h heads."""
    return lambda x, h=H: merge(attend(*(split(x @ W, h) for W in (W_Q, W_K, W_V)), mask, axis)) @ W_O


def split_by_view(x, h):
    return x.view(B, h, N, -1)


def merge_by_view(y):
    return y.reshape(B, N, D)


def over_batch(x, h=H):
    return layer()(x.transpose(0, 1), h).transpose(0, 1)


def reader(masked):
    """A causal layer that reads a text in parts and keeps the keys and values of all parts so far.

    Args:
        masked: whether it uses its causal mask when it keeps keys. With parts=None it keeps none, and uses it.
    """
    def read(x, h=H, parts=(N,)):
        Q, K, V = (split(x @ W, h) for W in (W_Q, W_K, W_V))
        if parts is None:
            return merge(attend(Q, K, V, CAUSAL)) @ W_O
        outs, m = [], 0
        for q in Q.split(parts, 2):
            m += q.shape[2]
            mask = CAUSAL[m - q.shape[2] : m, :m] if masked else None             # (n, m)
            outs.append(merge(attend(q, K[:, :, :m], V[:, :, :m], mask)) @ W_O)
        return torch.cat(outs, 1)
    return read


def influence(layer):
    """Which output depends on which token, 1 or 0: rows = outputs, columns = tokens, both sentences after one another.
    """
    jacobian = torch.autograd.functional.jacobian(layer, X).abs().amax((2, 5))
    return (jacobian.reshape(B * N, B * N) > 1e-9).double()[None]


def run(code, **names):
    """The names that are there after some lines of code."""
    names = {"torch": torch, "inf": math.inf, "split": split, "merge": merge, "W_Q": W_Q, "W_K": W_K, "W_V": W_V,
             "W_O": W_O, "W_DKV": W_DKV, "W_UK": W_UK, "W_UV": W_UV, "B": B, "n": N, "h": H, "d": D // H, **names}
    exec(code, names)
    return names


# --- Tests of a layer: each is a function of it, and True where it passes -------------------------------------------

def moved(layer, at):
    """Which outputs, (B, n), move when the token at these places does."""
    changed = X.clone()
    changed[at] += 1
    return (layer(changed) - layer(X)).abs().amax(-1) > 1e-9


def keeps_the_shape(layer):
    return layer(X).shape == X.shape


def listens(layer):
    return bool(moved(layer, (0, 0))[0, 2])


def keeps_sentences_apart(layer):
    return not moved(layer, 1)[0].any()


def hides_the_future(layer):
    return not moved(layer, (0, N - 1))[0, :-1].any()


def follows_the_batch(layer):
    return torch.allclose(layer(X.flip(0)), layer(X).flip(0))


def like_without_a_cache(*parts, rows=slice(None)):
    """A test of a reader: read in these parts, a text gives in these rows what it gives without a cache."""
    return lambda layer: torch.allclose(layer(X, parts=parts)[:, rows], layer(X, parts=None)[:, rows])


def hides_the_future_without_a_cache(layer):
    return hides_the_future(lambda x: layer(x, parts=None))


def equals_with_one_head(healthy):
    return lambda layer: torch.allclose(layer(X, 1), healthy(X, 1))


# --- What no single output shows ------------------------------------------------------------------------------------

KINDS, LENGTH = 8, 9                                    # of tokens; a start, four that are new, the same four again
STEPS = 200


def training(score, seed=0):
    """The loss of a small head that learns to say the next token, at each of some steps.

    Args:
        score: function of the scores (batch, n, n) -> those that the softmax gets.
    """
    draw = torch.Generator().manual_seed(seed)
    size = KINDS + LENGTH                               # a token and its place, one-hot each; the start is no token
    W = [(0.1 * torch.randn(size, out, generator=draw, dtype=torch.float64)).requires_grad_()
         for out in (size, size, KINDS)]
    place = torch.eye(LENGTH, dtype=torch.float64).expand(64, -1, -1)
    adam, history = torch.optim.Adam(W, lr=0.1), []
    for _ in range(STEPS):
        text = torch.randint(KINDS, (64, LENGTH // 2), generator=draw).repeat(1, 2)
        tokens = torch.nn.functional.pad(torch.eye(KINDS, dtype=torch.float64)[text], (0, 0, 1, 0))
        Q, K, V = (torch.cat([tokens, place], -1) @ w for w in W)
        said = score(Q @ K.mT / size**0.5).softmax(-1) @ V
        loss = torch.nn.functional.cross_entropy(said[:, :-1].flatten(0, 1), text.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
        history.append(loss.detach())
    return torch.stack(history)


def own_gradients(scores):
    """How much each weight moves when its own score does."""
    scores = scores.detach().requires_grad_()
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    return torch.einsum("ijij->ij", jacobian)[None]

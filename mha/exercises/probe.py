"""Measurements on an unknown function: each yields true sentences about what it does, in numbers that it gave itself."""
import math

import torch


def numbers(seed, *shape):
    """Fixed random numbers, float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def same(a, b, tolerance=1e-5):
    """Two tensors of one shape with nearly equal numbers; NaN equals NaN."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or a.shape != b.shape:
        return False
    return torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


def reads_weights(answer, n=3, m=5):
    """Read the weights of an attention of n queries and m keys through unit vectors as values: its rows, its columns, its scale law."""
    found = {}
    for d_k in (4, 9, 25):
        q, k = numbers(d_k, n, d_k), numbers(d_k + 1, m, d_k)
        out = answer(q, k, torch.eye(m, dtype=torch.float64))
        if not isinstance(out, torch.Tensor) or out.shape != (n, m) or not out.isfinite().all():
            yield f"With {n} queries, {m} keys and unit vectors as values its output should be the weights, ({n}, {m})."
            return
        found[d_k] = out.detach(), q @ k.mT
    out, scores = found[4]
    yield f"Its weights, read with unit vectors as values ({n} queries, {m} keys): the rows sum to {listed(out.sum(-1))}; each should sum to 1."
    if (out.sum(-1) - 1).abs().max() > 1e-6 and (out.sum(-2) - 1).abs().max() < 1e-6:
        yield "It is the columns that sum to 1."
    if out.min() < 0:
        yield f"The smallest weight is {out.min():.3g}; no weight should be negative."
    if any((w <= 0).any() for w, _ in found.values()):
        return
    if (out - out[:1]).abs().max() < 1e-9:
        yield "All queries get the same weights: the scores do not matter."
        return
    laws = {d_k: slope(w.log(), s) for d_k, (w, s) in found.items()}
    if all(law is not None for law in laws.values()):
        yield ("The logarithms of its weights follow the dot products with the factor " + ", ".join(f"{law:.4g} at d_k = {d_k}" for d_k, law in laws.items())
               + "; 1 / sqrt(d_k) would be " + ", ".join(f"{1 / math.sqrt(d_k):.4g}" for d_k in laws) + ".")
    else:
        yield "Its weights are not a softmax of the dot products of q and k, whatever the scale."


def slope(logs, scores):
    """The factor by which logs follow scores inside each row; None where they do not follow."""
    a, b = logs - logs.mean(-1, keepdim=True), scores - scores.mean(-1, keepdim=True)
    factor = (a * b).sum() / b.square().sum()
    return float(factor) if (a - factor * b).abs().max() < 1e-6 * (1 + a.abs().max()) else None


def listed(values):
    return ", ".join(f"{float(v):.3g}" for v in values.flatten())


def traces(answer, x, reference, axes, *others):
    """Number the entries of x and find each again in the output: where does the first that is misplaced come from?

    Args:
        axes: the names of the axes of x and of the output, two lists.
    """
    numbered = torch.arange(float(x.numel()), dtype=torch.float64).view(x.shape)
    out, wanted = answer(numbered, *others), reference(numbered, *others)
    if not isinstance(out, torch.Tensor):
        return
    if not torch.isin(out, numbered).all():
        yield "Its output holds numbers that are not in the input: entries should be moved, not computed with."
        return
    if out.shape != wanted.shape:
        return
    moved = (out != wanted).nonzero()
    if len(moved):
        at = tuple(moved[0].tolist())
        source, right = (torch.unravel_index(t[at].long(), x.shape) for t in (out, wanted))
        place = ", ".join(f"{name} {i}" for name, i in zip(axes[1], at))
        yield (f"Numbered entries show it: the output at {place} holds the input's " + ", ".join(f"{name} {int(i)}" for name, i in zip(axes[0], source))
               + "; it should hold " + ", ".join(f"{name} {int(i)}" for name, i in zip(axes[0], right)) + ".")

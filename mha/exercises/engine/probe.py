"""Measurements on an unknown function: each yields true sentences about what it does, in numbers that it gave itself.
"""
import math

import torch


def numbers(seed, *shape):
    """Fixed random numbers, float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def same(a, b, tolerance=1e-5):
    """Two tensors of one shape, on one device, with nearly equal numbers; NaN equals NaN."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or (a.shape, a.device) != (b.shape, b.device):
        return False
    return torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


def reads_weights(answer, n=3, m=5, other=(2, 7)):
    """Read the weights of an attention of n queries and m keys through unit vectors as values: its rows, its columns,
    its scale law; and whether that is the same for other numbers of queries and keys.
    """
    found = {}
    for d_k in (4, 9, 25):
        q, k = numbers(d_k, n, d_k), numbers(d_k + 1, m, d_k)
        out = answer(q, k, torch.eye(m, dtype=torch.float64))
        if not isinstance(out, torch.Tensor) or out.shape != (n, m) or not out.isfinite().all():
            return
        found[d_k] = out.detach(), q @ k.mT
    out, scores = found[4]
    if not off(answer(numbers(4, n, 4), numbers(5, m, 4), numbers(6, m, m)), out):
        yield "The values are never used: with other values it gives the same."
        return
    if off(out.sum(-1), 1):
        yield (f"Its weights, read with unit vectors as values ({n} queries, {m} keys): the rows sum to "
               f"{unlike_1(out.sum(-1))}; each should sum to 1.")
        if not off(out.sum(-2), 1):
            yield "It is the columns that sum to 1."
    if out.min() < -1e-9:
        yield (f"The smallest weight, read with unit vectors as values, is {out.min():.3g}; no weight should be "
               "negative.")
    if any((w <= 0).any() for w, _ in found.values()):
        return
    if not off(out, out[:1]):
        yield "All queries get the same weights."
        return
    besides = [w - (s / math.sqrt(d_k)).softmax(-1) for d_k, (w, s) in found.items()]
    if not (off(besides[0], besides[1]) or off(besides[0], besides[2])) and off(besides[0], 0):
        yield ("With unit vectors as values its output is what the right weights give, and besides, whatever the "
               f"scores are, {listed(besides[0][0])} in the first row.")
        return
    laws = {d_k: slope(w.log(), s) for d_k, (w, s) in found.items()}
    wanted = {d_k: 1 / math.sqrt(d_k) for d_k in laws}
    if any(law is None for law in laws.values()):
        yield ("What it takes of each value, read with unit vectors as values, is no softmax of the dot products of q "
               "and k, whatever the scale.")
    elif any(abs(law - wanted[d_k]) > 1e-4 for d_k, law in laws.items()):
        yield ("The logarithms of its weights follow the dot products with the factor "
               + ", ".join(f"{law:.4g} at d_k = {d_k}" for d_k, law in laws.items())
               + "; 1 / sqrt(d_k) would be " + ", ".join(f"{w:.4g}" for w in wanted.values()) + ".")
        if max(laws.values()) - min(laws.values()) < 1e-4:
            yield from whether_fixed(answer, *other, laws[4])


def whether_fixed(answer, n, m, law):
    """Whether a factor that is the same for every d_k is so for another number of queries, keys and sentences, and for
    wider values, too.
    """
    q, k = numbers(11, n, 4).expand(13, -1, -1), numbers(12, m, 4).expand(13, -1, -1)
    out = answer(q, k, torch.eye(m, m + 4, dtype=torch.float64).expand(13, -1, -1))[..., :m]
    here = slope(out.detach().log(), q @ k.mT)
    if here is not None and abs(here - law) < 1e-4:
        yield "The factor is the same for every d_k, and for other sizes, too: a fixed number."
    elif here is not None:
        yield (f"The factor is the same for every d_k, and no fixed number: for B = 13, n = {n}, m = {m}, d_k = 4, "
               f"d_v = {m + 4} it is {here:.4g}.")


def most_of(weights):
    """Whom each row of weights (n, m) prefers: "token 0 gives most, 0.98, to token 2; ..."."""
    told = []
    for i, row in enumerate(weights):
        top = [str(j) for j in (row >= row.max() - 1e-6).nonzero().flatten().tolist()]
        told.append(f"the weights of token {i} are NaN" if row.isnan().any() else (f"token {i} gives most, "
                                                                                   f"{row.max():.2f}, to token "
                                                                                   f"{top[0]}") if len(top) == 1
                    else (f"token {i} gives {row.max():.2f} to each of the tokens "
                          f"{' and '.join(top) if len(top) == 2 else ', '.join(top)}"))
    return "; ".join(told)


def preferred(tables, wanted):
    """What the two tables of `preferences` say of a head, beside those that are wanted, in words."""
    (strong, most), (_, right) = tables.bool(), wanted.bool()
    wrong = (most != right).any(-1).nonzero().flatten().tolist()
    if not wrong:
        weak = int((~strong & right).any(-1).sum())
        return f"every token gives most to the right one, and {weak} of these {len(right)} weights are not above 0.99."
    i = wrong[0]
    to = " and ".join(map(str, most[i].nonzero().flatten().tolist()[:3])) or "nobody, as its weights are NaN"
    return (f"token {i} gives most to {to}; it should be {int(right[i].nonzero()[0])}. {len(wrong)} of {len(right)} "
            "tokens look elsewhere than they should.")


PREFERENCES = "Two tables are compared: which weights pass 0.99, and which keys are the strongest of their row."


def preferences(weights):
    """The two tables that a head must get right, (2, n, m): the weights above 0.99, the largest weights of each row."""
    return torch.stack([weights > 0.99, weights >= weights.amax(-1, keepdim=True) - 1e-9]).double()


def slope(logs, scores):
    """The factor by which logs follow scores inside each row; None where they do not follow."""
    a, b = logs - logs.mean(-1, keepdim=True), scores - scores.mean(-1, keepdim=True)
    factor = (a * b).sum() / b.square().sum()
    return float(factor) if (a - factor * b).abs().max() < 1e-6 * (1 + a.abs().max()) else None


def off(values, wanted):
    """Whether numbers differ from what they should be by more than rounding."""
    return not bool((values - wanted).abs().max() <= 1e-6)                        # NaN is off too


def listed(values, places=3):
    """Numbers with three digits; what is 0 up to rounding is 0."""
    return ", ".join(f"{0.0 if abs(float(v)) <= 1e-9 else float(v):.{places}g}" for v in values.flatten())


def unlike_1(sums):
    """Sums that are not all 1, with as many digits as show it."""
    return next(text for places in (3, 6, 9) if {*(text := listed(sums, places)).split(", ")} != {"1"} or places == 9)


def table(values, places=3):
    """A small tensor by its numbers: "0.25" or "[[1, 0], [0, 0.25]]"; what is 0 up to rounding is 0."""
    if values.ndim:
        return f"[{', '.join(table(row, places) for row in values)}]"
    return f"{0.0 if abs(float(values)) <= 1e-9 else float(values):.{places}g}"


def apart(found, wanted):
    """Two small tensors by their numbers, with as many digits as tell them from each other."""
    return next(texts for places in (3, 6, 9, 17)
                if len(set(texts := (table(found, places), table(wanted, places)))) > 1 or places == 17)


def traces(answer, x, reference, axes, *others):
    """Tag the entries of x and find each again in the output: where does the first that is misplaced come from?
    Everything counts from 0.

    Args:
        axes: the names of the axes of x and of the output, two lists.
    """
    # no sum or mean of some is another
    tags = 1 + torch.rand(x.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    out, wanted = answer(tags.clone(), *others), reference(tags, *others)
    if not isinstance(out, torch.Tensor) or out.shape != wanted.shape:
        return
    moved = (out != wanted).nonzero()
    if not len(moved):
        return
    at = tuple(moved[0].tolist())
    place = ", ".join(f"{name} {i}" for name, i in zip(axes[1], at))
    right = place_of(tags, wanted[at], axes[0])
    found = place_of(tags, out[at], axes[0])
    given = (f"Tagged entries of shape {tuple(x.shape)}{''.join(f', h = {other}' for other in others)}, counted from "
             f"0, show it: the output at {place} ")
    if found:
        mixed = axes[0][0] == "sentence" and found.split(",")[0] != right.split(",")[0]
        yield (given + f"holds what stood at {found}; it should hold {right}."
               + " So different sentences are mixed." * mixed)
    elif out[at] == 0:
        yield given + f"is 0, as happens when nothing was written. It should hold {right}."
    else:
        yield (given + "holds a number that is not in the input. Entries should be moved, not computed with: it "
                       f"should hold {right}.")


def place_of(tags, value, names):
    """Where a tag stands, in words; None where it is none."""
    found = (tags == value).nonzero()
    return ", ".join(f"{name} {i}" for name, i in zip(names, found[0].tolist())) if len(found) else None

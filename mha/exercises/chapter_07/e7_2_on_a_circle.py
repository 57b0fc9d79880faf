"""7.2: two numbers are enough."""
import functools

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, most_of, preferences, preferred, same
from mha.exercises.engine.report import Mistake

TOO_SOFT = Mistake("too-soft",
    "Weights that should be more than 0.99 are less: the largest score of a row does not lead by enough over all "
    "others together. On a circle two neighbours are equally near, and the more tokens there are, the nearer they "
    "come.",
    "Which lead does a weight of 0.99 need against two neighbours, and how does it change with n?")
ON_A_LINE = Mistake("keys-on-a-line",
    "Only the two outermost keys ever win, as happens when the keys lie on a line.",
    "Which direction makes the middle key the farthest?")
NO_CIRCLE = Mistake("keys-of-other-lengths",
    "Some tokens look elsewhere, as happens when the keys do not lie on a circle: along the direction of a short key a "
    "longer one is farther.",
    "Which keys have the largest dot product with a short one?")

PROGRAM = Program("""\
def on_a_circle(order):
    n = len(order)
    angles = <angles>
    K = torch.stack([<across>, <along>], -1)
    Q = <length> * <wanted>
    return <result>
""", {
    "angles": Blank("2 * math.pi * torch.arange(n) / n", offered=3, wrong={
        "torch.linspace(0, 2 * math.pi, n)": Mistake("ends-meet",
            "The first key and the last get the same, as happens when they lie in the same place: the angles run from "
            "0 to the whole circle, and both ends are counted.",
            "How many steps of 2 pi / n lead from the first key to the last?"),
        "360 * torch.arange(n) / n": Mistake("degrees",
            "Each token looks where angles in degrees would lead it. cos and sin of torch want radians: the whole "
            "circle is 2 pi.",
            "What is the cosine of 180, in torch?"),
        "torch.arange(n) / n": TOO_SOFT,
    }),
    "across": Blank("angles.cos()", wrong={
        "angles": NO_CIRCLE,
        "0 * angles": ON_A_LINE,
        "torch.arange(n) - (n - 1) / 2": NO_CIRCLE,
    }),
    "along": Blank("angles.sin()", offered=3, wrong={
        "angles.cos()": ON_A_LINE,
        "angles": NO_CIRCLE,
        "0 * angles": ON_A_LINE,
    }),
    "length": Blank("10 * n**2", offered=3, wrong={
        "10 * n": TOO_SOFT,
        "20": TOO_SOFT,
        "1": TOO_SOFT,
        # from how many tokens on a constant length is too short: each of these fails at another n
        **dict.fromkeys(("10", "30", "100", "200"), TOO_SOFT),
    }),
    "wanted": Blank("K[order]", offered=2, wrong={
        "K[order.argsort()]": Mistake("inverse-order",
            "Token order[i] looks at token i; it should be the other way round: token i looks at order[i].",
            "Which row of Q belongs to token i?"),
        "K": Mistake("looks-at-itself",
            "Every token looks at itself, whatever the order.",
            "Where should the query of token i point?"),
    }),
    "result": Blank("Q, K", wrong={
        "K, Q": Mistake("roles-exchanged",
            "Queries and keys are exchanged.",
            "Which of the two should depend on order?"),
    }),
}, together={
    "across along wanted": {
        ("1.0 * torch.arange(n)", "-1.0 * torch.arange(n) ** 2", "torch.stack([1.0 * order, torch.ones(n)], -1)"):
            Mistake("half-way",
            "Each token looks half way to its own, as on the parabola of keys (j, -j^2) with the query (order[i], 1).",
            "For which j is order[i] j - j^2 largest?"),
    },
    "across along": {
        ("torch.arange(n) - (n - 1) / 2", "0 * angles"): ON_A_LINE,
        ("angles", "0 * angles"): ON_A_LINE,
        ("0 * angles", "0 * angles"): Mistake("all-scores-alike",
            "Every token gives the same weight to all, as happens when no key is farther than another, or the queries "
            "are 0.",
            "Where should the keys lie?"),
    },
})


def weights_of(output, order):
    dtype = functools.reduce(torch.promote_types, (part.dtype for part in output))
    if not dtype.is_floating_point:
        dtype = torch.float32
    Q, K = (part.to(dtype) for part in output)                     # so that rounding shows as it will for the learner
    if Q.shape != (len(order), 2) or K.shape != (len(order), 2):
        raise ValueError("not the shapes")
    return (Q @ K.mT / 2**0.5).softmax(-1)


def observe(output, order):
    return preferences(weights_of(output, order))


def measure(answer):
    """Whom each token looks at, for the fewest tokens for which it is wrong; where its keys lie."""
    for n in range(2, 33):
        order = shuffled(n, n)
        weights = weights_of(answer(order), order)
        mine = weights[torch.arange(n), order]
        if not mine.min() > 0.99:
            if n > 2:
                yield f"For shuffled orders of fewer than {n} tokens, one of each size, it is right."
            yield (f"For order {listed(order)}: {most_of(weights)}." if n <= 5 else
                   f"For {n} tokens the weights that tokens give to theirs go from {mine.min():.3g} to "
                   f"{mine.max():.3g}; each should be more than 0.99.")
            yield from instead(answer)
            yield from where_the_keys_lie(answer(shuffled(max(n, 5), 1))[1].double())
            return


def instead(answer):
    """Whom each token looks at, where that is a simple function of its order."""
    laws = None
    for order in (shuffled(5, 1), shuffled(7, 2)):
        n, (_, most) = len(order), observe(answer(order), order)
        simple = {"order[i] + 1 (0 after n - 1)": (order + 1) % n, "order[i] - 1 (n - 1 before 0)": (order - 1) % n,
                  "order[order[i]]": order[order], "the one of which order is i": order.argsort(),
                  "n - order[i] (0 for 0)": -order % n, "n - 1 - order[i]": n - 1 - order}
        laws = [law for law in laws or simple if same(most, torch.eye(n)[simple[law]])]
    if laws:
        yield f"For n = 5 and n = 7 token i looks at {laws[0]}."


def where_the_keys_lie(K):
    """Angles in degrees that are taken for radians; keys that no query can prefer."""
    n = len(K)
    angles = 360 * torch.arange(n).double() / n
    if same(torch.nn.functional.normalize(K, dim=-1), torch.stack([angles.cos(), angles.sin()], -1), 1e-3):
        yield "Its key j stands at an angle of 360 j / n radians. The whole circle is 360 degrees, or 2 pi radians."
    inner = [j for j in range(n) if not is_corner(K, j)]
    if inner:
        more = f", and so do {len(inner) - 1} more" * (len(inner) > 1)
        yield (f"For n = {n} no query gives key {inner[0]} more than all others: it lies among them{more}. A key must "
               "be the farthest in some direction.")


def is_corner(K, j):
    """Whether key j is the farthest of all in some direction: seen from it, the others fill less than a half turn."""
    others = torch.cat([K[:j], K[j + 1 :]]) - K[j]
    if (others.norm(dim=-1) <= 1e-9 * K.abs().max()).any():
        return False
    seen = torch.atan2(others[:, 1], others[:, 0]).sort().values
    gaps = torch.cat([seen.diff(), seen[:1] + 2 * torch.pi - seen[-1:]])
    return bool(gaps.max() > torch.pi + 1e-9)


def shuffled(n, seed):
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed))


EXERCISE = Exercise(
    id="7.2", name="on_a_circle", chapter="07_how_many_heads", stars=3, minutes=20, after="section 4", core=True,
    signature="on_a_circle(order)",
    statement="Rank 2 is enough for any permutation. order is `(n,)`, a permutation of 0 to n - 1. Write "
              "`on_a_circle(order)`: return queries Q and keys K, both `(n, 2)`, so that in `softmax(Q K^T / "
              "sqrt(2))` token i gives more than 0.99 to token order[i], for every i, in the dtype of your matrices. n "
              "is up to 32.",
    stub="def on_a_circle(order):\n    ...\n",
    program=PROGRAM,
    cases=[Case((torch.tensor([1, 2, 0]),)), Case((shuffled(5, 1),)), Case((torch.tensor([1, 0]),)),
           *(Case((shuffled(n, n),)) for n in (4, 8, 13, 19, 25, 32)), Case((torch.tensor([0]),))],
    measure=measure, observe=observe, wanted="a pair Q, K, both of shape (n, 2)",
    trained=(),
    describe_difference=preferred,
    hints=("Where must a key lie so that some direction makes it the farthest of all? Where must all keys lie?",
           "Put the keys on a circle of radius 1. Query i is a multiple of the key that it wants. For a query of "
           "length 1, the neighbour's score is lower by 1 - cos(2 pi / n), which shrinks like 1 / n^2.",
           "n = len(order)\n"
           "a = 2 * math.pi * torch.arange(n) / n\n"
           "K = torch.stack([a.cos(), a.sin()], -1)\n"
           "return 10 * n ** 2 * K[order], K"),
    note="The scores have rank 2 and the weights are a permutation matrix, of rank n: the softmax does not keep "
         "ranks. The price is length: with the keys on a circle of one size, the queries must grow like n squared.",
)

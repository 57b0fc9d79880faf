"""11.2: one new token against what is kept of the others."""
from functools import partial
import math

import torch
from torch.nn.functional import pad

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off, same
from mha.exercises.engine.report import Mistake

HOW_MANY = "How many tokens may the new one see, itself included?"
WHAT_STAYS = "What will the next step need of this token?"
HOW_WIDE = "How many products does one score sum?"

PROGRAM = Program("""\
def decode_step(x, W_Q, W_K, W_V, K, V):
    q, k, v = <new>
    K_all, V_all = <grown>
    K_seen, V_seen = <seen>
    scores = q @ K_seen.mT <scale>
    <hidden>
    weights = <weights>
    out = weights @ V_seen
    return out, <kept>
""", {
    "new": Blank("x @ W_Q, x @ W_K, x @ W_V", offered=1, wrong={
        "x @ W_K, x @ W_Q, x @ W_V": Mistake("roles-exchanged",
            "W_Q makes the key and W_K the query: they are exchanged.",
            "Which matrix makes the vector that asks?"),
        "x @ W_K, x @ W_K, x @ W_V": Mistake("keys-as-queries",
            "The key of the new token asks as well: W_Q is not used.",
            "Which matrix makes the vector that asks?"),
        "x @ W_Q, x @ W_Q, x @ W_V": Mistake("queries-as-keys",
            "The query of the new token is kept as its key: W_K is not used.",
            WHAT_STAYS),
        "x @ W_Q, x @ W_V, x @ W_K": Mistake("keys-and-values-exchanged",
            "W_V makes the key and W_K the value: they are exchanged.",
            WHAT_STAYS),
    }),
    "grown": Blank("torch.cat([K, k], 1), torch.cat([V, v], 1)", offered=3, wrong={
        "torch.cat([k, K], 1), torch.cat([v, V], 1)": Mistake("put-in-front",
            "The new key and value stand in front of the old ones. A softmax without positions does not mind, and the "
            "output is right; but the cache is out of order, and the next mask or position will be wrong.",
            "Which row of K is the newest token?"),
        "torch.cat([K[:, 1:], k], 1), torch.cat([V[:, 1:], v], 1)": Mistake("oldest-forgotten",
            "The oldest token is dropped for the new one, as in a window. All are to be kept.",
            HOW_MANY),
        "torch.cat([K[:, :-1], k], 1), torch.cat([V[:, :-1], v], 1)": Mistake("last-overwritten",
            "The new key and value are written over those of the last token, so one token is lost at each step.",
            "At which place does token m stand, counted from 0?"),
        "torch.cat([k, K], 1), torch.cat([V, v], 1)": Mistake("keys-in-front",
            "The new key stands in front of the old ones and the new value behind: each weight meets another token's "
            "value.",
            "Which row of V belongs to the last row of K?"),
        "torch.cat([K, q], 1), torch.cat([V, v], 1)": Mistake("queries-as-keys",
            "The query of the new token is kept as its key. A query is asked once and never again.",
            WHAT_STAYS),
    }),
    "seen": Blank("K_all, V_all", offered=2, wrong={
        "K, V": Mistake("attends-before-appending",
            "The new token sees the old ones, and not itself: it attends before its own key and value are there. "
            "Without a cache a token may see itself.",
            HOW_MANY),
        "k, v": Mistake("sees-only-itself",
            "The new token sees itself alone, and returns its own value.",
            "What is the cache good for?"),
    }),
    "scale": Blank("/ math.sqrt(q.shape[-1])", offered=2, wrong={
        "": Mistake("no-scale", "The scores are not divided by the root of d_k.", HOW_WIDE),
        "/ math.sqrt(K_seen.shape[-2])": Mistake("scale-root-m",
            "The scores are divided by the root of the number of tokens, which grows with the text, and not of d_k.",
            HOW_WIDE),
        "/ q.shape[-1]": Mistake("scale-d_k",
            "The scores are divided by d_k, not by its root.", "What is the standard deviation of q.k?"),
    }),
    "hidden": Blank("", offered=1, wrong={
        "scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -math.inf)": Mistake("top-left",
            "The new token sees the oldest one alone. A causal mask that starts at the top left (triu, tril, "
            "is_causal=True) takes it for the first of the text; it is the last, and nothing is later than it.",
            "Which of the tokens that are there is later than the new one?"),
    }),
    "weights": Blank("scores.softmax(-1)", offered=1, wrong={
        "scores.softmax(-2)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries. There is one, so every weight is 1, and the values are added up.",
            "Whose weights should sum to 1?"),
    }),
    "kept": Blank("K_all, V_all", offered=2, wrong={
        "K, V": Mistake("not-kept",
            "K and V come back as they were: the new token is not kept, and the next one will not see it.",
            WHAT_STAYS),
        "k, v": Mistake("only-the-new",
            "Only the new key and value come back. The next step needs the old ones too.",
            WHAT_STAYS),
    }),
}, together={
    "new grown": {
        ("x @ W_Q, x @ W_K, x @ W_V", "torch.cat([K, k, k], 1), torch.cat([V, v, v], 1)"): Mistake("kept-twice",
            "The new token is kept twice.",
            HOW_MANY),
    },
})

MISSING, TOO_MANY = -math.inf, math.inf                 # stand where the cache has fewer or more tokens than it should


def observe(output, x, W_Q, W_K, W_V, K, V):
    """out, K and V below each other, (B, 1 + 2 (m + 1), the widest)."""
    B, m = K.shape[:2]
    widest = max(K.shape[2], V.shape[2])
    out, *grown = output
    if len(grown) != 2 or out.shape != (B, 1, V.shape[2]):
        raise ValueError("not the shapes")
    rows = [pad(out, (0, widest - out.shape[2]))]
    for found, old in zip(grown, (K, V)):
        if found.ndim != 3 or (found.shape[0], found.shape[2]) != (B, old.shape[2]):
            raise ValueError("not the shapes")
        if found.shape[1] > m + 1:
            found = torch.full_like(found[:, : m + 1], TOO_MANY)
        found = pad(found, (0, widest - found.shape[2]))
        rows.append(pad(found, (0, 0, 0, m + 1 - found.shape[1]), value=MISSING))
    return torch.cat(rows, 1)


def describe_difference(found, wanted):
    """Which of the three are right, and how the others are off."""
    tokens = (found.shape[1] - 1) // 2
    said = []
    for name, a, b in zip(("out", "K", "V"), *(t.split([1, tokens, tokens], 1) for t in (found, wanted))):
        lacking = int((a == MISSING).all(-1)[0].sum())
        too_many = name != "out" and bool((a == TOO_MANY).any())
        right = [row for row in range(a.shape[1]) if same(a[:, row], b[:, row])]
        said.append(f"{name} is right" if same(a, b) else
                    f"{name} has more than {tokens} tokens" if too_many else
                    f"{name} has {tokens - lacking} tokens where {tokens} are wanted" if lacking else
                    f"{name} is off by up to {float((a - b).abs().max()):.3g}" if name == "out" or not right else
                    f"{name} is right for {len(right)} of {tokens} tokens")
    return f"{'; '.join(said)}."


def measure(answer):
    """What the new token takes of each that is kept, read with unit vectors as values."""
    d, m = 4, 3
    x, K = numbers(1201, 1, 1, d), numbers(1202, 1, m, d)
    W_Q, W_K = numbers(1203, d, d), numbers(1204, d, d)
    marks = torch.eye(m + 1, dtype=torch.float64)[None]
    W_V = torch.linalg.pinv(x[0]) @ marks[:, -1]                     # the new token has the last unit vector
    args = x, W_Q, W_K, W_V, K, marks[:, :m]
    shares, wanted = (function(*args)[0].flatten() for function in (answer, PROGRAM.reference))
    if shares.shape == wanted.shape and off(shares, wanted):
        yield (f"With three tokens kept, and unit vectors as values, the new token's last, its output is "
               f"{listed(shares)}; they should be the weights, {listed(wanted)}.")


def case(seed, B, m, d_model, d_k, d_v):
    return Case((numbers(seed, B, 1, d_model), numbers(seed + 1, d_model, d_k), numbers(seed + 2, d_model, d_k),
                 numbers(seed + 3, d_model, d_v), numbers(seed + 4, B, m, d_k), numbers(seed + 5, B, m, d_v)))


EXERCISE = Exercise(
    id="11.2", name="decode_step", chapter="11_sharing_heads", stars=2, minutes=12, after="section 1", core=True,
    signature="decode_step(x, W_Q, W_K, W_V, K, V)",
    statement="A causal head decodes, one token at a time. It has cached the keys and values of the m tokens so "
              "far: K is `(B, m, d_k)` and V is `(B, m, d_v)`. Now the next token comes, x, `(B, 1, d_model)`. Write "
              "`decode_step(x, W_Q, W_K, W_V, K, V)`: return its output `(B, 1, d_v)`, the same as if the head had "
              "read the whole text again, and then K and V with the new token behind the old ones, for the next step. "
              "W_Q and W_K are `(d_model, d_k)`, W_V is `(d_model, d_v)`. m may be 0. Gradients must reach all six.",
    stub="# one = torch.ones(1, 1, 1)\n"
         "# decode_step(one, one[0], one[0], one[0], 0 * one, 3 * one)[0] -> 1.538\n"
         "def decode_step(x, W_Q, W_K, W_V, K, V):\n    ...\n",
    program=PROGRAM,
    cases=[case(1210, 1, 2, 3, 2, 2), case(1220, 2, 4, 5, 3, 2), case(1230, 3, 1, 4, 2, 5), case(1240, 2, 0, 5, 3, 3),
           case(1250, 4, 4, 4, 4, 4), case(1260, 2, 9, 3, 7, 7), case(1270, 1, 40, 6, 5, 3)],
    sized=partial(case, 1),
    large=(Case((60 * numbers(1280, 2, 1, 4), *(numbers(1281 + i, 4, 4) for i in range(3)), 9 * numbers(1284, 2, 5, 4),
                 numbers(1285, 2, 5, 4))),),
    measure=measure, observe=observe, describe_difference=describe_difference,
    wanted="three tensors: the output (B, 1, d_v), K (B, m + 1, d_k) and V (B, m + 1, d_v)",
    hints=("Three products make the query, the key and the value of the new token alone. Nothing of the old tokens is "
           "projected again. Who may see whom?",
           "First append, along the axis of the tokens, then attend: the new token sees itself too. It is the last, so "
           "nothing has to be hidden from it.",
           "K, V = torch.cat([K, x @ W_K], 1), torch.cat([V, x @ W_V], 1)\n"
           "return (x @ W_Q @ K.mT / K.shape[-1] ** 0.5).softmax(-1) @ V, K, V"),
    note="No query is kept: it is asked once. torch.cat copies the whole cache at each step; mha.KVCache makes room "
         "once and writes into it. With several new tokens at a time they may not all see each other, and a mask comes "
         "back: exercise 5.3.",
)

"""11.1: query heads that share their keys and values."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

WHO_READS = "With h = 4 and h_kv = 2, which two query heads read the first head of keys?"
WHICH_AXIS = "Which axis of K counts its heads?"
HOW_WIDE = "How many products does one score sum?"

PROGRAM = Program("""\
def grouped(Q, K, V):
    h, h_kv = Q.shape[1], K.shape[1]
    group = <size>
    <asked>
    K, V = <shared>
    scores = Q @ K.mT <scale>
    <hidden>
    weights = <weights>
    out = <mix>
    <after>
    return out
""", {
    "size": Blank("h // h_kv", offered=1, wrong={
        "h_kv // h": Mistake("sizes-exchanged",
            "The group is taken as h_kv // h, which is 0 wherever heads share. Each head of keys serves h // h_kv "
            "query heads.",
            "How many query heads read the same head of keys?"),
        "h": Mistake("repeats-h-times",
            "Each head of keys and values is repeated h times. It serves h // h_kv query heads.",
            "How many query heads read the same head of keys?"),
    }),
    "asked": Blank("", wrong={
        "Q = Q.unflatten(1, (h_kv, group)).mean(2).repeat_interleave(group, 1)": Mistake("queries-pooled",
            "The queries of a group are averaged, so that all its heads look at the same. Only keys and values are "
            "shared; each query head keeps its own queries.",
            "What is left that two heads of one group do differently?"),
    }),
    "shared": Blank("(t.repeat_interleave(group, 1) for t in (K, V))", offered=4, wrong={
        "(t.repeat(1, group, 1, 1) for t in (K, V))": Mistake("tiled",
            "Query head i reads the keys and values of head i mod h_kv, counted from 0: the heads are dealt out like "
            "cards (repeat, tile, or groups cut with a stride). Groups are adjacent heads: i // (h / h_kv). With h_kv "
            "= 1, and with h_kv = h, the two are the same.",
            WHO_READS),
        "(t.repeat_interleave(group, 2) for t in (K, V))": Mistake("repeats-the-tokens",
            "Tokens are repeated, axis 2, and not heads, axis 1: there are still h_kv heads, which meets h only where "
            "one of them serves all, or where none is shared.",
            WHICH_AXIS),
        "(t[:, :1].expand(-1, h, -1, -1) for t in (K, V))": Mistake("first-for-all",
            "All query heads read the first head of keys and values. That is right only for h_kv = 1.",
            WHO_READS),
        "(t[:, torch.arange(h, device=Q.device) // h_kv] for t in (K, V))": Mistake("divided-by-h_kv",
            "Query head i reads the head i // h_kv of keys and values (counted from 0), and there may be none. It is "
            "i // (h / h_kv): divided by the size of a group, and not by the number of groups.",
            WHO_READS),
        "(K, V)": Mistake("not-repeated",
            "The heads of keys and values meet those of the queries as they are. Broadcasting helps only where there "
            "is one of them for all.",
            "Which sizes does torch broadcast against each other?"),
    }),
    "scale": Blank("/ math.sqrt(Q.shape[-1])", offered=3, wrong={
        "": Mistake("no-scale", "The scores are not divided by the root of d_k.", HOW_WIDE),
        "/ math.sqrt(h)": Mistake("scale-root-h",
            "The scores are divided by the root of the number of query heads, and not of d_k.", HOW_WIDE),
        "/ math.sqrt(Q.shape[-1] * group)": Mistake("scale-root-group",
            "The scores are divided by the root of d_k times the size of a group. A score is still a sum of d_k "
            "products, whoever shares the key.", HOW_WIDE),
        "/ Q.shape[-1]": Mistake("scale-d_k",
            "The scores are divided by d_k, not by its root.", "What is the standard deviation of q.k?"),
        "/ math.sqrt(Q.shape[-2])": Mistake("scale-root-n",
            "The scores are divided by the root of the number of queries, and not of d_k.", HOW_WIDE),
    }),
    "hidden": Blank("", wrong={
        "scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -math.inf)": Mistake("causal",
            "Later keys are hidden. The statement asks for no mask.",
            "Which keys may a query see here?"),
    }),
    "weights": Blank("scores.softmax(-1)", offered=2, wrong={
        "scores.softmax(1)": Mistake("softmax-axis-heads",
            "The softmax runs over the heads, axis 1: they compete for each key.",
            "Whose weights should sum to 1?"),
        "scores.softmax(-2)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries.",
            "Whose weights should sum to 1?"),
        "scores.unflatten(1, (h_kv, group)).mean(2).softmax(-1).repeat_interleave(group, 1)": Mistake("scores-pooled",
            "The scores of a group are averaged, so that all its heads look at the same. Averaged queries give the "
            "same.",
            "What is left that two heads of one group do differently?"),
    }),
    "mix": Blank("weights @ V", offered=1, wrong={
        "weights @ K": Mistake("keys-as-values",
            "The weights mix the keys, not the values.",
            "What should a query take home?"),
        "weights": Mistake("returns-weights",
            "It returns the weights. The values are never mixed.",
            "Which step comes after the softmax?"),
    }),
    "after": Blank("", wrong={
        "out = out.reshape(len(out), h_kv, -1, group, V.shape[-1]).transpose(2, 3).reshape(out.shape)":
            Mistake("unfolded-otherwise",
            "The query heads of a group and the queries are taken apart in another order than they were put together: "
            "(n, group) for (group, n). With one query it is the same.",
            "In which order did the rows of (h_kv, group n, d_k) stand?"),
    }),
})


def measure(answer):
    """Whose values each query head takes, and whose keys move it."""
    Q, K = numbers(1101, 1, 4, 1, 3), numbers(1102, 1, 2, 5, 3)
    marks = torch.eye(2, dtype=torch.float64)[None, :, None].expand(1, 2, 5, 2)       # (1, 2 heads, m, 2)
    shares = answer(Q, K, marks)
    if shares.shape != (1, 4, 1, 2):
        return
    wanted = torch.eye(2, dtype=torch.float64).repeat_interleave(2, 0)                # (4, 2)
    if off(shares[0, :, 0], wanted):
        yield ("With four query heads of one query, and values that are 1, 0 in head 0 and 0, 1 in head 1, the query "
               f"heads return {'; '.join(map(listed, shares[0, :, 0]))}. It should be 1, 0 from the first two and "
               "0, 1 from the others.")
    Q = numbers(1105, 1, 4, 2, 3)                         # of one query a softmax over the queries would see nothing
    other, values = K.clone(), numbers(1103, 1, 2, 5, 2)
    other[:, 1] += numbers(1104, 5, 3)
    moved = (answer(Q, other, values) - answer(Q, K, values)).abs().amax((0, 2, 3)) > 1e-9
    if moved.tolist() != [False, False, True, True]:
        heads = ", ".join(map(str, moved.nonzero().flatten().tolist())) or "none"
        yield (f"With other keys in head 1 of 0 and 1, the outputs of these query heads change: {heads}. They should "
               "be 2 and 3.")


def case(seed, B, h, h_kv, n, m, d_k, d_v):
    return Case((numbers(seed, B, h, n, d_k), numbers(seed + 1, B, h_kv, m, d_k), numbers(seed + 2, B, h_kv, m, d_v)))


EXERCISE = Exercise(
    id="11.1", name="grouped", chapter="11_sharing_heads", stars=2, minutes=10, after="section 2", core=True,
    signature="grouped(Q, K, V)",
    statement="Several query heads share one KV head. Write `grouped(Q, K, V)`: Q is `(B, h, n, "
              "d_k)`, K is `(B, h_kv, m, d_k)`, V is `(B, h_kv, m, d_v)`, and h is a multiple of h_kv. The first "
              "h/h_kv query heads read the first head of K and V, the next ones the second, and so on. Return the "
              "output of scaled dot-product attention for each query head, `(B, h, n, d_v)`, without a mask. Gradients "
              "must reach Q, K and V.",
    stub="# grouped(torch.zeros(1, 4, 1, 1), torch.zeros(1, 2, 1, 1), torch.arange(2.).view(1, 2, 1, 1)) -> 0 0 1 1\n"
         "def grouped(Q, K, V):\n    ...\n",
    program=PROGRAM,
    cases=[case(1110, 1, 4, 2, 3, 5, 2, 3), case(1120, 2, 6, 3, 2, 4, 5, 3), case(1130, 2, 6, 2, 5, 3, 4, 7),
           case(1140, 3, 4, 1, 2, 5, 3, 2), case(1150, 2, 3, 3, 4, 2, 5, 3), case(1160, 4, 4, 2, 4, 4, 4, 4),
           case(1170, 1, 12, 4, 20, 30, 8, 6)],
    sized=lambda B, h_kv, h_over_h_kv, n, m, d_k, d_v: case(1, B, h_kv * h_over_h_kv, h_kv, n, m, d_k, d_v),
    large=(Case((400 * numbers(1180, 1, 4, 3, 4), 40 * numbers(1181, 1, 2, 5, 4), numbers(1182, 1, 2, 5, 3))),),
    measure=measure,
    hints=("Query head i belongs to group i // (h / h_kv), counted from 0. What must K and V look like, so that the "
           "usual product of Q with K^T gives that?",
           "repeat_interleave(2, 1) makes heads 0 0 1 1 of heads 0 1, and repeat makes 0 1 0 1. Or lay the queries of "
           "a group behind each other, (B, h_kv, h / h_kv * n, d_k): then K and V are not copied.",
           "group = Q.shape[1] // K.shape[1]\n"
           "K, V = (t.repeat_interleave(group, 1) for t in (K, V))\n"
           "return (Q @ K.mT / Q.shape[-1] ** 0.5).softmax(-1) @ V"),
    note="h_kv = h is multi-head attention, h_kv = 1 is multi-query attention. With either of the two, "
         "heads dealt out in turn (0, 1, 0, 1) are no mistake, so test with something in between. "
         "scaled_dot_product_attention does the same with enable_gqa=True.",
)

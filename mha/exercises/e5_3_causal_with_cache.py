"""5.3: a causal mask when there are more keys than queries."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.report import Mistake


def causal_with_cache(n, m):
    return torch.arange(m) <= torch.arange(n)[:, None] + (m - n)


def model(n, m, how="right", polarity="show"):
    """The mask of a cache with switches: each can be set wrong."""
    i, j = torch.arange(n)[:, None], torch.arange(m)
    mask = {
        "right": j <= i + m - n,
        "top-left": j <= i,
        "strict": j < i + m - n,
        "one-more": j <= i + m - n + 1,
        "everything": (j < m) | (i < 0),
        "upper": j >= i + m - n,
        "upper-left": j >= i,
        "only-past": (j < m - n) | (i < 0),
        "only-new": (j >= m - n) & (j <= i + m - n),
        "n-minus-m": j <= i + n - m,
        "window": (j <= i + m - n) & (j > i + m - 2 * n),
    }[how]
    mask = mask.expand(n, m)
    return {"show": mask, "hide": ~mask, "transposed": mask.mT}[polarity]


def observe(output, n, m):
    if output.is_floating_point():
        if not ((output == 0) | (output == 1)).all():
            raise ValueError("not a mask")
    return output.double()


SWITCHES = {
    "how": {
        "top-left": Mistake("top-left",
                            "The diagonal starts at the top left: query 1 sees key 1 only. But the queries are the "
                            "last n tokens, so the first of them has m - n tokens before it.",
                            "Which token is query 0, counted from the start of the text?"),
        "strict": Mistake("diagonal-hidden", "No token sees itself.", "Is it < or <=?"),
        "one-more": Mistake("one-too-many", "Every token sees one token of the future.",
                            "Which key is the token itself, for query 0?"),
        "everything": Mistake("no-mask", "Nothing is hidden.", "What may the first of the new tokens not see?"),
        "upper": Mistake("future-only",
                         "It shows the token itself and the future, not the past: triu where tril was meant.",
                         "Is it <= or >=?"),
        "upper-left": Mistake("future-only",
                              "It shows later keys, not earlier ones, and the diagonal starts at the top left.",
                              "Is it <= or >=?"),
        "only-past": Mistake("new-tokens-hidden",
                             "The new tokens see what was cached, and neither each other nor themselves.",
                             "Which of the new tokens may the last one see?"),
        "only-new": Mistake("cache-hidden",
                            "The new tokens see each other, and nothing of what was cached.",
                            "What is the cache good for?"),
        "n-minus-m": Mistake("shift-wrong-way",
                             "The diagonal is shifted the wrong way: n - m, where it should be m - n.",
                             "May query 0 see more keys than itself, or fewer?"),
        "window": Mistake("window", "Only the last n keys are shown to a token.",
                          "May a token look back further than n?"),
    },
    "polarity": {
        "hide": Mistake("polarity",
                        "True and False are exchanged: in this book, as in scaled_dot_product_attention, True means "
                        "may attend.",
                        "What does True mean here?"),
        "transposed": Mistake("transposed", "It is (m, n), keys by queries.", "Which axis should count the queries?"),
    },
}


def measure(answer):
    """The mask as a picture."""
    mask = answer(2, 5)
    if mask.shape != (2, 5) or mask.isinf().any():
        return
    yield "For n = 2 and m = 5 it gives (a row is a query, x may be seen):"
    for row in mask:
        yield "   " + " ".join("x" if seen else "." for seen in row.tolist())
    yield "Query 0 is the fourth of the five tokens."


EXERCISE = Exercise(
    id="5.3", name="causal_with_cache", chapter="05_masks", stars=2, minutes=10, after="section 6", core=True,
    signature="causal_with_cache(n, m)",
    statement="A model writes a text. The keys of all m tokens so far are kept, and the queries come from the last n "
              "of them only (n <= m). Write `causal_with_cache(n, m)`: the causal mask, `(n, m)`, boolean, True = may "
              "attend.",
    stub="def causal_with_cache(n, m):\n    ...\n",
    reference=causal_with_cache,
    cases=[Case((2, 5)), Case((1, 4)), Case((3, 3)), Case((4, 6)), Case((1, 1))],
    model=model, switches=SWITCHES, measure=measure, observe=observe, wanted="a boolean tensor of shape (n, m)",
    boolean=True, trained=(),
    hints=("Which token of the text is query 0? How many tokens stand before it?",
           "Query i is token i + (m - n). It may see every token up to itself.",
           "return torch.arange(m) <= torch.arange(n)[:, None] + (m - n), or torch.ones(n, m).tril(m - n).bool()"),
    note="With n = m it is the usual triangle. With a cache, is_causal=True of scaled_dot_product_attention is not "
         "what you want: it starts the diagonal at the top left, so a single new token would see one key, the "
         "oldest.",
)

"""5.3: a causal mask when there are more keys than queries."""
from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def causal_with_cache(n, m):
    query = torch.arange(n)
    key = torch.arange(<keys>)
    token = query <shift>
    seen = key <compare> token[:, None]
    return <result>
""", {
    "keys": Blank("m", offered=1, wrong={
        "n": Mistake("new-keys-only",
            "It is (n, n): the keys that were kept from before have no column.",
            "How many keys are there, and how many queries?"),
    }),
    "shift": Blank("+ m - n", offered=3, wrong={
        "": Mistake("top-left",
            "The diagonal starts at the top left: query 0 sees key 0 only, counted from 0. But the queries are the "
            "last n tokens, so the first of them has m - n tokens before it.",
            "Which token is query 0, counted from the start of the text?"),
        "+ n - m": Mistake("shift-wrong-way",
            "The diagonal is shifted the wrong way: n - m, where it should be m - n.",
            "May query 0 see more keys than itself, or fewer?"),
        "+ m - n + 1": Mistake("one-too-many",
            "Every token sees the one right after it as well, where there is one.",
            "Which key is the token itself, for query 0?"),
        "+ m": Mistake("no-mask",
            "Nothing is hidden.",
            "What may the first of the new tokens not see?"),
    }),
    "compare": Blank("<=", offered=3, wrong={
        "<": Mistake("diagonal-hidden",
            "No token sees itself.",
            "Is it < or <=?"),
        ">=": Mistake("future-only",
            "It shows the token itself and the future, not the past.",
            "Is it <= or >=?"),
        ">": Mistake("polarity",
            "True and False are exchanged: in this book, as in scaled_dot_product_attention, True means may attend.",
            "What does True mean here?"),
        "!=": Mistake("all-but-itself",
            "Every token sees all but itself, later ones too.",
            "May query 0 see the last key?"),
        "==": Mistake("only-itself",
            "Every token sees itself alone.",
            "Which tokens stand before query 0?"),
    }),
    "result": Blank("seen", offered=2, wrong={
        "~seen": Mistake("polarity",
            "True and False are exchanged: in this book, as in scaled_dot_product_attention, True means may attend.",
            "What does True mean here?"),
        # right entries of the wrong kind: not among the values that are compared
        "seen.double()": None,
        "seen.flip(0)": Mistake("rows-reversed",
            "The rows stand in reverse order: the last query comes first.",
            "Which token is query 0, counted from the start of the text?"),
        "seen.roll(n, 1)": Mistake("cache-behind",
            "The columns of the keys that were kept stand behind those of the new ones.",
            "Which keys are older, and which columns come first?"),
        "key <= key[:, None]": Mistake("all-queries",
            "It is (m, m), the triangle of a whole text. Queries come from the last n tokens only.",
            "How many keys are there, and how many queries?"),
        "(key <= key[:, None])[:, m - n :]": Mistake("columns-for-rows",
            "It is (m, n): the last n columns of the triangle of a whole text, where its last n rows are wanted.",
            "Which axis does [:, -n:] cut, and which should be cut?"),
    }),
}, together={
    "shift compare": {
        ("", ">="): Mistake("future-only",
            "It shows later keys, not earlier ones, and the diagonal starts at the top left.",
            "Is it <= or >=?"),
    },
    "keys shift": {
        ("n", ""): Mistake("triangle-of-a-whole-text",
            "It is the triangle (n, n) of a text that is read at once, without the keys that were kept from before.",
            "How many keys are there, and how many queries?"),
    },
})


def observe(output, n, m):
    if output.is_floating_point():
        if not ((output == 0) | (output == 1)).all():
            raise ValueError("not a mask")
    return output.double()


def measure(answer):
    """The first wrong mask as a picture."""
    for n, m in ((2, 5), (1, 4), (3, 3), (4, 6)):
        mask = answer(n, m)
        if mask.shape != (n, m) or mask.isinf().any():
            return
        if (mask != PROGRAM.reference(n, m)).any():
            yield f"For n = {n} and m = {m} it gives (a row is a query, x may be seen):"
            for row in mask.tolist():
                yield "   " + " ".join("x" if seen else "." for seen in row)
            i, j = (mask != PROGRAM.reference(n, m)).nonzero()[0].tolist()
            token = m - n + i
            what = "that token itself" if j == token else "an earlier one" if j < token else "a later one"
            sees = "sees" if mask[i, j] else "does not see"
            yield (f"Counted from 0, query {i} is token {token} of the text, and {sees} key {j}, {what}. It should see "
                   f"the keys 0 to {token}.")
            return


EXERCISE = Exercise(
    id="5.3", name="causal_with_cache", chapter="05_masks_lab", stars=2, minutes=10, after="section 7",
    signature="causal_with_cache(n, m)",
    statement="A model writes a text. The keys of all m tokens so far are kept, and the queries come from the last n "
              "of them only (n <= m). Write `causal_with_cache(n, m)`: the causal mask, `(n, m)`, boolean, True = may "
              "attend.",
    stub="# causal_with_cache(2, 3).int() -> 1 1 0 1 1 1\n"
         "def causal_with_cache(n, m):\n    ...\n",
    program=PROGRAM,
    cases=[Case((2, 5)), Case((1, 4)), Case((3, 3)), Case((4, 6)), Case((1, 1)), Case((2, 300))],
    measure=measure, observe=observe, wanted="a boolean tensor of shape (n, m)",
    boolean=True, trained=(),
    hints=("Which token of the text is query 0? How many tokens stand before it?",
           "Query i is token i + (m - n). It may see every token up to itself.",
           "return torch.arange(m) <= torch.arange(n)[:, None] + (m - n)"),
    note="With n = m it is the usual triangle. With a cache, is_causal=True of scaled_dot_product_attention is not "
         "what you want: it starts the diagonal at the top left, so a single new token would see one key, the "
         "oldest.",
)

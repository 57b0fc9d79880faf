"""13.1: values of another text in a cache."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

WHICH = "Which axis counts texts, which heads, which tokens?"
NOTHING_ELSE = "Which numbers of the cache should be as they were?"

PROGRAM = Program("""\
def exchange(V, other, head, places):
    new = <copy>
    source = <source>
    new[<target>] = source
    return <back>
""", {
    "copy": Blank("V.clone()", offered=1, wrong={
        "other.clone()": Mistake("whole-cache",
            "All values are the other text's. Only those of one head, at some places, should be.",
            NOTHING_ELSE),
        "torch.zeros_like(V)": Mistake("rest-lost",
            "Everything that is not exchanged becomes 0.",
            NOTHING_ELSE),
    }),
    "source": Blank("other[:, head, places]", offered=3, wrong={
        "V[:, head, places]": Mistake("nothing-exchanged",
            "V comes back as it was, as happens when its own rows are put back or a changed copy is lost.",
            "From which of the two caches should the new rows come?"),
        "other[:, head, :len(places)]": Mistake("first-rows",
            "The first rows of the other text are taken. They should be the rows at the same places.",
            "At which places of the other text does its name stand?"),
        "other[:, head, places.flip(0)]": Mistake("order-turned",
            "The rows come in the opposite order: the first place gets the last row.",
            "Which row of the other text belongs to the first place?"),
        "other[:, head, places].mean(1, keepdim=True)": Mistake("mean-of-places",
            "Every place gets the mean of the rows. Each should get its own.",
            "Which row of the other text belongs to the first place?"),
        "other[:, head - 1, places]": Mistake("head-before",
            "The rows are those of the head before.",
            WHICH),
    }),
    "target": Blank(":, head, places", offered=1, wrong={
        ":, head - 1, places": Mistake("written-to-head-before",
            "The rows are written into the head before.",
            WHICH),
        ":, head, places - 1": Mistake("place-before",
            "The rows are written one place too early.",
            "At which place does the name stand?"),
    }),
    "back": Blank("new", offered=2, wrong={
        "new[:, head]": Mistake("one-head",
            "Only the one head comes back. The whole cache is asked for, (B, h, m, d_v).",
            "What does the next token read?"),
        "new[:, :, places]": Mistake("only-places",
            "Only the exchanged places come back. The whole cache is asked for, (B, h, m, d_v).",
            "What does the next token read?"),
        "new - V": Mistake("difference",
            "What comes back is the change, and not the changed cache.",
            "What does the next token read?"),
    }),
}, together={
    "source target": {
        ("other[:, :, places]", ":, :, places"): Mistake("all-heads",
            "The rows of all heads are exchanged. Only those of one head should be.",
            NOTHING_ELSE),
        ("other[:, head]", ":, head"): Mistake("all-places",
            "All rows of the head are exchanged. Only those at the given places should be.",
            NOTHING_ELSE),
        ("other[:, head, places[:1]]", ":, head, places[:1]"): Mistake("first-place-only",
            "Only the first of the places is exchanged.",
            "Where does the name stand the second time?"),
    },
})


def measure(answer):
    """A cache that says of each number where it stands, and another that is 1000 more."""
    V = torch.arange(8).double().view(1, 2, 4, 1)
    found = answer(V.clone(), V + 1000, 1, torch.tensor([2]))
    if found.shape == V.shape:
        changed = (found - V).flatten().nonzero().flatten().tolist()
        if changed != [6]:
            yield ("With 2 heads, 4 tokens and d_v = 1, exchanging head 1 at place 2 should change one number of 8, "
                   f"and here it changes {len(changed)}.")
        elif off(found, PROGRAM.reference(V, V + 1000, 1, torch.tensor([2]))):
            yield "The right number is changed, and it becomes something else than the other text's."


def case(seed, B, h, m, d_v, head, *places):
    return Case((numbers(seed, B, h, m, d_v), numbers(seed + 1, B, h, m, d_v), head, torch.tensor(places)))


EXERCISE = Exercise(
    id="13.1", name="exchange", chapter="13_heads_that_write", stars=1, minutes=5, after="section 1", core=True,
    signature="exchange(V, other, head, places)",
    statement="Rename somebody in a cache. Write `exchange(V, other, head, places)`: V and other are `(B, h, m, d_v)`, "
              "one layer's cached values of two texts of equal length; head is the number of a head, from 0; places is "
              "`(p,)`, the positions of the name. Return `(B, h, m, d_v)`: V, in which the values of that head at "
              "those places are the other text's. Leave V and other as they are; no gradient is needed.",
    stub="# exchange(torch.zeros(1, 1, 3, 1), torch.ones(1, 1, 3, 1), 0, torch.tensor([1])) -> 0 1 0\n"
         "def exchange(V, other, head, places):\n    ...\n",
    program=PROGRAM,
    cases=[case(1301, 1, 2, 4, 1, 1, 1, 2), case(1303, 2, 3, 5, 2, 1, 1, 3), case(1305, 3, 2, 7, 4, 1, 2, 3, 5),
           case(1307, 1, 5, 6, 3, 3, 1, 4), case(1309, 2, 4, 5, 1, 2, 2, 3)],
    measure=measure, trained=(),
    hints=("Copy first, so that the cache of the first text stays as it is.",
           "Index texts, head and places at once: new[:, head, places] is (B, p, d_v).",
           "new = V.clone()\n"
           "new[:, head, places] = other[:, head, places]\n"
           "return new"),
    note="In stories15M this line, with head 1 of the last layer, is enough to rename a hero: p times 48 numbers. The "
         "same line with keys in the place of values changes hardly anything there, since two names in the hero's "
         "place have keys that serve alike.",
)

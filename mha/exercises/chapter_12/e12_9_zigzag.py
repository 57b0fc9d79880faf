"""12.9: which tokens of a text stand on one machine of a ring, in zigzag order."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers
from mha.exercises.engine.report import Mistake

WHICH_LATE = "Which machine should hold the last chunk, whose queries see the most keys?"
IN_ORDER = "In which order do the tokens of one machine stand in the text?"

PROGRAM = Program("""\
def zigzag(x, machines, rank):
    chunks = <chunks>
    early = <early>
    late = <late>
    return <joined>
""", {
    "chunks": Blank("x.chunk(2 * machines)", offered=2, wrong={
        "[x[i :: 2 * machines] for i in range(2 * machines)]": Mistake("dealt-out",
            "The text is dealt out token by token. A chunk is a stretch of adjacent tokens.",
            "Which tokens stand beside the first one in its chunk?"),
        "x.flip(0).chunk(2 * machines)": Mistake("text-reversed",
            "The text is turned round before it is cut, so a machine's tokens stand in it from back to front.",
            IN_ORDER),
        "x.chunk(2 * machines, -1)": Mistake("columns-cut",
            "It cuts the entries of each token's vector. The text is cut between tokens.",
            "Along which axis of x do the tokens lie?"),
    }),
    "early": Blank("rank", offered=2, wrong={
        "2 * rank": Mistake("two-side-by-side",
            "The early chunk is the one with twice the machine's number, as if each machine held two adjacent chunks.",
            WHICH_LATE),
        "machines - 1 - rank": Mistake("from-the-middle",
            "The early chunks are counted from the middle of the text. Machine 0 holds the first one.",
            "Which machine holds the first token?"),
    }),
    "late": Blank("2 * machines - 1 - rank", offered=3, wrong={
        "machines + rank": Mistake("not-mirrored",
            "The machine that holds the latest of the early chunks holds the latest of the late ones, too, and has "
            "the most to do.",
            WHICH_LATE),
        "rank + 1": Mistake("adjacent",
            "The machine's two chunks are adjacent, or shared with the next machine.",
            WHICH_LATE),
        "2 * machines - rank": Mistake("counted-from-one",
            "The late chunk is one too late in the text: machines and chunks are counted from 0.",
            "Which number has the last chunk?"),
        "-rank": Mistake("minus-rank",
            "From the end, chunks are counted from -1, and -0 is the first chunk again.",
            "Which number has the last chunk, from the end?"),
    }),
    "joined": Blank("torch.cat([chunks[early], chunks[late]])", offered=3, wrong={
        "torch.cat([chunks[late], chunks[early]])": Mistake("late-first",
            "The late chunk stands before the early one.",
            IN_ORDER),
        "chunks[early] + chunks[late]": Mistake("chunks-added",
            "The two chunks are added. The machine holds the tokens of both, one after the other.",
            "How many tokens does the machine hold?"),
        "chunks[early]": Mistake("early-only",
            "Only the early chunk is returned.",
            "How many tokens does the machine hold?"),
        "chunks[late]": Mistake("late-only",
            "Only the late chunk is returned.",
            "How many tokens does the machine hold?"),
        "torch.stack([chunks[early], chunks[late]])": Mistake("chunks-stacked",
            "The two chunks stand on an axis of their own. They should follow each other on the axis of tokens.",
            "Which shape should the result have?"),
    }),
}, together={
    "early late": {
        ("machines - 1 - rank", "machines + rank"): Mistake("ranks-from-behind",
            "Ranks are counted from behind: machine 0 gets the tokens of the last one, but it should hold the first "
            "chunk and the last.",
            "Which machine holds the first token?"),
    },
    "chunks early joined": {
        ("x.chunk(machines)", "rank", "chunks[early]"): Mistake("contiguous",
            "That is contiguous order: the last machine sees all keys while the first sees only its own.",
            WHICH_LATE),
        ("[x[i :: machines] for i in range(machines)]", "rank", "chunks[early]"): Mistake("striped",
            "That is striped order: each machine gets one token of every so many. In zigzag order it holds two "
            "stretches of the text.",
            "Which tokens stand beside the first one in its chunk?"),
    },
})


def measure(answer):
    """The tokens, by number, of each machine where every one is a vector of its own number."""
    for machines, rank in ((2, 0), (2, 1), (4, 3)):
        n = 2 * machines
        output = answer(torch.arange(n, dtype=torch.float64)[:, None], machines, rank)
        wanted = [rank, n - 1 - rank]
        if not isinstance(output, torch.Tensor) or output.shape[1:] != (1,) or output.flatten().tolist() == wanted:
            continue
        held = ", ".join(f"{token:.4g}" for token in output.flatten().tolist()) or "none"
        yield (f"Of {n} tokens, counted from 0, machine {rank} of {machines} should hold {wanted[0]} and {wanted[1]}; "
               f"yours holds {held}.")


def case(seed, machines, size, d, rank):
    return Case((numbers(seed, 2 * machines * size, d), machines, rank))


EXERCISE = Exercise(
    id="12.9", name="zigzag", chapter="12_fast_heads_lab", stars=1, minutes=6, after="section 5",
    signature="zigzag(x, machines, rank)",
    statement="A text of n tokens, x `(n, d)`, is split over a ring of machines in zigzag order: it is cut into 2 * "
              "machines chunks of adjacent tokens, and machine `rank`, counted from 0, holds the chunk with its own "
              "number and, counted from the end, the one with the same number. n is a multiple of 2 * machines. Write "
              "`zigzag(x, machines, rank)`: return the machine's tokens, in the order of the text, "
              "`(n / machines, d)`.",
    stub="# zigzag(torch.arange(8.)[:, None], 2, 1) -> 2 3 4 5\n"
         "def zigzag(x, machines, rank):\n    ...\n",
    program=PROGRAM,
    cases=[case(12901, 2, 1, 1, 1), case(12903, 1, 2, 2, 0), case(12905, 2, 2, 3, 0), case(12907, 3, 1, 2, 1),
           case(12909, 3, 3, 4, 2), case(12911, 4, 2, 3, 0), case(12913, 5, 2, 2, 3)],
    measure=measure, trained=(),
    wanted="a tensor (n / machines, d)",
    hints=("If each machine holds two chunks, the last chunk has number 2 * machines - 1. Which machine holds it?",
           "Machine `rank` holds chunk `rank` and chunk 2 * machines - 1 - rank. `x.chunk(count)` cuts along the first "
           "axis.",
           "chunks = x.chunk(2 * machines)\n"
           "return torch.cat([chunks[rank], chunks[-1 - rank]])"),
    note="mha.ring.tokens_here gives the numbers of these tokens, which rotary positions need, too.",
)

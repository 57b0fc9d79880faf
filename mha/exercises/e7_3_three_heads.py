"""7.3: the floor."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

H, R = 3, 8

EXERCISE = Number(
    id="7.3", title="Three heads, eight relations", chapter="07_how_many_heads", stars=1, minutes=3, after="section 1",
    core=True,
    statement=f"{R} independent contents of variance 1 are wanted, and there are {H} heads, whose scores see names "
              "only; their mixtures are read by a linear map. What is the least mean squared error?",
    answer=1 - H / R,
    mistakes=(
        (H / R, Mistake("explained-share", "That is the share that can be explained. The error is what is left.")),
        (1 / R, Mistake("one-over-r", "That would be right with seven heads.")),
        (1 / H, Mistake("one-over-h", "Each head can explain one of the eight contents, at most.")),
        (0, Mistake("no-floor", "Three mixtures of eight independent numbers do not determine them.")),
        (R - H, Mistake("not-a-mean", "That many contents are not explained. The error is a mean over all eight.")),
        (1, Mistake("nothing", "Three of the contents can be fetched perfectly.")),
    ),
    hints=("How many of the contents can three mixtures explain?",),
    note="At most three of eight are explained, by fetching three, or by three mixtures of all. Five eighths remain.",
)

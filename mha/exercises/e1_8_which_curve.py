"""1.8: read temperatures off a plot."""
from mha.exercises.question import Choice, Option


def picture():
    """The largest weight against the temperature, for three rows of four scores."""
    import torch

    from mha import viz
    T = torch.logspace(-1, 2, 61, dtype=torch.float64)
    rows = {"curve_P": (4, 0, 0, 0), "curve_Q": (1, 0, 0, 0), "curve_R": (4, 4, 0, 0)}
    largest = {name: (torch.tensor(row, dtype=torch.float64) / T[:, None]).softmax(-1).amax(-1)
               for name, row in rows.items()}
    return viz.curves(T, "temperature", "largest weight", log=True, points=7, **largest)


EXERCISE = Choice(
    id="1.8", title="Three curves", chapter="01_soft_lookup", stars=2, minutes=5, after="section 4", picture=picture,
    statement="The picture shows the largest weight among four keys while the temperature grows, for three rows of "
              "scores: `(4, 0, 0, 0)`, `(1, 0, 0, 0)` and `(4, 4, 0, 0)`. Which curve belongs to which?",
    options=(
        Option("P is `(4, 0, 0, 0)`, Q is `(1, 0, 0, 0)`, R is `(4, 4, 0, 0)`",
               "Look at both ends: where a curve starts, and how far out it falls."),
        Option("P is `(1, 0, 0, 0)`, Q is `(4, 0, 0, 0)`, R is `(4, 4, 0, 0)`",
               "A lead of 4 outlasts a higher temperature than a lead of 1. Which curve falls later?",
               "leads-exchanged"),
        Option("P is `(4, 4, 0, 0)`, Q is `(1, 0, 0, 0)`, R is `(4, 0, 0, 0)`",
               "When it is cold, two keys with equal scores share everything between them. Where does that curve "
               "start?",
               "tie-missed"),
        Option("It cannot be told: all three end at the same height.",
               "They end alike, at a quarter each. Their starts and their falls differ.", "only-the-end"),
    ),
    hints=("What do two equal scores get at a temperature near 0?",
           "Of the two curves that start at 1, which falls first?"),
    note="At the cold end a tie gives a half. A lead of 4 falls at four times the temperature at which a lead of 1 "
         "does: only lead / T counts. At the hot end everyone has a quarter.",
)

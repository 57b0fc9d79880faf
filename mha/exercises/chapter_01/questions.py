"""The questions of chapter 1 that need no code."""
import math

from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

LEAD, WEIGHT = 1.2, 0.9

ODDS = WEIGHT / (1 - WEIGHT)

temperature = Number(
    id="1.5", title="The right temperature", chapter="01_soft_lookup", stars=2, minutes=5, after="section 4", core=True,
    statement=f"There are two books, whose scores differ by `{LEAD}`. At which temperature does the better get the "
              f"weight `{WEIGHT}`? Two digits are enough.",
    answer=LEAD / math.log(ODDS), tolerance=0.02,
    mistakes=(
        (LEAD * math.log(ODDS), Mistake("multiplied",
                                        "That is the difference times the logarithm of the odds. The odds are "
                                        "e^(difference / T), so T is the difference divided by it.")),
        (math.log(ODDS) / LEAD, Mistake("upside-down", "That is 1/T. Would a temperature above 1 sharpen?")),
        (LEAD / ODDS, Mistake("no-logarithm",
                              "That is the difference divided by the odds. The odds are e^(difference / T), not "
                              "difference / T.")),
        (LEAD / math.log10(ODDS), Mistake("base-10",
                                          "That comes from the logarithm to base 10. The softmax raises e.")),
        (LEAD / math.log2(ODDS), Mistake("base-2", "That comes from the logarithm to base 2. The softmax raises e.")),
        (LEAD / math.log(1 / (1 - WEIGHT)), Mistake("share-for-odds",
                                                    "That would be right if the weights stood as 10 to 1. The odds of "
                                                    "9 tenths are 9 to 1.")),
        (LEAD / -math.log(WEIGHT), Mistake("weight-for-odds",
                                           "That comes from log(9/10), the logarithm of the weight. The "
                                           "difference gives the odds: the weight divided by the other one.")),
        (LEAD, Mistake("lead", "That is the difference. At that temperature the odds are e, less than 3 to 1.")),
        (1.0, Mistake("temperature-one", "At T = 1 the odds are e^1.2, which is little more than 3 to 1.")),
    ),
    hints=("What are the odds, the ratio of the two weights?",
           "The odds are e to the power difference / T. Take the logarithm of both sides."),
    note="The odds must be 9, and they are e to the power difference / T. So T = difference / ln 9.",
)

W = 2 / 3

a_second_copy = Choice(
    id="1.6", title="A second copy", chapter="01_soft_lookup_lab", stars=2, minutes=5, after="section 5",
    predicted=True,
    statement="A book gets two thirds of the weight. Somebody puts a second copy beside it: the same key, the same "
              "value. How much do the two copies get together?",
    options=(
        Option("Two thirds, as before: they share it.",
               "The softmax does not know that they are copies. It sees one more key, with a power of its own.",
               "shared"),
        Option("Four thirds: twice as much.",
               "All weights together sum to 1, so it cannot be more than that.", "doubled"),
        Option("More than two thirds, less than 1.",
               "Their powers add up, and so does the sum below the fraction line."),
        Option("All of it: the copies agree.",
               "The other books keep their powers, so something is left for them.", "all"),
    ),
    hints=("Call the power of the book a and the sum of the others b. Before, its weight was a / (a + b).",),
    note=f"Two copies get 2a / (2a + b). With a = 2b that is {2 * W / (1 + W):.2g}, after {W:.2g}. What stands twice "
         "among the keys is read more: attention counts, it does not look things up once.",
)

inside_the_hull = Choice(
    id="1.7", title="Within reach", chapter="01_soft_lookup_lab", stars=2, minutes=5, after="section 4", several=True,
    statement="Three values: `(0, 0)`, `(4, 0)` and `(0, 4)`. The scores can be any finite numbers. Which of these "
              "can come out? Pick all.",
    options=(
        Option("`(1, 1)`", "It is a mixture of half of the first and a quarter of each of the others."),
        Option("`(3, 3)`",
               "Its coordinates sum to 6, and those of no value sum to more than 4. It lies outside the hull.",
               "outside"),
        Option("`(4, 0)`",
               "That would need the weight 1 for the second value, and e to any finite power leaves something for the "
               "others. Attention comes as near as you like.",
               "corner"),
        Option("`(2, 2)`",
               "It lies on the edge between two values, so the third would need the weight 0. No finite score gives "
               "that.",
               "edge"),
        Option("`(0.1, 3.8)`", "It is close to a corner and still inside."),
        Option("`(-1, 1)`", "A negative coordinate would need a negative weight.", "negative-weight"),
    ),
    hints=("Write the point as a mixture. Its weights are the two coordinates divided by 4, and what is left.",
           "Which weights can a softmax of finite scores not give?"),
    note="Inside the hull everything can be reached; its edges and corners only in the limit; outside it nothing.",
)


def picture():
    """The largest weight against the temperature, for three rows of four scores."""
    import torch

    from mha import viz
    T = torch.logspace(-1, 2, 61, dtype=torch.float64)
    rows = {"curve_P": (4, 0, 0, 0), "curve_Q": (1, 0, 0, 0), "curve_R": (4, 4, 0, 0)}
    largest = {name: (torch.tensor(row, dtype=torch.float64) / T[:, None]).softmax(-1).amax(-1)
               for name, row in rows.items()}
    return viz.curves(T, "temperature", "largest weight", log=True, points=7, **largest)


which_curve = Choice(
    id="1.8", title="Three curves", chapter="01_soft_lookup_lab", stars=2, minutes=5, after="section 3",
    picture=picture,
    statement="The picture shows the largest weight among four keys while the temperature grows, for three rows of "
              "scores: `(4, 0, 0, 0)`, `(1, 0, 0, 0)` and `(4, 4, 0, 0)`. Which curve belongs to which?",
    options=(
        Option("P is `(4, 0, 0, 0)`, Q is `(1, 0, 0, 0)`, R is `(4, 4, 0, 0)`",
               "Look at both ends: where a curve starts, and how far out it falls."),
        Option("P is `(1, 0, 0, 0)`, Q is `(4, 0, 0, 0)`, R is `(4, 4, 0, 0)`",
               "A difference of 4 outlasts a higher temperature than one of 1. Which curve falls later?",
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
    note="At the cold end a tie gives a half. A difference of 4 falls at four times the temperature at which one of 1 "
         "does: only difference / T counts. At the hot end everyone has a quarter.",
)

explain_lookup = Explanation(
    id="1.9", title="Explain it: a dictionary that mixes", chapter="01_soft_lookup", stars=1, minutes=5,
    after="the chapter", core=True,
    statement="A friend knows Python's dictionaries. In a minute: what does attention do in their place, and what is "
              "that good for? Write it or say it aloud, then open the checklist.",
    checklist=("A query is compared with every key, by a dot product.",
               "A softmax turns the scores into weights that sum to 1.",
               "The output is the mean of the values with these weights.",
               "It cannot fail, and on paper every key gets some weight.",
               "The temperature leads from choosing the best key to the plain mean.",
               "The weights change smoothly, so an error can say how query and keys should move."),
    hints=(), note="If you missed one, read its section again tomorrow and explain it once more.",
)

QUESTIONS = [temperature, a_second_copy, inside_the_hull, which_curve, explain_lookup]

"""1.5: the temperature for a wanted weight."""
import math

from mha.exercises.question import Number
from mha.exercises.report import Mistake

LEAD, WEIGHT = 1.2, 0.9
ODDS = WEIGHT / (1 - WEIGHT)

EXERCISE = Number(
    id="1.5", title="The right temperature", chapter="01_soft_lookup", stars=2, minutes=5, after="section 4", core=True,
    statement=f"There are two books. The better one leads by `{LEAD}`. At which temperature does it get the weight "
              f"`{WEIGHT}`? Two digits are enough.",
    answer=LEAD / math.log(ODDS), tolerance=0.02,
    mistakes=(
        (LEAD * math.log(ODDS), Mistake("multiplied",
                                        "That is the lead times the logarithm of the odds. The odds are e^(lead / T), "
                                        "so T is the lead divided by it.")),
        (math.log(ODDS) / LEAD, Mistake("upside-down", "That is 1/T. Would a temperature above 1 sharpen?")),
        (LEAD / ODDS, Mistake("no-logarithm",
                              "That is the lead divided by the odds. The odds are e^(lead / T), not lead / T.")),
        (LEAD / math.log10(ODDS), Mistake("base-10",
                                          "That comes from the logarithm to base 10. The softmax raises e.")),
        (LEAD / math.log2(ODDS), Mistake("base-2", "That comes from the logarithm to base 2. The softmax raises e.")),
        (LEAD / math.log(1 / (1 - WEIGHT)), Mistake("share-for-odds",
                                                    "That would be right if the weights stood as 10 to 1. The odds of "
                                                    "9 tenths are 9 to 1.")),
        (LEAD / -math.log(WEIGHT), Mistake("weight-for-odds",
                                           "That comes from log(9/10), the logarithm of the weight. The lead gives "
                                           "the odds: the weight divided by the other one.")),
        (LEAD, Mistake("lead", "That is the lead. At that temperature the odds are e, less than 3 to 1.")),
        (1.0, Mistake("temperature-one", "At T = 1 the odds are e^1.2, which is little more than 3 to 1.")),
    ),
    hints=("What are the odds, the ratio of the two weights?",
           "The odds are e to the power lead / T. Take the logarithm of both sides."),
    note="The odds must be 9, and they are e to the power lead / T. So T = lead / ln 9.",
)

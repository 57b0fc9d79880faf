"""8.2: how good the best of many coin-flippers looks."""
import math

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.evidence import digits
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.report import Mistake


def bell(questions, right):
    """The chance that a normal number of the same mean and spread is at least this large."""
    return math.erfc((right - questions / 2) / (questions / 4) ** 0.5 / 2**0.5) / 2


def at_least(k, tosses):
    """The chance of k heads or more in so many tosses of a fair coin."""
    return sum(math.comb(tosses, x) for x in range(k, tosses + 1)) / 2**tosses


PROGRAM = Program("""\
def best_by_luck(heads, questions, k):
    ways = sum(<ways> for right in <fewer>)
    below = <below>
    return <best>
""", {
    "ways": Blank("math.comb(questions, right)", offered=2, wrong={
        "1": Mistake("no-coefficients",
            "Each number of right answers below k is counted as one of the 2^questions ways. There are many ways to "
            "get x of them right.",
            "In how many ways can 1 of 3 questions be right?"),
        "math.comb(questions, k)": Mistake("ways-of-k-each-time",
            "For every number of right answers it counts the ways to get k right.",
            "In how many ways can 1 of 3 questions be right, and in how many 0?"),
    }),
    "fewer": Blank("range(k)", offered=3, wrong={
        "range(k + 1)": Mistake("more-than-k",
            "For a head it takes the chance of more than k right. At least k includes k.",
            "For one head and one question, how likely is it to get at least 1 right?"),
        "range(1, k)": Mistake("none-right-left-out",
            "That a head gets none right is left out of what is below k.",
            "Does range(1, k) contain 0?"),
        "range(k, questions + 1)": Mistake("below-k",
            "For a head it takes the chance of fewer than k right: the other end.",
            "Which of the two ends is the lucky one?"),
        "{*range(questions + 1)} - {k}": Mistake("exactly-k",
            "For a head it takes the chance of exactly k right. A head with more than k counts too.",
            "Is 29 of 30 at least 24?"),
    }),
    "below": Blank("ways / 2**questions", offered=2, wrong={
        "ways / questions**2": Mistake("base-and-power-exchanged",
            "The number of ways is divided by questions^2. Of questions with two answers each there are 2^questions "
            "ways in all.",
            "In how many ways can 3 questions be answered right or wrong?"),
        "ways / 2**k": Mistake("power-of-k",
            "The number of ways is divided by 2^k. There are 2^questions ways in all.",
            "In how many ways can 3 questions be answered right or wrong?"),
        "ways // 2**questions": Mistake("whole-division",
            "// cuts the share of what is below k down to a whole number, 0, so that 1 remains for the head.",
            "What is 3 // 4?"),
        "1 - 0.5**questions": Mistake("all-right-only",
            "For a head it takes the chance to get every question right, whatever k is.",
            "What should k = 0 give?"),
    }),
    "best": Blank("1 - below**heads", offered=4, wrong={
        "(1 - below) ** heads": Mistake("all-heads",
            "It is the chance that every head gets so many. The best does already when a single one does.",
            "Should the number grow with the heads?"),
        "heads * (1 - below)": Mistake("chances-added",
            "The chances of the heads are added up. Those in which two heads succeed are counted twice, so the sum can "
            "pass 1.",
            "What does it give when one head succeeds half of the time, and there are three?"),
        "below**heads": Mistake("no-head",
            "It is the chance that no head gets so many: one step is missing.",
            "Should the number grow with the heads?"),
        "1 - heads * below": Mistake("times-for-power",
            "The chance that one head stays below is multiplied by the number of heads. That all stay below is a "
            "product of so many chances: a power.",
            "How likely is it that two coins both show tails?"),
        "1 - below": Mistake("one-head-only",
            "It is the chance of one head. There are many heads, and the best of them is taken.",
            "Should the number grow with the heads?"),
        "1.0": Mistake("always-one",
            "It gives 1 whatever the numbers are.",
            "Should the number fall as k grows?"),
        "0.0": Mistake("always-zero",
            "It gives 0 whatever the numbers are.",
            "Should the number fall as k grows?"),
        "100 * (1 - below**heads)": Mistake("per-cent",
            "It gives per cent. A probability lies between 0 and 1.",
            "What should k = 0 give?"),
        "1 - math.exp(-heads * (1 - below))": Mistake("exponential-for-power",
            "It takes e^(-heads p) for the chance that no head gets so many, p being that of one head. Near it, where "
            "p is small; exactly it is (1 - p)^heads.",
            "How likely is it that two coins both show tails?"),
        "at_least(k, heads * questions)": Mistake("all-heads-together",
            "It counts the right answers of all heads together. One head alone must get k.",
            "Two heads with 2 right answers each: has the best of them 4?"),
    }),
}, together={
    "below best": {
        ("sum(math.comb(heads, x) for x in range(k)) / 2**heads", "1 - below**questions"):
            Mistake("heads-and-questions-exchanged",
            "Heads and questions are exchanged: each head has an answer to each question, and k of the questions are "
            "to be right.",
            "Who tosses, and how often?"),
    },
}, scope={"bell": bell, "at_least": at_least})


def measure(answer):
    """Its numbers where everybody can count; three of those that are wrong."""
    wrong = []
    first = [(1, 1, 1), (2, 1, 1), (1, 3, 2), (1, 3, 3), (2, 3, 2), (3, 2, 0)]
    few = [(heads, questions, k) for heads in (1, 2, 3) for questions in (1, 2, 3) for k in range(questions + 1)]
    for heads, questions, k in dict.fromkeys(first + few):
        found, wanted = (torch.tensor(float(function(heads, questions, k)), dtype=torch.float64)
                         for function in (answer, PROGRAM.reference))
        if not abs(found - wanted) <= 1e-6:
            wrong.append(f"For heads = {heads}, questions = {questions} and k = {k} it gives "
                         f"{digits(found, wanted)}; it should be {digits(wanted, found)}.")
    yield from wrong[:3]
    if not wrong:
        yield ("For up to three heads and three questions it is right. Reasons for other numbers with more, among "
               "others: float32, which keeps seven digits; whole numbers in a tensor, which do not pass 2^63; floats "
               "past 10^308, such as 171!, which become infinity, and NaN where infinity is divided by infinity; terms "
               "of both signs that nearly cancel; a formula that is only near.")


def observe(output, heads, questions, k):
    if isinstance(output, (str, bool)):
        raise ValueError("not a number")
    return torch.tensor(float(output), dtype=torch.float64)


EXERCISE = Exercise(
    id="8.2", name="best_by_luck", chapter="08_what_heads_do_lab", stars=2, minutes=12, after="section 3",
    signature="best_by_luck(heads, questions, k)",
    statement="You tried many heads and show the best. What would luck have shown? Each of `heads` heads tosses a "
              "fair coin for each of `questions` questions, all independent. Write `best_by_luck(heads, questions, "
              "k)`: the probability that the best head gets at least k right, as one number, in Python's numbers or "
              "float64. It should be exact but for rounding; five decimals are compared. k is from 0 to questions, and "
              "there are at most 300 questions.",
    stub="# best_by_luck(2, 1, 1) -> 0.75\n"
         "def best_by_luck(heads, questions, k):\n    ...\n",
    program=PROGRAM,
    cases=[Case((1, 3, 2)), Case((2, 5, 4)), Case((3, 4, 2)), Case((5, 7, 7)), Case((4, 6, 0)), Case((72, 30, 24)),
           Case((72, 30, 20)), Case((13, 20, 15)),
           Case((3, 300, 158)), Case((1, 285, 132))],
    measure=measure, observe=observe, wanted="one number", trained=(),
    hints=("How likely is it that one head gets fewer than k right? Count the ways: math.comb(questions, x) of the "
           "2^questions have exactly x right.",
           "The best stays below k if all heads do. They are independent, so their chances multiply.",
           "below = sum(math.comb(questions, x) for x in range(k)) / 2 ** questions\n"
           "return 1 - below ** heads"),
    note="For 72 heads and 30 questions, 24 right come up in one search of twenty, by luck alone. For a single head "
         "that was chosen beforehand it is less than one in a thousand. So say how many heads you tried. Real heads "
         "are not independent; what this gives is a yardstick.",
)

"""8.3: by how much a head beats the best fixed offset."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def above_offset(weights, asks, answers):
    offsets = answers - asks
    others = weights - 2 * torch.eye(weights.shape[-1]).to(weights)    # no word looks at itself
    looked_at = others[..., asks, :].argmax(-1)
    right = <head>
    found = <rule>
    share, of_rule = right.double().mean(-1), found.double().mean(-1)
    return <result>
""", {
    "head": Blank("looked_at == answers", offered=3, wrong={
        "weights[..., asks, :].argmax(-1) == answers": Mistake("itself-too",
            "The word itself is among those that the head may choose. It should choose among all others.",
            "Can a word that gives 0.6 to itself and 0.3 to the answer be right?"),
        "others.mT[..., asks, :].argmax(-1) == answers": Mistake("columns",
            "It reads columns for rows: the word that gives most to the asking one. Rows are queries.",
            "Which axis of weights belongs to the word that asks?"),
        "weights[..., asks, answers]": Mistake("weight-not-choice",
            "It takes the mean weight on the answer. A head is right or wrong on a pair: does the answer get the most?",
            "Is a head with 0.4 on the answer and 0.3 on two others right?"),
        "weights[..., asks, :].argsort(-1, descending=True)[..., 1] == answers": Mistake("second-largest",
            "It takes the second largest weight for the head's choice, as if the word itself always had the largest.",
            "What if a word gives little to itself?"),
        "others[..., : len(asks), :].argmax(-1) == answers": Mistake("rows-in-order",
            "For pair q it reads the row of word q. The word that asks is asks[q].",
            "Whose row belongs to the second pair?"),
    }),
    "rule": Blank("offsets == offsets.mode().values", offered=4, wrong={
        "offsets == offsets.double().mean().round()": Mistake("mean-offset",
            "It takes the rounded mean of the offsets. A mean may be an offset that never occurs.",
            "Offsets 1, 1 and 7: which rule is right most often?"),
        "offsets.abs() == offsets.abs().mode().values": Mistake("distance-without-direction",
            "It counts how far away the answer is, to the left and to the right alike. A rule must say where to look.",
            "Are 2 to the left and 2 to the right one rule?"),
        "answers == answers.mode().values": Mistake("most-common-answer",
            "It always answers the word that is the answer most often. The rule counts from the asking word.",
            'Does the rule "two to the right" give two asking words the same answer?'),
        "offsets == 1": Mistake("next-word-only",
            "The rule is always the next word. It should be the offset that is right most often for these pairs, "
            "whichever that is.",
            "Which offsets could be tried?"),
        "offsets == (looked_at - asks).mode(-1, keepdim=True).values": Mistake("offset-of-the-head",
            "It takes the offset that the head itself uses most. The rule to compare with knows the right answers: "
            "it is the best that any fixed offset can do.",
            "Does the best offset depend on the head?"),
        "max([(asks + k).clamp(0, weights.shape[-1] - 1) == answers for k in range(-99, 99)], key=torch.sum)":
            Mistake("stops-at-the-end",
            "Where k words to the right is past the last word, the rule takes the last (and the first at the other "
            "end). No word stands there, so the rule is wrong there.",
            "What stands to the right of the last word?"),
        "(offsets == offsets.mode().values) * len(asks)": Mistake("count-for-share",
            "From the rule it takes a count of pairs, where a share is asked for.",
            "Between which numbers does a share lie?"),
    }),
    "result": Blank("share - of_rule", offered=4, wrong={
        "share": Mistake("head-only",
            "It is the head's share. What the best offset gets is not taken off.",
            "What should a head get that always looks one to the right, if every answer stands there?"),
        "of_rule - share": Mistake("reversed",
            "It is the offset's share minus the head's: the other way round.",
            "Should a good head get a positive number?"),
        "(share - of_rule).clamp(min=0)": Mistake("cut-at-zero",
            "Below 0 it is cut off. A head that is worse than the rule should get a negative number.",
            "Can a head be worse than the rule?"),
        "(share - of_rule).mean()": Mistake("one-number-for-all",
            "The mean is taken over all maps together. Each map should have its own.",
            "How many numbers do 12 heads get?"),
        "0 * share": Mistake("always-zero",
            "It gives 0 for every head.",
            "What should a head get that is always right?"),
        "share / of_rule": Mistake("ratio",
            "It divides the head's share by the offset's, where the difference is asked for.",
            "What does a head get that is right as often as the rule?"),
        "len(asks) * (share - of_rule)": Mistake("counts-pairs",
            "It counts pairs, where shares of them are asked for.",
            "Can the difference of two shares be 2?"),
    }),
}, together={
    "rule result": {
        ("(offsets == offsets.mode().values) * len(asks)", "share / of_rule"): Mistake("ratio",
            "It divides the head's share by the number of pairs that the best offset gets right. The difference of two "
            "shares is asked for.",
            "What does a head get that is right as often as the rule?"),
    },
})


def words(*places):
    return torch.tensor(places)


def measure(answer):
    """Heads whose margin is known, on four pairs of which three have offset 1."""
    asks, answers, eye = words(0, 1, 2, 4), words(1, 2, 3, 0), torch.eye(5, dtype=torch.float64)
    perfect, next_word, to_the_last = eye[[1, 2, 3, 4, 0]], eye[[1, 2, 3, 4, 3]], eye[[4, 4, 4, 4, 3]]
    told = []
    for weights, wanted, what in ((perfect, 0.25, "is always right"),
                                  (next_word, 0.0, "looks at the next word (word 4 at word 3)"),
                                  (0.6 * eye + 0.4 * perfect, 0.25,
                                   "gives 0.6 to the word itself and 0.4 to the answer"),
                                  (to_the_last, -0.75, "looks at word 4 (word 4 at word 3)")):
        found = observe(answer(weights, asks, answers))
        if found.ndim:
            return
        if off(found.nan_to_num(9), wanted):
            told.append(f"for a head that {what} it gives {listed(found)}, and should give {wanted:g}")
    if told:
        yield ("With 5 words and four pairs, 0 to 1, 1 to 2, 2 to 3 and 4 to 0, the best offset is right on 3 of 4: "
               f"{'; '.join(told[:2])}.")


def maps(seed, n, asks, answers, *heads):
    """Weights of heads that tend to the answers, and to the asking word itself."""
    scores = numbers(seed, *heads, n, n) + torch.eye(n, dtype=torch.float64)
    scores[..., asks, answers] += 1.5
    return (scores.softmax(-1), asks, answers)


def observe(output, *args):
    return torch.tensor(output, dtype=torch.float64) if isinstance(output, float) else output


class OfPairs(Exercise):
    """An exercise whose cases differ in whole numbers too, which are shown: with other pairs of the same shape an
    answer may be right.
    """

    def describe(self, case):
        weights, asks, answers = case.args
        return f"weights {tuple(weights.shape)}, asks {asks.tolist()}, answers {answers.tolist()}"


EXERCISE = OfPairs(
    id="8.3", name="above_offset", chapter="08_what_heads_do_lab", stars=3, minutes=20, after="section 2",
    signature="above_offset(weights, asks, answers)",
    statement="Does the head know something, or does it count words? weights is `(..., n, n)`, maps between n words, "
              "rows are queries. asks and answers are `(N,)`, positions: word asks[q] should look at word answers[q], "
              "which is never itself. A head is right on a pair if the answer gets the most of all words other than "
              'the asking one (no two get the same). The rule "always k words to the right" (k may be negative) is '
              "right on a pair if the answer stands there. Write `above_offset(weights, asks, answers)`: the head's "
              "share of right pairs minus the share of the best such rule, one k for all pairs. One number for each "
              "map: the result is `(...)`.",
    stub="# w = torch.tensor([[0.6, 0.4, 0.], [0., 0.2, 0.8], [0.3, 0.7, 0.]])\n"
         "# above_offset(w, torch.tensor([0, 1, 2]), torch.tensor([1, 2, 1])) -> 0.3333\n"
         "def above_offset(weights, asks, answers):\n    ...\n",
    program=PROGRAM,
    cases=[Case(maps(831, 5, words(0, 1, 3), words(2, 3, 4))),
           Case(maps(832, 7, words(0, 3, 2, 4, 6), words(3, 6, 0, 5, 0), 3)),
           Case(maps(833, 13, words(11, 9, 6, 12, 1, 3, 8), words(9, 7, 4, 4, 3, 4, 7), 2, 3)),
           Case(maps(834, 4, words(3, 2, 0, 1), words(2, 1, 3, 0))),
           Case(maps(835, 11, words(0, 1, 2, 5, 6, 7, 3, 4), words(1, 2, 3, 7, 9, 10, 7, 5), 5)),
           Case(maps(836, 6, words(0, 0, 2, 4, 4), words(1, 3, 5, 5, 2), 3)),               # a word may ask twice
           Case(maps(837, 4, words(3, 2, 0), words(2, 1, 3), 1)),
           Case((torch.eye(2).double(), words(0, 1), words(1, 0)))],                        # all on the asking word
    measure=measure, observe=observe, trained=(),
    hints=("For the head: which rows of the map are asked, which entry of each is forbidden, and where is the largest "
           "of the others?",
           "For the rule: how far is each answer from its question, with a sign? How many pairs share the most common "
           "distance?",
           "looked_at = (weights - 2 * torch.eye(weights.shape[-1]))[..., asks, :].argmax(-1)\n"
           "_, counts = (answers - asks).unique(return_counts=True)\n"
           "return (looked_at == answers).double().mean(-1) - counts.max() / len(asks)"),
    note="The rule has an advantage: its k was chosen on the same pairs. So has the best of many heads. A margin near "
         "0 does not say that a head only counts; it says that this test cannot tell. In the chapter the head for "
         "determiners keeps a wide margin, and the one from nouns to adjectives none.",
)

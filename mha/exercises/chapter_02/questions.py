"""The questions of chapter 2 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

D_K, Q, K = 16, 3, 2

spread_of_a_product = Number(
    id="2.5", title="Queries that are too long", chapter="02_one_head", stars=2, minutes=5, after="section 2",
    core=True,
    statement=f"In a head with d_k = {D_K} the coordinates of queries have mean 0 and standard deviation {Q}, those of "
              f"keys mean 0 and standard deviation {K}, all independent. By what must the dot products be divided to "
              "have standard deviation 1?",
    answer=D_K**0.5 * Q * K,
    mistakes=(
        (D_K**0.5, Mistake("unit-variance",
                           "The root of d_k is right when every coordinate has standard deviation 1. Here one product "
                           f"of coordinates has standard deviation {Q * K}.")),
        (D_K, Mistake("no-root", "That is d_k itself, and the coordinates here are not of standard deviation 1.")),
        (D_K * Q * K, Mistake("no-root",
                              "The variances of the 16 products add up, not their standard deviations: 16 of them "
                              "give the root of 16.")),
        (Q * K, Mistake("one-product",
                        "That is the standard deviation of one product. A score is the sum of 16 of them.")),
        (Q**2 * K**2, Mistake("one-variance",
                              "That is the variance of one product. A score is the sum of 16 of them, and the "
                              "question is about the standard deviation.")),
        (D_K**0.5 * Q, Mistake("keys-forgotten", "That leaves out the standard deviation of the keys.")),
        (D_K**0.5 * K, Mistake("queries-forgotten", "That leaves out the standard deviation of the queries.")),
        (D_K * Q**2 * K**2, Mistake("variance", "That is the variance of a score. Divide by its root.")),
        (D_K**0.5 * (Q + K), Mistake("sum-for-product",
                                     "The standard deviations of independent factors of mean 0 multiply; they do not "
                                     "add.")),
    ),
    tolerance=0, hints=("What is the variance of one product q_1 k_1, for independent factors of mean 0?",
                        "The variances of the products add up. How many are there?"),
    note="One product has variance 9 times 4, sixteen of them 576, and its root is 24. The root of d_k is the special "
         "case in which queries and keys have standard deviation 1, as the derivation assumes. Training does not keep "
         "it.",
)

which_bug_survives = Choice(
    id="2.6", title="What the test does not see", chapter="02_one_head_lab", stars=2, minutes=5, after="section 2",
    several=True,
    statement="A test calls your attention with q `(5, 8)`, k `(7, 8)`, v `(7, 3)`. It checks that the output is `(5, "
              "3)` and that every row of weights sums to 1. It passes. Which mistakes may still be in the code? Pick "
              "all.",
    options=(
        Option("The scores are not divided by the root of d_k.", "Any scores give weights that sum to 1."),
        Option("The softmax runs over the queries.",
               "Then the columns sum to 1 and the rows sum to 7/5 on average: the test sees it.", "axis-is-seen"),
        Option("k is reshaped to (8, 7) where it should be transposed.",
               "The shape is right, and the softmax makes good weights of wrong scores."),
        Option("The scores are multiplied by the root of d_k.", "Any scores give weights that sum to 1."),
        Option("The weights are divided by the root of d_k after the softmax.",
               "Then a row sums to 1 over the root of 8: the test sees it.", "scale-after-is-seen"),
        Option("The keys are mixed in place of the values.",
               "Then the output would be (5, 8): the test sees it, since d_k and d_v differ.",
               "keys-as-values-is-seen"),
    ),
    hints=("For each mistake: does it change a shape, or what a row sums to?",
           "Everything that goes wrong before the softmax leaves the sums right."),
    note="Wrong scores of the right shape are invisible to shapes and sums. A shuffle of the keys finds the reshape, "
         "but a wrong scale takes numbers that were computed in another way: compare with "
         "torch.nn.functional.scaled_dot_product_attention.",
)

shuffled_keys = Choice(
    id="2.7", title="Shuffle the memory", chapter="02_one_head_lab", stars=1, minutes=5, after="section 2",
    predicted=True,
    statement="One query, ten keys with their values, no mask. You shuffle the ten keys, and the values in the same "
              "way. What happens to the output?",
    options=(
        Option("It stays the same.", "Each value keeps its weight; only the order of the sum changes."),
        Option("Its entries are shuffled in the same way.",
               "The output has one row for each query, and the query did not move. That is what would happen to the "
               "weights.",
               "follows-the-keys"),
        Option("It changes completely.",
               "A key brings its value along. Which weight does a value get now, and which before?", "changes"),
        Option("It changes a little, because near keys count more.",
               "There is no nearness in the formula: a position enters only if somebody puts it in.",
               "nearness"),
    ),
    hints=("Write the output as a sum over the keys. Does the order of a sum matter?",),
    note="Attention reads a set, not a list. Try it: torch.randperm(10) as the index of both. That is why word order "
         "has to come from outside, from positions or from a mask.",
)


def picture():
    """The median length of the gradient of a softmax of 64 random scores, against d_k, for three divisors."""
    import torch

    from mha import viz
    from mha.exercises.chapter_02.e2_2_softmax_backward import PROGRAM
    from mha.exercises.engine.probe import numbers
    widths = torch.tensor([4, 16, 64, 256, 1024])
    found = {name: [] for name in ("curve_P", "curve_Q", "curve_R")}
    for d_k in widths.tolist():
        scores = numbers(161, 64, d_k) @ numbers(162, 64, d_k).mT
        for name, power in zip(found, (0, 0.5, 1)):
            weights = (scores / d_k**power).softmax(-1)
            found[name].append(PROGRAM.reference(weights, numbers(163, 64, 64)).norm(dim=-1).median())
    return viz.curves(widths, "d_k", "median gradient", log=True,
                      **{name: torch.stack(values) for name, values in found.items()})


which_gradient = Choice(
    id="2.8", title="Which gradient is whose", chapter="02_one_head_lab", stars=3, minutes=5, after="section 4",
    picture=picture,
    statement="64 random queries meet 64 random keys. The dot products are divided by 1, by the root of d_k, or by "
              "d_k; then comes the softmax. The picture shows the median length of the gradient that reaches a row of "
              "scores, for the same random gradient of the weights, of standard deviation 1. Which curve is which?",
    options=(
        Option("P is divided by 1, Q by the root of d_k, R by d_k",
               "Follow each to the right: which row becomes sharper with d_k, which stays, which becomes uniform?"),
        Option("P is divided by d_k, Q by the root of d_k, R by 1",
               "Without a division the scores grow with d_k. What does a saturated row do to its gradient?",
               "ends-exchanged"),
        Option("P is divided by the root of d_k, Q by 1, R by d_k",
               "Divided by the root of d_k, the scores have the same standard deviation at every d_k, and their "
               "gradient does not fall to 0. That of P does.",
               "level-missed"),
        Option("P is divided by 1, Q by d_k, R by the root of d_k",
               "Divided by d_k, the scores shrink to nothing, and every row becomes uniform: 64 weights of 1/64. Its "
               "gradient then has a length of about the root of 64, divided by 64. Which curve ends there?",
               "even-missed"),
    ),
    hints=("Which division keeps the standard deviation of the scores the same at every d_k?",
           "Of the other two, one makes rows saturated and the other makes them uniform. How long is the gradient of a "
           "saturated row, and how long that of a uniform one, 64 numbers of standard deviation 1, each times "
           "1/64?"),
    note="Without a division rows saturate, and the median falls to 0. Divided by d_k, rows become uniform, each "
         "weight is one in 64, and the gradient goes to about the root of 64 divided by 64, which is 1/8. Divided by "
         "the root, the scores keep their standard deviation, some weights stay well above one in 64, and the curve "
         "stays above 1/8.",
)

explain_scale = Explanation(
    id="2.9", title="Explain it: why the root of d_k", chapter="02_one_head", stars=1, minutes=5, after="the chapter",
    core=True,
    statement="In an interview: \"Why does attention divide by the square root of d_k, and what happens if it does "
              "not?\" Answer in a minute, then open the checklist.",
    checklist=("A score is a sum of d_k products: its variance grows with d_k, its standard deviation with the root.",
               "That holds for independent coordinates of mean 0 and variance 1, which is assumed.",
               "Scores far apart make the softmax sharp: most weight on few keys.",
               "The gradient of a row that gives all to one key is 0 for every key (section 3).",
               "It is no law: the factor could stand in W_Q. It makes the start soft; that Adam's first steps do not "
               "grow with the width takes division by d_k, as in \u00b5P.",
               "How the effect was measured, not only the story of it."),
    hints=(), note="Many answers stop at the second line. The fourth and the fifth show that you tested it.",
)

QUESTIONS = [spread_of_a_product, which_bug_survives, shuffled_keys, which_gradient, explain_scale]

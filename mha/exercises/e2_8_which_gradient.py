"""2.8: read saturation off a plot."""
from mha.exercises.question import Choice, Option


def picture():
    """The median length of the gradient of a softmax of 64 random scores, against d_k, for three divisors."""
    import torch

    from mha import viz
    from mha.exercises.e2_2_softmax_backward import softmax_backward
    from mha.exercises.probe import numbers
    widths = torch.tensor([4, 16, 64, 256, 1024])
    found = {name: [] for name in ("curve_P", "curve_Q", "curve_R")}
    for d_k in widths.tolist():
        scores = numbers(161, 64, d_k) @ numbers(162, 64, d_k).mT
        for name, power in zip(found, (0, 0.5, 1)):
            weights = (scores / d_k**power).softmax(-1)
            found[name].append(softmax_backward(weights, numbers(163, 64, 64)).norm(dim=-1).median())
    return viz.curves(widths, "d_k", "median gradient", log=True,
                      **{name: torch.stack(values) for name, values in found.items()})


EXERCISE = Choice(
    id="2.8", title="Which gradient is whose", chapter="02_one_head", stars=3, minutes=5, after="section 4",
    picture=picture,
    statement="64 random queries meet 64 random keys. The dot products are divided by 1, by the root of d_k, or by "
              "d_k; then comes the softmax. The picture shows the median length of the gradient that reaches a row of "
              "scores, for the same random gradient of the weights. Which curve is which?",
    options=(
        Option("P is divided by 1, Q by the root of d_k, R by d_k",
               "Follow each to the right: which row becomes more decided with d_k, which stays, which becomes even?"),
        Option("P is divided by d_k, Q by the root of d_k, R by 1",
               "Without a division the scores grow with d_k. What does a row that has decided do to its gradient?",
               "ends-exchanged"),
        Option("P is divided by the root of d_k, Q by 1, R by d_k",
               "Divided by the root of d_k, the scores have the same spread at every d_k. Which curve is level?",
               "level-missed"),
        Option("P is divided by 1, Q by d_k, R by the root of d_k",
               "Divided by d_k, the scores shrink to nothing, and every row becomes even. An even row of 64 has small "
               "weights; is its gradient as large as that of a row with some spread?",
               "even-missed"),
    ),
    hints=("Which division keeps the spread of the scores the same at every d_k?",
           "Of the other two, one makes rows decided and the other makes them even. What happens to the gradient of a "
           "decided row at d_k = 1024?"),
    note="The root keeps the curve level. Without it the median falls as rows decide; with d_k itself rows become "
         "even, and the gradient settles at a small value, since each weight is one in 64.",
)

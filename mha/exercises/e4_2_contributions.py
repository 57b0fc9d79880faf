"""4.2: what a token really adds."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import listed, numbers, off
from mha.exercises.report import Mistake


def contributions(weights, v, W_O):
    return weights * (v @ W_O).norm(dim=-1).unsqueeze(-2)


def model(weights, v, W_O, how="right", turn="nothing"):
    """The length of each contribution, with switches: each can be set wrong."""
    y = v @ W_O
    out = {
        "right": lambda: weights * y.norm(dim=-1).unsqueeze(-2),
        "weights": lambda: weights,
        "values-only": lambda: y.norm(dim=-1).unsqueeze(-2).expand(weights.shape),
        "no-W_O": lambda: weights * v.norm(dim=-1).unsqueeze(-2),
        "squared": lambda: weights * y.square().sum(-1).unsqueeze(-2),
        "both-squared": lambda: (weights * y.norm(dim=-1).unsqueeze(-2)).square(),
        "absolute": lambda: weights * y.abs().sum(-1).unsqueeze(-2),
        "largest": lambda: weights * y.abs().amax(-1).unsqueeze(-2),
        "summed": lambda: weights * y.sum(-1).unsqueeze(-2),
        "summed-abs": lambda: weights * y.sum(-1).abs().unsqueeze(-2),
        "mean-square": lambda: weights * y.square().mean(-1).sqrt().unsqueeze(-2),
        "shares": lambda: (lambda c: c / c.sum(-1, keepdim=True))(weights * y.norm(dim=-1).unsqueeze(-2)),
        "output": lambda: (weights @ y).norm(dim=-1, keepdim=True).expand(weights.shape),
        "query-norm": lambda: weights * y.norm(dim=-1).unsqueeze(-1) if weights.shape[-1] == weights.shape[-2]
        else weights @ y.norm(dim=-1, keepdim=True).expand(*y.shape[:-1], weights.shape[-1]),
        "columns": lambda: weights * y.norm(dim=-2).unsqueeze(-2) if y.shape[-1] == weights.shape[-1]
        else weights * float("nan"),
        "softmax": lambda: (weights * y.norm(dim=-1).unsqueeze(-2)).softmax(-1),
        "W_O-norm": lambda: weights * (v.norm(dim=-1) * W_O.norm()).unsqueeze(-2),
    }[how]()
    return out.mT if turn == "transposed" else out


SWITCHES = {
    "how": {
        "weights": Mistake("weights-only",
                           "It returns the weights. A weight says how much of a value is taken, not how much there is "
                           "to take.",
                           "What does a weight of 0.9 add when the value is zero?"),
        "values-only": Mistake("weights-left-out",
                               "It returns the lengths of the values after W_O, without the weights.",
                               "How much of value j does query i take?"),
        "no-W_O": Mistake("before-W_O",
                          "It takes the lengths of the values before W_O. What the head writes is measured after it.",
                          "What happens to a value that W_O maps to zero?"),
        "squared": Mistake("squared-length",
                           "It takes the sum of squares; the length is its root.", "How long is the vector (3, 4)?"),
        "both-squared": Mistake("squared-length", "It returns the squares of the lengths.",
                                "How long is the vector (3, 4)?"),
        "absolute": Mistake("sum-of-absolutes",
                            "It sums the absolute coordinates. The length is the root of the sum of squares.",
                            "How long is the vector (3, 4)?"),
        "largest": Mistake("largest-coordinate",
                           "It takes the largest coordinate. The length is the root of the sum of squares.",
                           "How long is the vector (3, 4)?"),
        "summed": Mistake("sums-coordinates", "It sums the coordinates, so that they cancel.",
                          "How long is the vector (3, -3)?"),
        "summed-abs": Mistake("sums-coordinates",
                              "It sums the coordinates before it takes the absolute value, so that they cancel.",
                              "How long is the vector (3, -3)?"),
        "mean-square": Mistake("root-of-the-mean",
                               "It takes the root of the mean of the squares: the length divided by the root of "
                               "d_model.",
                               "How long is the vector (3, 4)?"),
        "shares": Mistake("made-to-sum-to-one",
                          "The lengths are divided by their sum. The statement asks for the lengths themselves.",
                          "What is lost when every row is made to sum to 1?"),
        "output": Mistake("whole-output",
                          "It gives the length of the whole output of a query, not of each part of it.",
                          "How many numbers should there be for each query?"),
        "query-norm": Mistake("wrong-axis",
                              "The lengths of the values are laid along the queries; value j belongs to key j, so to "
                              "column j.",
                              "Which axis of the weights counts the values?"),
        "softmax": Mistake("softmax-again", "A softmax is taken of the lengths.",
                           "Is there a softmax after the mixture?"),
        "W_O-norm": Mistake("product-of-lengths",
                            "It multiplies the length of the value by the size of W_O. W_O stretches each vector "
                            "differently: map first, then measure.",
                            "How long is v W_O when W_O maps v to zero?"),
    },
    "turn": {"transposed": Mistake("transposed", "It is transposed: (m, n), keys by queries.",
                                   "Which axis should count the queries?")},
}


def measure(answer):
    """What a zero value adds."""
    weights, v, W_O = torch.tensor([[0.9, 0.1]],
                                   dtype=torch.float64), torch.tensor(
                                       [[0.0, 5.0], [3.0, 4.0]], dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    out = answer(weights, v, W_O)
    if off(out, out.new_tensor([[4.5, 0.5]])):
        yield (f"Weights 0.9 and 0.1, values (0, 5) and (3, 4), W_O the identity: it gives {listed(out)}; wanted is "
               "4.5 and 0.5.")
    elif (answer(numbers(254, 2, 3).softmax(-1), numbers(255, 3, 4), numbers(256, 4, 5)) < 0).any():
        yield "Some of its numbers are negative; a length never is."


EXERCISE = Exercise(
    id="4.2", name="contributions", chapter="04_value_and_output", stars=2, minutes=10, after="section 5", core=True,
    signature="contributions(weights, v, W_O)",
    statement="Is the token with the largest weight the one that matters most? Write `contributions(weights, v, "
              "W_O)`: weights is `(..., n, m)`, v is `(..., m, d_v)`, W_O is `(d_v, d_model)`. The head's output for "
              "query i is a sum over the keys j. Return the length (the Euclidean norm) of each of its parts, `(..., "
              "n, m)`.",
    stub="def contributions(weights, v, W_O):\n    ...\n",
    reference=contributions,
    cases=[Case((numbers(241, 2, 3).softmax(-1), numbers(242, 3, 4), numbers(243, 4, 5))),
           Case((numbers(244, 4, 2).softmax(-1), numbers(245, 2, 3), numbers(246, 3, 6))),
           Case((numbers(247, 2, 3, 5).softmax(-1), numbers(248, 2, 5, 4), numbers(249, 4, 7))),
           Case((numbers(250, 4, 4).softmax(-1), numbers(251, 4, 4), numbers(252, 4, 4))),
           Case((numbers(253, 3, 5).softmax(-1), 0.1 * numbers(254, 5, 3), numbers(255, 3, 4)))],  # short: v W_O < 1
    model=model, switches=SWITCHES, measure=measure,
    hints=("Write the output of query i as a sum over j. What is the term of key j?",
           "The term is w_ij times the vector v_j W_O. The length of a multiple is the multiple of the length, since "
           "no weight is negative.",
           "return weights * (v @ W_O).norm(dim=-1).unsqueeze(-2)"),
    note="A weight of 0.9 on a value that W_O maps to almost nothing is no attention worth the name. Kobayashi and "
         "others (2020) measured trained models in this way.",
)

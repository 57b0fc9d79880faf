"""4.2: what a token really adds."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def contributions(weights, v, W_O):
    written = <written>
    lengths = <lengths>
    row = <row>
    out = <out>
    return out
""", {
    "written": Blank("v @ W_O", offered=1, wrong={
        "v": Mistake("before-W_O",
            "It takes the lengths of the values before W_O. What the head writes is measured after it.",
            "What happens to a value that W_O maps to zero?"),
    }),
    "lengths": Blank("written.norm(dim=-1)", offered=4, wrong={
        "written.square().sum(-1)": Mistake("squared-length",
            "It takes the sum of squares; the length is its root.",
            "How long is the vector (3, 4)?"),
        "written.abs().sum(-1)": Mistake("sum-of-absolutes",
            "It sums the absolute coordinates. The length is the root of the sum of squares.",
            "How long is the vector (3, 4)?"),
        "written.norm(dim=-2)": Mistake("columns-measured",
            "It measures the columns of v W_O, down the tokens. The length of a value runs along its own coordinates.",
            "Which axis of v W_O holds the coordinates of one value?"),
        "written.sum(-1)": Mistake("sums-coordinates",
            "It sums the coordinates, so that they cancel.",
            "How long is the vector (3, -3)?"),
        "v.norm(dim=-1) * torch.linalg.matrix_norm(W_O, 2)": Mistake("product-of-lengths",
            "It multiplies the length of the value by the most that W_O can stretch. W_O stretches each vector "
            "differently: map first, then measure.",
            "How long is v W_O when W_O maps v to zero?"),
    }),
    "row": Blank("lengths.unsqueeze(-2)", offered=2, wrong={
        "lengths.unsqueeze(-1)": Mistake("wrong-axis",
            "The lengths of the values are laid along the queries; value j belongs to key j, so to column j.",
            "Which axis of the weights counts the values?"),
        "lengths": Mistake("axis-missing",
            "It is made for one matrix of weights. With a batch in front, the axes of the weights and of the lengths "
            "do not meet as they should.",
            "Which shape has weights, and which must the lengths have so that each column meets its own?"),
    }),
    "out": Blank("weights * row", offered=3, wrong={
        "row.expand(weights.shape)": Mistake("weights-left-out",
            "It returns the lengths of the values after W_O, without the weights.",
            "How much of value j does query i take?"),
        "weights": Mistake("weights-only",
            "It returns the weights. A weight says how much of a value is taken, not how much there is to take.",
            "What does a weight of 0.9 add when the value is zero?"),
        "(weights * row).softmax(-1)": Mistake("softmax-again",
            "A softmax is taken of the lengths.",
            "Is there a softmax after the mixture?"),
        "(weights * row.square()).sqrt()": Mistake("weight-under-the-root",
            "The weight stands under the root and is not squared: its root is what multiplies the length.",
            "How long is one quarter of the vector (3, 4)?"),
        "weights * (weights @ written).norm(dim=-1, keepdim=True)": Mistake("whole-output",
            "It multiplies each weight by the length of the whole output of the query. The exercise asks for the "
            "length of each part.",
            "What does key j add to the output, before anything is summed?"),
        "(weights[..., None] * written[..., None, :, :]).norm(dim=-2)": Mistake("norm-over-the-keys",
            "The norm runs over the keys. The length of a part runs along its own coordinates.",
            "Which axis of the parts holds the coordinates of one part?"),
        "weights / weights.sum(-1, keepdim=True) * row": Mistake("weights-divided-by-their-sum",
            "The weights are divided by their sum. That changes nothing where they sum to 1; they need not.",
            "What should weights twice as large give?"),
        "(weights * row).square()": Mistake("squared-length",
            "It returns the squares of the lengths.",
            "How long is the vector (3, 4)?"),
    }),
})


def measure(answer):
    """What a zero value adds."""
    weights, v, W_O = torch.tensor([[0.9, 0.1]],
                                   dtype=torch.float64), torch.tensor(
                                       [[0.0, 5.0], [3.0, 4.0]], dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    out = answer(weights, v, W_O)
    if off(out, out.new_tensor([[4.5, 0.5]])):
        yield (f"Weights 0.9 and 0.1, values (0, 5) and (3, 4), W_O the identity: it gives {listed(out)}; it should be "
               "4.5 and 0.5.")
    elif (answer(numbers(254, 2, 3).softmax(-1), numbers(255, 3, 4), numbers(256, 4, 5)) < 0).any():
        yield "Some of its numbers are negative; a length never is."


EXERCISE = Exercise(
    id="4.2", name="contributions", chapter="04_value_and_output", stars=2, minutes=10, after="section 5", core=True,
    signature="contributions(weights, v, W_O)",
    statement="Is the token with the largest weight the one that matters most? Write `contributions(weights, v, "
              "W_O)`: weights is `(..., n, m)`, none negative and of any sum, v is `(..., m, d_v)`, W_O is `(d_v, "
              "d_model)`. The head's output for query i is a sum over the keys j. Return the length (the Euclidean "
              "norm) of each of its parts, `(..., n, m)`.",
    stub="# contributions(torch.ones(1, 1), torch.ones(1, 1), torch.tensor([[3., 4.]])) -> 5\n"
         "def contributions(weights, v, W_O):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(241, 2, 3).softmax(-1), numbers(242, 3, 4), numbers(243, 4, 5))),
           Case((numbers(244, 4, 2).softmax(-1), numbers(245, 2, 3), numbers(246, 3, 6))),
           Case((numbers(247, 2, 3, 5).softmax(-1), numbers(248, 2, 5, 4), numbers(249, 4, 7))),
           Case((numbers(250, 4, 4).softmax(-1), numbers(251, 4, 4), numbers(252, 4, 4))),
           Case((numbers(253, 3, 5).softmax(-1), 0.1 * numbers(254, 5, 3), numbers(255, 3, 4))),   # short: v W_O < 1
           Case((2 * numbers(256, 3, 2).softmax(-1), numbers(257, 2, 5), numbers(258, 5, 3))),
           Case((numbers(259, 1, 2, 3).softmax(-1), numbers(260, 1, 3, 2), numbers(261, 2, 4)))],
    sized=lambda n, m, d_v, d_model: Case((numbers(1, n, m).abs(), numbers(2, m, d_v), numbers(3, d_v, d_model))),
    measure=measure,
    hints=("Write the output of query i as a sum over j. What is the term of key j?",
           "The term is w_ij times the vector v_j W_O. The length of a multiple is the multiple of the length, since "
           "no weight is negative.",
           "return weights * (v @ W_O).norm(dim=-1).unsqueeze(-2)"),
    note="A weight of 0.9 on a value that W_O maps to almost nothing is no attention worth the name. Kobayashi and "
         "others (2020) measured trained models in this way.",
)

"""2.2: the gradient that a softmax lets through."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

MINUS = Mistake("minus", "It has the opposite sign throughout.",
                "Should a key that would lower the error gain or lose?")

PROGRAM = Program("""\
def softmax_backward(weights, grad):
    mean = <terms>.<how>(<axis>)
    out = <out>
    <after>
    return out
""", {
    "terms": Blank("(weights * grad)", offered=1, wrong={
        "grad": Mistake("sum-without-weights",
            "It subtracts the sum of g. It should be the sum of w times g.",
            "Which mean has the weights w?"),
    }),
    "how": Blank("sum", offered=1, wrong={
        "mean": Mistake("mean-for-sum",
            "It subtracts the plain mean of w times g. It should be their sum, which is the mean of g with the "
            "weights w.",
            "Which mean has the weights w?"),
    }),
    "axis": Blank("-1, keepdim=True", offered=4, wrong={
        "-1": Mistake("keepdim",
            "The sum of each row has lost its axis: where it can be laid on the gradient at all, it is laid on the "
            "columns.",
            "Which shape has x.sum(-1), and which has x.sum(-1, keepdim=True)?"),
        "-2, keepdim=True": Mistake("axis-queries",
            "The sum runs over the queries, not over the keys.",
            "Which weights compete with each other?"),
        "0, keepdim=True": Mistake("axis-0",
            "The sum runs over axis 0, which is the last axis only where there is one.",
            "Which axis holds the keys when there are several rows?"),
        "": Mistake("sum-over-everything",
            "The sum runs over all rows at once.",
            "Does a score of one row change the weights of another?"),
    }),
    "out": Blank("weights * (grad - mean)", offered=6, wrong={
        "weights * grad - mean": Mistake("bracket-missing",
            "It is w g minus the sum, without the bracket: the sum must be multiplied by w too.",
            "What do the numbers of a row sum to, and what should they?"),
        "grad - mean": Mistake("outer-weights-missing",
            "It is g minus its mean. What is missing is the weight in front: a key that nobody reads gets no gradient.",
            "How much gradient should a key of weight 0 get?"),
        "weights * (grad + mean)": Mistake("sign-of-the-mean",
            "The mean is added where it should be subtracted.",
            "What should the numbers of a row sum to?"),
        "weights * (mean - grad)": MINUS,
        "weights * grad": Mistake("second-term-missing",
            "It is the weights times the gradient. That is half of the answer: each score also lowers the weights "
            "of the others.",
            "What must the gradient of a row sum to, if a shift of all scores changes nothing?"),
        "weights * (1 - weights) * grad": Mistake("diagonal-only",
            "It is w (1 - w) times the gradient: what a score does to its own weight. What it does to the other "
            "weights, -w_i w_j, is missing.",
            "When one score rises, what happens to the other weights?"),
        "grad - weights * mean": Mistake("one-weight-missing",
            "The weight stands in the second term only. It multiplies both: w (g - mean).",
            "How much gradient should a key of weight 0 get?"),
        "torch.diag_embed(weights) - weights[..., None] * weights[..., None, :]": Mistake("whole-matrix",
            "It returns the matrix of all derivatives. The exercise asks for its product with the gradient.",
            "Which shape should come out?"),
        "grad - weights * grad.sum(-1, keepdim=True)": Mistake("log-softmax-gradient",
            "That is the gradient of the logarithm of the softmax.",
            "Which function was it, softmax or log_softmax?"),
        "weights * grad - weights.square() * grad.sum(-1, keepdim=True)": Mistake("squared-weights",
            "The second term has w squared times the sum of g; it should be w times the sum of w g.",
            "Which index does the inner sum run over?"),
    }),
    "after": Blank("", wrong={
        "out = -out": MINUS,
    }),
}, together={
    "how out": {
        ("mean", "weights * grad - mean"): Mistake("mean-for-weighted-sum",
            "From w g it subtracts the plain mean of w g. It should subtract their sum, times w.",
            "What must stand in front of the sum, so that a key of weight 0 gets no gradient?"),
    },
    "terms how": {
        ("grad", "mean"): Mistake("unweighted-mean",
            "It subtracts the plain mean of g. The mean must be taken with the weights.",
            "Which keys should count most in that mean?"),
    },
})


def measure(answer):
    """What its rows sum to, and what a constant does."""
    weights, grad = numbers(121, 2, 4).softmax(-1), numbers(122, 2, 4)
    out = answer(weights, grad)
    if out.shape != grad.shape:
        return
    if not off(out, 0):
        yield "It gives 0 for a random gradient."
        return
    if off(out.sum(-1), 0):
        yield (f"Its rows sum to {listed(answer(weights, grad).sum(-1))}; each should sum to 0, because a shift of all "
               "scores changes no weight.")
    if off(answer(weights, torch.ones_like(grad)), 0):
        yield (f"For a gradient of 1 everywhere it gives {listed(answer(weights, torch.ones_like(grad))[0])}; it "
               "should give 0, since the weights of a row sum to 1 whatever the scores are.")
    unread = answer(torch.tensor([0.0, 0.25, 0.75], dtype=torch.float64), numbers(120, 3))[0]
    if off(unread, 0):
        yield f"A key of weight 0 gets {unread:.3g}; it should get 0, whatever the gradient is."


EXERCISE = Exercise(
    id="2.2", name="softmax_backward", chapter="02_one_head_lab", stars=3, minutes=20, after="section 4",
    signature="softmax_backward(weights, grad)",
    statement="Why do saturated heads stop learning? Write the backward pass of the softmax and see. "
              "`softmax_backward(weights, grad)`: weights is `(..., m)`, softmax(scores) along the last axis; grad, "
              "of the same shape, is the gradient of the loss with respect to the weights. Return its gradient with "
              "respect to the scores, of the same shape. Without autograd.",
    stub="# w = torch.tensor([0.25, 0.75])\n# softmax_backward(w, torch.tensor([1., 0.])) -> 0.1875 -0.1875\n"
         "def softmax_backward(weights, grad):\n    ...\n",
    program=PROGRAM,
    without=dict.fromkeys(("backward", "grad", "grad_fn", "_make_dual", "_softmax_backward_data"), Mistake("autograd",
        "It leaves the derivative to torch (autograd, torch.func or torch's own backward pass), and the statement asks "
        "for the formula.",
        "When one score rises a little, by how much does each weight change?")),
    trained=(),
    cases=[Case((numbers(123, 3).softmax(-1), numbers(124, 3))),
           Case((numbers(125, 2, 5).softmax(-1), numbers(126, 2, 5))),
           Case(((3 * numbers(127, 4, 4)).softmax(-1), numbers(128, 4, 4))),
           Case((numbers(129, 3, 2, 7).softmax(-1), numbers(130, 3, 2, 7))),
           Case((numbers(121, 1, 1, 3).softmax(-1), numbers(122, 1, 1, 3)))],
    sized=lambda n, m: Case((numbers(1, n, m).softmax(-1), numbers(2, n, m))),
    measure=measure,
    hints=("If score j rises by a little, weight j rises by w_j (1 - w_j) times that, and weight i falls by w_i w_j "
           "times that. Write it as one matrix.",
           "The matrix is diag(w) - w w^T. Multiply it with the gradient: the first part is w * g, the second is w "
           "times one number.",
           "return weights * (grad - (weights * grad).sum(-1, keepdim=True))"),
    note="Every entry carries the factor w. A key of weight 0 gets no gradient, and where one weight is 1, g minus "
         "its mean is 0 there too. That is how a saturated row stops learning.",
)

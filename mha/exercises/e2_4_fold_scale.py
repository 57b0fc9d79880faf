"""2.4: the scale put into W_Q."""
from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers
from mha.exercises.report import Mistake


def fold_scale(W_Q):
    return W_Q / W_Q.shape[-1] ** 0.5


def model(W_Q, how="right", turn="nothing"):
    """W_Q with the scale in it, with switches: each can be set wrong."""
    d_model, d_k = W_Q.shape
    factor = {"right": d_k ** -0.5, "d_k": 1 / d_k, "d_model": d_model ** -0.5, "times": d_k ** 0.5,
              "fourth": d_k ** -0.25, "half": 2 / d_k, "nothing": 1.0, "both": (d_model * d_k) ** -0.5,
              "d_model-whole": 1 / d_model}
    out = W_Q / W_Q.norm() if how == "norm" else W_Q / W_Q.norm(dim=0) if how == "columns" else W_Q * factor[how]
    return {"nothing": out, "transposed": out.mT}[turn]


SWITCHES = {
    "how": {
        "d_k": Mistake("scale-d_k", "It divides by d_k, not by its square root.",
                       "How does a score change when W_Q is divided by c?"),
        "d_model": Mistake("scale-root-d_model",
                           "It divides by the square root of the first size, d_model. The scale of a head is "
                           "1/sqrt(d_k), and d_k is the number of columns.",
                           "How many products does a score sum?"),
        "d_model-whole": Mistake("scale-d_model", "It divides by d_model.", "How many products does a score sum?"),
        "times": Mistake("scale-times-root",
                         "It multiplies by the square root of d_k, where it should divide.",
                         "Should the new queries be shorter or longer?"),
        "fourth": Mistake("scale-fourth-root",
                          "It divides by the fourth root of d_k. That would be right if W_K were divided by it too; "
                          "here W_K stays.",
                          "Which of the two factors of a score may change here?"),
        "half": Mistake("scale-half-d_k",
                        "It divides by d_k / 2. In Python, d_k ** 1/2 means (d_k ** 1) / 2.",
                        "Which comes first in d_k ** 1/2?"),
        "nothing": Mistake("no-scale", "W_Q comes back as it was.", "Where has the division gone?"),
        "both": Mistake("two-roots",
                        "It divides by the root of d_model as well as by the root of d_k.",
                        "How many products does a score sum?"),
        "norm": Mistake("normalised",
                        "It divides by the length of the whole matrix. The scale is a fixed number that depends on "
                        "d_k alone.",
                        "May the scale depend on what was learned?"),
        "columns": Mistake("normalised",
                           "It divides each column by its length. The scale is a fixed number that depends on d_k "
                           "alone.",
                           "May the scale depend on what was learned?"),
    },
    "turn": {"transposed": Mistake("transposed", "The matrix comes back transposed.", "Which shape has W_Q?")},
}


def measure(answer):
    """By what each entry is multiplied."""
    W = numbers(151, 5, 3)
    ratio = answer(W) / W
    if (ratio - ratio.mean()).abs().max() < 1e-6:
        yield (f"For d_model = 5 and d_k = 3 it multiplies every entry by {float(ratio.mean()):.4g}; wanted is "
               f"{3 ** -0.5:.4g}.")


EXERCISE = Exercise(
    id="2.4", name="fold_scale", chapter="02_one_head", stars=1, minutes=5, after="section 2", core=True,
    signature="fold_scale(W_Q)",
    statement="Can the division be spared? Write `fold_scale(W_Q)`: W_Q is `(d_model, d_k)`. Return a matrix of the "
              "same shape with which a head that does *not* scale gives the same scores as a scaled head with W_Q. "
              "W_K stays.",
    stub="def fold_scale(W_Q):\n    ...\n",
    reference=fold_scale,
    cases=[Case((numbers(152, 5, 3),)), Case((numbers(153, 4, 4),)), Case((numbers(154, 6, 16),)),
           Case((numbers(155, 8, 1),))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("A score is linear in the query, and the query is linear in W_Q.",
           "What multiplies W_Q multiplies every score. Which size is d_k, the first or the last?",
           "return W_Q / W_Q.shape[-1] ** 0.5"),
    note="As a function nothing changes. Chapter 2 shows what does: the same learning rate now takes other steps.",
)

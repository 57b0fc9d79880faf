"""6.4: what each head adds."""
from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers
from mha.exercises.report import Mistake


def per_head(y, W_O):
    return y @ W_O.unflatten(0, (y.shape[1], -1))


def model(y, W_O, block="rows", turn="nothing"):
    """Each head's part of the output with switches: each can be set wrong."""
    B, h, n, d = y.shape
    wide = W_O.shape[-1]
    if block == "rows":
        out = y @ W_O.reshape(h, d, wide)
    elif block == "interleaved":
        out = y @ W_O.reshape(d, h, wide).transpose(0, 1)
    elif block == "columns":
        out = (y @ W_O[:, : wide - wide % h].reshape(h * d, h, -1).transpose(0, 1)[:, :d] if wide >= h
               else y * float("nan"))
    elif block == "first":
        out = y @ W_O[:d]
    elif block == "reversed":
        out = y @ W_O.reshape(h, d, wide).flip(0)
    elif block == "transposed":
        out = y @ W_O.mT.reshape(h, d, -1) if wide * d * h == h * d * W_O.shape[0] else y * float("nan")
    elif block == "summed":
        out = (y @ W_O.reshape(h, d, wide)).sum(1)
    elif block == "whole":
        out = (y @ W_O.reshape(h, d, wide)).sum(1, keepdim=True).expand(B, h, n, wide)
    elif block == "shared":
        out = (y @ W_O.reshape(h, d, wide)).sum(1, keepdim=True).expand(B, h, n, wide) / h
    elif block == "mean-block":
        out = y @ W_O.reshape(h, d, wide).mean(0)
    elif block == "averaged":
        out = y @ W_O.reshape(h, d, wide) / h
    elif block == "scrambled":
        out = y.transpose(1, 2).reshape(B, n, h * d) @ W_O
    elif block == "view":
        out = y.reshape(B, n, h, d).transpose(1, 2) @ W_O.reshape(h, d, wide)
    return {"nothing": lambda: out, "tokens-first": lambda: out.transpose(1, 2),
            "heads-first": lambda: out.transpose(0, 1)}[turn]()


SWITCHES = {
    "block": {
        "interleaved": Mistake("interleaved",
                               "Each head gets every h-th row of W_O: the rows are cut as (d_v, h), not as (h, d_v).",
                               "Which columns of the concatenation come from head 1, and which rows of W_O meet "
                               "them?"),
        "first": Mistake("one-block-for-all",
                         "All heads meet the first rows of W_O. Each head has rows of its own.",
                         "Which columns of the concatenation come from head 2?"),
        "reversed": Mistake("heads-reversed", "The blocks are taken in reverse order.",
                            "Which rows of W_O meet head 1?"),
        "transposed": Mistake("W_O-transposed", "W_O is transposed before it is cut.", "Which shape has W_O?"),
        "summed": Mistake("heads-summed",
                          "It gives the sum over the heads: the layer's output. Asked are its parts.",
                          "How many axes should the result have?"),
        "whole": Mistake("whole-output-for-each", "Every head gets the whole output.", "What should the parts sum to?"),
        "shared": Mistake("equal-shares",
                          "Every head gets an equal share of the whole output.",
                          "What would a head add whose output is zero?"),
        "mean-block": Mistake("blocks-averaged",
                              "The blocks of W_O are averaged, and all heads meet the mean.",
                              "Which rows of W_O meet head 1?"),
        "averaged": Mistake("divided-by-h",
                            "The parts are divided by h. They should add up to the output, not average to it.",
                            "What should the parts sum to?"),
        "scrambled": Mistake("heads-summed",
                             "It concatenates and multiplies: the layer's output. Asked are its parts.",
                             "How many axes should the result have?"),
        "view": Mistake("view-for-transpose",
                        "The heads are reshaped to (B, n, h, d_v) where the axes should be moved: parts of different "
                        "tokens meet.",
                        "In which order do the axes of y stand?"),
    },
    "turn": {
        "tokens-first": Mistake("axes-permuted",
                                "The axes stand as (B, n, h, d_model); asked is (B, h, n, d_model).",
                                "In which order should the axes stand?"),
        "heads-first": Mistake("heads-before-batch",
                               "The axes stand as (h, B, n, d_model); asked is (B, h, n, d_model).",
                               "In which order should the axes stand?"),
    },
}


def measure(answer):
    """Whether the parts add up."""
    y, W_O = numbers(681, 1, 2, 3, 4), numbers(682, 8, 5)
    total = y.transpose(1, 2).flatten(2) @ W_O
    yield ("For 2 heads of 4 columns, its parts add up to within "
           f"{float((answer(y, W_O).sum(1) - total).abs().max()):.3g} of the layer's output; the largest number there "
           f"is {float(total.abs().max()):.3g}.")
    only = y.clone()
    only[:, 1] = 0
    parts = answer(only, W_O).abs().amax((0, 2, 3))
    yield (f"With the output of head 2 set to zero, the largest entries of the parts are {float(parts[0]):.3g} and "
           f"{float(parts[1]):.3g}; the second should be 0.")


EXERCISE = Exercise(
    id="6.4", name="per_head", chapter="06_multi_head", stars=2, minutes=15, after="section 3",
    signature="per_head(y, W_O)",
    statement="\"Concatenate and multiply by W_O\" hides who said what. Write `per_head(y, W_O)`: y is `(B, h, n, "
              "d_v)`, the outputs of the heads, W_O is `(h*d_v, d_model)`. Return `(B, h, n, d_model)`: what each "
              "head adds to each token, so that the sum over the heads is the output of the layer.",
    stub="def per_head(y, W_O):\n    ...\n",
    reference=per_head,
    cases=[Case((numbers(683, 1, 2, 3, 2), numbers(684, 4, 5))), Case((numbers(685, 2, 3, 4, 5), numbers(686, 15, 6))),
           Case((numbers(687, 2, 1, 3, 4), numbers(688, 4, 4))), Case((numbers(689, 4, 4, 4, 4), numbers(690, 16, 16))),
           Case((numbers(691, 1, 6, 2, 1), numbers(692, 6, 7)))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("In the concatenation head 1 fills the first d_v columns. Which rows of W_O do they meet?",
           "Cut the rows of W_O into h blocks of d_v, (h, d_v, d_model). Each head meets its own.",
           "return y @ W_O.reshape(y.shape[1], y.shape[3], -1)"),
    note="So a layer is a sum of heads, and each head has a W_O of its own: a block of rows. That is what makes it "
         "possible to take a head away, or to ask what it alone has written.",
)

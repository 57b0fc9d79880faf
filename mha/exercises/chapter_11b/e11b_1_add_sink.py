"""11b.1: a sink logit for a kernel that returns no weights."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

TURNED = Mistake("gate-turned-over",
    "The gate is turned over: it closes where the keys match and opens where they do not.",
    "What should be left of the output when the sink logit is very small?")

PROGRAM = Program("""\
def add_sink(out, ln_Z, sinks):
    lead = <lead>
    gate = <gate>
    return <use>
""", {
    "lead": Blank("ln_Z - sinks[:, None]", offered=4, wrong={
        "sinks[:, None] - ln_Z": TURNED,
        "ln_Z": Mistake("sink-left-out",
            "The sinks do not enter: it is as if each sink logit were 0.",
            "What should change when a sink logit grows?"),
        "ln_Z - sinks.exp()[:, None]": Mistake("sink-exponentiated",
            "The power of the sink logit is subtracted from a logarithm. Both sides of the difference should be "
            "logarithms.",
            "Is a sink logit a score, or the power of one?"),
        "ln_Z.exp() - sinks.exp()[:, None]": Mistake("difference-of-powers",
            "The powers of e are subtracted from each other. It is their ratio that counts, and the logarithm of a "
            "ratio is a difference of logarithms.",
            "Divide Z / (Z + e^s) by Z above and below. What is left?"),
    }),
    "gate": Blank("torch.sigmoid(lead)", offered=4, wrong={
        "1 - torch.sigmoid(lead)": TURNED,
        "lead.exp()": Mistake("ratio-to-the-sink",
            "The factor is Z / e^s, which can exceed 1. It should be Z / (Z + e^s).",
            "Can a sink make a head's output larger?"),
        "lead.softmax(-1)": Mistake("softmax-over-queries",
            "The factors of all queries compete in a softmax. Each query has a gate of its own.",
            "Should one query's output depend on another query?"),
        "torch.tanh(lead)": Mistake("tanh",
            "The factor is a hyperbolic tangent, which can be negative. Z / (Z + e^s) lies between 0 and 1.",
            "What is the factor where ln Z equals the sink logit?"),
    }),
    "use": Blank("out * gate[..., None]", offered=3, wrong={
        "out + gate[..., None]": Mistake("gate-added",
            "The gate is added to the output. It is a factor.",
            "What should be left of the output when the gate is 0?"),
        "out / gate[..., None]": Mistake("divided",
            "The output is divided by the gate, so the sink makes it larger.",
            "Do the keys get more weight or less when there is a sink?"),
        "out": Mistake("gate-unused",
            "The output is returned as it was: the gate is not used.",
            "What should a very large sink logit leave?"),
    }),
}, together={
    "lead gate": {
        ("ln_Z", "lead.exp()"): Mistake("times-Z",
            "The output is multiplied by Z, so what the softmax had divided by is back, and no sink enters.",
            "By which ratio does the denominator change?"),
    },
})


def measure(answer):
    """What is left of an output of 1 where that is known."""
    for ln_Z, sink, wanted in ((0.0, 0.0, 0.5), (0.0, -30.0, 1.0), (0.0, 30.0, 0.0)):
        given = torch.ones(1, 1, 1), torch.tensor([[ln_Z]]), torch.tensor([sink])
        out = answer(*(t.double() for t in given))
        if isinstance(out, torch.Tensor) and out.numel() == 1 and off(out.sum(), wanted):
            yield (f"Of an output of 1 with ln Z = {ln_Z:g} and a sink logit of {sink:g} it leaves "
                   f"{float(out.sum()):.4g}, where {wanted:g} should be left.")


def case(seed, h, n, d_v, loud=2.0):
    return Case((numbers(seed, h, n, d_v), loud * numbers(seed + 1, h, n), numbers(seed + 2, h)))


EXERCISE = Exercise(
    id="11b.1", name="add_sink", chapter="11b_heads_since_2024", stars=2, minutes=8, after="section 1", core=True,
    signature="add_sink(out, ln_Z, sinks)",
    statement="A fast kernel returns each head's output and, for each query, ln Z, the logarithm of the sum of e to "
              "the power of its scores; but it returns no weights and knows no sinks. Write `add_sink(out, ln_Z, "
              "sinks)`: out is `(h, n, d_v)`, ln_Z is `(h, n)`, sinks is `(h,)`, one sink logit for each head. Return "
              "`(h, n, d_v)`, the output that the heads would have with their sinks. An ln Z in the thousands must do "
              "no harm, and gradients must reach all three.",
    stub="# add_sink(torch.tensor([[[2., 4.]]]), torch.zeros(1, 1), torch.zeros(1)) -> 1 2\n"
         "def add_sink(out, ln_Z, sinks):\n    ...\n",
    program=PROGRAM,
    cases=[case(1101, 1, 2, 3), case(1105, 2, 3, 5), case(1109, 3, 4, 4), case(1113, 5, 2, 7), case(1117, 4, 1, 1),
           case(1121, 2, 6, 3, 0.5)],
    sized=lambda h, n, d_v: case(1, h, n, d_v),
    measure=measure,
    large=(case(1125, 3, 4, 5, 3000.0),),
    safe="the powers of e should not be computed one by one: take the sigmoid of a difference of logarithms",
    hints=("With a sink the denominator is Z + e^s in place of Z. By which factor does the whole output change?",
           "The factor is Z / (Z + e^s) = 1 / (1 + e^(s - ln Z)), which is a sigmoid. It has the shape (h, n), and out "
           "has one axis more.",
           "return out * torch.sigmoid(ln_Z - sinks[:, None])[..., None]"),
    note="So any kernel that returns ln Z can have sinks; to train with them, gradients must pass through its ln Z.",
)

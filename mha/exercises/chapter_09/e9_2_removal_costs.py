"""9.2: what each head's removal costs."""
import functools

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed
from mha.exercises.engine.report import Mistake


# The losses: functions of gates (h,). All coefficients are sums of powers of 1/2, so that no answer suffers from
# rounding.

def of_heads(h):
    """Makes a formula a loss of h gates, that refuses others and gives a number as a model would, in float32."""
    def made(formula):
        @functools.wraps(formula)
        def loss(gates):
            if gates.shape != (h,):
                raise ValueError(f"loss wants gates of shape ({h},), and these are {tuple(gates.shape)}")
            return formula(gates.double()).float()
        loss.heads = h
        return loss
    return made


@of_heads(3)
def sum_of_heads(g):
    """Every head takes something off, whatever the others do."""
    return 4 - 0.5 * g[0] - 1.25 * g[1] - 0.125 * g[2]


@of_heads(2)
def stand_ins(g):
    """The loss rises much only when both are gone."""
    return 0.5 + 0.25 * (1 - g[0]) + 0.125 * (1 - g[1]) + 2 * (1 - g[0]) * (1 - g[1])


@of_heads(4)
def least_at_one(g):
    """At its minimum where all heads are on: every derivative is zero there."""
    away = 1 - g
    return 0.75 + 0.5 * away[0] ** 2 + 1.5 * away[1] ** 2 + 0.25 * (away[2] - away[3]) ** 2 + 0.125 * away[3] ** 2


@of_heads(3)
def one_does_harm(g):
    """Without the last head the loss is lower."""
    return 3 - g[0] * g[1] - 0.25 * g[0] + 0.75 * g[2] ** 2


@of_heads(1)
def single_head(g):
    return 1.5 - g[0] + 0.25 * g[0] ** 3


@of_heads(5)
def in_a_row(g):
    """Each head needs the one before."""
    return (6 - 2 * g[0] - g[0] * g[1] - 0.5 * g[1] * g[2]
            - 0.75 * g[2] * g[3] ** 2 - 0.375 * g[3] * g[4] - 0.0625 * g[4])


@of_heads(7)
def in_pairs(g):
    """Seven heads, three pairs and one that nothing needs."""
    away = 1 - g
    return (0.25 + away[0] * away[1] + 0.5 * away[2] * away[3] + 1.25 * away[4] * away[5] + 0.0625 * away[:6].sum()
            + 0.125 * away[0] ** 2 - 0.03125 * away[3] ** 3)


def the_gate_itself(gates):
    """A number that is a view of the gates, where it can be."""
    if gates.shape != (3,):
        raise ValueError(f"loss wants gates of shape (3,), and these are {tuple(gates.shape)}")
    return gates[1] if gates.is_floating_point() else gates[1].float()


the_gate_itself.heads = 3


LOSSES = (sum_of_heads, stand_ins, least_at_one, one_does_harm, single_head, in_a_row, in_pairs, the_gate_itself)


PROGRAM = Program("""\
def removal_costs(loss, h):
    full = loss(<whole>)
    costs = []
    <once>
    for i in range(h):
        <anew>
        gates[<head>] = <off>
        costs.append(<cost>)
        <after>
    return <result>
""", {
    "whole": Blank("torch.ones(h)", offered=1, wrong={
        "torch.zeros(h)": Mistake("wrong-baseline",
            "It compares with the loss when all heads are off. Compare with all heads on.",
            "What should a head cost that does nothing?"),
    }),
    "once": Blank("", offered=1, wrong={
        "gates = torch.ones(h)": None,
    }),
    "anew": Blank("gates = torch.ones(h)", offered=2, wrong={
        "": None,
        "gates = torch.zeros(h)": Mistake("all-off",
            "All heads are off each time. The exercise asks for each head alone, with all others on.",
            "Which gates should be 1 for head i?"),
    }),
    "head": Blank("i", offered=1, wrong={
        "i - 1": Mistake("shifted",
            "The numbers stand one place off: at the place of each head is the cost of the one before, and the first "
            "place has that of the last.",
            "Which gate is 0 for head 0?"),
    }),
    "off": Blank("0", offered=1, wrong={
        "-1": Mistake("turned-round",
            "The gate of the head becomes -1. Off is 0.",
            "Which gate switches a head off?"),
        "1": Mistake("nothing-off",
            "Every cost is 0, as happens when nothing is ever switched off.",
            "Do the gates that you change reach the loss?"),
    }),
    "cost": Blank("loss(gates) - full", offered=3, wrong={
        "loss(gates)": Mistake("loss-not-rise",
            "It gives the loss without the head. The exercise asks by how much it rises.",
            "What should a head cost that does nothing?"),
        "full - loss(gates)": Mistake("sign",
            "The sign is turned: a rise of the loss should be positive.",
            "Which of the two losses is larger when a useful head is off?"),
        "(loss(gates) - full).abs()": Mistake("size-only",
            "It gives the size of the change. Where the loss falls without a head, the cost is negative.",
            "What does a head cost that does harm?"),
        "loss(gates) / full": Mistake("ratio",
            "It divides one loss by the other. A rise is a difference.",
            "What should a head cost that does nothing?"),
    }),
    "after": Blank("", wrong={
        "full = loss(gates)": Mistake("baseline-moves",
            "Each loss is compared with the loss before it, and not with that of the whole model.",
            "With which loss should the second head be compared?"),
    }),
    "result": Blank("torch.stack(costs)", wrong={
        "torch.stack(costs) / torch.stack(costs).max()": Mistake("over-the-largest",
            "It divides by the largest of the costs.",
            "What should each number be in the units of the loss?"),
        "-jacobian(loss, torch.ones(h))": Mistake("gradient-for-removal",
            "It gives the derivative of the loss at gates 1, with the sign turned: a guess, from the slope, at what "
            "removal would cost. The exercise asks what it costs.",
            "What does the slope say at a minimum?"),
    }),
}, together={
    "once anew": {
        ("gates = torch.ones(h)", ""): Mistake("not-switched-on-again",
            "A head that was switched off stays off: the cost of head i is that of all heads up to i.",
            "Which heads are on when the second one is tried?"),
    },
    "once anew after": {
        ("gates = torch.ones(h)", "", "full = loss(gates)"): Mistake("one-after-the-other",
            "The heads are switched off one after the other, and each is charged for the last step. The exercise asks "
            "for each head alone, with all others on.",
            "Which heads are on when the second one is tried?"),
    },
    "whole anew after": {
        ("gates := torch.ones(h)", "", "gates[i] = 1"): Mistake("baseline-is-a-view",
            "A loss that was kept does not stay as it was: what loss returns may be a view of the gates, which are "
            "changed in place afterwards.",
            "When loss returns gates[0], what becomes of that number at gates[0] = 0?"),
    },
    "anew off": {
        ("gates = torch.zeros(h)", "-1"): Mistake("turned-round",
            "The gate of the head is -1, and those of all others are 0. It should be 0, and all others 1.",
            "Which gates should be 1 for head i?"),
        ("gates = torch.zeros(h)", "1"): Mistake("keeps-only-that-head",
            "It keeps the one head and switches off all others.",
            "Which gates should be 0 for head i?"),
    },
}, scope={"jacobian": torch.autograd.functional.jacobian})


def measure(answer):
    """Its numbers for losses that can be read."""
    for loss, formula, wanted in ((of_heads(2)(lambda g: 4 - 2 * g[0] - g[1]), "4 - 2 g1 - g2", (2.0, 1.0)),
                                  (of_heads(2)(lambda g: (1 - g[0]) * (1 - g[1])), "(1 - g1) (1 - g2)", (0.0, 0.0)),
                                  (of_heads(2)(lambda g: (1 - g[0]) ** 2 + 3 * (1 - g[1]) ** 2),
                                   "(1 - g1)^2 + 3 (1 - g2)^2", (1.0, 3.0))):
        found, wanted = answer(loss, 2), torch.tensor(wanted)
        if found.shape == wanted.shape and listed(found) != listed(wanted):
            yield (f"For the loss {formula}, with gates g1 and g2, it gives {listed(found)}; it should be "
                   f"{listed(wanted)}.")


EXERCISE = Exercise(
    id="9.2", name="removal_costs", chapter="09_pruning", stars=3, minutes=20, after="section 1", core=True,
    signature="removal_costs(loss, h)",
    statement="How much does each head matter? loss is a function: it takes gates, a tensor `(h,)` of any "
              "dtype that it leaves as it is, and returns a number, a tensor without axes, which may be a view of "
              "gates. Write `removal_costs(loss, h)`: return `(h,)`, for each head by how much the loss rises when "
              "that head alone is off (gate 0) and all others are on (gate 1). A loss that falls has a negative cost.",
    stub="# removal_costs(lambda gates: 4 - 2 * gates[0] - gates[1], 2) -> 2 1\n"
         "def removal_costs(loss, h):\n    ...\n",
    program=PROGRAM,
    cases=[Case((loss, loss.heads)) for loss in LOSSES],
    measure=measure, trained=(),
    hints=("With which loss must each of the h losses be compared? How often do you need that one?",
           "Make the gates anew for each head: all ones, and a zero at its place. torch.stack makes one tensor of h "
           "numbers.",
           "full = loss(torch.ones(h))\n"
           "kept = 1 - torch.eye(h)\n"
           "return torch.stack([loss(on) - full for on in kept])"),
    note="h + 1 runs of the model, where the gradient of one number takes one run forward and one back (and where its "
         "size is wanted for each example, still one, with gates of each example's own, as long as no example's loss "
         "looks at another). The gradient is right for small changes of a gate, and removal is no small change: at a "
         "minimum all slopes are 0, whatever removal costs. Nor do the costs add up: of two heads that stand in for "
         "each other, each alone may cost nothing.",
)

"""11.4: fewer heads of keys out of many."""
from functools import reduce

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

WHO_SHARES = "With h = 4 and h_kv = 2, which two heads become one?"
WHICH_COLUMNS = "Which columns of W belong to the first head?"
HOW_WIDE = "How wide is one head, before and after?"

PROGRAM = Program("""\
def pool_heads(W, h, h_kv):
    heads = <cut>
    groups = <groups>
    pooled = <pool>
    return <join>
""", {
    "cut": Blank("W.unflatten(1, (h, -1))", offered=1, wrong={
        "W.unflatten(1, (-1, h)).transpose(1, 2)": Mistake("interleaved",
            "A head is taken to own every h-th column. It owns d_k columns side by side.",
            WHICH_COLUMNS),
        "W.mT.reshape(W.shape[0], h, -1)": Mistake("rows-for-columns",
            "W is turned over before it is cut, and the shape is then forced: what is averaged are no heads.",
            WHICH_COLUMNS),
    }),
    "groups": Blank("heads.unflatten(1, (h_kv, h // h_kv))", offered=2, wrong={
        "heads.unflatten(1, (h // h_kv, h_kv)).transpose(1, 2)": Mistake("strided",
            "Every h_kv-th head goes into the same group. Groups are adjacent heads, since these are the ones that "
            "will share.",
            WHO_SHARES),
        "heads.unflatten(2, (h // h_kv, -1)).transpose(1, 2).reshape(W.shape[0], h_kv, h // h_kv, -1)":
            Mistake("inside-heads",
            "Each head is cut into parts and parts are averaged, so columns of different places meet.",
            HOW_WIDE),
        "heads.unflatten(1, (h // h_kv, h_kv))": Mistake("groups-of-h_kv",
            "Adjacent heads are averaged, and groups have h_kv heads, so that there are h / h_kv of them. Size and "
            "number are exchanged.",
            "With h = 6 and h_kv = 2, how many heads become one?"),
    }),
    "pool": Blank("groups.mean(2)", offered=4, wrong={
        "groups.sum(2)": Mistake("summed",
            "The heads of a group are added up. The mean is asked for: the sum makes all keys h / h_kv times as long, "
            "and the scores with them.",
            "What should come out where all heads of a group are equal?"),
        "groups[:, :, 0]": Mistake("first-of-each-group",
            "Only the first head of each group is kept.",
            "What should become of the other heads of a group?"),
        "groups.mean(1)": Mistake("across-groups",
            "The average runs over the groups, and not over the heads in one.",
            WHO_SHARES),
        "groups.mean((1, 2), keepdim=True).flatten(1, 2).expand(-1, h_kv, -1)": Mistake("all-heads-alike",
            "All h heads are averaged, and each group gets the same.",
            WHO_SHARES),
        "heads.flatten(1).unflatten(1, (-1, h // h_kv)).mean(-1).unflatten(1, (h_kv, -1))":
            Mistake("neighbouring-columns",
            "Neighbouring columns are averaged, h / h_kv of them, where columns of neighbouring heads should be.",
            WHICH_COLUMNS),
        "reduce(lambda mean, head: (mean + head) / 2, groups.unbind(2))": Mistake("halved-step-by-step",
            "The mean so far and the next head are averaged, again and again. That is right for two heads; of more, "
            "the later ones count too much.",
            "How much does the first of three heads count in ((a + b) / 2 + c) / 2?"),
        "groups.sum(2) / h": Mistake("divided-by-h",
            "The sum over a group is divided by the number of all heads, h. A group has h / h_kv.",
            "How many heads are added up?"),
        "groups.sum(2) / h_kv": Mistake("divided-by-h_kv",
            "The sum over a group is divided by the number of groups, h_kv, and not by the number of heads in one.",
            "How many heads are added up?"),
    }),
    "join": Blank("pooled.flatten(1)", offered=2, wrong={
        "pooled.mT.flatten(1)": Mistake("joined-interleaved",
            "The columns are joined as (d_k, h_kv): first the first column of every head. All columns of the first "
            "head come first.",
            "Which columns should the first head own?"),
        "pooled.transpose(0, 1).reshape(W.shape[0], -1)": Mistake("joined-by-reshape",
            "The heads stand in front, (h_kv, d_model, d_k), and are reshaped to (d_model, h_kv d_k) directly: a row "
            "is filled with the next numbers in memory.",
            WHICH_COLUMNS),
        "pooled": Mistake("not-joined",
            "The heads still stand in an axis of their own, (d_model, h_kv, d_k).",
            "How many axes has a matrix?"),
        "pooled.transpose(0, 1).flatten(1)": Mistake("rows-joined",
            "The rows of each head are joined, (h_kv, d_model d_k): heads and d_model stand in the wrong order.",
            "What should the rows of the result count?"),
    }),
}, together={
    "cut join": {
        ("W.reshape(h, W.shape[0], -1).transpose(0, 1)", "pooled.transpose(0, 1).reshape(W.shape[0], -1)"):
            Mistake("view-for-transpose",
            "W is reshaped to (h, d_model, d_k) directly, and back in the same way: a head is filled with the next "
            "numbers in memory, which run along rows. It should hold a few columns of all rows.",
            WHICH_COLUMNS),
    },
}, scope={"reduce": reduce})


def measure(answer):
    """With one column a head and 1, 10, 100, 1000 in it, the result tells which heads went where."""
    W = torch.tensor([[1.0, 10.0, 100.0, 1000.0]], dtype=torch.float64)
    found = answer(W, 4, 2)
    wanted = PROGRAM.reference(W, 4, 2)
    if found.shape == wanted.shape and off(found, wanted):
        yield (f"Four heads of one column each, 1, 10, 100 and 1000, become {found[0, 0]:.6g} and {found[0, 1]:.6g}; "
               f"they should be {wanted[0, 0]:.6g} and {wanted[0, 1]:.6g}.")
    alike = numbers(1401, 3, 1, 2).expand(3, 4, 2).flatten(1)                          # four equal heads
    if found.shape == wanted.shape and off(answer(alike, 4, 2), alike[:, :4]):
        yield "Where all heads are equal, what comes back is not that head."


EXERCISE = Exercise(
    id="11.4", name="pool_heads", chapter="11_sharing_heads_lab", stars=2, minutes=8, after="section 6",
    signature="pool_heads(W, h, h_kv)",
    statement="A trained model has h heads of keys and should get by with h_kv. A usual way to start is to average the "
              "heads that will share. Write `pool_heads(W, h, h_kv)`: W is `(d_model, h*d_k)`, head 1 owning the first "
              "d_k columns, and h is a multiple of h_kv. Return `(d_model, h_kv*d_k)`: the mean of the first h/h_kv "
              "heads, then that of the next ones, and so on. Gradients must reach W.",
    stub="# pool_heads(torch.tensor([[1., 2., 5., 6.]]), 2, 1) -> 3 4\n"
         "def pool_heads(W, h, h_kv):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(1410, 2, 8), 4, 2)), Case((numbers(1411, 5, 18), 6, 3)), Case((numbers(1412, 3, 12), 6, 2)),
           Case((numbers(1413, 4, 15), 5, 1)), Case((numbers(1414, 3, 6), 3, 3)), Case((numbers(1415, 4, 32), 8, 2)),
           Case((numbers(1416, 6, 6), 6, 2)), Case((numbers(1417, 1, 4), 4, 2))],
    sized=lambda d_model, h_kv, h_over_h_kv, d_k: Case((numbers(1, d_model, h_kv * h_over_h_kv * d_k),
                                                               h_kv * h_over_h_kv, h_kv)),
    measure=measure,
    hints=("First cut the columns into heads, then the heads into groups. After each step print the shape.",
           "(d_model, h d_k) becomes (d_model, h_kv, h / h_kv, d_k). Which axis counts the heads of one group?",
           "return W.unflatten(1, (h_kv, h // h_kv, -1)).mean(2).flatten(1)"),
    note="Ainslie et al. 2023 start so, with keys and values, and then train on; they report the mean to work better "
         "than one head of each group, and that better than new random heads. It is a start, and changes what the "
         "layer does, as a rule, where the heads of a group differ.",
)

"""The tables of appendix C: one question, put to every door of `mha.lab.assets.conventions`."""
from mha import viz
from mha.lab.assets.conventions import conventions

NONE = "–"


def _table(corner, **tell):
    """A row for each door; `tell` says of each column what it shows of a door."""
    return viz.columns([door.name for door in conventions()], corner=corner,
                       **{name: [say(door) or NONE for door in conventions()] for name, say in tell.items()})


def _argument(name):
    return lambda door: door.arguments[name]


def _found(name):
    return lambda door: door.found[name]


def doors():
    """What is called, in which version, and whether it was run here or read in its release."""
    return _table("door", calls=lambda door: door.calls.rpartition(".")[2], version=lambda door: door.version,
                  how=lambda door: door.how)


def shapes():
    """Axes of the queries, of the output, and the order of the first three arguments."""
    return _table("axes", queries=lambda door: door.axes, out=lambda door: door.out or "the same",
                  order=lambda door: door.order)


def masks():
    """What a boolean True means, and what floats do."""
    return _table("a mask", argument=_argument("mask"), True_means=_found("true"), floats=_found("floats"))


def scales():
    """What the factor of the scores is called, and what it is by default."""
    return _table("scale", argument=_argument("scale"), default=_found("scale"))


def dropout():
    """Whether weights are lost in evaluation, if somebody has asked for dropout."""
    def evaluated(door):
        return door.arguments["dropout"] and ("still drops" if door.found["drops_in_eval"] else "off")

    return _table("dropout", argument=_argument("dropout"), in_evaluation=evaluated)


def weights():
    """How one asks for the weights, and what comes."""
    return _table("weights", ask_with=_argument("weights"), come=_found("weights"))


def groups():
    """Which query heads share a KV head, of four query heads and two KV heads."""
    of = {"interleaved": "0 0 1 1", "tiled": "0 1 0 1"}
    return _table("groups", order=lambda door: door.found["groups"],
                  KV_head_of_query_heads_0_to_3=lambda door: of.get(door.found["groups"]))


def causal():
    """How many of five keys each of three queries sees, and how many a single one."""
    seen = {"upper left": "1 2 3", "lower right": "3 4 5"}
    alone = {"upper left": "1", "lower right": "5"}

    def told(name, words):
        return lambda door: door.arguments["is_causal"] and words.get(door.found[name], door.found[name])

    return _table("causal", argument=_argument("is_causal"), three_queries=told("causal", seen),
                  one_query=told("causal_one_query", alone))


class Lines(str):
    """Text that a notebook shows as it is."""

    def __repr__(self):
        return str(self)


def lines():
    """For each door the line that gives the answer of mha."""
    return Lines("\n".join(f"{door.name}\n    {door.line}" for door in conventions()))

"""The tables of appendix C: one question, put to every function and layer of `mha.lab.assets.conventions`."""
from mha import viz
from mha.lab.assets.conventions import conventions

NONE = "–"


def _table(corner, **tell):
    """A row for each function or layer; `tell` says of each column what it shows of one."""
    return viz.columns([one.name for one in conventions()], corner=corner,
                       **{name: [say(one) or NONE for one in conventions()] for name, say in tell.items()})


def _argument(name):
    return lambda one: one.arguments[name]


def _found(name):
    return lambda one: one.found[name]


def called():
    """What is called, in which version, and whether it was run here or read in its release."""
    return _table("name", version=lambda one: one.version, how=lambda one: one.how,
                  calls=lambda one: one.calls.rpartition(".")[2])


def shapes():
    """Axes of the queries, of the output, and the order of the first three arguments."""
    return _table("axes", queries=lambda one: one.axes, out=lambda one: one.out or "the same",
                  order=lambda one: one.order)


def masks():
    """What a boolean True means, and what floats do; the name of their argument, if it is another."""
    def floats(one):
        mask, bias = one.arguments["mask"], one.arguments["bias"]
        return bias and one.found["floats"] + (f", as {bias}" if bias != mask else "")

    return _table("a mask", argument=_argument("mask"),
                  True_means=lambda one: one.arguments["mask"] and one.found["true"], floats=floats)


def scales():
    """What the factor of the scores is called, and what it is by default."""
    return _table("scale", argument=_argument("scale"), default=_found("scale"))


def dropout():
    """Whether weights are lost in evaluation, if somebody has asked for dropout."""
    def evaluated(one):
        return one.arguments["dropout"] and ("still drops" if one.found["drops_in_eval"] else "off")

    return _table("dropout", argument=_argument("dropout"), in_evaluation=evaluated)


def weights():
    """How one asks for the weights, and what comes."""
    return _table("weights", ask_with=_argument("weights"), come=_found("weights"))


def groups():
    """Which query heads share a KV head, of four query heads and two KV heads."""
    of = {"interleaved": "0 0 1 1", "tiled": "0 1 0 1"}
    return _table("groups", order=lambda one: one.found["groups"],
                  KV_heads_read=lambda one: of.get(one.found["groups"]))


def causal():
    """How many of five keys each of three queries sees, and how many a single one."""
    seen = {"upper left": "1 2 3", "lower right": "3 4 5"}
    alone = {"upper left": "1", "lower right": "5"}

    def told(name, words):
        return lambda one: one.arguments["is_causal"] and words.get(one.found[name], one.found[name])

    return _table("causal", argument=_argument("is_causal"), three_queries=told("causal", seen),
                  one_query=told("causal_one_query", alone))


class Lines(str):
    """Text that a notebook shows as it is."""

    def __repr__(self):
        return str(self)


def lines():
    """For each the line that gives the answer of mha."""
    return Lines("\n".join(f"{one.name}\n    {one.line}" for one in conventions()))


def read():
    """File and line of what was read and not run."""
    words = {"true": "booleans", "drops": "dropout"}
    rows = {f"{one.name}: {words.get(about, about)}": place
            for one in conventions() for about, place in (one.where or {}).items()}
    return viz.columns([*rows], corner="read", at=[*rows.values()])

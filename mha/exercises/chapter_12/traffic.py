"""What a kernel of exercise 12.10 has moved, what is wrong with that, and how it is told."""
import math
import sys

import torch

from mha.exercises.engine.evidence import digits
from mha.lab.fast import TileMemory

LOST, UNWRITTEN, SHAPE = -1e6, -2e6, -3e6               # in O, instead of a number: NaN, never written, another shape
TOLD = 1e-9                                             # counts are told in such small units that none is compared
SLACK = 4                                               # times as much as is needed may be held


# --- Two memories -----------------------------------------------------------------------------------------------------

class Watched(TileMemory):
    """A memory that sees at each read how many numbers the tensors in the kernel's variables have."""

    def restart(self):
        super().restart()
        self.held = 0

    def read(self, name, rows=slice(None)):
        self.held = max(self.held, numbers_held(sys._getframe(1)))
        return super().read(name, rows)

    @property
    def needed(self):
        """Numbers that must stand in fast memory: a tile of each, their scores, the sums and the output of the queries.
        """
        (n, d_k), (m, d_v) = self.tensors["Q"].shape, self.tensors["V"].shape
        rows, width = min(self.room["Q"], n), min(self.room["K"], m)
        return rows * d_k + width * (d_k + d_v) + rows * width + rows * (d_v + 2)


class Keeping(TileMemory):
    """A memory where a tile that was read keeps its numbers."""

    @classmethod
    def like(cls, memory):
        return cls(*(memory.tensors[name] for name in "QKV"), memory.room["Q"], memory.room["K"])

    def read(self, name, rows=slice(None)):
        return super().read(name, rows).clone()


def numbers_held(frame):
    """How many numbers the tensors have that stand in the variables of a function, and of those of its module that
    called it; each tensor once.
    """
    found, world = {}, frame.f_globals
    while frame and frame.f_globals is world and frame.f_code.co_name != "<module>":
        collect([*frame.f_locals.values()], found)
        frame = frame.f_back
    return sum(tensor.numel() for tensor in found.values())


def collect(values, found, depth=3):
    """Tensors among the values, and in lists, tuples and dicts in them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            found[id(value)] = value
        elif isinstance(value, (list, tuple, dict)) and depth:
            collect([*(value.values() if isinstance(value, dict) else value)], found, depth - 1)


def plain(memory):
    """The output by its definition."""
    Q, K, V = (memory.tensors[name] for name in "QKV")
    return (Q @ K.mT / Q.shape[1] ** 0.5).softmax(-1) @ V


# --- What is wrong with the traffic -----------------------------------------------------------------------------------

def account(memory):
    """(what is wrong, by name, each 0 where nothing is; what is told, by name) of a memory after a kernel."""
    n, (m, d_v), d_k = len(memory.tensors["Q"]), memory.tensors["V"].shape, memory.tensors["K"].shape[1]
    passes = -(-n // memory.room["Q"])
    least = m + (passes - 1) * max(m - memory.room["K"], 0)     # a tile of keys may wait for the next tile of queries
    read = {name: [one for one in memory.log if (one.what, one.name) == ("read", name)] for name in "QKVO"}
    written = [one for one in memory.log if one.what == "written"]
    of_O = [one for one in written if one.name == "O"]
    besides = {one.name: sum(other.count for other in written if other.name == one.name)
               for one in written if one.name != "O"}
    often = {name: times(read[name], size) for name, size in (("Q", n), ("K", m), ("V", m))}
    most = {name: max((len(one.rows) for one in log), default=0) for name, log in (read | {"O": of_O}).items()}
    too_large = {f"large {name}": int(most[name] > memory.room["Q" if name == "O" else name]) for name in "QKVO"}
    again = 0 if max(often["Q"]) < 2 else 1 if still_there(read["Q"]) else 2
    each_query = passes < n and {*often["K"]} == {*often["V"]} == {n}
    few = min(often["Q"]) == 0 or min(sum(often["K"]), sum(often["V"])) < least
    wrong = {"again": again, **too_large, "O often": int(max(times(of_O, n)) > 1),
             "K often": 2 if each_query else int(sum(often["K"]) > passes * m),
             "V often": 2 if each_query else int(sum(often["V"]) > passes * m),
             "besides": int(bool(besides)) + int(n * m in besides.values()), "back": int(bool(read["O"])),
             "few": int(few and not again and not any(too_large[f"large {name}"] for name in "QKV")),
             "held": int(memory.held > SLACK * memory.needed)}
    told = {name: sum(one.count for one in log) for name, log in (read | {"O": of_O}).items()}
    told |= {f"most {name}": count for name, count in most.items()}
    told |= {"besides": sum(besides.values()), "back": sum(one.count for one in read["O"]), "least K": least * d_k,
             "least V": least * d_v, "held": memory.held, "needed": memory.needed}
    return wrong, told


def times(log, size):
    """How often each row was moved."""
    moved = [place for one in log for place in one.rows]
    return [moved.count(place) for place in range(size)]


def still_there(log):
    """Whether each row that is read again is in the tile that was read last."""
    seen, last = set(), set()
    for one in log:
        if {*one.rows} & seen - last:
            return False
        seen, last = seen | {*one.rows}, {*one.rows}
    return True


# --- As a tensor, and in words ----------------------------------------------------------------------------------------

WRONG = ("again", "large Q", "large K", "large V", "large O", "O often", "K often", "V often", "besides", "back", "few",
         "held")
COUNTS = ("Q", "K", "V", "O", "most Q", "most K", "most V", "most O", "besides", "back", "least K", "least V", "held",
          "needed", "high", "wide")


def observe(output, memory):
    """O, then what is wrong with the traffic, then what is told of it. The memory starts again."""
    if not isinstance(output, Watched):
        raise TypeError("not the memory")
    wrong, told = account(output)
    wanted = len(output.tensors["Q"]), output.tensors["V"].shape[1]
    O = output.tensors.get("O", torch.full(wanted, math.nan)).double()
    told |= dict(zip(("high", "wide"), (*O.shape, 0, 0)))
    written = torch.tensor(times([one for one in output.log if (one.what, one.name) == ("written", "O")], wanted[0]))
    O = torch.full(wanted, SHAPE).double() if O.shape != wanted else (
        O.masked_fill(O.isnan(), LOST).masked_fill((written == 0)[:, None], UNWRITTEN))
    output.restart()
    numbers = [wrong[name] for name in WRONG] + [TOLD * told[name] for name in COUNTS]
    return torch.cat([O.flatten(), torch.tensor(numbers, dtype=torch.float64)])


def parts(observed):
    """O, what is wrong by name, what is told by name."""
    O, wrong, told = observed.double().split([len(observed) - len(WRONG) - len(COUNTS), len(WRONG), len(COUNTS)])
    return O, dict(zip(WRONG, wrong.tolist())), dict(zip(COUNTS, [round(count / TOLD) for count in told.tolist()]))


def describe_difference(observed, expected):
    """What is wrong with O, what was moved, and what else is wrong with that."""
    (O, wrong, found), (right, _, enough) = parts(observed), parts(expected)
    said = [about_output(O, right, found)]
    besides = f", and {found['besides']} numbers besides O" if found["besides"] else ""
    said.append(f"It reads {found['Q']} numbers of Q, {found['K']} of K and {found['V']} of V, and writes {found['O']} "
                f"of O{besides}; {enough['Q']}, {enough['K']}, {enough['V']} and {enough['O']} are enough.")
    said += [f"It {'writes' if name == 'O' else 'reads'} {found[f'most {name}']} rows of {name} at once, and fast "
             f"memory has room for {enough[f'most {name}']}." for name in "QKVO" if wrong[f"large {name}"]]
    if wrong["again"] == 2:
        said.append("It reads rows of Q again after others were read; a tile of queries can be finished before the "
                    "next one is read.")
    if wrong["back"]:
        said.append(f"It reads back {found['back']} numbers of O.")
    if wrong["few"]:
        from_elsewhere = ", so this one has numbers from elsewhere" if said[0] == RIGHT else ""
        said.append("With room for one tile of each, a kernel must read all of Q, and at least "
                    f"{found['least K']} numbers of K and {found['least V']} of V{from_elsewhere}.")
    if wrong["held"]:
        said.append(f"When it reads, the tensors in its variables have up to {found['held']} numbers; the tiles, their "
                    f"scores, and the sums and the output of these queries take {found['needed']}.")
    return " ".join(said)


RIGHT = "O is right."


def about_output(O, right, found):
    if (O == SHAPE).all():
        shape = f"({', '.join(str(found[side]) for side in ('high', 'wide') if found[side])})"
        return f"In the end O has shape {shape}, and should have (n, d_v)."
    for mark, words in ((UNWRITTEN, "never written"), (LOST, "NaN")):
        if (O == mark).any():
            return f"{int((O == mark).sum())} of {O.numel()} numbers of O are {words}."
    off = ~torch.isclose(O, right, rtol=1e-5, atol=1e-5)
    if not off.any():
        return RIGHT
    found, wanted = O[off][0], right[off][0]
    return (f"{int(off.sum())} of {O.numel()} numbers of O are wrong; the first is {digits(found, wanted)} and should "
            f"be {digits(wanted, found)}.")

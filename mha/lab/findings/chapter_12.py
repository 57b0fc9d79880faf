"""The pictures of chapter 12: how prompts use memory, a layer on several machines, and a sum in a ring of them."""
import matplotlib
import torch
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from mha import viz
from mha.lab import fast
from mha.multihead import MultiHeadAttention
from mha.viz.picture import INK, OCHRE, ROSE, SLATE, STYLE, TEAL, WIDTH, Picture, house_figure
from mha.viz.tables import table

HUES = (SLATE, OCHRE, TEAL, ROSE)


def prompts() -> viz.Picture:
    """Operations for each byte of a causal prompt through MHA, by tiles and by the plain code, and two balances."""
    n = 2 ** torch.arange(4, 14)
    width = fast.LAYERS[0].d_k
    tiles = [fast.forward(fast.LAYERS[0], length, length, causal=True).per_byte for length in n.tolist()]
    plain = [fast.operations(length, width, stored=True)[0] / (2 * fast.moved_by_definition(length, width))
             for length in n.tolist()]
    balances = {f"{machine.name} balances": torch.full(n.shape, machine.balance)
                for machine in (fast.H100, fast.LAPTOP)}
    return viz.curves(n, "tokens of the prompt", "operations a byte", log="both", points=4, tiles=tiles,
                      plain_code=plain, **balances)


def holdings(layer: MultiHeadAttention, machines: int) -> Picture:
    """The matrices of a layer, and which columns and rows of them each of at most four machines holds."""
    told, parts = fast.slices(layer, machines), list(zip(*fast.split(layer, machines)))[2:]
    with matplotlib.rc_context(fname=STYLE):
        figure, (axis,) = house_figure(WIDTH, 2.5)
        left, gap = 0.0, layer.W_Q.weight.shape[1] / 9
        for name, held in zip(("W_Q", "W_K", "W_V", "W_O"), parts):
            height, width = layer.get_submodule(name).weight.T.shape
            axis.text(left + width / 2, -0.05 * height, name, ha="center", va="bottom")
            for machine, part in enumerate(held):
                corner, sides = (left + part[0], 0), (len(part), height)
                if name == "W_O":
                    corner, sides = (left, part[0]), (width, len(part))
                axis.add_patch(Rectangle(corner, *sides, facecolor=to_rgba(HUES[machine], 0.4), edgecolor=INK, lw=0.6))
                axis.text(corner[0] + sides[0] / 2, corner[1] + sides[1] / 2, f"{part[0]} to {part[-1]}", ha="center",
                          va="center", fontsize=9.2, rotation=0 if name == "W_O" else 90)
            left += width + gap
        handles = [Patch(facecolor=to_rgba(hue, 0.4), edgecolor=INK, lw=0.6, label=f"machine {i}: heads {heads}")
                   for i, (hue, heads) in enumerate(zip(HUES, told["heads"]))]
        figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
        axis.set(xlim=(-1, left - gap + 1), ylim=(height + 1, -0.2 * height))
        axis.axis("off")
    text = f"The matrices of a layer, cut for {machines} machines: three by columns, W_O by rows."
    rows = [[f"machine {i}", *row] for i, row in enumerate(zip(*told.values()))]
    return Picture(figure, table(text, ["", *told], rows))


def all_reduce(machines: int) -> list[Tensor]:
    """How many machines' parts each piece holds, (machines, pieces), at first and after each step of a ring.

    Each machine holds a vector, cut into as many pieces as there are machines, and hands one piece on at each step.
    For `machines - 1` steps the next machine adds its own part to the piece, and for as many it keeps the sum instead
    (Patarasuk and Yuan 2009).
    """
    held = torch.ones(machines, machines, dtype=torch.long)
    steps = [held]
    for step in range(2 * (machines - 1)):
        before, held = held, held.clone()
        summed = step >= machines - 1
        for machine in range(machines):
            piece, following = (machine - step) % machines, (machine + 1) % machines
            held[following, piece] = before[machine, piece] + (0 if summed else before[following, piece])
        steps.append(held)
    return steps


def ring() -> viz.Picture:
    """Three machines sum their vectors."""
    steps = all_reduce(3)
    titles = ["at first", "add, 1", "add, 2", "copy, 1", "copy, 2"]
    return viz.head_grid(dict(zip(titles, steps, strict=True)),
                         "How many machines' parts each piece of a vector holds, step by step.",
                         least=1, row="machine", column="piece", digits=0)

"""The pictures of chapter 12: how prompts use memory, and a sum that goes round a ring of machines."""
import torch
from torch import Tensor

from mha import viz
from mha.lab import fast


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


def all_reduce(machines: int) -> list[Tensor]:
    """How many machines' parts each piece holds, (machines, pieces), at first and after each step of a ring.

    Each machine holds a vector, cut into as many pieces as there are machines, and hands one piece on at each step.
    For `machines - 1` steps the next machine adds its own part to the piece, and for as many it keeps the sum instead
    (Patarasu and Yuan 2009).
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

"""The picture of chapter 12: a sum that goes round a ring of machines."""
import torch
from torch import Tensor

from mha import viz


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

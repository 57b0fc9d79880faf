"""What the trainings share: one loop that trains many runs at once, and the numbers that they start from.

Every parameter has a leading axis of R runs, and the loss of a step is the sum of the runs' own losses. Adam treats
each number by itself, so the runs never touch: it is R separate trainings, each with its own start, data and task, for
little more than the time of one.
"""
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def fit(parameters: list[Tensor], loss: Callable[[], Tensor], *, steps=400, rate=0.01, warm_up=50, eps=1e-8,
        betas=(0.9, 0.99), falls=True, longest=None) -> Tensor:
    """Adam on R runs at once; the rate climbs for warm_up steps, then falls along a cosine to 2 %.

    Args:
        parameters: leaf tensors (R, ...) that require gradients; changed in place.
        loss: function of no arguments -> (R,), the loss of each run on a fresh batch.
        steps: number of steps.
        rate: the largest learning rate.
        warm_up: number of steps in which the rate climbs; 0 keeps it constant throughout.
        eps, betas: of Adam.
        falls: False keeps the rate constant after the warm-up.
        longest: the length to which the gradient of each run, all its parameters together, is cut; None cuts nothing.
    Returns:
        (steps, R), the loss of each run before each step.
    Raises:
        ValueError: the loss is not one number for each run.
    """
    optimiser, history = torch.optim.Adam(parameters, lr=rate, betas=betas, eps=eps), []
    with small_steps():
        for step in range(steps):
            if warm_up:
                cosine = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)) if falls else 1
                optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / warm_up) * cosine
            each = loss()
            if each.shape != parameters[0].shape[:1]:
                raise ValueError(f"loss() must give one number for each of the {parameters[0].shape[0]} runs, got "
                                 f"shape {tuple(each.shape)}")
            optimiser.zero_grad()
            each.sum().backward()
            if longest is not None:
                cut(parameters, longest)
            optimiser.step()
            history.append(each.detach())
    return torch.stack(history)


def cut(parameters: list[Tensor], longest: float) -> None:
    """Shorten the gradient of each run to `longest` where it is longer, as torch's clip_grad_norm_ does for one."""
    length = sum(p.grad.flatten(1).square().sum(1) for p in parameters).sqrt()  # (R,)
    factor = (longest / (length + 1e-6)).clamp(max=1)
    for p in parameters:
        p.grad.mul_(factor.view(-1, *[1] * (p.ndim - 1)))


@contextmanager
def small_steps() -> Iterator[None]:
    """What a CPU needs for many small steps: one thread, and no denormal numbers.

    With two threads each small product waits for both: a few per cent faster on an idle machine, ten times slower on a
    busy one. Denormal numbers are the tiny ones that sharp softmaxes make, and a CPU is slow on them.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)


def normal(generator: torch.Generator, *shape: int, std=1.0, device=None) -> Tensor:
    """A parameter of normal numbers, drawn on the CPU so that every device starts alike."""
    return (std * torch.randn(*shape, generator=generator)).to(device).requires_grad_()


def xavier(generator: torch.Generator, *shape: int, device=None) -> Tensor:
    """A parameter (..., rows, columns) of normal numbers with the variance 2 / (rows + columns).

    Source:
        Glorot and Bengio 2010, equation 16.
    """
    return normal(generator, *shape, std=(2 / sum(shape[-2:])) ** 0.5, device=device)

"""What each head of a trained model is for: what is lost without it, and where it looks."""
import torch
from torch import Tensor

from mha.lab.journeys.model import Model
from mha.lab.journeys.training import right_answers, tests
from mha.lab.journeys.world import FACTS, QUESTIONS, squares
from mha.record import record


@torch.no_grad()
def without_each_head(model: Model, size=256) -> dict[str, Tensor]:
    """What each box has right with all heads, and with one switched off: "head 0.1" is the second of layer 0."""
    heads, found = [layer.h for layer in model.config.layers], {"all heads": right_answers(model, size)}
    for i, h in enumerate(heads):
        for k in range(h):
            masks = [torch.ones(other) for other in heads]
            masks[i][k] = 0
            found[f"head {i}.{k}"] = right_answers(model, size, masks)
    return found


LOOKS = ("from box 1 to the name", "from box 2 to the name", "from box 2 to box 1")
ASKS = ("from a question to the name", "from a question to box 1", "from a question to box 2")


@torch.no_grad()
def looks(model: Model, size=128) -> dict[str, Tensor]:
    """The mean weights of each head where a job would show: "head 0.0" -> (6,), in the order of LOOKS and ASKS.

    The first three are within a fact; the last three go from a question to the fact that it asks for.
    """
    tokens, _ = tests(size)
    with record(model) as weights:
        model(tokens)
    first = 3 * torch.arange(FACTS)
    told = tokens[:, None, first] == tokens[:, -QUESTIONS:, None]  # (B, 8, facts): the fact that is asked
    found = {}
    for i, layer in enumerate(weights.values()):
        for k, map_ in enumerate(layer.unbind(1)):  # (B, n, n)
            within = [map_[:, first + 1, first], map_[:, first + 2, first], map_[:, first + 2, first + 1]]
            asked = [map_[:, -QUESTIONS:, first + box][told] for box in range(3)]
            found[f"head {i}.{k}"] = torch.stack([part.mean() for part in within + asked])
    return found


@torch.no_grad()
def right_in_squares(model: Model, size=200, box=0) -> Tensor:
    """How many of the four documents of each square (size,) a model has right, in one box; see `squares`."""
    tokens, answers = squares(torch.Generator().manual_seed(0), size, box=box)  # (size, 4, n), (size, 4)
    said = model(tokens.flatten(0, 1))[:, -1, box].argmax(-1).unflatten(0, answers.shape)
    return (said == answers).sum(-1)

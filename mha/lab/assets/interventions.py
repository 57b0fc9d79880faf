"""What a trained encoder becomes when its heads are kept from [CLS], or one of them is switched off
(`interventions.json`).
"""
import json
from functools import cache

import torch
from torch import Tensor

from mha.lab.assets._load import FOLDER

INTERVENTIONS = FOLDER / "interventions.json"


@cache
def _stored():
    return json.loads(INTERVENTIONS.read_text(encoding="utf-8"))


def without_cls() -> dict[str, tuple[float, float]]:
    """What is taken from all heads -> the mean cosine of 31 sentences' vectors with the whole model's, and the least.

    "[CLS]", "[SEP]" and "word 1" to "word 7": a key. "its value": what [CLS] hands on, its weight stays. "one more
    logit": [CLS], with one number for each head in the place of its score.
    """
    return {name: tuple(pair) for name, pair in _stored()["without [CLS]"].items()}


def switched_off(job: str) -> Tensor:
    """(72, 2): how far the vectors of the asking words move when a head is off, and those of the other words, in
    lengths of the vectors. job: "determiners", or "pronouns" (all sixty).
    """
    return torch.tensor(_stored()["switched off"][job], dtype=torch.float64)

"""Bounds in words: what a trained model gives differs from machine to machine, and a bound on it does not."""
import operator

import torch

SIDES = {"below": operator.lt, "less than": operator.lt, "at most": operator.le,
         "above": operator.gt, "more than": operator.gt, "at least": operator.ge}


def said(values, *bounds: str) -> str:
    """The first of these bounds, such as "below 0.05", that holds for all values; "not always below 0.05" of the last
    where none does.
    """
    for bound in bounds:
        side, number = bound.rsplit(" ", 1)
        if SIDES[side](torch.as_tensor(values), float(number)).all():
            return bound
    return f"not always {bounds[-1]}"

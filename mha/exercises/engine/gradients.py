"""The gradients of a learner's function beside those of the reference."""
import torch

from mha.exercises.engine.calls import Caught, are_shares, observe_run
from mha.exercises.engine.probe import same


def gradient_fault(exercise, answer):
    """(id, clause) of what is wrong with the gradients; both empty where they are those of the reference."""
    names = exercise.arguments
    for case in (exercise.cases[i] for i in exercise.trained):
        wanted = along_shares(gradients(exercise, exercise.reference, case), case)
        found = along_shares(gradients(exercise, answer, case), case)
        if found is None:
            output, failure = observe_run(exercise, answer, with_gradients(case)[0])
            if failure is None:                                    # it runs, and torch knows no derivative of it
                continue
            return "no-gradient", (f"it cannot be run on tensors that require gradients ({type(failure).__name__}), so "
                                   f"none reaches {' or '.join(names[i] for i in wanted)}.")
        lost = [names[i] for i, grad in wanted.items() if grad is not None
                and (found.get(i) is None or not found[i].any() and grad.any())]
        if lost:
            return "no-gradient", f"no gradient reaches {' or '.join(lost)}."
        nan = [names[i] for i, grad in wanted.items() if grad is not None and found[i].isnan().any()
               and not grad.isnan().any()]
        if nan:
            return "nan-gradient", (f"the gradient that reaches {' and '.join(nan)} is NaN for "
                                    f"{exercise.describe(case)}.")
        other = [names[i] for i, grad in wanted.items() if grad is not None and not same(found[i], grad)]
        if other:
            return "no-gradient", (f"the gradient that reaches {' and '.join(other)} is not the right one, as happens "
                                   "when a part of the computation is cut off from it.")
    return "", ""


def nan_arrives(exercise, answer, case):
    """Whether a gradient is NaN where that of the reference is not."""
    if not exercise.trained:
        return False
    wanted, found = gradients(exercise, exercise.reference, case), gradients(exercise, answer, case)
    return bool(found) and any(grad is not None and grad.isnan().any()
                               and not (wanted[i] is None or wanted[i].isnan().any()) for i, grad in found.items())


def along_shares(grads, case):
    """The gradients; for shares that sum to 1, only along directions that keep the sum: no other step can be taken."""
    return grads and {i: grad - grad.mean(-1, keepdim=True) if grad is not None and are_shares(case.args[i]) else grad
                      for i, grad in grads.items()}


def gradients(exercise, function, case):
    """index of a tensor argument -> its gradient, None where none arrives. None in all where the function cannot be run
    so.
    """
    args, tensors = with_gradients(case)
    output, failure = observe_run(exercise, function, args)
    if failure is not None or not isinstance(output, torch.Tensor):
        return None
    if not output.requires_grad:
        return dict.fromkeys(tensors)
    weighted = (output * torch.arange(1.0, output.numel() + 1).view(output.shape)).sum()
    with Caught():  # not everything that can be computed has a derivative in torch
        return dict(zip(tensors, torch.autograd.grad(weighted, list(tensors.values()), allow_unused=True)))
    return None


def with_gradients(case):
    """(arguments, index -> those that now require gradients)."""
    args = case.copies()
    return args, {i: a.requires_grad_() for i, a in enumerate(args) if isinstance(a, torch.Tensor)
                  and a.is_floating_point()}

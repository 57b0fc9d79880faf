"""An exercise in code: what is asked, the right answer, and the wrong ones that can be recognised."""
import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Callable

import torch

from mha.exercises.report import Mistake


@dataclass(frozen=True)
class Case:
    """One input: its arguments, tensors and whole numbers."""
    args: tuple

    def copies(self):
        """The arguments, tensors copied, so that an answer cannot spoil them."""
        return [a.clone() if isinstance(a, torch.Tensor) else a for a in self.args]


@dataclass(frozen=True)
class Exercise:
    """One exercise in code.

    Args:
        id: "chapter.number". name: of the function to write. chapter: its notebook.
        statement, signature, stub: what the learner reads (Markdown), how it is called, where they start.
        large: a case with huge scores, or None where there are no scores.
        reference: the right answer. cases: small to large; the first on which an answer fails is the counterexample.
        model: the right answer with switches, model(*args, **switches), each of which can be set wrong.
        switches: switch -> {wrong setting: Mistake}.
        hints: three, the fix itself only in the third. note: why it works, shown after success.
        measure: function of the learner's answer that yields true sentences about what it does; called only for wrong answers.
        stars: difficulty from 1 to 3; minutes: how long it takes a newcomer.
    """
    id: str
    name: str
    chapter: str
    signature: str
    statement: str
    stub: str
    reference: Callable
    cases: list[Case]
    model: Callable
    switches: dict[str, dict[str, Mistake]]
    hints: tuple[str, str, str]
    note: str
    measure: Callable = field(default=lambda answer: [])
    large: Case | None = None
    stars: int = 1
    minutes: int = 10
    _made: dict = field(default_factory=dict, repr=False)

    @cached_property
    def expected(self):
        """The right output for every case."""
        return [self.reference(*case.copies()) for case in self.cases]

    @property
    def arguments(self):
        """The names of the arguments, from the signature."""
        return self.signature[self.signature.index("(") + 1 : self.signature.index(")")].split(", ")

    def describe(self, case):
        """A case in words: "q (2, 3), k (5, 3), v (5, 7)"."""
        return ", ".join(f"{name} {tuple(a.shape)}" if isinstance(a, torch.Tensor) else f"{name} = {a}" for name, a in zip(self.arguments, case.args))

    def singles(self):
        """(settings, mistakes) of every way to set one switch wrong."""
        for switch, options in self.switches.items():
            for setting, mistake in options.items():
                yield {switch: setting}, [mistake]

    def pairs(self):
        """(settings, mistakes) of every way to set two switches wrong."""
        for (a, one), (b, other) in itertools.combinations(self.switches.items(), 2):
            for (x, first), (y, second) in itertools.product(one.items(), other.items()):
                yield {a: x, b: y}, [first, second]

    def modelled(self, index, settings):
        """What the model gives on a case with these settings; None where it cannot run."""
        try:
            return self.model(*self.cases[index].copies(), **settings)
        except (RuntimeError, IndexError, ValueError, TypeError):
            return None

    def explanations(self, outputs):
        """(settings, mistakes) whose model gives these outputs, single mistakes first, then pairs.

        Args:
            outputs: index of a case -> what the learner's answer gave for it.
        """
        first = min(outputs)
        for catalogue in self._catalogues(first):
            settings, results = catalogue.get(outputs[first].shape, ([], None))
            if not settings:
                continue
            close = (results - outputs[first].double()).abs() <= 1e-5 * (1 + results.abs())
            alike = close | (results.isnan() & outputs[first].isnan()) | (results == outputs[first])
            fitting = [settings[i] for i in alike.flatten(1).all(1).nonzero().flatten().tolist()]
            found = [(setting, mistakes) for setting, mistakes in fitting if self._fits(setting, outputs)]
            if found:
                return found
        return []

    def _catalogues(self, index):
        """For singles and for pairs: shape -> (all (settings, mistakes), their outputs on one case, stacked). Made once, then looked up."""
        if index not in self._made:
            self._made[index] = []
            for family in (self.singles(), self.pairs()):
                grouped = {}
                for settings, mistakes in family:
                    out = self.modelled(index, settings)
                    if out is not None:
                        grouped.setdefault(out.shape, []).append(((settings, mistakes), out.double()))
                self._made[index].append({shape: ([entry for entry, _ in group], torch.stack([out for _, out in group])) for shape, group in grouped.items()})
        return self._made[index]

    def _fits(self, settings, outputs):
        """Whether the model with these settings gives every output, and not the right one every time."""
        wrong = False
        for i, output in outputs.items():
            modelled = self.modelled(i, settings)
            if modelled is None or not same(output, modelled, 1e-5):
                return False
            wrong |= not same(modelled, self.expected[i])
        return wrong


def same(a, b, tolerance=1e-4):
    """Two tensors of one shape with nearly equal numbers; NaN equals NaN."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or a.shape != b.shape:
        return False
    return torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True)

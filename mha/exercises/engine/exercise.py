"""An exercise in code: what is asked, the right answer, and the wrong ones that can be recognised."""
import inspect
import itertools
import textwrap
from dataclasses import dataclass, field
from functools import cached_property
from typing import Callable

import torch

from mha.exercises.engine import checker
from mha.exercises.engine.blanks import Program
from mha.exercises.engine.calls import are_shares, is_given
from mha.exercises.engine.item import Item
from mha.exercises.engine.probe import same
from mha.exercises.engine.report import Mistake


@dataclass(frozen=True)
class Case:
    """One input: its arguments, tensors and whole numbers."""
    args: tuple

    def copies(self):
        """The arguments, tensors copied, so that an answer cannot spoil them."""
        return [a.clone() if isinstance(a, torch.Tensor) else a for a in self.args]


@dataclass(frozen=True, kw_only=True)
class Exercise(Item):
    """One exercise in code.

    Args:
        name: of the function to write. signature: how it is called. stub: where the learner starts.
        cases: small to large; the first on which an answer fails is the counterexample.
        program: the right answer with blanks, and what is wrong in each; the next three are made of it. Where a right
            answer cannot be told so, they are given, and the page has no blanks to fill.
        reference: the right answer.
        model: the right answer with switches, model(*args, **switches), each of which can be set wrong.
        switches: switch -> {wrong setting: Mistake}.
        measure: function of the learner's answer that yields true sentences about what it does; called only for wrong
            answers.
        of_operands: function of two tensors that could not be multiplied or added, and the case: the Mistake that they
            show, or None.
        measures_closely: whether `measure` tells small differences too, with as many digits as show them.
        large: cases with huge scores, above zero and below; none where there are no scores. safe: what makes the powers
            of such scores fit, in words.
        observe: function of (output, *args) that gives the tensor to compare, where many outputs are right or the
            output is no tensor.
        wanted: what the function should return, in words: said to a learner whose output has the wrong type.
        compared: what `observe` gives, in a sentence.
        describe_difference: function of (what `observe` gives, what it should give) that says the difference in words,
            where numbers made by `observe` would say nothing to a learner.
        right_where: what is said of the cases on which an answer is right.
        boolean: whether the output must be of dtype bool. keeps_dtype: whether it must be of the first argument's.
        without: name of a function or attribute of torch that the statement rules out -> the Mistake of using it.
        views: whether the statement promises slices and transposed views for inputs.
        sized: function of the sizes, called by the names that the statement gives them, that makes a case. None where
            no size can be told, or they depend on each other.
        trained: indices of the cases on which gradients are compared with those of the reference; none where no
            gradient is wanted.
    """
    name: str
    signature: str
    stub: str
    cases: list[Case]
    program: Program | None = None
    reference: Callable = None
    model: Callable = None
    switches: dict[str, dict[str, Mistake]] = None
    measure: Callable = field(default=lambda answer: [])
    of_operands: Callable = field(default=lambda one, other, case: None)
    measures_closely: bool = False
    large: tuple[Case, ...] = ()
    safe: str = "in each row of scores the largest should be subtracted first (softmax does that)"
    observe: Callable = field(default=lambda output, *args: output)
    wanted: str = "a tensor"
    compared: str = ""
    describe_difference: Callable = None
    right_where: str = "the values are right"
    boolean: bool = False
    keeps_dtype: bool = False
    without: dict[str, Mistake] = field(default_factory=dict)
    views: bool = False
    sized: Callable = None
    trained: tuple[int, ...] = (1,)
    _made: dict = field(default_factory=dict, repr=False)

    kind = "code"
    in_code = True

    def __post_init__(self):
        if self.program:
            for part in ("reference", "model", "switches"):
                object.__setattr__(self, part, getattr(self.program, part))

    @property
    def source(self):
        """A right answer, as code."""
        return self.program.filled() if self.program else textwrap.dedent(inspect.getsource(self.reference))

    @property
    def title(self):
        return f"`{self.name}`"

    def examine(self, answer):
        """The report on a function."""
        return checker.examine(self, answer)

    def outcome(self, function, case, **settings):
        """What a function gives on a case, as the tensor that is compared."""
        args = case.copies()
        return self.observe(function(*args, **settings), *args)

    @cached_property
    def expected(self):
        """The right output for every case."""
        return [self.outcome(self.reference, case) for case in self.cases]

    @property
    def verdicts(self):
        """Whether every output is a yes or no. These are so few bits that some two mistakes give them by chance."""
        return all(expected.ndim == 0 and expected in (0, 1) for expected in self.expected)

    @cached_property
    def of_any_sum(self):
        """The places of arguments that are shares in some cases, and positive numbers of any sum in others."""
        def some(kind):
            return {i for case in self.cases for i, a in enumerate(case.args)
                    if isinstance(a, torch.Tensor) and a.is_floating_point() and a.ndim > 1 and kind(a)}

        return some(are_shares) & some(lambda a: bool((a >= 0).all()) and not are_shares(a))

    @property
    def arguments(self):
        """The names of the arguments, from the signature."""
        return self.signature[self.signature.index("(") + 1 : self.signature.index(")")].split(", ")

    @property
    def masks(self):
        """Whether something is to be hidden."""
        return self.chapter == "05_masks" or "mask" in self.signature

    def describe(self, case):
        """A case in words: "q (2, 3), k (5, 3), v (5, 7)"; what is a part of the question by its numbers, as "lengths
        [4, 2]".
        """
        return ", ".join(f"{name} {in_short(a)}" if isinstance(a, torch.Tensor)
                         else f"{name} = {getattr(a, '__name__', a)}" for name, a in zip(self.arguments, case.args))

    def about_functions(self, case):
        """What the functions among the arguments of a case do, a sentence each."""
        return "".join(f" About {a.__name__}: {a.__doc__[0].lower()}{a.__doc__[1:].removesuffix('.')}."
                       for a in case.args if callable(a) and a.__doc__)

    def extremes(self, case):
        """What is extreme about a case, in words."""
        return " and ".join(f"{name} from {a.min():.0f} to {a.max():.0f}" for name, a in zip(self.arguments, case.args)
                            if self.is_extreme(a))

    @staticmethod
    def is_extreme(argument):
        """Whether an argument holds huge numbers."""
        return isinstance(argument, torch.Tensor) and argument.is_floating_point() and bool(argument.abs().max() > 20)

    def singles(self):
        """(settings, mistakes) of every way to set one switch wrong."""
        for switch, options in self.switches.items():
            for setting, mistake in options.items():
                yield {switch: setting}, [mistake]

    def pairs(self):
        """(settings, mistakes) of every way to set two switches wrong that share no blank: each has one fragment."""
        for (a, one), (b, other) in itertools.combinations(self.switches.items(), 2):
            if {*a.split()} & {*b.split()}:
                continue
            for (x, first), (y, second) in itertools.product(one.items(), other.items()):
                yield {a: x, b: y}, [first, second]

    def modelled(self, index, settings):
        """What the model gives on a case with these settings; None where it cannot run. Computed once, then kept."""
        key = index, *settings.items()
        if key not in self._made:
            try:
                self._made[key] = self.outcome(self.model, self.cases[index], **settings)
            except (RuntimeError, IndexError, ValueError, TypeError, AttributeError, ArithmeticError):
                self._made[key] = None
        return self._made[key]

    def explanations(self, outputs):
        """(settings, mistakes) whose model gives these outputs, single mistakes first, then pairs.

        Args:
            outputs: index of a case -> what the learner's answer gave for it; None where it gave no tensor.
        """
        first = min(i for i, output in outputs.items() if output is not None)
        for catalogue in self._catalogues(first):
            settings, results = catalogue.get(outputs[first].shape, ([], None))
            if not settings:
                continue
            close = (results - outputs[first].double()).abs() <= 1e-5 * (1 + results.abs())
            alike = close | (results.isnan() & outputs[first].isnan()) | (results == outputs[first])
            fitting = [settings[i] for i in alike.reshape(len(settings), -1).all(1).nonzero().flatten().tolist()]
            found = [(setting, mistakes) for setting, mistakes in fitting if self._fits(setting, outputs)]
            if found:
                return found
        return []

    def _catalogues(self, index):
        """For singles and for pairs: shape -> (all (settings, mistakes), their outputs on one case, stacked). Made
        once, then looked up.
        """
        if index not in self._made:
            self._made[index] = []
            for family in (self.singles(), self.pairs())[: 1 if self.verdicts else 2]:
                grouped = {}
                for settings, mistakes in family:
                    out = self.modelled(index, settings)
                    if out is not None:
                        grouped.setdefault(out.shape, []).append(((settings, mistakes), out.double()))
                self._made[index].append({shape: ([entry for entry, _ in group],
                                                  torch.stack([out for _, out in group]))
                                          for shape, group in grouped.items()})
        return self._made[index]

    def _fits(self, settings, outputs):
        """Whether the model with these settings gives every output, and not the right one every time. Where wrong
        numbers fit, an answer may stop where the model goes on to a wrong shape.
        """
        wrong, seen, shorter = False, False, False
        for i, output in outputs.items():
            modelled = self.modelled(i, settings)
            stops = output is None and modelled is not None and modelled.shape != self.expected[i].shape
            if not stops and ((modelled is None) != (output is None)
                              or output is not None and not same(output, modelled, 1e-5)):
                return False
            wrong |= output is None or not same(modelled, self.expected[i])
            seen |= output is not None and not same(modelled, self.expected[i])
            shorter |= stops
        return wrong and (seen or not shorter)


def in_short(tensor):
    """A few numbers that are a part of the question; the shape of all others."""
    if is_given(tensor) and tensor.ndim == 1 and tensor.numel() <= 8:
        return f"[{', '.join(f'{number:g}' for number in tensor.tolist())}]"
    return f"{tuple(tensor.shape)}"

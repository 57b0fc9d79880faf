"""Right answers to the exercises, as learners write them: none of them may raise an alarm.

One file a chapter. `softmax__all_pairs` answers the exercise that asks for softmax, and says in which style. At least
three styles an exercise, as unlike each other as they can be in how they compute: large products, loops, einsum, other
formulas for the same, float64 inside, a function of torch, and where many outputs are right, others of them.
"""
import ast
import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType


@dataclass(frozen=True)
class Answer:
    name: str                   # of the function that the exercise asks for
    style: str
    source: str                 # the statement that defines it
    module: ModuleType          # where that statement stands, with what it uses

    def __str__(self):
        return f"{self.name}-{self.style}"

    @property
    def function(self):
        return getattr(self.module, f"{self.name}__{self.style}")

    def rewritten(self, source):
        """The function that another statement defines in its place."""
        world = dict(vars(self.module))
        exec(compile(source, "learner", "exec"), world)
        return world[f"{self.name}__{self.style}"]


def defined(statement):
    """The name that a statement defines; empty where it defines none."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name
    return statement.targets[0].id if isinstance(statement, ast.Assign) else ""


def answers_in(path):
    """The answers of one file, in its order; what they use of each other has no __ in its name."""
    module, text = importlib.import_module(f"{__name__}.{path.stem}"), path.read_text(encoding="utf-8")
    for statement in ast.parse(text).body:
        if "__" in defined(statement):
            yield Answer(*defined(statement).split("__"), ast.get_source_segment(text, statement), module)


ANSWERS = [answer for path in sorted(Path(__file__).parent.glob("chapter_*.py")) for answer in answers_in(path)]

"""What an assistant can ask for: the list of exercises, a task, a check, the next hint, and in the end a solution."""
from mha import exercises
from mha.exercises import EXERCISES
from mha.exercises.classroom import grading
from mha.exercises.engine.cells import options, solution
from mha.exercises.tutor.judged import judged

CODE, WORDS = 100_000, 2_000                # characters of an answer: code, and anything else
INSTRUCTIONS = (
    "These are the exercises of an interactive textbook on multi-head attention, and the checker that judges answers. "
    "You are the tutor and the learner writes the answers. Show the task, let the learner try, hand in what they wrote "
    "with `check`, and talk about what it says before you call `hint`, which gives one hint more at each call. Never "
    "write the answer for them. `solution` opens when the hints are used up and a check has failed.")


class Refused(ValueError):
    """Why a tool does nothing, in a sentence for the assistant."""


class Tutor:
    """The tools, and what this process remembers: how many hints were given, and which exercises a check found wrong.

    Args:
        limit: seconds for the learner's code, and again for its check.
    """

    def __init__(self, limit):
        self.limit, self.start = limit, grading.starter()
        self.given, self.failed = {}, set()

    def exercises(self, chapter=""):
        """List the exercises: number, title, chapter, kind, difficulty and minutes."""
        found = [item for item in EXERCISES.values() if chapter in ("", item.chapter, item.id.partition(".")[0])]
        if not found:
            raise Refused(f"No chapter is called {chapter[:40]!r}. There are "
                          f"{', '.join(dict.fromkeys(item.chapter for item in EXERCISES.values()))}.")
        return "\n".join(f"{item.heading} · {item.chapter} · {item.about}" for item in found)

    def task(self, number):
        """Show one exercise: what is asked, with its options, or with the stub that the learner fills in."""
        item = item_of(number)
        picture = [f"```text\n{item.picture()!r}\n```"] if item.picture else []
        stub = [f"```python\n{item.stub.strip()}\n```"] if item.in_code else []
        return "\n\n".join(filter(None, (item.heading, item.about, item.statement, *picture, options(item), *stub)))

    def check(self, number, answer):
        """Judge the learner's answer: what is wrong, with the evidence, or that it is right."""
        item = item_of(number)
        most = CODE if item.in_code else WORDS
        if not answer.strip():
            raise Refused("The answer is empty.")
        if len(answer) > most:
            raise Refused(f"The answer has {len(answer)} characters; at most {most} are read.")
        if item.in_code:
            state, text = judged(item, answer, self.limit, self.start)
        else:
            report = item.examine(answer)
            state, text = "wrong" if report.started and not report.ok else "right", repr(report)
        if state == "wrong":
            self.failed.add(item.id)
        return text

    def hint(self, number):
        """Give the next hint of an exercise; each call gives one more, and the solution is none of them."""
        item = item_of(number)
        hints, given = hints_of(item), self.given.get(item.id, 0)
        if not hints:
            return f"There are no hints for {item.id}."
        if given == len(hints):
            return f"All hints of {item.id} are given. `solution` opens once a check has failed."
        self.given[item.id] = given + 1
        return f"Hint {given + 1} of {len(hints)}: {hints[given]}"

    def solution(self, number):
        """Show a right answer. It opens when all hints of the exercise were given and a check has failed."""
        item = item_of(number)
        if item.kind == "explain":
            raise Refused(f"Exercise {item.id} is answered in the learner's own words: `check` then lists what a good "
                          "explanation mentions.")
        given, of = self.given.get(item.id, 0), len(hints_of(item))
        if given < of:
            raise Refused(f"Not yet: {given} of {of} hints of {item.id} were given. Call `hint`, and let the learner "
                          "try.")
        if item.id not in self.failed:
            raise Refused(f"Not yet: no check of {item.id} has failed. Let the learner try, and hand that in.")
        return f"```python\n{solution(item)}\n```\n{item.note}" if item.in_code else f"{item.solution}\n{item.note}"


def item_of(number):
    """The exercise of a number, or of the name of its function.

    Raises:
        Refused: there is none.
    """
    try:
        return exercises.find_item(number[:40])
    except ValueError as wrong:
        raise Refused(f"{wrong}.") from None


def hints_of(item):
    """Those before the solution, which is the last hint of an exercise in code."""
    return item.hints[:-1] if item.in_code else item.hints


NUMBER = {"type": "string", "description": 'of the exercise, such as "5.1", as `exercises` lists it'}
ANSWER = {"type": "string", "description": "what the learner wrote: Python code that defines the function; for a "
          'question its number ("0.25"), its letter or letters ("B", "AC"), or a few sentences'}
CHAPTER = {"type": "string", "description": 'such as "5" or "05_masks"; all if left out'}
TOOLS = {"exercises": {"chapter": CHAPTER}, "task": {"number": NUMBER}, "check": {"number": NUMBER, "answer": ANSWER},
         "hint": {"number": NUMBER}, "solution": {"number": NUMBER}}
OPTIONAL = {"chapter"}


def described():
    """The tools as the protocol lists them."""
    return [{"name": name, "description": getattr(Tutor, name).__doc__,
             "inputSchema": {"type": "object", "properties": taken, "additionalProperties": False,
                             "required": [one for one in taken if one not in OPTIONAL]}}
            for name, taken in TOOLS.items()]


def fitting(name, arguments):
    """The arguments of a call, if they are what the tool takes.

    Raises:
        Refused: they are not, or there is no such tool.
    """
    if not isinstance(name, str) or name not in TOOLS:
        raise Refused(f"There is no tool {str(name)[:40]!r}; there are {', '.join(TOOLS)}.")
    taken, arguments = TOOLS[name], {} if arguments is None else arguments
    needed = {one for one in taken if one not in OPTIONAL}
    if not isinstance(arguments, dict) or not needed <= {*arguments} <= {*taken}:
        raise Refused(f"{name} takes {' and '.join(taken)}{', which may be left out' if not needed else ''}.")
    wrong = next((one for one, value in arguments.items() if not isinstance(value, str)), None)
    if wrong:
        raise Refused(f"{wrong} should be a text in quotation marks, such as \"5.1\", and is {arguments[wrong]!r:.40}.")
    return arguments

"""What stands in for a learner's Jupyter where a notebook is run again: IPython, its streams and its event loop."""
import asyncio
import io
import os
import sys

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mha.exercises.engine.calls import Caught

MAGICS = {"time", "timeit", "capture", "prun", "run", "writefile"}     # run Python or write it; all others do nothing


class OutStream(io.TextIOBase):
    """Nowhere to print, as Jupyter's stream of this name: it has no `buffer` and no `reconfigure`, unlike Python's."""

    encoding = "UTF-8"

    def __init__(self, number):
        self.number = number

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        return len(text)

    def fileno(self):
        return self.number


def mute():
    """Nothing to read, nowhere to print."""
    sys.stdin, sys.stdout, sys.stderr = open(os.devnull, encoding="utf-8"), OutStream(1), OutStream(2)


class Shell(InteractiveShell):
    """IPython without a face: nothing is shown, no command of the system is run, and few magics do anything."""

    failure = None                          # of the cell that runs
    loop = None                             # that runs while a cell does

    def run_line_magic(self, magic_name, line, _stack_depth=1):
        if magic_name in MAGICS or magic_name.startswith("%"):      # %%time below the first line is an error
            return super().run_line_magic(magic_name, line, _stack_depth=_stack_depth + 1)

    def run_cell_magic(self, magic_name, line, cell):
        if magic_name in MAGICS:
            return super().run_cell_magic(magic_name, line, cell)

    def system(self, cmd):
        """Nothing."""

    def getoutput(self, cmd, split=True, depth=0):
        return [] if split else ""

    def ask_exit(self):
        """Nothing: what exit() ends in Jupyter is the session, after the cell."""

    def showtraceback(self, *args, **kwargs):
        self.failure = sys.exc_info()[1]

    def showsyntaxerror(self, *args, **kwargs):
        self.failure = sys.exc_info()[1]


def shell():
    """A shell that keeps no history and formats no output."""
    config = Config()
    config.HistoryManager.enabled = False
    made = Shell.instance(config=config)
    made.display_formatter.format = lambda *args, **kwargs: ({}, {})
    return made


def run_in(runner, source):
    """Run a cell in a shell, while an event loop runs, as in Jupyter; IPython's result."""
    if runner.loop is None or runner.loop.is_closed():
        runner.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(runner.loop)
    try:
        return runner.loop.run_until_complete(
            runner.run_cell_async(source, store_history=True, **transformed(runner, source)))
    except OSError:
        runner.loop = None                                  # the cell has closed its files
        raise


def transformed(runner, source):
    """A cell as Python, its magics made calls; or what went wrong with that."""
    with Caught() as caught:
        return {"transformed_cell": runner.transform_cell(source)}
    failure = caught.failure
    return {"transformed_cell": source, "preprocessing_exc_tuple": (type(failure), failure, failure.__traceback__)}

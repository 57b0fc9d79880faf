"""Makes `pytest --nbval` strict about cells that were never run, and tolerant of the last digits of a number."""
from nbval.plugin import IPyNbCell

from _ext import notebooks

run_cell = IPyNbCell.runtest


def runtest(cell):
    if cell.cell.execution_count is None:
        cell.raise_cell_error("this cell was never run: run `python3 book.py refresh`")
    run_cell(cell)


def compare_outputs(cell, fresh, stored, skip_compare=None):
    """Text against text; images and widgets are compared through the text that stands for them."""
    found = notebooks.difference(fresh, stored)
    cell.comparison_traceback = [found or ""]
    return found is None


IPyNbCell.runtest = runtest
IPyNbCell.compare_outputs = compare_outputs

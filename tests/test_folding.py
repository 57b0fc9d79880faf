"""Cells that only check: what a reader sees of one, and what of one that does not say what holds."""
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from _ext import folding


def cell(source, *outputs):
    code = nodes.literal_block(source, source, language="ipython3")
    return nodes.container("", nodes.container("", code), *outputs, classes=["cell", "tag_fold"])


def test_a_cell_is_folded_under_the_line_that_says_what_holds():
    made = cell("# Holds: `a` is b.\n\nassert a == b\nassert b == a", nodes.literal_block("True", "True"))
    folding.fold(made)
    (inside,) = made.children
    assert isinstance(inside, folding.Fold) and inside["summary"] == "Holds: `a` is b."
    assert [block.astext() for block in inside.findall(nodes.literal_block)] == ["assert a == b\nassert b == a", "True"]


def test_a_cell_that_does_not_say_what_holds_is_a_warning_and_stays(monkeypatch):
    told = []
    monkeypatch.setattr(folding.LOG, "warning", lambda text, *values, location: told.append(location))
    made = cell("assert a == b")
    folding.fold(made)
    assert told == [made] and not list(made.findall(folding.Fold))


def test_the_code_of_a_table_is_folded_and_the_table_is_not():
    document = new_document("", get_default_settings())
    made, table = cell("viz.columns(found)"), nodes.container("", nodes.literal_block("1", "1"))
    made["classes"] = ["cell", "tag_fold-code"]
    made += table
    document += made
    folding.FoldCells(document).apply()
    code, output = made.children
    assert isinstance(code, folding.Fold) and code["classes"] == ["fold-code"]
    assert code.astext() == "viz.columns(found)" and output is table


def test_only_cells_with_the_tag_are_folded():
    document = new_document("", get_default_settings())
    plain, marked = cell("# Holds: so.\n1"), cell("# Holds: so.\n1")
    plain["classes"] = ["cell"]
    document += [plain, marked]
    folding.FoldCells(document).apply()
    assert [bool(list(one.findall(folding.Fold))) for one in (plain, marked)] == [False, True]

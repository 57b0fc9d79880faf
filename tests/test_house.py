"""The rules of the house, held by every chapter, by the package and by the files around them."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import house_rules as rules
import mha
from _ext.labs import is_lab
from _ext.publishing import SET_UP
from tools import notebooks

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "chapters").glob("*.md"))]


def tracked(*patterns):
    """The files of the repository, as git lists them; those under work are in, ignored ones are not."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
                            cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git clone")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


# --- Chapters -------------------------------------------------------------------------------------------------------

def links_resolve(notebook):
    return rules.links_resolve(rules.markdown(notebook), ROOT / "chapters")


def names_exist(notebook):
    return rules.names_exist(rules.markdown(notebook))


def set_up_comes_first(notebook):
    return rules.set_up_comes_first(notebook, SET_UP)


def is_normalised(notebook):
    return rules.is_normalised(notebook, SET_UP)


CHAPTER_RULES = [rules.cells_are_short, rules.cells_teach, rules.exceptions_are_few, rules.decimals_are_printed,
                 rules.counts_are_printed, rules.markdown_is_portable, links_resolve, names_exist, set_up_comes_first,
                 is_normalised, rules.outputs_are_narrow, rules.bets_are_judged, rules.checks_are_folded,
                 rules.code_in_sight_is_read, rules.furniture_is_hidden, rules.what_is_made_is_shown]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_keeps_the_rules(path):
    notebook = nbformat.read(path, as_version=4)
    complaints = [f"{rule.__name__}: {complaint}" for rule in CHAPTER_RULES for complaint in rule(notebook)]
    if path.stem != "index":
        complaints += rules.named_after_title(notebook, path.stem)
    assert not complaints, "\n".join(complaints)


def title_of(path):
    return re.search(r"^# +(.+)", rules.markdown(nbformat.read(path, as_version=4)), re.MULTILINE)[1]


def names_in_the_map(text):
    """file -> the name that a map of the book gives it."""
    return {target: name for name, target in re.findall(r"\[([^\]]+)\]\((\w+\.ipynb)\)", text)}


def test_the_map_calls_each_chapter_by_its_title():
    """The sidebar takes the titles themselves, since _toc.yml names none."""
    front = rules.markdown(nbformat.read(ROOT / "chapters/index.ipynb", as_version=4))
    named = names_in_the_map(front.partition("## The map")[2])
    assert named == {path.name: title_of(path) for path in CHAPTERS if path.stem != "index" and not is_lab(path.stem)}
    assert "title:" not in (ROOT / "_toc.yml").read_text()


# --- Each rule bites ------------------------------------------------------------------------------------------------

def code(source, *outputs, tags=()):
    cell = new_code_cell(source, outputs=list(outputs), execution_count=1)
    if tags:
        cell.metadata.tags = list(tags)
    return cell


def chapter(*cells):
    """A notebook of a set-up cell and these: strings are prose."""
    cells = [new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    set_up = code(SET_UP, tags=["set-up", "remove-input"])
    return new_notebook(cells=[new_markdown_cell("# 1 · Soft lookup"), set_up, *cells],
                        metadata=nbformat.from_dict(notebooks.METADATA))


def printed(text):
    return new_output("stream", name="stdout", text=text)


GOOD = chapter(
    "Half of $0.25$ is `0.125`; here 0.50 comes out, under PyTorch 2.13, section 3.2, see [figure 0.3](01_x.ipynb#a).",
    "> **Warning.**\n> `mha.pick_device` is a name, $w_{ij}$ a formula, `{note}` a code span.",
    code("weights = [0.5, 0.5]\nprint(weights[0])", printed("0.5\n")),
    code("for head in range(2):\n    print(head)", printed("0\n1\n")),
    code("# Holds: all are equal.\n\nassert 1 == 1", tags=["fold"]),
    code("mask", printed("tensor([True, False])\n")),
    "> **Predict.**\n> Which?\n>\n> * One, with 0.77. <!-- no: it is 0.5. -->\n> * The other. <!-- yes: with 0.5. -->",
    "> **Predict.**\n> It is ____. <!-- number: 0.5 within 0.01: half. -->\n> <!-- number: 0.3 within 0.1: more. -->",
    "> **Predict.**\n> What do you think?",
)

BAD = {
    rules.cells_are_short: [
        chapter(code("a = 1\n" * 16)),
        chapter(code("a = 1\n" * 5), code("a = 1\n" * 5)),
        chapter(code("a = 1\n" * 5), *[code("a = 1", tags=["exercise"]) for _ in range(3)]),
        chapter(code("a = 1  # " + 80 * "x")),
    ],
    rules.outputs_are_narrow: [chapter(code("print('x' * 83)", printed("short\n" + "x" * 83 + "\n")))],
    rules.cells_teach: [chapter(code(source)) for source in [
        "import matplotlib.pyplot as plt",
        "from matplotlib import pyplot",
        "axes.imshow(weights)",
        "for step in range(9):\n    loss().backward()",
        "while True:\n    optimiser.step()",
        "open('x')",
        "name = 'data/x.npz'",
        "torch.load(name)",
        "page = 'https://example.org'",
        "%pip install torch",
        "!ls",
    ]],
    rules.exceptions_are_few: [
        chapter(*[code("1 / 0", tags=["raises-exception"]) for _ in range(3)]),
        chapter(code("# NBVAL_SKIP\n1 / 0")),
    ],
    rules.decimals_are_printed: [
        chapter("It takes 0.58 of it.", code("w", printed("0.576"))),
        chapter("It is 1.5x faster.", code("w", printed("1.51"))),
        chapter("| a |\n|---|\n| 0.3 |"),
        chapter("It weighs 1,845.2 KiB.", code("w", printed("845.2"))),
        chapter("> **Predict.**\n> Is it?\n>\n> * Yes. <!-- no: it is 0.3. -->\n> * No. <!-- yes: so. -->"),
        chapter("> **Predict.**\n> Is it?\n>\n> * Less. <!-- no: so. -->\n> * 0.3. <!-- yes: so. -->"),
        chapter("> **Predict.**\n> It is ____. <!-- number: 0.3 within 0.1: so. -->"),
    ],
    rules.counts_are_printed: [
        chapter("It holds in 36 of 72 heads.", code("heads", printed("36 heads\n"))),
        chapter("Ten of the twelve do it.", code("f(12)", printed("9\n"))),
        chapter("That is so in seven rows.", code("rows", printed("6\n"))),
        chapter("There are 4,096 such sets.", code("n", printed("496\n"))),
        chapter("> **Predict.**\n> Is it?\n>\n> * Yes. <!-- no: in seven rows. -->\n> * No. <!-- yes: so. -->"),
    ],
    rules.bets_are_judged: [chapter(f"> **Predict.**\n> Which?\n>\n{text}") for text in [
        "> * One. <!-- no: so. -->\n> * Two. <!-- no: so. -->",
        "> * One. <!-- yes: so. -->",
        "> * One.\n> * Two. <!-- yes: so. -->",
        "> * One. <!-- no -->\n> * Two. <!-- yes: so. -->",
        f"> * One. <!-- no: {21 * 'word '} -->\n> * Two. <!-- yes: so. -->",
        "> * One. <!-- yes: so. -->\n> * Two. <!-- yes: so. -->",
        "> * One. <!-- perhaps: so. -->\n> * Two. <!-- yes: so. -->",
        "> It is ____.",
        "> It is this. <!-- number: 1 within 0: so. -->",
        "> It is ____. <!-- number: 1: so. -->",
        "> It is so. <!-- yes: so. -->",
    ]],
    rules.checks_are_folded: [
        chapter(code("torch.equal(a, b)", printed("True\n"))),
        chapter(code("a == b, b == a", printed("(True,\n False)\n"))),
        chapter(code("x = 1\nassert x == 1")),
        chapter(code("# Holds: x is 1.\nassert x == 1")),
        chapter(code("x = 1\nassert x == 1", tags=["fold"])),
        chapter(code("# Holds: x is 1\nassert x == 1", tags=["fold"])),
    ],
    rules.code_in_sight_is_read: [
        chapter(code("a = 1\n" * 91), code("a = 1\n" * 90)),
        chapter(code("table = 1", tags=["fold-code"])),
    ],
    rules.furniture_is_hidden: [
        new_notebook(cells=[code(SET_UP, tags=["set-up"])]),
        chapter(code("import torch\nfrom mha import viz")),
    ],
    rules.what_is_made_is_shown: [chapter(code("viz.columns(a)\nprint(1)"))],
    rules.markdown_is_portable: [chapter(text) for text in [
        "```{note}\nx\n```",
        "see {ref}`there`",
        "a claim[^1]",
        "> [!NOTE]\n> x",
        ":::{tip}\nx\n:::",
        "(target)=\n## Title",
        "% hidden",
        "a {{ name }}",
        "![x](x.png){.wide}",
    ]],
    links_resolve: [chapter("[nowhere](no_such_file.ipynb)"), chapter('<img src="no_such_file.png" alt="x">')],
    names_exist: [chapter("Call `mha.no_such_name`."), chapter("Call `mha.pick_device.no_such_name()`.")],
    set_up_comes_first: [
        new_notebook(cells=[code("import torch, mha")]),
        new_notebook(cells=[code("import torch, mha", tags=["set-up"])]),
        new_notebook(cells=[code("1"), code(SET_UP, tags=["set-up"])]),
        new_notebook(cells=[code(SET_UP, tags=["set-up"]), code(SET_UP, tags=["set-up"])]),
    ],
    is_normalised: [
        chapter(new_code_cell("1")),
        chapter(code("f", new_output("display_data", {"text/plain": "a figure", "image/svg+xml": "<svg/>"}))),
        chapter(code("1 / 0", new_output("error", ename="E", evalue="v", traceback=["in file", "E: v"]))),
        new_notebook(cells=GOOD.cells, metadata={"widgets": {}}),
    ],
}


def test_rules_are_silent_on_a_good_chapter():
    assert [complaint for rule in CHAPTER_RULES if rule is not links_resolve for complaint in rule(GOOD)] == []


@pytest.mark.parametrize("rule", CHAPTER_RULES, ids=lambda rule: rule.__name__)
def test_rule_catches_each_bad_chapter(rule):
    assert BAD[rule] and [example for example in BAD[rule] if not list(rule(example))] == []


def test_a_name_that_is_not_the_titles_is_caught():
    notebook = chapter()
    assert not list(rules.named_after_title(notebook, "01_soft_lookup"))
    for stem in ("01_hard_lookup", "soft_lookup", "01_lookup_soft", "02_soft_lookup"):
        assert list(rules.named_after_title(notebook, stem))


# --- The package ----------------------------------------------------------------------------------------------------

def linted(*command, folder=ROOT, **options):
    """What a linter says of a folder; nothing where all is well."""
    run = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, encoding="utf-8", **options)
    return run.stdout + run.stderr if run.returncode else ""


RUFF = ("-m", "ruff", "check", "--no-cache", "--output-format=concise")
IMPORTS = ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")


def test_ruff_finds_nothing():
    assert linted(*RUFF, ".") == ""


@pytest.mark.parametrize("source, name", [
    ("import math", "unused-import"), (f"x = '{'x' * 120}'", "line-too-long"),
    ("assert x", "assert"), ("open('x')", "unspecified-encoding"),
    ("try:\n    x = 1\nexcept:\n    x = 2", "bare-except"),
    ("try:\n    x = 1\nexcept Exception:\n    x = 2", "blind-except"),
])
def test_ruff_finds_what_it_should(source, name):
    assert f": {name}: " in linted(*RUFF, "--stdin-filename=mha/x.py", "-", input=source + "\n")


def test_imports_point_one_way():
    assert linted(*IMPORTS) == ""


@pytest.mark.parametrize("module, line", [
    ("mha/masks.py", "from mha import attention"), ("mha/heads.py", "import numpy"),
    ("mha/viz/maps.py", "import mha.widgets"), ("_ext/bets.py", "import tools.refresh"),
])
def test_an_import_against_the_arrows_is_caught(tmp_path, module, line):
    for folder in ("mha", "stored", "_ext", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=lambda _, names: [
            name for name in names if "." in name and not name.endswith(".py")])
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / module).write_text(f"{line}\n", encoding="utf-8")
    assert "BROKEN" in linted(*IMPORTS, folder=tmp_path)


def test_importing_mha_loads_neither_matplotlib_nor_ipywidgets():
    script = "import sys, mha; print([name for name in ('matplotlib', 'ipywidgets') if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True).strip() == "[]"


def wide_lines(source):
    """Lines over 120 characters."""
    for number, line in enumerate(source.splitlines(), start=1):
        if len(line) > 120:
            yield f"line {number} has {len(line)} characters; at most 120"


def test_no_line_is_wider_than_120_characters():
    """ruff sees to Python."""
    assert {path.relative_to(ROOT): list(found) for path in tracked("*.js", "*.css", "*.toml", "*.yml")
            if (found := list(wide_lines(path.read_text(encoding="utf-8"))))} == {}


def test_a_wide_line_is_caught():
    assert list(wide_lines("x = 1\n" + "#" * 121)) == ["line 2 has 121 characters; at most 120"]
    assert not list(wide_lines("#" * 120))


def test_a_file_of_the_package_is_read_in_one_sitting():
    """About 300 lines; what is longer has a part that could stand alone."""
    lines = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in tracked("mha/*.py")}
    assert {path: count for path, count in lines.items() if count > 320} == {}


def test_the_wheel_holds_the_package_and_no_script_of_ours():
    """Colab installs it: the numbers that chapters load are in it, what computed them is not."""
    assert '\n[tool.hatch.build.targets.wheel]\npackages = ["mha"]' in (ROOT / "pyproject.toml").read_text()
    assert [path.name for path in tracked("mha/*") if path.name.startswith("make_")] == []


def doubled_keys(text):
    """Keys that stand twice in one mapping of a YAML text, of which the first is lost without a word."""
    nodes = [yaml.compose(text)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            names = [key.value for key, _ in node.value]
            yield from (name for name in names if names.count(name) > 1)
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value


@pytest.mark.parametrize("path", tracked("*.yml"), ids=lambda path: path.name)
def test_no_key_of_a_settings_file_stands_twice(path):
    assert list(doubled_keys(path.read_text(encoding="utf-8"))) == []


def test_a_key_that_stands_twice_is_caught():
    assert set(doubled_keys("a: 1\nb: [{c: 1, c: 2}]\na: 2")) == {"a", "c"}


# --- The files around them ------------------------------------------------------------------------------------------

MACHINE = re.compile(r"(?<![\w./:<-])/(?:home|mnt|opt|root|tmp|Users|work)/[\w.-]+")


def test_no_file_names_a_path_of_one_machine():
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path in tracked()
             for match in MACHINE.finditer(path.read_bytes().decode("utf-8", "ignore"))]
    assert found == []


def test_a_path_of_one_machine_is_caught():
    path = "/".join(["", "home", "ada", "book"])
    assert MACHINE.search(f"x = '{path}'") and not MACHINE.search(f"https://example.org{path}")


def test_readme_has_at_most_350_words():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 350


@pytest.mark.parametrize("rule", [rules.links_resolve, rules.names_exist], ids=["links", "names"])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_keeps_the_rule(path, rule):
    text = path.read_text(encoding="utf-8")
    assert list(rule(text) if rule is rules.names_exist else rule(text, path.parent)) == []


def test_the_citation_names_the_version():
    assert f"\nversion: {mha.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


# Neither the word that stood for one, nor an address on GitHub: the build is told where it is published.
OF_ONE_OWNER = re.compile("OWN" + r"ER/|github\.com/[\w.-]+/multi-head-attention")


def test_no_file_says_whose_repository_it_is():
    assert [path.name for path in tracked() if OF_ONE_OWNER.search(path.read_bytes().decode("utf-8", "ignore"))] == []


def test_the_address_of_one_owner_is_caught():
    assert OF_ONE_OWNER.search("git+https://github.com/" + "ada/multi-head-attention")

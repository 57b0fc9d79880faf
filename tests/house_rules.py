"""The rules of a chapter, each a function from a notebook to the sentences that complain about it.

test_house.py holds every chapter to every rule, and every rule to an example that it must catch.
"""
import ast
import importlib
import re
import statistics
from copy import deepcopy
from decimal import Decimal

from nbformat import NotebookNode

from _ext import bets, folding, labs
from tools import notebooks


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def markdown(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def tags(cell):
    return cell.metadata.get("tags", [])


# --- Cells ----------------------------------------------------------------------------------------------------------

def cells_are_short(notebook):
    """The median code cell has at most 4 lines, none has more than 15 and no line more than 82 characters.

    Cells that are generated do not count: the set-up cell and those of the exercises; nor the line of what holds.
    """
    cells = [cell for cell in code_cells(notebook) if not {"set-up", "exercise"} & set(tags(cell))]
    lines = [len([line for line in folding.HOLDS.sub("", cell.source).splitlines() if line.strip()]) for cell in cells]
    if lines and statistics.median(lines) > 4:
        yield f"the median code cell has {statistics.median(lines):g} lines; at most 4"
    for cell, count in zip(cells, lines):
        if count > 15:
            yield f"a cell of {count} lines, at most 15: {cell.source.splitlines()[0]}"
        for line in cell.source.splitlines():
            if len(line) > 82:
                yield f"a line of {len(line)} characters, and the page shows 82: {line}"


def outputs_are_narrow(notebook):
    """No line of printed text is wider than the page shows, except where the text is another on each machine."""
    hidden = {"nbval-ignore-output", "remove-output", "remove-cell"}
    for cell in code_cells(notebook):
        if not hidden & set(tags(cell)):
            for line in "".join(output.get("text", "") for output in cell.outputs).splitlines():
                if len(line) > 82:
                    yield f"a printed line of {len(line)} characters, and the page shows 82: {line}"


MODULES = {"altair", "bokeh", "glob", "http", "huggingface_hub", "matplotlib", "os", "pathlib", "plotly", "requests",
           "seaborn", "shutil", "subprocess", "urllib"}
CALLS = {"open", "imshow", "load", "plot", "read_bytes", "read_text", "save", "savefig", "subplots", "write_text"}
PATH = re.compile(r"://|^(~|\.{1,2})?/\S|\.(csv|ipynb|js|json|npy|npz|png|pt|py|safetensors|svg|txt)$")


def cells_teach(notebook):
    """No plotting commands, training loops, file paths, downloads or shell commands beyond the set-up cell."""
    for cell in code_cells(notebook):
        if "set-up" in tags(cell):
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:
            yield f"not plain Python: {cell.source}"
            continue
        for node in ast.walk(tree):
            found = machinery(node)
            if found:
                yield f"{found} does not belong in a chapter's cell: {cell.source}"


def machinery(node):
    """What in a piece of code is machinery, not lesson; None where nothing is."""
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if alias.name.split(".")[0] in MODULES), None)
    if isinstance(node, ast.ImportFrom):
        return node.module if node.module and node.module.split(".")[0] in MODULES else None
    if isinstance(node, ast.Call) and called(node) in CALLS:
        return f"{called(node)}()"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and PATH.search(node.value):
        return repr(node.value)
    if isinstance(node, (ast.For, ast.While)) and {"backward", "step"} & set(map(called, ast.walk(node))):
        return "a training loop"
    return None


def called(node):
    """The last name of a call: `step` of `optimiser.step()`."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", None))


EXCEPTIONS = {"raises-exception", "nbval-ignore-output", "nbval-raises-exception", "nbval-skip", "skip-execution"}


def exceptions_are_few(notebook):
    """At most two cells are excepted from the strict run, by tags that a reader of the notebook can see."""
    excepted = [cell for cell in code_cells(notebook) if EXCEPTIONS & set(tags(cell))]
    if len(excepted) > 2:
        yield f"{len(excepted)} cells are excepted from the strict run; at most 2"
    for cell in code_cells(notebook):
        if "NBVAL_" in cell.source:
            yield f"an exception hides in a comment; use a tag: {cell.source}"


def set_up_comes_first(notebook, set_up):
    """The first code cell, and no other, is the set-up cell that `refresh` stamps."""
    cells = code_cells(notebook)
    if [cell for cell in cells if "set-up" in tags(cell)] != cells[:1]:
        yield "the first code cell, and no other, has the tag set-up"
    elif cells and cells[0].source != set_up:
        yield "the set-up cell is not the one of _ext/publishing.py: run `python3 book.py refresh`"


def is_normalised(notebook, set_up):
    """Nothing is stored that `refresh` would drop."""
    if notebooks.normalise(deepcopy(notebook), set_up) != notebook:
        yield "not stored as `python3 book.py refresh` stores it"


def only_checks(cell):
    """Whether a cell asserts and shows nothing, or shows nothing but True and False; a tensor of them is a table."""
    shown = re.findall(r"\w+", "\n".join(map(notebooks.text_of, notebooks.text_outputs(cell.outputs))))
    return set(shown) <= {"True", "False"} if shown else bool(re.search(r"^ *assert\b", cell.source, re.MULTILINE))


def checks_are_folded(notebook):
    """A cell that only checks has the tag `fold`, and its first line says what holds: _ext/folding.py says how."""
    for cell in code_cells(notebook):
        if folding.TAG in tags(cell):
            if not folding.HOLDS.match(cell.source):
                yield f"the first line of a folded cell is '# Holds: ....', with a full stop: {cell.source}"
        elif only_checks(cell) and "exercise" not in tags(cell):
            yield f"it only checks: say what holds in a first line '# Holds: ...', with the tag fold: {cell.source}"


def code_in_sight_is_read(notebook):
    """At most 180 lines of code are in sight on a page; where there is more, `fold-code` folds what lays out a table.

    Such a cell has something to show, for else there would be nothing above which to open it.
    """
    in_sight = [cell for cell in code_cells(notebook) if set(tags(cell)) <= {"nbval-ignore-output"}]
    lines = sum(len(cell.source.splitlines()) for cell in in_sight)
    if lines > 180:
        yield f"{lines} lines of code are in sight, at most 180: give those that lay out a table the tag fold-code"
    for cell in code_cells(notebook):
        if folding.CODE_TAG in tags(cell) and not cell.outputs:
            yield f"its code is folded, and it has no output to stand for it: {cell.source}"


def furniture_is_hidden(notebook):
    """The page does not show the set-up cell, nor a cell that only imports: the tag remove-input."""
    for cell in code_cells(notebook):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        imports = lines and all(re.match(r"(import|from) ", line) for line in lines)
        if ("set-up" in tags(cell) or imports) and "remove-input" not in tags(cell):
            yield f"the page need not show this: give it the tag remove-input: {cell.source}"


def what_is_made_is_shown(notebook):
    """A notebook shows the value of a cell's last expression only: a table, a picture or a figure stands there."""
    for cell in code_cells(notebook):
        for statement in ast.parse(cell.source).body[:-1]:
            made = ast.unparse(statement)
            if isinstance(statement, ast.Expr) and made.startswith(("viz.", "widgets.")):
                yield f"it is made, and shown nowhere, since it is not the last expression: {made}"


# --- Prose ----------------------------------------------------------------------------------------------------------

FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
NOT_PROSE = [
    FENCE,
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"(`+).*?\1", re.DOTALL),
    re.compile(r"(?<!\\)\$(?=\S)[^$]*?\$"),
    re.compile(r"!?\[[^\]]*\]\([^)]*\)"),
    re.compile(r"<[^>\s][^>]*>"),
    re.compile(r"^# \d+ ·", re.MULTILINE),
]
NAMED = re.compile(r"\b(Python|PyTorch|torch|version|section|table|figure|equation|BY|head)\s\d+\.\d+", re.IGNORECASE)
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?:[eE][-+]?\d+)?(?!\d|\.\d)")


def prose(text):
    """What remains of Markdown without code, formulas, links and HTML tags."""
    for pattern in NOT_PROSE:
        text = pattern.sub(" ", text)
    return NAMED.sub(" ", text)


def numbers(pattern, text):
    """The numbers in a text, without their signs: 0.50 and 0.5 are one number, 0.58 and 0.576 are two."""
    return {abs(Decimal(number)) for number in pattern.findall(re.sub(r"(?<=\d),(?=\d{3})", "", text))}


PREDICT = re.compile(r"^> \*\*Predict\b.*(?:\n>.*)*", re.MULTILINE)
OPTION = re.compile(r"^\* (?:.*\n?)(?:[ \t]+.*\n?)*", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def bets_of(text):
    """(question, options, comments outside of options) of each Predict box in a Markdown text."""
    for quote in PREDICT.findall(text):
        inside = re.sub(r"^> ?", "", quote, flags=re.MULTILINE)
        rest = OPTION.sub("", inside)
        yield rest, OPTION.findall(inside), COMMENT.findall(rest)


def bets_are_judged(notebook):
    """Each option of a bet has its verdict, and every wrong one a short reply: _ext/bets.py says how."""
    for question, options, comments in bets_of(markdown(notebook)):
        try:
            blanks = question.count(bets.BLANK)
            bets.parse_bet([COMMENT.findall(option) for option in options], comments, blanks)
        except ValueError as wrong:
            yield f"{wrong}, in: {' '.join(question.split())[:80]}"


def with_replies(text):
    """A Markdown text in which bets state what they hold for true: their replies and right answers, no wrong option."""
    def told(quote):
        inside = re.sub(r"^> ?", "", quote[0], flags=re.MULTILINE)
        kept = OPTION.sub(lambda option: re.sub(r".*?(?=<!--\s*no\b)", "", option[0], flags=re.DOTALL), inside)
        right_number_first = re.sub(r"<!-- number: (\S+)[^:]*:", r"\1 <!--", kept, count=1)
        replies = re.sub("<!-- number:[^:]*:", "<!--", right_number_first)
        return re.sub(r"<!--\s*(?:(?:yes|no|several)\b:?)?(.*?)-->", r"\1", replies, flags=re.DOTALL)

    return PREDICT.sub(told, text)


def decimals_are_printed(notebook):
    """Every decimal in the prose stands, to the digit, in the stored output of some cell of the chapter."""
    printed = "\n".join(notebooks.text_of(output) for cell in code_cells(notebook)
                        for output in notebooks.text_outputs(cell.outputs))
    told = prose(with_replies(markdown(notebook)))
    for number in sorted(numbers(DECIMAL, told) - numbers(notebooks.NUMBER, printed)):
        yield f"{number} stands in the prose and no cell prints it"


WORDS = {word: number for number, word in enumerate(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split(), start=2)}
COUNT = r"(?:\d+(?:,\d{3})*|" + "|".join(WORDS) + ")"
COUNTED = ("cases|draws|fields|halves|heads|keys|layers|letters|orders|pairs|places|pronouns|queries|questions|"
           "relations|rows|runs|seeds|sentences|steps|texts|times|tokens|tries|words")
# A count of something that came out: "ten of the twelve", "36 of 72", "in 12 rows", "in 95 of 100 tries".
RESULT = re.compile(rf"\b({COUNT}) of (?:the |its |our |all |these )*({COUNT})\b|\bin ({COUNT}) (?:{COUNTED})\b",
                    re.IGNORECASE)
LARGE = re.compile(r"(?<![\w.,/-])\d{1,3}(?:,\d{3})+(?![\w.])|(?<![\w.,/-])\d{2,}(?![\w,]*\d)(?!\.\d| minutes)")
YEAR = re.compile(r"(?:19|20)\d\d")


def counts(text):
    """The whole numbers in prose that state a result or a size: counts of something, and all of two digits or more."""
    told = prose(with_replies(text))
    of = [number for match in RESULT.finditer(told) for number in match.groups() if number]
    return [*of, *(number for number in LARGE.findall(told) if not YEAR.fullmatch(number))]


def counts_are_printed(notebook):
    """Every count in the prose stands in the output of some cell of the chapter, or in its code."""
    cells = [cell for cell in code_cells(notebook) if "exercise" not in tags(cell)]
    outputs = [notebooks.text_of(output) for cell in cells for output in notebooks.text_outputs(cell.outputs)]
    there = "\n".join([*outputs, *(cell.source for cell in cells)]).replace(",", "")
    known = set(re.findall(r"\d+", there)) | {str(WORDS[word]) for word in WORDS if re.search(rf"\b{word}\b", there)}
    told = markdown(NotebookNode(cells=[cell for cell in notebook.cells if "exercise" not in tags(cell)]))
    for number in dict.fromkeys(counts(told)):
        digits = str(WORDS.get(number.lower(), number)).replace(",", "")
        if digits not in known:
            yield f"{number} stands in the prose and no cell has it"


MYST_ONLY = {
    "a directive": r"^ *(```+|~~~+) *\{|^ *:::",
    "a role": r"(?<!`)\{[a-zA-Z][\w:-]*\}`",
    "a footnote": r"\[\^[^\]]+\]",
    "a GitHub alert": r"^ *> *\[!\w+\]",
    "a target": r"^\([\w-]+\)=",
    "a comment or block break": r"^(%|\+\+\+)",
    "an attribute": r"[\])`]\{[.#]\w",
    "a substitution": r"\{\{ *\w+ *\}\}",
}


def markdown_is_portable(notebook):
    """Nothing that shows raw on Colab, in JupyterLab or on GitHub."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            if cell.get("attachments"):
                yield "an attached picture: put it in chapters/images and link it"
            for name, pattern in MYST_ONLY.items():
                text = cell.source if name in ("a directive", "a role", "an attribute") else prose(cell.source)
                for found in re.finditer(pattern, text, re.MULTILINE):
                    yield f"{name} does not show everywhere: {found[0]}"


def links_resolve(text, folder):
    """Every relative link in a Markdown text leads to a file."""
    bare = re.sub(r"(`+).*?\1", " ", FENCE.sub(" ", text))
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", bare) + re.findall(r'(?:src|href)="([^"]+)"', bare):
        path = target.split("#")[0]
        if path and not re.match(r"\w+:", path) and not (folder / path).exists():
            yield f"the link {target} leads nowhere"


def names_exist(text):
    """Every `mha.name` in a code span is a name of the package."""
    for span in re.findall(r"`[^`]+`", text):
        for name in re.findall(r"\bmha(?:\.[A-Za-z_]\w*)+", span):
            if not exists(name):
                yield f"{name} is not in the package"


def exists(name):
    """Whether a dotted name can be had by importing and asking for attributes."""
    module, *parts = name.split(".")
    found = importlib.import_module(module)
    for part in parts:
        module += "." + part
        if not hasattr(found, part):
            try:
                importlib.import_module(module)
            except ModuleNotFoundError:
                return False
        found = getattr(found, part)
    return True


def named_after_title(notebook, stem):
    """A chapter is NN_words or A_words; its title is `NN · Words: ...`, and the words stand in it in that order.

    A lab is NN_words_lab, and its title `Lab NN · Words: ...`.
    """
    title = re.search(r"^# +(.+)", markdown(notebook), re.MULTILINE)
    if not title:
        yield "no title"
        return
    match = re.fullmatch(r"(\d\d[a-z]?|[A-Z])_([a-z0-9_]+)", labs.chapter_of(stem))
    if not match:
        yield f"{stem} is not named NN_words_of_the_title"
        return
    number = ("Lab " if labs.is_lab(stem) else "") + match[1].removeprefix("0")
    if not title[1].startswith(f"{number} · "):
        yield f"the title does not begin with its number, {number} ·: {title[1]}"
    elif not re.search(r"\b" + r"\W+".join(match[2].split("_")) + r"\b", title[1], re.IGNORECASE):
        yield f"the words of {stem} do not stand in the title: {title[1]}"

"""Lets the exercises in code be written in the page: a form under each, a cell of the reader's own at a chapter's end,
and beside the book the Python that runs them.

What a page loads before a press is a button. What a press brings is made here, once a build: the editor, the program
of the worker, and one file with Python, numpy, the small torch, this package, and what the page asks of them
(_ext/in_page/). Python itself comes from the npm registry by version and hash (_ext/python_files.py); where it cannot
be had, the page says so in a line.
"""
import ast
import functools
import gzip
import json
from html import escape
from pathlib import Path

import nbformat
from sphinx.util import logging

from . import python_files
from .generated import named
from .publishing import colab_url
from .replies import script

logger = logging.getLogger(__name__)
IN_PAGE = Path(__file__).parent / "in_page"
ROOT = Path(__file__).parent.parent
FORM = """\
<form class="ask write-here" id="write-{name}" data-exercise="{id}" aria-label="{label}">{known}
<fieldset disabled><p class="ask-send"><button type="button" class="write-open">{verb}: {size}</button> \
<span class="write-about">{about}</span></p></fieldset>\
<noscript><p class="live-note">Turn on JavaScript to write code here.</p></noscript></form>"""
ABOUT = "Python and a small torch come to this page once, then they work offline."
MISSING = " This copy of the book was built without Python for its pages."
OWN = """<section id="own-cell"><h2>A cell of your own<a class="headerlink" href="#own-cell" \
title="Link to this heading">#</a></h2>
<p>Call any function of this chapter and of <code>mha</code>, as in a notebook: the value of the last line is shown.</p>
{form}</section>"""


# --- What stands in the page ----------------------------------------------------------------------------------------

def form(item, docname):
    """Where the code of an exercise is written; nothing where there is no Python for it."""
    address = colab_url(docname, cell=f"exercise-{item.id.replace('.', '-')}-stub")
    return made(item.id, item.stub.strip(), item.name, address, "Write it here",
                f"Write the code of exercise {item.id}")


def own_cell(docname):
    """A cell that belongs to no exercise."""
    id = f"own-{docname.rpartition('/')[2]}"
    return OWN.format(form=made(id, "", "", colab_url(docname), "Open a cell", "A cell of your own"))


def made(id, stub, name, colab, verb, label):
    if not files():
        return ""
    known = of_code({"stub": stub, "name": name, "colab": colab})
    return FORM.format(id=id, name=id.replace(".", "-"), known=known, verb=verb, about=ABOUT, label=escape(label),
                       size=f"{bytes_to_load() / 1e6:.1f} MB")


def of_code(data):
    """Data for a script in which code stands as it is typed: no words that a page shows."""
    return script(data).replace("application/json", "application/json+code", 1)


def prelude(path):
    """What a chapter's cells import and define, a text for each name: the page leaves out what it cannot run."""
    found = []
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type != "code" or "exercise" in cell.metadata.get("tags", []):
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:                                   # with a line of IPython's own
            continue
        found += [ast.unparse(one) for node in tree.body for one in named_alone(node)]
    return list(dict.fromkeys(found))


def named_alone(node):
    """A statement that imports or defines, as one for each name; pictures and live figures are not for here."""
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if not f"{node.module}.{alias.name}".startswith(("mha.viz", "mha.widgets")):
                yield ast.ImportFrom(node.module, [alias], node.level)
    elif isinstance(node, (ast.Import, ast.FunctionDef, ast.ClassDef)):
        yield node


# --- What a press brings --------------------------------------------------------------------------------------------

def folder(app):
    return Path(app.outdir, "_static", "python")


@functools.cache
def files():
    """The archive of all that Python needs, and the program of the worker; None where Python cannot be had."""
    try:
        python, numpy = python_files.python(), python_files.numpy()
    except (OSError, ValueError) as missing:
        logger.info("No page gets Python: %s", missing)
        return None
    parts = {"pyodide.asm.wasm": python["pyodide.asm.wasm"], "pyodide-lock.json": python_files.empty_lock(python),
             "python_stdlib.zip": python_files.stored(python["python_stdlib.zip"]),
             "numpy.zip": numpy, "book.zip": python_files.book(ROOT),
             "inside.py": (IN_PAGE / "inside.py").read_bytes()}
    worker = b"\n".join([python["pyodide.asm.js"], python["pyodide.js"], (IN_PAGE / "worker.js").read_bytes()])
    return python_files.archive(parts), worker


@functools.cache
def bytes_to_load():
    """How much a press brings, the worker's program as servers send it."""
    return sum(len(part) for part in (files()[0], gzip.compress(files()[1], 9)))


def write(app, error):
    """The files, beside the pages."""
    if error or app.builder.format != "html" or not files():
        return
    there = folder(app)
    there.mkdir(parents=True, exist_ok=True)
    archive, worker = files()
    names = {"archive": named(there, "python", ".bin", archive), "worker": named(there, "worker", ".js", worker),
             "bytes": len(archive)}
    for name in ("editor.js", "python.js"):
        text = (IN_PAGE / name).read_text("utf8").replace("FILES_OF_THE_BUILD", json.dumps(names))
        (there / name).write_text(text, "utf8")
    Path(app.outdir, "offline.js").write_bytes((IN_PAGE / "offline.js").read_bytes())   # a page is kept from its top
    (there / "NOTICE.txt").write_bytes((IN_PAGE / "NOTICE.txt").read_bytes())


def wake_early(app, pagename, templatename, context, doctree):
    """A page with something to write gets a cell of the reader's own, and says to Python which chapter it is and what
    its cells define.
    """
    context["has_writing"] = 'class="ask write-here"' in context.get("body", "")
    if context["has_writing"]:
        known = {"chapter": pagename.rpartition("/")[2], "prelude": prelude(app.env.doc2path(pagename))}
        told = of_code(known).replace("<script", '<script id="python-of-this-page"', 1)
        context["body"] = context["body"].rpartition("</section>")[0] + own_cell(pagename) + "</section>" + told


def setup(app):
    app.connect("html-page-context", wake_early)
    app.connect("build-finished", write)

"""Makes the exercises of a chapter answer in the page: no kernel, no server.

Each section whose heading starts with the id of an exercise gets a form, written at build time, so that nothing jumps
and a reader without JavaScript still reads the question, and unfolds the answer. The data to judge an answer stands
beside the form, and ask.js brings it to life. An exercise in code gets a link to its own cell on Colab. The map
gets a panel with what was solved and the code that carries it elsewhere.
"""
import json
import re
import textwrap
from html import escape

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

from . import bets, completion, page_python, replies
from .answers import without_script
from .generated import static
from .publishing import colab_url, commit, repository, repository_url
from mha.exercises import EXERCISES

MAP = "chapters/index"


class Forms(SphinxPostTransform):
    """A form under each question; under each exercise in code its blanks, and where to write it."""
    default_priority = 2

    def run(self, **kwargs):
        if self.app.builder.format != "html":
            return
        for section in list(self.document.findall(nodes.section)):
            item = EXERCISES.get(section.children[0].astext().partition(" ")[0])
            if item is None or item.chapter != self.env.docname.rpartition("/")[2]:
                continue
            section["classes"].append("exercise")
            section["ids"].insert(0, f"exercise-{item.id.replace('.', '-')}")
            show_kind(section, item)
            if item.in_code:
                forms = [completion.form(self.app, item)] if item.program else []
                forms.append(page_python.form(item, self.env.docname))
                place_before_hints(section, [*map(raw, forms)])
                fold(section, "Write it yourself", self.where_to_write(item))
            elif item.predicted:
                predict(section, item)
            else:
                ask(section, item)

    def where_to_write(self, item):
        """Where the code of an exercise can be written and checked: on Colab, in a file, in a clone of the book."""
        address = colab_url(self.env.docname, cell=f"exercise-{item.id.replace('.', '-')}-stub")
        file = relative_uri(self.app.builder.get_target_uri(self.env.docname), f"_static/{file_of(item)}")
        where = (f'<a href="{escape(address)}">Write it on Colab, at this cell</a>' if address else
                 "<code>python3 book.py lab</code> opens this chapter, where the book was cloned")
        return (f'<p class="to-write">{where}; or take home <a href="{file}" download>a file that checks itself</a> '
                f"when it is run.{'' if page_python.files() else page_python.MISSING}</p>")


KINDS = {"code": "Complete or write", "number": "A number", "choice": "Choose", "plot": "Read a picture",
         "predict": "Guess", "explain": "In your words", "bug": "Which bug?", "picture": "Which picture?",
         "line": "Which line?", "test": "Which test?"}


def show_kind(section, item):
    """What is to be done stands out from the line about an exercise, which begins with its kind."""
    about = section.children[1]
    words = next((text for text in about.findall(nodes.Text) if text.startswith(item.kind)), None)
    if words is not None:
        words.parent.replace(words, nodes.Text(words.removeprefix(item.kind).removeprefix(" · ")))
        about.insert(0, raw(f'<span class="kind kind-{item.kind}">{KINDS[item.kind]}</span> '))


def fold(section, title, opening):
    """Put the code cells of a section under a title that opens them."""
    cells = [i for i, child in enumerate(section.children) if isinstance(child, nodes.container)]
    made = [raw(f'<details class="write-it"><summary>{title}</summary>{opening}'), raw("</details>")]
    section.children[cells[-1] + 1 : cells[-1] + 1] = made[1:]
    section.children[cells[0] : cells[0]] = made[:1]
    for node in made:
        node.parent = section


def file_of(item):
    """The name of the file that a reader can take home: exercises/2_1_attention.py."""
    return f"exercises/{item.id.replace('.', '_')}_{item.name}.py"


TO_TAKE_HOME = '''\
"""{label}

{statement}
"""
# mha is the book's package: {bring}
import math

import torch

from mha.exercises import check, hint


{stub}


print(check("{id}", {name}))
# print(hint("{id}"))
'''


def to_take_home(item):
    """An exercise in code as a file that checks itself."""
    bring = (f'pip install "mha @ git+{repository_url()}@{commit()}"' if repository()
             else "run this with the Python of a clone of the book, .venv/bin/python")
    return TO_TAKE_HOME.format(label=item.label, statement=textwrap.fill(item.statement, 100), bring=bring,
                               stub=item.stub.strip(), id=item.id, name=item.name)


def raw(html):
    return nodes.raw("", html, format="html")


def place_before_hints(section, made):
    """Put nodes before the first hint of a section, or at its end."""
    hints = [i for i, child in enumerate(section.children) if isinstance(child, nodes.raw)
             and "<details>" in child.astext()]
    at = hints[0] if hints else len(section.children)
    section.children[at:at] = made
    for node in made:
        node.parent = section


def options_of(section):
    """The list of a question's options, A. and what follows, or None."""
    return next((child for child in section.children if isinstance(child, nodes.bullet_list)
                 and child.children[0].astext()[:2] == "A."), None)


def predict(section, item):
    """Turn a prediction into a bet, as those of the chapter are; one that comes out as said is solved."""
    options = options_of(section)
    asked = options or nodes.paragraph("", "It is ", bets.blank(), nodes.Text("."))
    if options:
        section.remove(options)
    known = {"id": item.id, "exercise": True, **replies.of_item(item)}
    box = nodes.admonition("", nodes.title("", "Predict"), asked, raw(bets.render_controls(known)),
                           classes=["admonition", "predict", "bet"], ids=[f"ask-{item.id.replace('.', '-')}"])
    place_before_hints(section, [box, raw(without_script(item))])


def ask(section, item):
    """Turn a question into a form; the options keep what stands in them, formulas and all."""
    name = item.id.replace(".", "-")
    verb = "Show the checklist" if item.kind == "explain" else "Check"
    known = replies.beside({"id": item.id, **replies.of_item(item)})
    opening = (f'<form class="ask question" id="ask-{name}" aria-label="Answer to exercise '
               f'{item.id}">{known}<fieldset disabled>')
    closing = (f'<p class="ask-send"><button type="submit">{verb}</button></p></fieldset>'
               '<div class="ask-reply" role="status" aria-live="polite"></div></form>')
    options = options_of(section)
    if item.letters:
        kind = "checkbox" if item.several else "radio"
        inside = [raw(f'{opening}<legend '
                      f'class="visually-hidden">{"Pick all that hold" if item.several else "Pick one"}</legend>')]
        for letter, option in zip(item.letters, options.children):
            inside += [raw(f'<div class="ask-option"><input type="{kind}" name="{item.id}" value="{letter}" '
                           f'id="ask-{name}-{letter}"><label for="ask-{name}-{letter}">'),
                       *option.children[0].children, raw("</label></div>")]
        section.remove(options)
    elif item.kind == "explain":
        inside = [raw(f'{opening}<label for="ask-{name}-words">Your words (they stay in this page)</label><textarea '
                      f'id="ask-{name}-words" name="words" rows="4"></textarea>')]
    else:
        inside = [raw(f'{opening}<label for="ask-{name}-number">Your number</label> <input id="ask-{name}-number" '
                      'name="number" type="text" inputmode="text" autocomplete="off" size="12" placeholder="1.5 or '
                      '3/2">')]
    place_before_hints(section, [*inside, raw(closing), raw(without_script(item))])


def of_chapter(chapter):
    return [item for item in EXERCISES.values() if item.chapter == chapter]


def of_chapters():
    """[chapter, [[id, kind, whether it is on the core path], ...]] for the panel and the table of contents."""
    chapters = dict.fromkeys(item.chapter for item in EXERCISES.values())
    return [[chapter, [[item.id, item.kind, int(item.core)] for item in of_chapter(chapter)]] for chapter in chapters]


PANEL = """<section class="progress-panel" id="your-progress" aria-labelledby="your-progress-title">
<h2 id="your-progress-title">Your progress</h2>
<p>What you solve in these pages is kept in this browser, and nowhere else; the map above counts it.
A short code carries it to another browser, to Colab, or back from there:
in a notebook, <code>progress()</code> of <code>mha.exercises</code> prints one and takes one.</p>
<form class="ask progress-form"><fieldset disabled>
<p><label for="progress-out">Your code</label>
<input id="progress-out" type="text" readonly size="40" value="">
<button type="button" data-do="copy">Copy</button></p>
<p><label for="progress-in">A code from elsewhere</label>
<input id="progress-in" type="text" size="40" autocomplete="off" autocapitalize="off">
<button type="submit">Add it</button></p>
<p><button type="button" data-do="forget">Forget everything</button></p>
</fieldset><div class="ask-reply" role="status" aria-live="polite"></div></form></section>"""


def add_panel(app, pagename, templatename, context, doctree):
    if pagename == MAP and "body" in context:
        context["body"] = context["body"].rpartition("</section>")[0] + PANEL + "</section>"


MINUTES = re.compile(r"(?:First reading\..*?|This page takes )about (\d+) minutes", re.S)


class MapOfProgress(SphinxPostTransform):
    """Two more columns of the map: the minutes of a first reading, as each chapter says them itself, and exercises."""
    default_priority = 900                        # when the links of the map are known

    def run(self, **kwargs):
        if self.env.docname != MAP or self.app.builder.format != "html":
            return
        group = next(self.document.findall(nodes.tgroup))
        group["cols"] += 2
        group.insert(1, [nodes.colspec(colwidth=10), nodes.colspec(colwidth=10)])
        for row in group.findall(nodes.row):
            head = isinstance(row.parent, nodes.thead)
            for text in ["First reading", "Exercises solved"] if head else self.about(row):
                row += nodes.entry("", nodes.paragraph("", "", raw(text)))

    def about(self, row):
        """Minutes and exercises of the chapter that a row links to."""
        link = next(row.findall(nodes.reference), {}).get("refuri", "")
        chapter = link.removesuffix(".html")
        if f"chapters/{chapter}" not in self.env.found_docs:
            return "", ""
        found, items = MINUTES.search(self.env.get_doctree(f"chapters/{chapter}").astext()), of_chapter(chapter)
        solved = f'<span data-chapter="{chapter}">0 of {len(items)}</span>' if items else ""
        return f"{found[1]} min" if found else "", solved


def add_scripts(app):
    """Every page knows the exercises, so that the table of contents can say what is done; those in code are files too.
    """
    if app.builder.format != "html":
        return
    for item in EXERCISES.values():
        if item.in_code:
            static(app, file_of(item), to_take_home(item))
    known = json.dumps(of_chapters(), separators=(",", ":"))
    static(app, "exercises_known.js", f"window.exercises = {known};\n")
    app.add_js_file("exercises_known.js", priority=290)
    app.add_js_file("progress.js", priority=300)


def setup(app):
    app.add_post_transform(Forms)
    app.add_post_transform(MapOfProgress)
    app.connect("builder-inited", add_scripts)
    app.connect("html-page-context", add_panel, priority=800)

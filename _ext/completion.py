"""Makes the code of an exercise something to complete in the page: its program with a choice in each blank, and all
that `check` says to any filling (mha/exercises/engine/feedback.py).
"""
import re
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .quotes import curly
from .replies import paragraph, script
from mha.exercises import EXERCISES
from mha.exercises.engine.feedback import shuffled
from stored import replies

FORM = """\
<form class="ask complete" id="complete-{name}" data-exercise="{id}" aria-label="Complete the code of exercise {id}">\
{known}<fieldset disabled>
<div class="highlight"><pre class="complete-code">{code}</pre></div>
<p class="ask-send"><button type="submit">Check</button> <span class="complete-count"></span></p></fieldset>
<div class="ask-reply" role="status" aria-live="polite"></div>
<ol class="complete-options">{options}</ol></form>"""


def form(app, item):
    """The program of an exercise with its blanks, as a form. Without a script it is a program and its choices to read.
    """
    blanks = item.program.offered
    code = highlight(item.program.filled(**{name: f"BLANK_{name}_" for name in blanks}), PythonLexer(),
                     HtmlFormatter(nowrap=True)).rstrip()
    places = {name: i for i, name in enumerate(blanks)}

    def choice(found):
        kind, before, name = found.groups()          # what stands before a blank without a space is lexed with it
        return (before and f'<span class="{kind}">{before}</span>') + select(item, name, places[name], len(blanks))

    code, count = re.subn(r'<span class="(\w+)">(\w*)BLANK_(\w+)_</span>', choice, code)
    if count != len(blanks):
        raise ValueError(f"{item.id}: {count} of {len(blanks)} blanks found in the page's code")
    lists = "".join(f'<li value="{i + 1}"><ul>{"".join(f"<li><code>{shown(text)}</code></li>" for _, text in choices)}'
                    "</ul></li>" for i, choices in enumerate(offered(item, name) for name in blanks))
    found = replies.replies_to(item)
    known = script({**found, "inputs": [curly(words) for words in found["inputs"]], "far": paragraph(found["far"]),
                    "lines": [*map(paragraph, found["lines"])]})
    return FORM.format(name=item.id.replace(".", "-"), id=item.id, known=known, code=code, options=lists)


def offered(item, name):
    """(place, fragment) of the choices of a blank, in the order in which they are shown."""
    choices = item.program.blanks[name].choices
    return [(place, choices[place]) for place in shuffled(item, name)]


def select(item, name, place, count):
    options = "".join(f'<option value="{i}">{shown(text)}</option>' for i, text in offered(item, name))
    return (f'<select aria-label="Blank {place + 1} of {count}" data-blank="{place}" required>'
            f'<option value="">({place + 1})</option>{options}</select>')


def shown(text):
    """A fragment on one line; nothing at all is a choice too."""
    return escape("; ".join(text.splitlines())) or "(nothing)"


# --- What the build asks for first ----------------------------------------------------------------------------------

def prepare(app, env, docnames):
    """Judge the programs of the pages that are about to be read, on all cores."""
    chapters = {docname.rpartition("/")[2] for docname in docnames}
    if app.builder.format == "html":
        replies.prepare([item for item in EXERCISES.values()
                              if item.in_code and item.program and item.chapter in chapters])


def wake_early(app, pagename, templatename, context, doctree):
    """base.html loads complete.js where there are blanks, so that a reply that was kept is there before the page is
    painted and pushes nothing away.
    """
    context["has_blanks"] = 'class="ask complete"' in context.get("body", "")


def setup(app):
    app.connect("env-before-read-docs", prepare)
    app.connect("html-page-context", wake_early)

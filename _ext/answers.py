"""The answer of an exercise in words: for the end of the PDF, and for a page whose scripts do not run."""
import re
from html import escape

from .quotes import curly
from mha.exercises.engine.cells import solution


WITHOUT_SCRIPT = """<noscript><p class="live-note">Turn on JavaScript to have it checked.</p>
<details><summary>The answer</summary>{answer}</details></noscript>"""


def answer(item):
    """The answer of an exercise, as HTML."""
    if item.in_code:
        return f"<pre>{escape(solution(item))}</pre><p>{linked(item.note)}</p>"
    if item.kind == "explain":
        points = "".join(f"<li>{linked(point)}</li>" for point in item.checklist)
        return f"<p><strong>To be said.</strong></p><ul>{points}</ul>"
    right, reasons = item.solution.strip('"'), ""
    if item.letters:
        reasons = " ".join(option.says for option in item.options if option.mistake is None)
        right = ", ".join(right)
    return f"<p><strong>Answer: {escape(right)}.</strong> {linked(f'{reasons} {item.note}')}</p>"


def linked(text):
    """Text as HTML, with curly quotation marks, its addresses as links."""
    return re.sub(r"https?://[^\s;]*[^\s;,.]", r'<a href="\g<0>">\g<0></a>', escape(curly(text)))


def without_script(item):
    """The answer of a question, folded, where nothing can check it."""
    return WITHOUT_SCRIPT.format(answer=answer(item))

"""What a page replies to an answer: every reply is made here, as HTML, when the book is built; ask.js looks it up.

A reply is [how, pieces of HTML]; how is right, wrong, thought, shown or, of what is no answer, refused. What a page
knows of a question is

    replies: answer -> reply; "" of no answer, "shown" of one that asks to be shown, "any" of any other. Of a number:
        "none" where it is not one, "beyond" where no float is as large, "below" and "above" the right one where nobody
        foresaw it.
    numbers: (value, how far from it still counts, reply), the right one first; the first that fits is taken.
    right: the letters that are.

In the HTML {said} stands for the answer as it was typed, {number} for the number that was read.
"""
import json
import math
import re
from html import escape
from itertools import chain, combinations

from .formulas import set_in_text
from .quotes import curly
from mha.exercises.engine.question import TOO_FAR, read_number

LETTERS = "abcdef"
LINK = re.compile(r"https://[^\s<)]+[^\s<).,:;]")


def html(text):
    """A text of the package or of a notebook: its marks curly, its `code`, addresses and symbols set."""
    made = re.sub("`([^`]+)`", r"<code>\1</code>", escape(curly(text), quote=False))
    return set_in_text(LINK.sub(r'<a href="\g<0>">\g<0></a>', made))


def paragraph(text):
    """The same as a paragraph; a text that begins with a space is printed code."""
    return f"<pre>{escape(text, quote=False)}</pre>" if text.startswith(" ") else f"<p>{html(text)}</p>"


def beside(data):
    """What a page knows of a question, as an element that is not shown; no piece of HTML stands in it twice."""
    pieces = {}

    def placed(reply):
        how, *made = reply
        return [how, *(pieces.setdefault(piece, len(pieces)) for piece in made)]

    known = {**data, "replies": {answer: placed(reply) for answer, reply in data["replies"].items()}}
    if "numbers" in data:
        known["numbers"] = [(value, within, placed(reply)) for value, within, reply in data["numbers"]]
    return script({**known, "pieces": list(pieces)})


def script(data):
    """Data for a script, as an element that is not shown."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<script type="application/json">{told}</script>'


def subsets(letters):
    """Every choice of at least one of these letters: "a", "b", "ab"."""
    return map("".join, chain.from_iterable(combinations(letters, size) for size in range(1, len(letters) + 1)))


# --- A bet: what its notebook says ----------------------------------------------------------------------------------

def came(how, lead, line=""):
    """What came of a bet, and why, as HTML."""
    return [how, f"<p><b>{lead}</b> <span>", line, "</span></p>"]


SHOWN = came("shown", "Shown without a bet.")
NO_NUMBER = ["refused", "<p>A number is asked for, such as 0.4 or 2/5.</p>"]
BEYOND = ["refused", paragraph(TOO_FAR)]
NONE_PICKED = ["refused", "<p>Pick at least one.</p>"]


def of_bet(data, count):
    """What the page knows of a bet, from what _ext/bets.py understood and its count of options."""
    if "numbers" in data:
        return of_bet_on_number(*data["numbers"])
    if "right" not in data:
        return {"replies": {"shown": SHOWN, "": came("thought", "Compare with your answer.")}}
    right, several = data["right"], data.get("several")
    known = {"shown": SHOWN, "": NONE_PICKED} if several else {"shown": SHOWN}
    for said in subsets(LETTERS[:count]) if several else data["replies"]:
        many = f" in {len({*said} ^ {*right})} of {count}. So it came" if several else ""
        verdict = ("right", "As you said:") if said == right else ("wrong", f"You said otherwise{many}:")
        known[said] = came(*verdict, html(several or data["replies"][said]))
    return {"right": right, "several": bool(several), "replies": known}


def of_bet_on_number(right, *foreseen):
    line = f"It is {right['is']}: {html(right['says'])}"
    value, within = read_number(right["is"]), read_number(right["within"])
    other = came("wrong", "You said {said}.", line)
    numbers = [(value, 0, came("right", "As you said.", line)),
               (value, within + 1e-9, came("right", "As you said, nearly.", line))]
    for one in foreseen:
        says = html(one["says"])
        reply = came("wrong", "You said {said}.", f"{says[0].upper()}{says[1:]} {line}")
        numbers.append((read_number(one["is"]), read_number(one["within"]) + 1e-9, reply))
    return {"numbers": numbers, "replies": {"shown": SHOWN, "": NO_NUMBER, "none": NO_NUMBER, "beyond": BEYOND,
                                            "below": other, "above": other}}


# --- An exercise: what the package reports --------------------------------------------------------------------------

def of_item(item):
    """What the page knows of a question, from the reports of the package."""
    if item.kind == "explain":
        return {"replies": {"": empty("Write a few words first, or say it aloud and write that you did."),
                            "any": written(item)}}
    known = of_letters(item) if item.letters else of_number(item)
    if item.predicted:
        _, lines = told(item, item.examine(item.right if item.letters else item.answer))
        known["replies"] |= {"shown": SHOWN, "again": came("right", "As you said, once you had seen it.", *lines)}
    return known


def of_number(item):
    said = "{said}" if item.predicted else "{number}"
    values = [item.answer, *(value for value, _ in item.mistakes)]
    return {"numbers": [(value, item.within(value), reply(item, item.judge(value, said))) for value in values],
            "replies": {"": NO_NUMBER if item.predicted else empty("Write a number first."),
                        "none": NO_NUMBER if item.predicted else reply(item, item.examine("{said}"), "refused"),
                        "beyond": BEYOND if item.predicted else reply(item, item.examine(math.inf), "refused"),
                        "below": reply(item, item.judge(-math.inf, said)),
                        "above": reply(item, item.judge(math.inf, said))}}


def of_letters(item):
    replies = {letters: reply(item, item.examine(letters)) for letters in (
        subsets(item.letters) if item.several else item.letters)}
    if item.predicted:                                 # its buttons are those of a bet
        return {"right": item.right.lower(), "replies": {letter.lower(): made for letter, made in replies.items()}}
    return {"replies": {"": empty("Pick at least one option." if item.several else "Pick an option."), **replies}}


def reply(item, report, how=None):
    """A report as the reply of a bet, where it is on a prediction, or of a form."""
    verdict, lines = told(item, report)
    how = how or ("right" if report.ok else "wrong")
    return came(how, verdict, " ".join(lines)) if item.predicted else judged(
        how, verdict, *(f"<p>{line}</p>" for line in lines))


def told(item, report):
    """The verdict of a report and its lines, as the page says them."""
    verdict, *lines = report.text.removeprefix(f"{item.label}: ").splitlines()
    hints = f'hint("{item.id}") says more.'
    return verdict[0].upper() + verdict[1:], [html("The hints say more." if line == hints else line) for line in lines]


def judged(how, verdict, *paragraphs):
    """The reply of a form."""
    return [how, f'<p class="ask-verdict">{"✓" if how == "right" else "×"} {verdict}</p>', *paragraphs]


def empty(words):
    return judged("refused", "Not yet.", f"<p>{words}</p>")


def written(item):
    """The checklist of an explanation, which its writer ticks."""
    name = f"tick-{item.id.replace('.', '-')}"
    ticks = "".join(f'<li><input type="checkbox" id="{name}-{i}"><label for="{name}-{i}">{html(line)}</label></li>'
                    for i, line in enumerate(item.checklist))
    return judged("right", "Written.", "<p>Did you say each of these? Nobody else can tell.</p>",
                  "<p>Tick those that you did. When all are ticked, it counts as solved.</p>",
                  f'<ul class="ask-checklist">{ticks}</ul>', f"<p>{html(item.note)}</p>")

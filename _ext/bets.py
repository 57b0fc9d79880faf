"""Makes each Predict box a bet: what came is covered until the reader has said what will come.

The notation stands in the notebook, in comments, which no notebook shows:

    > **Predict.** Which book has the largest score?
    >
    > * Book 1, on which the query stands. <!-- no: book 5 wins. A dot product does not ask how near a key is. -->
    > * Book 5, the encyclopedia. <!-- yes: although its key is the farthest of all. -->

    > **Predict.** Does the largest weight double?
    >
    > Then it is ____. <!-- number: 0.875 within 0.03: it cannot double, for no weight passes 1. -->
    > <!-- number: 1.308 within 0.02: that is more than all weights together may be. -->

Where more than one option is right, `<!-- several: reply -->` follows the list. A box without choices and without a
number gets a button, "I have my answer". Covered is what follows the box, up to the next heading, the next box, or
`<!-- covered to here -->`; a box that covers nothing and offers nothing stays a box. Without JavaScript, on paper and
for those who read on without bets nothing is covered, and the box is the list that it is in the notebook, with a line
of what came; all else is done by ask.js.
"""
import hashlib
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from . import replies
from .replies import LETTERS, html

LOG = logging.getLogger(__name__)
COMMENT = re.compile(r"<!--\s*(yes|no|several|number)\b:?\s*(.*?)\s*-->", re.S)
NUMBER = re.compile(r"(\S+(?: %)?) within (\S+(?: %)?): (.+)", re.S)
END = re.compile(r"<!--\s*covered to here\s*-->")
STOPPED = re.compile(r"[.?!][\"'\u201d\u2019)]*\s*$")
BLANK = "____"
LONGEST = 20                                      # words in a reply, which is one line of thought


# --- What the comments say ------------------------------------------------------------------------------------------

def parse_bet(options, others=(), blanks=0):
    """The data of a bet, from the comments of each option, the other comments of the box, and its count of blanks.

    {"right": letters, "replies": {letter: reply}}, with "several": reply where more than one is right; or {"numbers":
    [{"is":, "within":, "says":}]}, the right one first; or {} where the reader only thinks.
    """
    said = [[match.groups() for match in map(COMMENT.fullmatch, comments) if match] for comments in options]
    rest = [match.groups() for match in map(COMMENT.fullmatch, others) if match]
    if len(rest) < len(others):
        raise ValueError("a comment that is none of yes, no, several, number")
    several = [reply for word, reply in rest if word == "several"]
    numbers = [NUMBER.fullmatch(reply) for word, reply in rest if word == "number"]
    check(len(several) + len(numbers) == len(rest), "a verdict that belongs to no option")
    check(all(numbers), "a number is told as `number: 0.5 within 0.01: reply`")
    check(blanks == bool(numbers), f"a number is asked for by one {BLANK}, and told in a comment")
    check(not (options and numbers), "choices or a number, not both")
    if numbers:
        data = {"numbers": [dict(zip(("is", "within", "says"), found.groups())) for found in numbers]}
    elif options:
        data = choices(said, several)
    else:
        check(not several, "a reply to several of no options")
        data = {}
    for reply in said_by(data):
        check(0 < len(reply.split()) <= LONGEST, f"a reply has 1 to {LONGEST} words: {reply!r}")
    return data


def choices(said, several):
    check(2 <= len(said) <= len(LETTERS), f"2 to {len(LETTERS)} options")
    check(all(len(one) == 1 and one[0][0] in ("yes", "no") for one in said), "each option has one verdict, yes or no")
    verdicts = dict(zip(LETTERS, (one[0] for one in said)))
    right = "".join(letter for letter, (word, _) in verdicts.items() if word == "yes")
    check(right, "no option is right")
    check(len(several) == (len(right) > 1), "`several: reply` stands where more than one option is right")
    if several:
        return {"right": right, "several": several[0]}
    return {"right": right, "replies": {letter: reply for letter, (_, reply) in verdicts.items()}}


def said_by(data):
    """All that a bet may reply."""
    return [*data.get("replies", {}).values(), *([data["several"]] if "several" in data else []),
            *(number["says"] for number in data.get("numbers", []))]


def check(holds, complaint):
    if not holds:
        raise ValueError(complaint)


# --- The page -------------------------------------------------------------------------------------------------------

class Cover(nodes.General, nodes.Element):
    """What came of a bet."""


def open_cover(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="bet-cover", **{"data-bet": node["bet"]}))


def close_cover(translator, node):
    translator.body.append("</div>\n")


class Bets(SphinxTransform):
    default_priority = 460                        # after the portable admonitions

    def apply(self, **kwargs):
        boxes = [box for box in self.document.findall(nodes.admonition) if "predict" in box["classes"]
                 and (covered(box) or COMMENT.search(box.astext()))]
        for number, box in enumerate(boxes, start=1):
            try:
                self.bet(box, number, len(boxes))
            except ValueError as wrong:
                LOG.warning("a Predict box is not understood: %s", wrong, location=box)
        for mark in [node for node in self.document.findall(nodes.raw) if END.fullmatch(node.astext().strip())]:
            mark.parent.remove(mark)
        if boxes:
            place_tally(self.document, len(boxes))

    def bet(self, box, number, count):
        options = next((list(child.children) for child in box.children if isinstance(child, nodes.bullet_list)), [])
        asked = box.astext().partition("<!--")[0] + "".join(map(words, options))
        taken = [take_comments(option) for option in options]
        others, blanks = take_comments(box), [text for text in box.findall(nodes.Text) if BLANK in text]
        data = parse_bet(taken, others, len(blanks))
        # An old bet never answers a question that has changed.
        chapter = self.env.docname.rpartition("/")[2]
        key = f"{chapter}:{hashlib.sha256(asked.encode()).hexdigest()[:6]}"
        box["classes"].append("bet")
        box["ids"].append(f"bet-{number}")
        came = what_came(data, options)
        for text in blanks:
            fill(text, data["numbers"][0]["is"])
        if came:
            box += came
        box.children[0] += nodes.inline("", f" {number} of {count}", classes=["bet-count"])
        box += raw(render_controls({"id": key, **replies.of_bet(data, len(options))}, first=number == 1))
        cover(box, key)


def words(node):
    """The words of an option without its comment."""
    return node.astext().partition("<!--")[0]


def take_comments(node):
    """The comments in a node, which are removed from it."""
    found = [one for one in node.findall(nodes.raw) if one.astext().lstrip().startswith("<!--")]
    for one in found:
        one.parent.remove(one)
    return [one.astext().strip() for one in found]


def what_came(data, options):
    """The line for who reads without betting: the options or the number that are right, and why; None if neither."""
    if not data:
        return None
    right = [option.children[0] for letter, option in zip(LETTERS, options) if letter in data.get("right", "")]
    why = html(data.get("several") or (data["replies"][data["right"]] if options else data["numbers"][0]["says"]))
    why = re.sub(r"^[a-z](?=[a-z]*\b[^_^])", lambda first: first[0].upper(), why)
    said = listed(right)
    if not right:
        said = [nodes.Text(f"{data['numbers'][0]['is']}{':' if why[0].isdigit() else '.'} ")]
    return nodes.paragraph("", "", nodes.strong("", "What came:"), nodes.Text(" "), *said, raw(why),
                           classes=["bet-came"])


def listed(options):
    """The words of options, one after the other as one sentence; of options that are sentences, as these."""
    said = []
    for left, option in zip(range(len(options) - 1, -1, -1), options):
        words = [child.deepcopy() for child in option.children]
        while words and not words[-1].astext().strip():
            words.pop()
        if words and isinstance(words[-1], nodes.Text):             # a space stood before the comment
            words[-1] = nodes.Text(words[-1].rstrip())
        stopped = STOPPED.search(option.astext())
        said += [*words, nodes.Text(" " if stopped else {0: ". ", 1: " and "}.get(left, ", "))]
    return said


def fill(text, number):
    """Marks the blank in a sentence: ask.js puts a field in its place."""
    before, _, after = text.partition(BLANK)
    text.parent.replace(text, [nodes.Text(before), blank(number), nodes.Text(after)])


def blank(shown=BLANK):
    """The place of a number, which is shown where nobody bets."""
    return nodes.inline("", "", nodes.inline("", shown, classes=["bet-is"]), classes=["bet-blank"])


def raw(html):
    return nodes.raw("", html, format="html")


OFF = '<button type="button" class="bet-off">Read on without bets</button>'
ON = ('<p class="bet-are-off">You read without bets: none of the text is covered. '
      '<button type="button" class="bet-on">Bet after all</button></p>')


def render_controls(data, first=False):
    """What a box has to operate and to reply with, and the data beside it."""
    verb = ("That is my bet" if "numbers" in data or data.get("several") else "" if "right" in data
            else "I have my answer")
    go = f'<button type="button" class="bet-go">{verb}</button>' if verb else ""
    return ('<div class="bet-reply bet-only" role="status"></div><p class="bet-foot bet-only">'
            f'{go}<span>The answer is covered until you bet.</span> <button type="button" class="bet-show">Show '
            f'me</button>{OFF if first else ""}</p>{ON if first else ""}{replies.beside(data)}')


def covered(box):
    """What follows a box: up to a heading, the next box, or the mark."""
    found = []
    for node in box.parent.children[box.parent.index(box) + 1:]:
        mark = isinstance(node, nodes.raw) and END.fullmatch(node.astext().strip())
        if mark or isinstance(node, nodes.section) or "predict" in node.get("classes", []):
            break
        found.append(node)
    return found


def cover(box, key):
    """Puts what follows a box under its cover."""
    parent, found = box.parent, covered(box)
    if found:
        start = parent.index(box) + 1
        parent[start:start + len(found)] = [Cover("", *found, bet=key)]


TALLY = """<aside class="bet-tally bet-only" aria-labelledby="your-bets">
<p class="bet-tally-title" id="your-bets">Your bets in this chapter</p><ul class="bet-dots">{dots}</ul>
<p class="bet-sum" role="status"></p><p>Nobody else keeps count. A wrong bet is worth more than none.</p>
<p><button type="button" class="bet-again">Cover everything and bet again</button>{off}</p></aside>"""


def place_tally(document, count):
    """The tally stands before the exercises, or at the end of a page that has none."""
    dots = "".join(f'<li><a href="#bet-{number}">{number}</a></li>' for number in range(1, count + 1))
    tally = raw(TALLY.format(dots=dots, off=OFF))
    top = next(document.findall(nodes.section))
    at = next((i for i, child in enumerate(top.children) if isinstance(child, nodes.section)
               and child.children[0].astext().startswith("Exercises")), len(top.children))
    top.insert(at, tally)


def add_script(app, pagename, templatename, context, doctree):
    """store.js and ask.js run before what is covered is painted: base.html loads them first of all. The claims have a
    script of their own.
    """
    if 'class="claim"' in context.get("body", ""):
        app.add_js_file("claims.js")


def setup(app):
    app.add_node(Cover, html=(open_cover, close_cover))
    app.add_transform(Bets)
    app.connect("html-page-context", add_script)

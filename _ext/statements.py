"""Formulas in what an exercise asks, which is plain text: "the score is (x_i W) (x_j W)^T".

A single letter that is no word is a variable and stands in italics, as in formulas; and what belongs together stays on
its line, so that no bracket is cut. Symbols with an index are set as everywhere in running text (formulas.py).
"""
import re

from .formulas import AS_IT_IS, SYMBOL, outside, symbol

EXERCISE = re.compile(r'<section[^>]* id="exercise-.*?</section>', re.S)
LONGEST = 26                      # letters that a line of a phone holds whatever stands around them
LETTER = re.compile(r"""
    (?<![\w'’."“‘^;])(?:[b-zB-HJ-Z](?![^\W²³]|['’"”]|\.\w|\^\w\w)   # any letter but the words a, A and I
    |(?<=[a-z,]\ )A(?![\w'’"”])|A(?=\ is\b)                  # no article: no sentence or noun begins
    |a(?=[;.,:)]|\ [/+=·]\ |\ and\ b\b|\ moves\b)            # what no article stands before
    |(?<=entence\ )a(?!\w))
    |(?<=\d)[ijkmn](?!\w)                                    # 2i
""", re.X)
NAMES = re.compile(r"\b([A-Z])(?: \1\b){2,}|^\s*[A-Z]\.")    # tokens in a row, X X X; the letter of an option
CALL = r"\w+\.\w[\w.]*(?:\([^()]*\))?"                      # code without its backticks: torch.ones(n, n)
PRIME = re.compile(r"['’](?!\w)")                            # W_K'
REST = re.compile(rf"(?P<atom>\d+(?:\.\d+)?|[²³])|(?P<word>{CALL})|(?P<sign>&[lg]t;=?|[=+·/−≤≥]|[-,](?= ))"
                  r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<space> )|(?P<last>\w[\w'’-]*|&\w+;|.)", re.S)


def set_formulas(html):
    """The formulas of a page's exercises, set; what is code, a formula already or a picture stays as it is."""
    return EXERCISE.sub(lambda section: in_text(section[0]), html)


def in_text(html):
    """The same for the running text of a piece of HTML."""
    return outside(AS_IT_IS, set_text, html)


def set_text(text):
    """Plain text with its formulas as HTML."""
    found, made = tokens(text), []
    while found:
        length = run(found)
        words = "".join(html for _, _, html in found[:length or 1])
        made.append(f'<span class="math-tied">{words}</span>' if length > 1 else words)
        del found[:length or 1]
    return "".join(made)


def tokens(text):
    """[(kind, as typed, as HTML), ...]: letters and indices are set, all else stays."""
    found, at = [], 0
    while at < len(text):
        if name := NAMES.match(text, at):
            found.append(("word", name[0], name[0]))
        elif set_one := SYMBOL.match(text, at):
            found.append(("symbol", set_one[0], symbol(set_one)))
        elif letter := LETTER.match(text, at):
            found.append(("symbol", letter[0], f'<i class="formula" data-typed="{letter[0]}">{letter[0]}</i>'))
        elif found and found[-1][0] == "symbol" and (prime := PRIME.match(text, at)):
            found.append(("symbol", prime[0], prime[0]))
        else:
            rest = REST.match(text, at)
            found.append((rest.lastgroup, rest[0], rest[0]))
        at += len(found[-1][1])
    return found


def run(found):
    """How many of the first tokens are one formula: brackets closed, no sign at an end, a symbol in it; or 0."""
    best, depth, typed, symbols, before = 0, 0, 0, 0, None
    if found[0][0] not in ("symbol", "atom", "open"):
        return 0
    for i, (kind, word, _) in enumerate(found, 1):
        depth += (kind == "open") - (kind == "close")
        typed += len(word)
        symbols += kind == "symbol"
        if kind in ("word", "last") or depth < 0 or typed > LONGEST or (word == "," and not depth):
            break
        whole = not depth and kind in ("symbol", "atom", "close")
        if whole and symbols and joins(found[i - 1], before):
            best = i
        before = found[i - 1] if kind != "space" else before
    return best


def joins(token, before):
    """Whether a token goes on with the formula before it: not a number or a letter of the sentence after a space."""
    return before is None or "sign" in (token[0], before[0]) or token[0] != "atom"


def set_page(app, pagename, templatename, context, doctree):
    if context.get("body"):
        context["body"] = set_formulas(context["body"])


def setup(app):
    app.connect("html-page-context", set_page, priority=790)      # before formulas.py sets what has an index

"""One sentence a line in Markdown, so that a changed sentence is a changed line. What a reader sees stays the same."""
import re

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
# What is one piece, whatever stands in it: code, formulas, links, tags.
WHOLE = re.compile(r"(`+).*?(?<!`)\1(?!`)|\$\$.*?\$\$|(?<!\\)\$(?=\S).*?(?<=\S)\$|\[[^\]]*\]\([^)]*\)|<[^>\s][^>]*>",
                   re.DOTALL)
END = re.compile(r"""[.!?]["'”’)\]*_]*(?P<gap>\s+)(?=["'“‘(\[*_]*[A-Za-z0-9\x00])""")
# What ends with a point, and no sentence with it.
SHORT = re.compile(r"(\b(e\.g|i\.e|et al|cf|vs|Fig|Eq|Sec|No|St|[A-Z])|\.\.)\.$")
# What would begin something else at the start of a line: a list, a heading, a quote, code, HTML.
BLOCK = re.compile(r"[-+*]\s|[>|%]|:::|=+\s*$|~~~|#+ |\d+[.)]\s|```|\$\$|</?[a-zA-Z!]")


def one_a_line(markdown):
    """The same Markdown with each sentence of a paragraph on a line of its own.

    Tables, code, formulas that stand alone, HTML and lines that are broken on purpose stay as they are.
    """
    lines = markdown.split("\n")
    for token, inline in reversed(paragraphs(markdown)):
        first, last = token.map
        text = inline.content
        if re.search(r"(  |\\)\n", text):
            continue
        start = lines[first].find(text.split("\n")[0])
        lead = lines[first][:start]
        follow = re.sub(r"[^>\s]", " ", lead)
        told = sentences(re.sub(r"\s*\n\s*", " ", text))
        lines[first:last] = [lead + told[0], *(follow + sentence for sentence in told[1:])]
    told = "\n".join(lines)
    return told if rendered(told) == rendered(markdown) else markdown


def paragraphs(markdown):
    """The (paragraph, its text) tokens, in order."""
    tokens = MARKDOWN.parse(markdown)
    return [pair for pair in zip(tokens, tokens[1:]) if pair[0].type == "paragraph_open"]


def sentences(text):
    """The sentences of one paragraph."""
    kept = []

    def hide(match):
        kept.append(match[0])
        return "\x00" * len(match[0])

    hidden, told, start = WHOLE.sub(hide, text), [], 0
    for match in END.finditer(hidden):
        before, after = hidden[start:match.start("gap")], text[match.end():]
        if not SHORT.search(before.rstrip("\"'”’)]*_")) and not BLOCK.match(after):
            told.append(text[start:match.start("gap")])
            start = match.end("gap")
    return [*told, text[start:]]


def rendered(markdown):
    """What a renderer makes of it, white space aside."""
    return " ".join(MARKDOWN.render(markdown).split())

"""Tables: as aligned text under a picture, and as what a notebook displays."""
import html
import re


def table(alt, header, rows, digits=3):
    """The text of a picture: its alt text, then aligned columns. Floats are printed to `digits` decimals."""
    return f"{alt}\n\n{_aligned(_cells([header, *rows], digits))}"


def readable_name(name):
    """A name as one reads it: a keyword's "_" are spaces, and what no keyword can be, such as "d_k = 4", stays."""
    return name.replace("_", " ") if name.isidentifier() else name


def decimal(number, digits):
    """A number to so many decimals. What rounds to zero is 0.000 from below, too: adding 0 makes -0.0 a 0.0."""
    return f"{round(float(number), digits) + 0.0:.{digits}f}"


def _cells(rows, digits):
    return [[decimal(c, digits) if isinstance(c, float) else str(c) for c in row] for row in rows]


def _aligned(rows):
    """Rows of words as lines: the first column to the left, the others to the right."""
    first, *others = [max(map(len, column)) for column in zip(*rows)]
    lines = [[name.ljust(first), *map(str.rjust, words, others)] for name, *words in rows]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _is_number(word):
    """Whether a cell holds a number, or nothing: such columns are set to the right."""
    return word in ("", "–", "nan") or re.match(r"[-−+<>≤≥]?\s*[\d.∞]", word) is not None


def _breaking(word):
    """A cell as HTML, whose long names may break behind "_" and before a capital."""
    return re.sub(r"\w{15,}", lambda name: re.sub("(?<=_)(?=.)|(?<=[a-z])(?=[A-Z])", "<wbr/>", name[0]),
                  html.escape(word))


class Table:
    """Rows of words that a notebook shows as a table; the first row is the header, the first column names the rows.

    As text the columns are aligned. As HTML it takes the colours of the page, its columns of words begin at the left,
    and it scrolls in a box of its own where it is wider than the screen.
    """

    def __init__(self, rows):
        self.rows = rows

    def __repr__(self):
        return _aligned(self.rows)

    def _repr_html_(self):
        header, *rows = self.rows
        sides = ["left", *("right" if all(map(_is_number, column)) else "left" for column in list(zip(*rows))[1:])]

        def cells(kinds, words):
            return "".join(f'<{kind} style="text-align: {side}">{_breaking(word)}</{kind.split()[0]}>'
                           for kind, word, side in zip(kinds, words, sides))

        names, numbers = ['th scope="col"'] * len(header), ["td"] * (len(header) - 1)
        head = cells(names if header[0] else ["td", *names[1:]], header)
        body = "".join(f"<tr>{line}</tr>" for line in (cells(['th scope="row"', *numbers], row) for row in rows))
        # By these classes the book knows a table and a box that scrolls; elsewhere the style is enough.
        return ('<div class="table-wrapper" style="overflow-x: auto"><table class="table">'
                f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def columns(labels, digits=2, corner="", **series):
    """A table of named columns, one row for each label: `columns(["a", "b"], weight=w, rank=[1, 2])`.

    Args:
        labels: m names of the rows.
        digits: decimals of a float.
        corner: the word above the labels.
        series: m numbers or words each; "_" in a name is shown as a space.
    Raises:
        ValueError: a column has not as many rows as there are labels.
    """
    values = [[value.item() if hasattr(value, "item") else value for value in column] for column in series.values()]
    lengths = {"labels": len(labels), **{name: len(column) for name, column in zip(series, values)}}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"every column needs as many rows as there are labels, got {lengths}")
    header = [corner, *(readable_name(name) for name in series)]
    return Table(_cells([header, *([label, *row] for label, *row in zip(labels, *values))], digits))

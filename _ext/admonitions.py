"""Block quotes with a bold lead become admonitions: `> **Warning.** Mind the scale.`

Such a quote reads well wherever MyST is unknown (Colab, JupyterLab, GitHub), and in the book it gets a
box of its own. A quote whose lead is not in KINDS stays a quote.
"""
from docutils import nodes
from sphinx.transforms import SphinxTransform

# The lead, in lower case -> the class that book.css colours.
KINDS = {
    "note": "note",
    "warning": "warning",
    "definition": "definition",
    "predict": "predict",
    "try it": "try",
    "break it": "try",
    "claim tested": "claim",
    "takeaway": "takeaway",
    "in a minute": "takeaway",
}


def kind_of(lead):
    """The class for a lead such as `Definition (softmax).`, or None."""
    words = lead.strip().rstrip(".:?!").lower()
    for name, kind in KINDS.items():
        if words == name or words.startswith((name + " ", name + ":", name + ",")):
            return kind
    return None


def lead_of(quote):
    """The bold node that opens a block quote, or None."""
    first = quote.children[0] if quote.children else None
    if not isinstance(first, nodes.paragraph):
        return None
    solid = [child for child in first.children if child.astext().strip()]
    return solid[0] if solid and isinstance(solid[0], nodes.strong) else None


def to_admonition(quote, lead, kind):
    title = nodes.title("", "", *lead.children)
    strip_end(title, ".:")
    paragraph = lead.parent
    for child in paragraph.children[: paragraph.index(lead) + 1]:
        paragraph.remove(child)
    if paragraph.children and isinstance(paragraph.children[0], nodes.Text):
        paragraph.replace(paragraph.children[0], nodes.Text(paragraph.children[0].lstrip()))
    if not paragraph.astext().strip():
        quote.remove(paragraph)
    box = nodes.admonition("", title, *quote.children, classes=["admonition", kind])
    box.source, box.line = quote.source, quote.line
    return box


def strip_end(node, marks):
    """Drop the closing marks of a title: a heading needs no full stop."""
    last = node.children[-1] if node.children else None
    if isinstance(last, nodes.Text):
        node.replace(last, nodes.Text(last.rstrip(marks + " ")))


class PortableAdmonitions(SphinxTransform):
    default_priority = 450

    def apply(self, **kwargs):
        for quote in list(self.document.findall(nodes.block_quote)):
            lead = lead_of(quote)
            kind = lead and kind_of(lead.astext())
            if kind:
                quote.replace_self(to_admonition(quote, lead, kind))


def setup(app):
    app.add_transform(PortableAdmonitions)

"""Curly quotation marks for what scripts say and raw HTML holds: Sphinx sets them in the running text alone."""
from docutils.utils.smartquotes import educate_tokens


def curly(text):
    """A text with curly quotation marks; what stands in `backticks` stays as it is."""
    if not any(mark in text for mark in "\"'"):
        return text
    parts = text.split("`")
    tokens = (("literal" if i % 2 else "plain", part) for i, part in enumerate(parts))
    return "`".join(educate_tokens(tokens, attr="q", language="en"))

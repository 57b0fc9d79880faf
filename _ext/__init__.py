"""The book's own Sphinx extension. Each file of this folder is one idea; setup() below lists them."""
from . import admonitions, assets, live_figures


def setup(app):
    for part in (admonitions, assets, live_figures):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""One style sheet for the whole site: Furo's and the colours of code, then what all figures share and the book's own.

Theirs stand in a layer, so that every rule of ours outweighs any of theirs. A figure's own rules are a sheet beside its
module, which the pages load that show it (live_figures.py).
"""
import re
from pathlib import Path

from .generated import static

HERE = Path(__file__).parent / "static"
FIGURES = Path(__file__).parent.parent / "mha" / "widgets"
SHEET = "style.css"
COMMENT = re.compile(r"/\*(?!!).*?\*/", re.S)            # all but licences
# Furo's rules for descriptions of functions, of which the book has none. Because of them a browser would style all that
# stands in an element anew whenever its class changes, and that of the whole page changes as it loads.
OF_INTERFACES = re.compile(r"[^{}]*dl\[class\][^{}]*{[^{}]*}")
# The switches of Furo's drawers stand beside the page, in no landmark. Ours stand where they are seen (page.html).
SWITCHED = re.compile(r"#(__\w+):checked~(?:\.page )?")
CONTENTS = "max-width:96em"     # up to here the contents are a drawer: two columns beside figures of 60rem need so much
DARK = "a11y-high-contrast-dark"                # the colours of code on dark pages; on light ones: see _config.yml
# Some of the light one stand out from white as 7 to 1, and less from the book's panels: a shade darker.
DARKER = {"#6730C5": "#622EBB", "#7F4707": "#794407", "#00622F": "#005D2D", "#005B82": "#00567B", "#912583": "#8A237D",
          "#A12236": "#9A2034"}


def sheet():
    """The text of the sheet; addresses in it are relative to _static."""
    import furo

    code = furo.get_pygments_stylesheet()
    for theirs, darker in DARKER.items():
        code = code.replace(theirs, darker)
    theirs = [(furo.THEME_PATH / "static/styles/furo.css").read_text("utf8"), code]
    ours = [FIGURES / "common.css", HERE / "book.css"]
    layer = OF_INTERFACES.sub("", "\n".join(theirs).replace('@charset "utf-8";', ""))
    layer = SWITCHED.sub(r"body:has(#\1:checked) ", layer).replace("max-width:82em", CONTENTS)
    return COMMENT.sub("", f"@layer theirs {{\n{layer}\n}}\n" + "\n".join(path.read_text("utf8") for path in ours))


def name_dark_style(app):
    """Furo's own setting, which Sphinx learns of only when it loads the theme: too late for _config.yml."""
    app.config.pygments_dark_style = DARK


def write(app):
    if app.builder.format != "html":
        return
    static(app, SHEET, sheet())
    app.add_css_file(SHEET)


def only(app, pagename, templatename, context, doctree):
    """No page loads any other sheet than this one and those of its figures."""
    context["css_files"] = [asset for asset in context["css_files"]
                            if Path(asset.filename).name == SHEET or Path(asset.filename).parent.name == "figures"]


def setup(app):
    app.connect("builder-inited", name_dark_style, priority=100)
    # After Furo, which then knows the colours of code.
    app.connect("builder-inited", write, priority=900)
    app.connect("html-page-context", only, priority=950)

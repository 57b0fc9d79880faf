"""Makes the site whole: all that a page loads comes from the site, and nothing is loaded that is not used."""
import shutil
from pathlib import Path

STATIC = Path(__file__).parent / "static"
# Jupyter Book loads these, wanted or not; sphinx-thebe's scripts even fail, with an error on every page.
UNUSED = ("sphinx_book_theme", "pydata_sphinx_theme", "sphinx_thebe", "sphinx_togglebutton", "sphinx_design",
          "sphinx_comments", "sphinx_copybutton")
THEIR_NAMES = ("thebe", "toggle", "design", "sphinx-book-theme", "clipboard", "copybutton")
# Sphinx's own search needs these, and no other page does.
OF_SEARCH = ("documentation_options.js", "doctools.js", "sphinx_highlight.js", "searchtools.js", "language_data.js")
PRELOADED = ("book-serif.woff2", "book-serif-italic.woff2", "book-sans.woff2")
# Where a reader who opens the site's address is led: the root of _toc.yml is no index.html at the top.
FRONT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="icon" href="_static/favicon.svg">
<meta http-equiv="refresh" content="0; url={page}"></head>
<body><main><h1>{title}</h1><p><a href="{page}">Open the book</a></p></main></body></html>
"""


def use_own_files(app, config):
    config.html_static_path.append(str(STATIC))
    config.html_js_files.append("page.js")
    config.html_favicon = str(STATIC / "favicon.svg")
    config.templates_path.insert(0, str(Path(__file__).parent / "templates"))


def start_clean(app):
    """Nothing of an earlier build stays among the files that pages load."""
    if app.builder.format == "html":
        shutil.rmtree(Path(app.outdir, "_static"), ignore_errors=True)


def write_every_page(app, env):
    """Pages write files into the folder that starts clean, so a build that reads few pages still writes all of them."""
    return env.found_docs


def silence_unused(app, config):
    """Stop listening to what is not used, and no script or style of it comes."""
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if listener.handler.__module__.partition(".")[0] in UNUSED:
                app.disconnect(listener.id)


def lighten(app, pagename, templatename, context, doctree):
    """No script of an unused extension, none that only the search needs, and none that holds the page back."""
    search = pagename == "search"
    context["script_files"] = [script for script in context["script_files"] if not of_unused(script)
                               and (search or Path(script.filename or "").name not in OF_SEARCH)]
    # The search page runs scripts of its own that need the others at once. Sphinx shares these objects among the pages.
    for script in context["script_files"]:
        script.attributes.pop("defer", None) if search else script.attributes.update(defer="defer")


def set_head(app, pagename, templatename, context, doctree):
    context["metatags"] = ""                      # docutils' viewport, which Furo's page has of its own
    context["book_preload"] = PRELOADED


def of_unused(asset):
    text = f"{asset.filename} {getattr(asset, 'attributes', {}).get('body', '')}"
    return any(name in text for name in THEIR_NAMES)


def write_front_door(app, error):
    root = app.config.root_doc
    if not error and app.builder.format == "html" and "/" in root:
        page = FRONT.format(title=app.config.html_title, page=f"{root}.html")
        Path(app.outdir, "index.html").write_text(page, "utf8")


def setup(app):
    app.connect("config-inited", use_own_files)
    app.connect("config-inited", silence_unused)
    app.connect("builder-inited", start_clean, priority=100)
    app.connect("env-updated", write_every_page)
    app.connect("html-page-context", set_head)
    app.connect("html-page-context", lighten, priority=950)
    app.connect("build-finished", write_front_door)

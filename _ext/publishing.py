"""Where this book is published, if it is: its repository, its public address, its notebooks on Colab.

The build is told by two variables of its environment, which the workflow sets. Without them the book names no place,
and no link leads nowhere.

    BOOK_REPOSITORY    owner/name on GitHub
    BOOK_ADDRESS       where the pages stand; https://owner.github.io/name/ without it

Only the standard library is needed here: tools/publish.py runs where nothing is installed.
"""
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "colab"                                  # where tools/publish.py puts the chapters that Colab opens
COLAB = "https://colab.research.google.com/github/{repository}/blob/{branch}/{page}.ipynb"

# The set-up cell of every chapter: as it is stored, and what takes the place of its first line where it is published.
HINT = "# `python3 book.py lab` brings mha; so does Colab, opened from the book's page.\n"
SET_UP = HINT + "import torch, mha\ndevice = mha.pick_device()"
FETCH = """\
import importlib.util
if not importlib.util.find_spec("mha"):  # the book's package, where it is not installed already
    %pip install -q "mha @ git+{url}@{commit}"
"""


def repository():
    return os.environ.get("BOOK_REPOSITORY") or None


def repository_url():
    return repository() and f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository()}"


def base_address():
    """The public address of the site, with a slash at its end, or None."""
    if os.environ.get("BOOK_ADDRESS"):
        return os.environ["BOOK_ADDRESS"].rstrip("/") + "/"
    if not repository():
        return None
    owner, _, name = repository().partition("/")
    own_site = name.lower() == f"{owner}.github.io".lower()
    return f"https://{owner.lower()}.github.io/" + ("" if own_site else f"{name}/")


def colab_url(page, cell=""):
    """Colab on a page's notebook, at a cell of it if one is named, or None."""
    if not repository():
        return None
    address = COLAB.format(repository=repository(), branch=BRANCH, page=page)
    return f"{address}#scrollTo={cell}" if cell else address


def commit():
    """The commit that the book is made from."""
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True,
                          encoding="utf-8").stdout.strip()


def published(text):
    """The text of a chapter's file as it leaves the repository: its set-up cell fetches mha of this commit."""
    notebook = json.loads(text)
    set_up = next(cell for cell in notebook["cells"] if "set-up" in cell["metadata"].get("tags", []))
    source = SET_UP.replace(HINT, FETCH.format(url=repository_url(), commit=commit()))
    set_up["source"] = source.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


# --- In the build ---------------------------------------------------------------------------------------------------

def know_address(app, config):
    """Sphinx writes each page's canonical address from it."""
    config.html_baseurl = base_address() or ""


def add_addresses(app, pagename, templatename, context, doctree):
    """What the templates know of it. A page that is no notebook has nothing to open."""
    context["book_colab"] = colab_url(pagename) if context.get("sourcename", "").endswith(".ipynb") else None
    context["book_repository"] = repository_url()
    context["book_address"] = base_address()


def publish_downloads(app, error):
    """The notebooks that the pages offer for download fetch mha too."""
    if error or app.builder.format != "html" or not repository():
        return
    for path in Path(app.outdir, "_sources").rglob("*.ipynb"):
        path.write_text(published(path.read_text("utf8")), "utf8")


def setup(app):
    app.connect("config-inited", know_address)
    app.connect("html-page-context", add_addresses, priority=400)
    app.connect("build-finished", publish_downloads)

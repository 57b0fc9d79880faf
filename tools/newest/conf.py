"""The book's settings for Sphinx itself, without Jupyter Book: `_config.yml`, as Jupyter Book would translate it.

Jupyter Book 1 keeps Sphinx below 8. Once a week the workflow builds the book with the newest Sphinx through this file,
and may fail: so that the day is known on which the book can leave, and what still keeps it.
"""
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
book = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))

project = html_title = book["title"]
author, copyright = book["author"], book["copyright"]
extensions = ["myst_nb", "sphinx_external_toc", "sphinxcontrib.bibtex", *book["sphinx"]["local_extensions"]]
exclude_patterns = book["exclude_patterns"]
bibtex_bibfiles = [str(ROOT / name) for name in book["bibtex_bibfiles"]]
external_toc_path, external_toc_exclude_missing = "_toc.yml", book["only_build_toc_files"]
myst_enable_extensions = book["parse"]["myst_enable_extensions"]
myst_url_schemes = ["mailto", "http", "https"]
nb_execution_mode = book["execute"]["execute_notebooks"]
nb_output_stderr = book["execute"]["stderr_output"]
numfig = True
html_sourcelink_suffix = ""
globals().update(book["sphinx"]["config"])

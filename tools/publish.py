"""What the workflow does to publish the book from the repository that it runs in. Standard library only.

    BOOK_REPOSITORY=owner/name python3 -m tools.publish address
        asks GitHub where Pages shows the repository, and says what to switch on where it does not

    BOOK_REPOSITORY=owner/name python3 -m tools.publish notebooks
        pushes the chapters of the last commit to the branch that Colab opens; there they fetch mha of that commit
"""
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from _ext import publishing

ROOT = publishing.ROOT
SWITCH = """::error title=Pages is not switched on::{reason} In {url}/settings/pages choose "GitHub Actions" as the \
source, then run this workflow again."""


# --- The address ----------------------------------------------------------------------------------------------------

def address():
    """Print where Pages shows the book, in the form of a step's output."""
    pages = github_api(f"repos/{publishing.repository()}/pages")
    if pages is None:
        sys.exit(SWITCH.format(reason="This repository has no Pages yet.", url=publishing.repository_url()))
    if pages["build_type"] != "workflow":
        sys.exit(SWITCH.format(reason="Pages shows a branch of this repository, not what the workflow makes.",
                               url=publishing.repository_url()))
    print(f"address={pages['html_url']}")


def github_api(path):
    """What GitHub's API says at a path; None where there is nothing."""
    request = urllib.request.Request(f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/{path}")
    if os.environ.get("GITHUB_TOKEN"):
        request.add_header("Authorization", f"Bearer {os.environ['GITHUB_TOKEN']}")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


# --- The notebooks --------------------------------------------------------------------------------------------------

AUTHOR = ("-c", "user.name=github-actions[bot]", "-c", "user.email=github-actions[bot]@users.noreply.github.com")


def notebooks():
    """Push the chapters as they are published: one commit, in place of what the branch had.

    It holds no workflow, since GitHub lets no workflow push one, and has no parent, since a runner has no history.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made")
        made.mkdir()
        # The files and the index of their own leave the clone as it is.
        apart = {"GIT_DIR": git("rev-parse", "--absolute-git-dir"), "GIT_WORK_TREE": str(made),
                 "GIT_INDEX_FILE": str(Path(folder, "index"))}
        git("checkout", "HEAD", "--", "LICENSE", "chapters", **apart)
        for path in made.glob("chapters/*.ipynb"):
            path.write_text(publishing.published(path.read_text("utf8")), "utf8")
        git("add", "--all", **apart)
        message = f"The chapters of {publishing.commit()}, with set-up cells that fetch mha of it"
        new = git(*AUTHOR, "commit-tree", "-m", message, git("write-tree", **apart))
    git("push", "--force", "origin", f"{new}:refs/heads/{publishing.BRANCH}")
    print(f"{publishing.repository_url()}/tree/{publishing.BRANCH}: {message}")


def git(*command, **variables):
    """Run git on the book's clone; what it says."""
    return subprocess.run(["git", *command], cwd=variables.get("GIT_WORK_TREE", ROOT), check=True,
                          stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, **variables}).stdout.strip()


def main():
    commands = {command.__name__: command for command in (address, notebooks)}
    if len(sys.argv) != 2 or sys.argv[1] not in commands or not publishing.repository():
        sys.exit(__doc__)
    commands[sys.argv[1]]()


if __name__ == "__main__":
    main()

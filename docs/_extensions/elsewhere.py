"""Pages that the repository keeps outside ``docs/``, and links that are right on the forge and on the site.

Sources link to files as they lie in the repository. Here each link to a file outside ``docs/`` becomes one to its page.
"""

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
# Files of the repository, and the pages that are made of them.
COPIED = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/RESULTS.md": "project/measurements.md",
}
# Files whose page is another one.
SHOWN_BY = {
    **COPIED,
    "README.md": "index.md",
    "examples/README.md": "auto/examples/index.rst",
    "studies/results": "auto/results/index.md",
}
# Folders of scripts, each of which is run and has a page.
SCRIPTS = {"examples", "gallery", "tutorials"}


def page_of(path: str) -> str | None:
    """Return the page of a file of the repository, None if it has none."""
    below = path.removeprefix("docs/")
    if below.endswith(".py") and below.split("/")[0] in SCRIPTS:
        return f"auto/{below.removesuffix('.py')}.rst"
    return below if below != path else SHOWN_BY.get(path)


def turned(text: str, source: str, page: str) -> str:
    """Return Markdown with its links to files, seen from ``source`` in the repository, as links from ``page``."""

    def turn(match: re.Match[str]) -> str:
        link, _, anchor = match[1].partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        target = page_of(path)
        if target is None:
            raise ValueError(
                f"{source} links to {link}, which has no page on the site: add it in {Path(__file__).name}."
            )
        back = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"]({back}{'#' * bool(anchor)}{anchor})"

    return re.sub(r"\]\((?![a-z]+:|#)([^)\s]+)\)", turn, text)


def copy_pages(app: "Sphinx") -> None:
    """Write the pages that are copies."""
    for source, page in COPIED.items():
        text = turned((ROOT / source).read_text(encoding="utf-8"), source, page)
        path = Path(app.srcdir, page)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


def turn_links(app: "Sphinx", name: str, content: list[str]) -> None:
    """Turn the links of a page of ``docs/``."""
    if Path(app.srcdir, f"{name}.md").exists() and f"{name}.md" not in COPIED.values():
        content[0] = turned(content[0], f"docs/{name}.md", f"{name}.md")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Copy pages before sources are looked for, and turn links as they are read."""
    app.connect("config-inited", lambda app, config: copy_pages(app))
    app.connect("source-read", turn_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

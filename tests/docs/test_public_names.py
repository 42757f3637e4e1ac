"""The documentation and the examples use public names alone: what users are shown, users can write."""

import re
from pathlib import Path

import pytest

from public_names import violations

ROOT = Path(__file__).parents[2]
# What docs/extending.md shows are files of the library.
DOCS = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "extending.md"]
SCRIPTS = [
    path for place in ("examples", "docs/gallery", "docs/tutorials") for path in sorted((ROOT / place).rglob("*.py"))
]
PAGES = [ROOT / "README.md", *DOCS, *SCRIPTS]


def test_public_names_alone():
    assert {str(path): private for path in PAGES if (private := violations("\n".join(blocks_of(path))))} == {}


def blocks_of(path):
    """Return the Python of a script or of a page."""
    text = path.read_text(encoding="utf-8")
    return [text] if path.suffix == ".py" else re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "source",
    [
        "import reluscope",
        "import reluscope.analyses.counting as counting",
        "from reluscope.analyses.bounds import table",
        "from reluscope.studies.discovery import GROUP",
        "from reluscope.plots.shapes import fill",
        "import reluscope as rs\nrs.plots.shapes.fill",
        "import reluscope as rs\ndef f():\n    rs.analyses",
        "import reluscope as rs\nrs.bounds.claims.upper",
        "import reluscope as rs\nrs._HOMES",
    ],
)
def test_a_private_name_is_seen(source):
    assert violations(source)


def test_public_names_pass():
    source = "import reluscope as rs\nfrom reluscope.studies import Setting\nfrom reluscope import plots\nrs.Box.lo\n"
    assert not violations(source + "from reluscope.plots.style import INK\nrs.plots.style.INK\nrs.errors.InputError")

"""Studies use public names of reluscope alone, those for packages included: kept by reading the source."""

import ast
from pathlib import Path

from public_names import FOR_PACKAGES, violations

SOURCE = Path(__file__).parents[1] / "src"


def test_studies_use_public_names_alone():
    found = {
        str(path): private
        for path in SOURCE.rglob("*.py")
        if (private := violations(path.read_text(encoding="utf-8"), FOR_PACKAGES))
    }
    assert found == {}


def test_every_module_says_what_it_is():
    silent = [
        path for path in SOURCE.rglob("*.py") if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []

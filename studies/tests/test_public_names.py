"""Studies are written as a user would write them: with public names of reluscope alone, kept by reading the source."""

import ast
from pathlib import Path

import pytest

from public_names import violations

SOURCE = Path(__file__).parents[1] / "src"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_studies_use_public_names_alone(path):
    assert not violations(path.read_text())


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))

"""Claims follow from ends: outside the mechanism nobody writes one down."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "reluscope"


def written_by_hand(source):
    """Return the lines in which a `Finding` is made with its claim."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
    ]


@pytest.mark.slow
def test_findings_are_made_from_their_ends():
    others = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "findings"]
    by_hand = {str(path): lines for path in others if (lines := written_by_hand(path.read_text(encoding="utf-8")))}
    assert by_hand == {}, "use Finding.of, Finding.within or Finding.estimate"


def test_a_claim_that_is_written_is_seen():
    assert written_by_hand("x = Finding(1, Claim.EXACT)\ny = Finding.of(1)") == [1]

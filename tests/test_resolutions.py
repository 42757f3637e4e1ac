"""Small numbers have names: what they are relative to stands in one place, beside the name."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import reluscope
from reluscope.geometry.numbers import resolutions

ROOT = Path(reluscope.__file__).parent
SMALL = 1e-7
# Draws random cases, whose numbers are no resolutions.
DRAWING = ("drawn_cases.py", "drawn_questions.py")


@cache
def sources():
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}


def smallness(node):
    """Return the number that a literal, or a power of literals, stands for."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        try:
            return float(ast.literal_eval(node.left)) ** float(ast.literal_eval(node.right))
        except (ValueError, OverflowError):
            return 1.0
    return abs(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, float) else 1.0


def nameless(tree):
    """Yield the lines of small literals in bodies of functions; defaults of arguments have the name of the argument."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            body = function.body if isinstance(function.body, list) else [function.body]
            for node in (node for statement in body for node in ast.walk(statement)):
                if isinstance(node, ast.Constant | ast.BinOp) and 0 < smallness(node) < SMALL:
                    yield node.lineno


def test_a_bare_number_is_found():
    source = "EPS = 1e-9\ndef f(x, near=1e-9):\n    return x < 1e-9 and x * 2.0**-40 and x * (1 + 1e-12) < 0.1"
    assert len(list(nameless(ast.parse(source)))) == 3


def test_no_small_number_is_without_a_name():
    found = []
    for name, text in sources().items():
        if not name.endswith(DRAWING) and re.search(r"\de-\d|\*\* *-|0\.0000000", text):
            found += [f"{name}:{line}" for line in nameless(ast.parse(text))]
    assert not found, "give these numbers a name and a line that says relative to what"


NAMES = [name for name in vars(resolutions) if name.isupper() and name != "EPSILON"]


@pytest.mark.parametrize("name", NAMES)
def test_a_shared_resolution_says_relative_to_what_and_is_shared(name):
    lines = Path(resolutions.__file__).read_text("utf-8").splitlines()
    (place,) = [place for place, line in enumerate(lines) if re.match(rf"(\w+, )*{name}\b.* = ", line)]
    assert re.match(r"# (Relative to|Of) .*: ", lines[place - 1])
    users = [path for path, text in sources().items() if re.search(rf"resolutions import [^\n]*\b{name}\b", text)]
    assert len(users) > 1

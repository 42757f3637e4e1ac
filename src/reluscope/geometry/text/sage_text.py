"""Polyhedra as the call that makes them in Sage: ``Polyhedron(ieqs=[[c, a_1, ..., a_n], ...], eqns=[...])``.

The call is read as text of Python, and nothing of it is run: lists of numbers and of fractions are taken.
"""

import ast
from fractions import Fraction

import numpy as np

from reluscope.errors import InputError

Table = np.ndarray
_EXPECTED = "expected Polyhedron(ieqs=[[...], ...], eqns=[[...], ...]) as Sage reads it"


def read_sage(text: str) -> tuple[Table, Table, Table, Table]:
    """Return ``A, b, C, d`` of a Sage polyhedron.

    Fractions are rounded to the nearest float64. Raises InputError with the line that is no such call.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InputError(f"line {line}: {_EXPECTED}, got something else: is it cut off?") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "Polyhedron":
        raise InputError(f"line 1: {_EXPECTED}, got another expression")
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if call.args or not {"ieqs", "eqns"} & given.keys() or {"vertices", "rays", "lines"} & given.keys():
        raise InputError(f"line {call.lineno}: {_EXPECTED}, got no half-spaces and equations alone")
    rows, equations = (_rows(given[name]) if name in given else [] for name in ("ieqs", "eqns"))
    widths = {len(row) for row in rows + equations}
    if len(widths) != 1 or min(widths) < 2:
        raise InputError(
            f"line {call.lineno}: expected rows of equally many numbers, two at least, got {sorted(widths)}"
        )
    parts = []
    for side in (rows, equations):
        table = np.array(side, dtype=np.float64).reshape(-1, *widths)
        parts += [0.0 - table[:, 1:], table[:, 0]]
    return parts[0], parts[1], parts[2], parts[3]


def _rows(node: ast.expr) -> list[list[float]]:
    if not isinstance(node, ast.List | ast.Tuple):
        raise InputError(f"line {node.lineno}: expected a list of rows, got {ast.unparse(node)[:40]!r}")
    found = []
    for row in node.elts:
        if not isinstance(row, ast.List | ast.Tuple):
            raise InputError(f"line {row.lineno}: expected a row of numbers, got {ast.unparse(row)[:40]!r}")
        found.append([_rounded(entry) for entry in row.elts])
    return found


def _rounded(node: ast.expr) -> float:
    try:
        return float(_number(node))
    except InputError:
        raise
    except (OverflowError, ZeroDivisionError, ValueError, RecursionError):
        raise InputError(f"line {node.lineno}: expected a number that float64 can hold, got another one") from None


def _number(node: ast.expr) -> Fraction:
    """Return a number, a sign before it, or the quotient of two."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _number(node.operand) * (-1 if isinstance(node.op, ast.USub) else 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _number(node.left) / _number(node.right)
    raise InputError(f"line {node.lineno}: expected a number, got {ast.unparse(node)[:40]!r}")

"""Polyhedra in the plain text of polymake: sections with a name, rows of numbers below it, and an empty line.

A row is ``c, a_1, ..., a_n`` for ``c + a x >= 0``, or ``= 0`` in sections of equations.
"""

import numpy as np

from reluscope.errors import InputError
from reluscope.geometry.text.numbers_in_text import read_number

Table = np.ndarray
# What was given, or what polymake computed of it.
ROWS, EQUATIONS = ("INEQUALITIES", "FACETS"), ("EQUATIONS", "LINEAR_SPAN", "AFFINE_HULL")
DIMENSIONS = ("CONE_AMBIENT_DIM", "AMBIENT_DIM")
POINTS = frozenset({"VERTICES", "POINTS", "RAYS", "INPUT_RAYS"})


def read_polymake(text: str) -> tuple[Table, Table, Table, Table]:
    """Return ``A, b, C, d`` of a polymake polytope given by half-spaces.

    Fractions are rounded to the nearest float64; other sections are skipped. Raises InputError with the line.
    """
    found: dict[str, list[list[float]]] = {}
    section, width, has_points = "", None, False
    for line, written in enumerate(text.splitlines(), start=1):
        words = written.split("#")[0].split()
        if not words:
            section = "" if not written.strip() else section
        elif not section and not words[0].startswith("_"):
            section = words[0]
            has_points |= section in POINTS
            if section in (*ROWS, *EQUATIONS):
                found.setdefault(section, [])
        elif section in DIMENSIONS and words[0].isdecimal():
            size = int(words[0]) + (section == "AMBIENT_DIM")
            width = _same(width, size, line)
        elif section in found:
            row = [read_number(word, line) for word in words]
            width = _same(width, len(row), line)
            found[section].append(row)
    if width is None or width < 2 or (has_points and not found):
        raise InputError(
            "expected a section INEQUALITIES or EQUATIONS as polymake writes it, got none with rows of two numbers or "
            "more: give a polytope by half-spaces"
        )
    parts = []
    for names in (ROWS, EQUATIONS):
        rows = next((found[name] for name in names if name in found), [])
        table = np.array(rows, dtype=np.float64).reshape(-1, width)
        parts += [0.0 - table[:, 1:], table[:, 0]]
    return parts[0], parts[1], parts[2], parts[3]


def _same(width: int | None, size: int, line: int) -> int:
    if width not in (None, size):
        raise InputError(f"line {line}: expected {width} numbers, got {size}")
    return size

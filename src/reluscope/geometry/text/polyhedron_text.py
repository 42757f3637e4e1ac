"""Polyhedra as text that other programs read and write: cdd, polymake and Sage, in fractions, and MPS for solvers.

A row ``a x <= b`` is written as ``b - a x >= 0``, the numbers b, -a one after the other; float64 numbers are fractions,
so nothing is lost.
"""

from fractions import Fraction
from typing import Literal

import numpy as np

from reluscope.errors import InputError
from reluscope.geometry.text.mps_text import read_mps, written_mps
from reluscope.geometry.text.numbers_in_text import read_number
from reluscope.geometry.text.polymake_text import read_polymake
from reluscope.geometry.text.sage_text import read_sage

Table = np.ndarray
Form = Literal["cdd", "polymake", "sage", "mps"]


def written(A: Table, b: Table, C: Table, d: Table, form: Form) -> str:
    """Return ``A x <= b`` and ``C x = d`` as text."""
    if form == "mps":
        return written_mps(A, b, C, d)
    rows, equations = _signed(A, b), _signed(C, d)
    if form == "sage":
        # Of no rows at all Sage makes the empty set.
        rows = rows if rows or equations else [["1", *["0"] * A.shape[1]]]
        return f"Polyhedron(ieqs={_listed(rows)}, eqns={_listed(equations)}, base_ring=QQ)"
    if form == "polymake":
        parts = {"INEQUALITIES": rows, "EQUATIONS": equations}
        sections = ["\n".join([name, *map(" ".join, part), ""]) for name, part in parts.items() if part]
        return "\n".join(["_type Polytope<Rational>", f"CONE_AMBIENT_DIM\n{A.shape[1] + 1}\n", *sections])
    number = len(rows) + len(equations)
    places = " ".join(str(len(rows) + place + 1) for place in range(len(equations)))
    lines = ["H-representation", *([f"linearity {len(equations)} {places}"] if equations else []), "begin"]
    lines += [f" {number} {A.shape[1] + 1} rational", *(" " + " ".join(row) for row in rows + equations), "end", ""]
    return "\n".join(lines)


def read(text: str) -> tuple[Table, Table, Table, Table]:
    """Return ``A, b, C, d`` of text in any of the forms, which is recognised by its content.

    Raises InputError with the line where something is wrong.
    """
    starts = {line.split()[0] for line in text.splitlines() if line.strip()}
    if text.lstrip().startswith("Polyhedron"):
        return read_sage(text)
    if starts & {"H-representation", "V-representation"}:
        return read_cdd(text)
    if {"ROWS", "COLUMNS"} & starts:
        return read_mps(text)
    if {"_type", "INEQUALITIES", "EQUATIONS", "FACETS", "CONE_AMBIENT_DIM"} & starts:
        return read_polymake(text)
    raise InputError(
        "expected an H-representation of cdd, INEQUALITIES of polymake, Polyhedron(...) of Sage, or ROWS and COLUMNS "
        "of MPS, got none of these: is the text complete?"
    )


def read_cdd(text: str) -> tuple[Table, Table, Table, Table]:
    """Return ``A, b, C, d`` of an H-representation of cdd.

    Fractions are rounded to the nearest float64. Raises InputError with the line that is no H-representation.
    """
    lines = [(place, line.split()) for place, line in enumerate(text.splitlines(), start=1)]
    lines = [(place, words) for place, words in lines if words and words[0][0] not in "*#"]
    marks = {words[0]: order for order, (_, words) in reversed([*enumerate(lines)])}
    for name in ("H-representation", "begin", "end"):
        if name not in marks:
            raise InputError(f"expected a line {name!r} as cdd writes it, got none: give an H-representation of cdd")
    begin, end = marks["begin"], marks["end"]
    if begin + 1 >= end:
        raise InputError(f"line {lines[begin][0]}: expected the size after 'begin', got the end")
    place, size = lines[begin + 1]
    rows = lines[begin + 2 : end]
    if len(size) != 3 or not (size[0].isdecimal() and size[1].isdecimal()) or int(size[1]) < 2:
        raise InputError(f"line {place}: expected rows, columns and a kind of numbers, got {' '.join(size)[:40]!r}")
    if len(rows) != int(size[0]):
        raise InputError(f"line {place}: expected {size[0]} rows, got {len(rows)}: the text seems to be cut off")
    equations = np.zeros(len(rows), dtype=bool)
    for line, words in lines[:begin]:
        if words[0] == "linearity":
            chosen = words[2:]
            is_known = all(one.isdecimal() and 1 <= int(one) <= len(rows) for one in chosen)
            if not is_known or words[1:2] != [str(len(chosen))]:
                raise InputError(f"line {line}: expected the number of equations and their rows, got {words[1:5]}")
            equations[[int(one) - 1 for one in chosen]] = True
    table = np.zeros((len(rows), int(size[1])))
    for row, (line, words) in enumerate(rows):
        if len(words) != table.shape[1]:
            raise InputError(f"line {line}: expected {table.shape[1]} numbers, got {len(words)}")
        table[row] = [read_number(word, line) for word in words]
    sides = table[~equations], table[equations]
    return (*(part for side in sides for part in (0.0 - side[:, 1:], side[:, 0])),)  # pyright: ignore[reportReturnType]


def _signed(rows: Table, ends: Table) -> list[list[str]]:
    table = np.column_stack([ends, -rows]).tolist()
    return [[str(Fraction(entry)) for entry in row] for row in table]


def _listed(rows: list[list[str]]) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"

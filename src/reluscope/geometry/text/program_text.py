"""Mixed-integer programs as MPS and LP text, numbers with all digits of a float64.

In LP a row with two ends is written twice. Free MPS takes it with a range. Neither has an objective.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse

# LP readers take so many characters a line at least.
LINE = 200


class NamedProgram(NamedTuple):
    """Rows between ends of columns within ends, some columns 0 or 1, by name."""

    names: Sequence[str]
    matrix: scipy.sparse.csr_array
    row_lower: np.ndarray
    row_upper: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    is_binary: np.ndarray


def entries_of_rows(matrix: scipy.sparse.csr_array | scipy.sparse.csc_array) -> list[list[tuple[int, float]]]:
    """Return the column and the number of every entry, row by row; of a matrix by columns the other way round."""
    starts, places, numbers = (np.asarray(part).tolist() for part in (matrix.indptr, matrix.indices, matrix.data))
    return [
        list(zip(places[start:stop], numbers[start:stop], strict=True)) for start, stop in itertools.pairwise(starts)
    ]


def mps_text(program: NamedProgram) -> str:
    """Return a program in free MPS."""
    sides = list(zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True))
    lines = ["NAME network", "ROWS", " N objective"]
    lines += [f" {_kind(*ends)} r{row}" for row, ends in enumerate(sides)]
    lines.append("COLUMNS")
    by_column, was_binary = entries_of_rows(scipy.sparse.csc_array(program.matrix)), False
    for name, is_binary, entries in zip(program.names, program.is_binary.tolist(), by_column, strict=True):
        if is_binary != was_binary:
            lines.append(f" marker 'MARKER' '{'INTORG' if is_binary else 'INTEND'}'")
            was_binary = is_binary
        lines.append(f" {name} objective 0")
        lines += [f" {name} r{row} {number!r}" for row, number in entries]
    lines += [" marker 'MARKER' 'INTEND'"] * was_binary
    lines.append("RHS")
    ends = [high if np.isfinite(high) else low for low, high in sides]
    lines += [f" RHS r{row} {end!r}" for row, end in enumerate(ends) if end]
    is_range = [-np.inf < low < high < np.inf for low, high in sides]
    # One rounding step more than the width: a range is subtracted from its upper end.
    lines += ["RANGES"] * any(is_range)
    lines += [
        f" RANGE r{row} {np.nextafter(high - low, np.inf).item()!r}"
        for row, (low, high) in enumerate(sides)
        if is_range[row]
    ]
    lines.append("BOUNDS")
    for name, low, high in _ends(program):
        lines += [f" LO BOUND {name} {low!r}", f" UP BOUND {name} {high!r}"]
    return "\n".join([*lines, "ENDATA", ""])


def lp_text(program: NamedProgram, switches: Sequence[tuple[int, int, int, int]] = ()) -> str:
    """Return a program in LP; rows of ``switches`` as indicators: a binary at 0 or 1 has a column at 0."""
    names, off = program.names, {row: (column, binary, when) for row, column, binary, when in switches}
    lines = ["Minimize", f" objective: 0 {names[0]}", "Subject To"]
    sides = zip(entries_of_rows(program.matrix), program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    for row, (entries, low, high) in enumerate(sides):
        if row in off:
            column, binary, when = off[row]
            lines.append(f" r{row}: {names[binary]} = {when} -> {names[column]} <= 0")
            continue
        terms = [f"{'-' if number < 0 else '+'} {abs(number)!r} {names[place]}" for place, number in entries]
        for end, sign, letter in ((low, ">=", "a"), (high, "<=", "b")):
            if np.isfinite(end) and terms:
                lines += _broken(f" r{row}{letter}:", [*terms, f"{sign} {end!r}"])
    lines.append("Bounds")
    lines += [f" {low!r} <= {name} <= {high!r}" for name, low, high in _ends(program)]
    lines.append("Binaries")
    lines += _broken("", [name for name, is_one in zip(names, program.is_binary.tolist(), strict=True) if is_one])
    return "\n".join([*lines, "End", ""])


def _kind(low: float, high: float) -> str:
    return "E" if low == high else "L" if np.isfinite(high) else "G"


def _ends(program: NamedProgram) -> Iterator[tuple[str, float, float]]:
    return zip(program.names, program.lower.tolist(), program.upper.tolist(), strict=True)


def _broken(start: str, words: Sequence[str]) -> list[str]:
    """Return words in lines that are not too long."""
    lines = [start]
    for word in words:
        if len(lines[-1]) + len(word) > LINE:
            lines.append(" ")
        lines[-1] += f" {word}"
    return lines

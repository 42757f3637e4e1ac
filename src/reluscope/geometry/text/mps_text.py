"""Polyhedra as the feasible sets of linear programs in MPS files, which HiGHS and other solvers read and write.

A file names rows and columns: ``L``, ``G`` and ``E`` rows are half-spaces and equations, ``N`` rows are objectives, and
columns have bounds, from 0 to infinity where none are given. Numbers are written with all digits of a float64.
"""

from dataclasses import dataclass, field
from math import inf

import numpy as np

from reluscope.errors import InputError
from reluscope.geometry.text.numbers_in_text import read_number

Table = np.ndarray
# Bounds from here on are infinite for solvers.
INFINITE = 1e20
_SECTIONS = ("ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")
_SKIPPED = ("NAME", "OBJSENSE", "OBJNAME")
_WITHOUT_VALUE = ("FR", "MI", "PL")


def written_mps(A: Table, b: Table, C: Table, d: Table) -> str:
    """Return ``A x <= b`` and ``C x = d`` as an MPS program without an objective, in free format."""
    names = [f"r{place}" for place in range(len(b))] + [f"e{place}" for place in range(len(d))]
    table, ends = np.concatenate([A, C]), np.concatenate([b, d])
    lines = ["NAME polyhedron", "ROWS", " N objective"]
    lines += [f" {'L' if place < len(b) else 'E'} {name}" for place, name in enumerate(names)]
    lines.append("COLUMNS")
    for axis, column in enumerate(table.T.tolist()):
        lines.append(f" x{axis} objective 0")
        lines += [f" x{axis} {name} {entry!r}" for name, entry in zip(names, column, strict=True) if entry]
    lines.append("RHS")
    lines += [f" RHS {name} {end!r}" for name, end in zip(names, ends.tolist(), strict=True) if end]
    lines.append("BOUNDS")
    lines += [f" FR BOUND x{axis}" for axis in range(table.shape[1])]
    return "\n".join([*lines, "ENDATA", ""])


@dataclass
class _Program:
    """What was read so far: rows by name, their entries, columns in order, and bounds."""

    kinds: dict[str, str] = field(default_factory=dict)
    entries: dict[tuple[str, str], float] = field(default_factory=dict)
    columns: dict[str, list[float]] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    ranges: dict[str, float] = field(default_factory=dict)


def read_mps(text: str) -> tuple[Table, Table, Table, Table]:
    """Return ``A, b, C, d`` of the feasible set of a program in MPS, its objective left out.

    Rows come in the order of the file, then bounds by columns. Fixed format is read if names have no spaces. Raises
    InputError with the line, also for integer columns and quadratic parts.
    """
    program, section, line = _Program(), "", 0
    for line, written in enumerate(text.splitlines(), start=1):
        words = written.split()
        if not words or written[0] == "*":
            continue
        if not written[0].isspace():
            section = words[0].upper()
            if section == "ENDATA":
                return _as_tables(program, line)
            if section not in (*_SECTIONS, *_SKIPPED):
                raise InputError(f"line {line}: expected a section of a linear program, got {words[0][:40]!r}")
        elif section in _SECTIONS:
            _READERS[section](program, words, line)
    raise InputError(f"line {max(1, line)}: expected ENDATA at the end, got none: the text seems to be cut off")


def _read_row(program: _Program, words: list[str], line: int) -> None:
    if len(words) != 2 or words[0].upper() not in ("N", "L", "G", "E"):
        raise InputError(f"line {line}: expected N, L, G or E and a name, got {' '.join(words)[:40]!r}")
    if words[1] in program.kinds:
        raise InputError(f"line {line}: expected a name of its own for each row, got {words[1][:40]!r} again")
    program.kinds[words[1]] = words[0].upper()


def _read_column(program: _Program, words: list[str], line: int) -> None:
    if len(words) > 1 and words[1].strip("'") == "MARKER":
        raise InputError(f"line {line}: expected columns of real numbers, got a mark of whole-numbered ones")
    program.columns.setdefault(words[0], [0.0, inf])
    for name, value in _pairs(program, words, line, named=True):
        if (name, words[0]) in program.entries:
            raise InputError(f"line {line}: expected one entry for each row and column, got {name[:40]!r} again")
        program.entries[name, words[0]] = value


def _read_end(program: _Program, words: list[str], line: int) -> None:
    program.ends.update(_pairs(program, words, line))


def _read_range(program: _Program, words: list[str], line: int) -> None:
    program.ranges.update(_pairs(program, words, line))


def _pairs(program: _Program, words: list[str], line: int, *, named: bool = False) -> list[tuple[str, float]]:
    """Return rows and numbers of a line; it begins with a name, or may."""
    rest = words[1:] if named or len(words) % 2 else words
    if not rest or len(rest) % 2:
        raise InputError(f"line {line}: expected rows and their numbers in turn, got {' '.join(words)[:40]!r}")
    for name in rest[::2]:
        if name not in program.kinds:
            raise InputError(f"line {line}: expected the name of a row, got {name[:40]!r}")
    return [(name, read_number(value, line)) for name, value in zip(rest[::2], rest[1::2], strict=True)]


def _read_bound(program: _Program, words: list[str], line: int) -> None:
    kind, has_value = words[0].upper(), words[0].upper() not in _WITHOUT_VALUE
    if kind not in ("UP", "LO", "FX", *_WITHOUT_VALUE):
        raise InputError(f"line {line}: expected a bound UP, LO, FX, FR, MI or PL, got {words[0][:40]!r}")
    if not 2 + has_value <= len(words) <= 3 + has_value:
        raise InputError(f"line {line}: expected a bound of a column, got {' '.join(words)[:40]!r}")
    name = words[-1 - has_value]
    if name not in program.columns:
        raise InputError(f"line {line}: expected the name of a column, got {name[:40]!r}")
    ends = program.columns[name]
    value = _bound(words[-1], line) if has_value else 0.0
    if kind == "UP" and value < 0 and ends[0] == 0:
        raise InputError(
            f"line {line}: a negative upper bound without a lower one is read in two ways: give LO or MI before it"
        )
    if kind in ("LO", "FX"):
        ends[0] = value
    if kind in ("UP", "FX"):
        ends[1] = value
    if kind in ("FR", "MI"):
        ends[0] = -inf
    if kind in ("FR", "PL"):
        ends[1] = inf


def _bound(word: str, line: int) -> float:
    plain = word.lower().lstrip("+-")
    value = inf if plain in ("inf", "infinity") else abs(read_number(word, line))
    return (-1 if word.startswith("-") else 1) * (inf if value >= INFINITE else value)


_READERS = {
    "ROWS": _read_row,
    "COLUMNS": _read_column,
    "RHS": _read_end,
    "RANGES": _read_range,
    "BOUNDS": _read_bound,
}


def _as_tables(program: _Program, line: int) -> tuple[Table, Table, Table, Table]:
    if not program.columns:
        raise InputError(f"line {line}: expected at least one column before the end, got none")
    places = {name: axis for axis, name in enumerate(program.columns)}
    rows = {name: np.zeros(len(places)) for name in program.kinds}
    for (name, column), value in program.entries.items():
        rows[name][places[column]] = value
    sides: list[tuple[np.ndarray, float, float]] = []
    for name, kind in program.kinds.items():
        if kind != "N":
            sides.append((rows[name], *_ends(kind, program.ends.get(name, 0.0), program.ranges.get(name))))
    every = np.eye(len(places))
    sides += [(every[axis], low, high) for axis, (low, high) in enumerate(program.columns.values())]
    below: list[tuple[np.ndarray, float]] = []
    for row, low, high in sides:
        if low != high:
            below += [(row, high)] * (high < inf) + [(0.0 - row, 0.0 - low)] * (low > -inf)
    equal = [(row, low) for row, low, high in sides if low == high]
    found = []
    for part in (below, equal):
        found.append(np.array([row for row, _ in part]).reshape(-1, len(places)))
        found.append(np.array([end for _, end in part], dtype=np.float64))
    return found[0], found[1], found[2], found[3]


def _ends(kind: str, end: float, width: float | None) -> tuple[float, float]:
    """Return between which numbers a row is."""
    if kind == "E":
        return (end, end) if not width else (min(end, end + width), max(end, end + width))
    reach = inf if width is None else abs(width)
    return (end - reach, end) if kind == "L" else (end, end + reach)

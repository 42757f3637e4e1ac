"""Tables without repetition: columns and rows that say the same stand once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reluscope.report.parts.content import Number, ReportTable

FEWEST = 2


def merged(table: ReportTable) -> ReportTable:
    """Return a table with neighbouring equal columns joined, and rows that differ only in name joined."""
    if len(table.rows) < FEWEST:
        return table
    columns = list(zip(*table.rows, strict=True))
    names: list[str] = []
    kept: list[Sequence[Any]] = []
    for name, column in zip(table.columns, columns, strict=True):
        # The first column says what rows are; equal texts beside each other mean different things.
        if len(kept) > 1 and _is_numeric(column) and _same(column, kept[-1]):
            names[-1] = f"{names[-1]} = {name}"
        else:
            names.append(name)
            kept.append(column)
    rows: list[list[Any]] = []
    for row in zip(*kept, strict=True):
        if rows and isinstance(row[0], str) and row[0] and len(row) > 1 and _same(row[1:], rows[-1][1:]):
            rows[-1][0] = f"{rows[-1][0]}, {row[0]}"
        else:
            rows.append(list(row))
    return replace(table, columns=tuple(names), rows=tuple(map(tuple, rows)))


def shared_samples(table: ReportTable) -> int | None:
    """Return the number of samples that all numbers of a table are about, None where they differ or are about none."""
    found = {cell.samples for row in table.rows for cell in row if isinstance(cell, Number)}
    return found.pop() if len(found) == 1 else None


def _is_numeric(column: Sequence[Any]) -> bool:
    return any(isinstance(entry, Number | float) for entry in column)


def _same(column: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(_key(one) == _key(another) for one, another in zip(column, other, strict=True))


def _key(entry: Any) -> Any:
    return (entry.text, entry.finding.claim) if isinstance(entry, Number) else entry

"""What goes to standard output: tables for people, JSON for machines."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import log10
from typing import Any, Literal

import rich.box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reluscope.cli.terminal.standard_output import results
from reluscope.findings import Finding, Findings
from reluscope.findings.finite import finite
from reluscope.findings.written_findings import ends_in_words, signed, written_cell

# Columns of tables that go into pipes and files, unless COLUMNS says otherwise.
PIPED = 100
SHORT = 10**15
NamedColumn = tuple[str, Sequence[str]]


def open_console() -> Console:
    """Return a console; tables for pipes and files are 100 columns wide, and sentences there are one line each."""
    console = Console(highlight=False, file=results())
    if console.is_terminal or os.environ.get("COLUMNS"):
        return console
    return Console(highlight=False, file=results(), width=PIPED)


def print_json(plain: Mapping[str, Any]) -> None:
    """Print plain types as JSON; infinities, which JSON does not have, become null."""
    print(to_json(plain), file=results())


def to_json(plain: Mapping[str, Any]) -> str:
    """Return plain types as JSON text."""
    with _all_digits():
        return json.dumps(finite(plain), indent=1, allow_nan=False)


def make_table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table with these headings; columns in `right` are set flush right."""
    table = Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        is_number = name in right
        table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    return table


def add_row(table: Table, *cells: object) -> None:
    """Add a row of cells, taken literally."""
    table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else str(cell)) for cell in cells))


def print_findings(console: Console, found: Findings, *, whole: str = "", most: int = 60) -> None:
    """Print a table of findings, at most so many rows.

    `whole` names the row of the summary, if it has the same quantities and is to be shown below the others.
    """
    rows = range(min(len(found), most))
    keys = [(name, [str(key[row]) for row in rows]) for name, key in found.keys.items()]
    cells = [(column.title, [written_cell(found, name, row) for row in rows]) for name, column in found.columns.items()]
    if whole and found.summary is not None:
        for place, (_, column) in enumerate(keys):
            column.append("" if place else whole)
        for name, (_, column) in zip(found, cells, strict=True):
            column.append(written_cell(found.summary, name))
    print_columns(console, keys, cells)
    if len(found) > most:
        say(console, f"The first {most:,} of {len(found):,} rows are shown; --json has all.")
    if found.stopped:
        say(console, f"Ended early: {found.stopped}.")


def print_columns(console: Console, keys: Sequence[NamedColumn], numbers: Sequence[NamedColumn]) -> None:
    """Print columns of numbers beside keys; those that do not fit follow below, beside the keys again."""
    for part in _that_fit(console.width - sum(map(_breadth, keys)), numbers):
        table = make_table(*(name for name, _ in (*keys, *part)), right=[name for name, _ in part])
        for row in zip(*(column for _, column in (*keys, *part)), strict=True):
            add_row(table, *row)
        console.print(table)


def _that_fit(room: int, columns: Sequence[NamedColumn]) -> Iterator[list[NamedColumn]]:
    """Yield columns that stand beside each other in a width, one at the least."""
    part: list[NamedColumn] = []
    left = room
    for one in columns:
        if part and _breadth(one) > left:
            yield part
            part, left = [], room
        part.append(one)
        left -= _breadth(one)
    yield part


def _breadth(one: NamedColumn) -> int:
    name, column = one
    return 3 + max(map(len, (name, *column)))


def print_numbers(
    console: Console, numbers: Iterable[Finding], *, title: str = "", also: Sequence[Literal["ends", "method"]] = ()
) -> None:
    """Print single findings below each other: name, value and claim.

    `title` is the heading of the names; `also` adds the ends between which the truth lies, or how each number was
    computed.
    """
    table = make_table(title, "value", "claim", *also, right=("value",))
    for one in numbers:
        said = {"ends": ends_in_words(one), "method": one.method}
        add_row(table, one.name, signed(one), one.claim, *(said[name] for name in also))
    console.print(table)


def say(console: Console, sentence: str, *, style: str = "") -> None:
    """Print a line of text, taken literally; a terminal wraps it itself, so that it can be copied."""
    console.print(Text(sentence, style=style), soft_wrap=True)


def short(number: int) -> str:
    """Return a whole number in full, or three digits of it and a power of ten where it is long."""
    if abs(number) < SHORT:
        return f"{number:,}"
    power = int(log10(abs(number))) - 2
    leading = round(Fraction(abs(number), 10**power))
    while leading >= 1000:  # rounded up, or a logarithm just below a whole number
        power += 1
        leading = round(Fraction(abs(number), 10**power))
    return f"{'-' * (number < 0)}{leading / 100:.2f}e+{power + 2}"


def several(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural where needed."""
    ending = "es" if noun.endswith("x") else "s"
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def several_parts(number: int, kind: str) -> str:
    """Return a number of boxes, or of sets of regions, in words."""
    return several(number, "box") if kind == "boxes" else several(number, "set") + " of regions"


def shape_of(shape: Sequence[int]) -> str:
    """Return a shape as people write it, such as ``1 x 28 x 28``."""
    return " x ".join(map(str, shape)) or "1"


@contextmanager
def _all_digits() -> Iterator[None]:
    """Allow whole numbers of any length to be written; Python limits their digits only against foreign input."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)

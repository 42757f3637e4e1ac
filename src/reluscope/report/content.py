"""What a section of a report consists of: text, numbers with their claims, tables and pictures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reluscope.findings import Finding, Findings, Quantity, Status
from reluscope.findings.writing import SIGNS, ends_in_words, signed, with_ends, written_cell


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Number:
    """A finding, and how to write its value if not plainly."""

    finding: Finding
    shown: str = ""

    @property
    def text(self) -> str:
        """The value as the page shows it, with a sign for bounds and estimates."""
        return SIGNS[self.finding.claim] + self.shown if self.shown else signed(self.finding)

    @property
    def ends(self) -> str:
        """Between which ends the truth lies, in words; empty where the value says it all."""
        return ends_in_words(self.finding)


@dataclass(frozen=True)
class Numbers:
    """Findings side by side."""

    entries: tuple[Number, ...]
    kind: str = "numbers"


@dataclass(frozen=True)
class Table:
    """Rows of cells; a cell is text, a number, or a `Number` that brings its claim along."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    kind: str = "table"


@dataclass(frozen=True)
class Drawing:
    """An ``<svg>`` element and its width in points."""

    svg: str
    width: float


@dataclass(frozen=True)
class Picture:
    """One or more drawings side by side, at one scale."""

    drawings: tuple[Drawing, ...]
    caption: str = ""
    kind: str = "picture"


@dataclass(frozen=True)
class Attachment:
    """A file that lies beside the page.

    Parameters
    ----------
    name : str
        Of the file.
    data : bytes
        Its content.
    caption : str
        What it holds, as the page says it.
    """

    name: str
    data: bytes
    caption: str = ""
    kind: str = "attachment"


Block = Text | Numbers | Table | Picture | Attachment


@dataclass(frozen=True)
class Content:
    """What a section says.

    Parameters
    ----------
    blocks : tuple of blocks
        In order.
    headline : Number, optional
        The section's first number, for the overview.
    data : mapping
        Further plain numbers for the JSON file.
    interrupted : bool
        Whether the user stopped the work, so that no further section is to be started.
    """

    blocks: tuple[Block, ...]
    headline: Number | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings in the blocks, in order, each once."""
        found: list[Finding] = []
        for block in self.blocks:
            if isinstance(block, Numbers):
                found.extend(entry.finding for entry in block.entries)
            elif isinstance(block, Table):
                found.extend(cell.finding for row in block.rows for cell in row if isinstance(cell, Number))
        return tuple({id(finding): finding for finding in found}.values())


def measured(found: Findings, name: str | Quantity, row: int) -> Number | str:
    """Return a cell of a table of findings with its ends, or why it has none."""
    if found.status[row] is not Status.DONE or np.isnan(found[name].value[row]):
        return written_cell(found, str(name), row)
    finding = found.finding(name, row)
    return Number(finding, with_ends(finding).removeprefix(SIGNS[finding.claim]))


def findings_table(found: Findings, caption: str = "", *, whole: str = "", most: int = 60) -> Table:
    """Return a table of findings as the page shows it: keys, then quantities.

    Parameters
    ----------
    found : Findings
    caption : str
    whole : str
        What the row of the summary is called, if it has the same quantities and is to be shown below the others.
    most : int
        Rows that are shown at most.
    """
    rows = [
        (
            *(key[row].item() if hasattr(key[row], "item") else key[row] for key in found.keys.values()),
            *(measured(found, name, row) for name in found),
        )
        for row in range(min(len(found), most))
    ]
    if len(found) > most:
        caption += f" The first {most:,} of {len(found):,} rows are shown."
    if whole and found.summary is not None:
        rows.append((whole, *[""] * (len(found.keys) - 1), *(measured(found.summary, name, 0) for name in found)))
    return Table((*found.keys, *(column.title for column in found.columns.values())), tuple(rows), caption.strip())


def median(found: Findings, name: str | Quantity) -> Number | str:
    """Return the median of a quantity over the rows that have it; "none" where no row does."""
    return "none" if np.isnan(found[name].value).all() else Number(found.median(name))


def plain_values(values: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, None where they are not finite."""
    return [float(value) if np.isfinite(value) else None for value in values]


def numbers(*entries: Finding | Number) -> Numbers:
    """Put findings side by side."""
    return Numbers(tuple(entry if isinstance(entry, Number) else Number(entry) for entry in entries))

"""What a section of a report consists of: text, numbers with their claims, tables and pictures."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reluscope.findings import Finding, Findings, Quantity, Status
from reluscope.findings.written_findings import ends_in_words, signed, with_ends, written_cell
from reluscope.report.parts.sentences import Sentence

MAX_ROWS = 60


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Number:
    """A finding, and whether its ends are written beside its value."""

    finding: Finding
    shows_ends: bool = False

    @property
    def text(self) -> str:
        """The value as the page shows it, with a sign for bounds and estimates."""
        return with_ends(self.finding) if self.shows_ends else signed(self.finding)

    @property
    def ends(self) -> str:
        """Between which ends the truth lies, in words; empty where the value says it all."""
        return ends_in_words(self.finding)

    @property
    def samples(self) -> int | None:
        """How many samples it is about, None where it is about none or one."""
        return self.finding.num_samples


@dataclass(frozen=True)
class NumbersSideBySide:
    """Findings side by side."""

    entries: tuple[Number, ...]
    kind: str = "numbers"


def is_written_number(cell: Any) -> bool:
    """Return whether a cell is text that is a number, with a unit or a claim, or several, or a dash."""
    number = r"[-+]?\d[\d,.]*(e[-+]?\d+)?"
    written = rf"{number}(, {number})*( ?[%°])?( (EXACT|LOWER|UPPER|ESTIMATE))?|[-–]"
    return isinstance(cell, str) and re.fullmatch(written, cell) is not None


@dataclass(frozen=True)
class ReportTable:
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
class ReportPicture:
    """One or more drawings side by side, at one scale, and what stands small below the first."""

    drawings: tuple[Drawing, ...]
    caption: str = ""
    below: Drawing | None = None
    kind: str = "picture"


@dataclass(frozen=True)
class Attachment:
    """A file that lies beside the page."""

    name: str  # of the file
    data: bytes  # its content
    caption: str = ""  # what it holds, as the page says it
    kind: str = "attachment"


@dataclass(frozen=True)
class Snapshot:
    """A plane to look at within the page, by the program of the explorer."""

    text: str  # what it shows, in base64
    caption: str = ""
    kind: str = "snapshot"


Block = Text | NumbersSideBySide | ReportTable | ReportPicture | Attachment | Snapshot


@dataclass(frozen=True)
class Content:
    """The content of a section."""

    blocks: tuple[Block, ...]  # in order
    headline: Number | None = None  # the section's first number, for the overview
    data: Mapping[str, Any] = field(default_factory=dict)  # further plain numbers for the JSON file
    interrupted: bool = False  # whether the user stopped the work
    sentences: tuple[Sentence, ...] = ()  # the first is the answer; any may open the report

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings in the blocks, in order, each once."""
        found: list[Finding] = []
        for block in self.blocks:
            if isinstance(block, NumbersSideBySide):
                found.extend(entry.finding for entry in block.entries)
            elif isinstance(block, ReportTable):
                found.extend(cell.finding for row in block.rows for cell in row if isinstance(cell, Number))
        # By what is said of them: sections that were kept on disk have copies in place of what they shared.
        return tuple({json.dumps(finding.to_dict(), default=str): finding for finding in found}.values())


def cell(entry: Any) -> Any:
    """Return what stands in a cell of a table: a finding with its ends, nothing for None and NaN, else the entry."""
    if isinstance(entry, Finding):
        return Number(entry, shows_ends=True)
    plain = entry.item() if hasattr(entry, "item") else entry
    return "" if plain is None or (isinstance(plain, float) and np.isnan(plain)) else plain


def cells(found: Findings, name: str | Quantity) -> tuple[Finding | str, ...]:
    """Return one quantity of all rows: findings, or for a row that has none why."""
    return tuple(
        written_cell(found, str(name), row)
        if found.status[row] is not Status.DONE or np.isnan(found[name].value[row])
        else found.finding(name, row)
        for row in range(len(found))
    )


def table(
    keys: Mapping[str, Iterable[Any]],
    columns: Mapping[str, Iterable[Any]],
    caption: str = "",
    *,
    limit: int = MAX_ROWS,
) -> ReportTable:
    """Return a table of single findings: what rows are, then a column under each heading.

    All columns must have equally many entries, None where there is nothing. At most ``limit`` rows are shown; the
    caption says how many there are.
    """
    rows = list(zip(*keys.values(), *columns.values(), strict=True))
    if len(rows) > limit:
        caption += f" The first {limit:,} of {len(rows):,} rows are shown."
    return ReportTable((*keys, *columns), tuple(tuple(map(cell, row)) for row in rows[:limit]), caption.strip())


def findings_table(
    found: Findings,
    caption: str = "",
    *,
    quantities: Iterable[str | Quantity] = (),
    also: Mapping[str, Iterable[Any]] | None = None,
    limit: int = MAX_ROWS,
) -> ReportTable:
    """Return a table of findings as the page shows it: keys, then quantities.

    ``also`` comes between keys and quantities.
    """
    names = [str(name) for name in quantities] or list(found)
    columns = {found[name].title: cells(found, name) for name in names}
    return table({**found.keys, **(also or {})}, columns, caption, limit=limit)


def medians_table(
    found: Findings,
    by: str,
    caption: str = "",
    *,
    quantities: Iterable[str | Quantity] = (),
    also: Mapping[str, Iterable[Any]] | None = None,
    limit: int = MAX_ROWS,
) -> ReportTable:
    """Return the medians of quantities over the rows that share a key, as of samples in one layer.

    Groups come in the table's order; ``also`` is what else is known of them.
    """
    groups = found.groups(by)
    names = [str(name) for name in quantities] or list(found)
    medians = {name: [median(group, name) for group in groups.values()] for name in names}
    # The ends of medians of drawn samples would fill the table; the details of the section have them.
    columns = {
        found[name].title: [Number(one) if isinstance(one, Finding) else one for one in medians[name]] for name in names
    }
    return table({by: groups, **(also or {})}, columns, caption, limit=limit)


def median(found: Findings, name: str | Quantity) -> Finding | str:
    """Return the median of a quantity over the rows that have it; "none" where no row does."""
    return "none" if np.isnan(found[name].value).all() else found.median(name)


def plain_values(values: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, None where they are not finite."""
    return [float(value) if np.isfinite(value) else None for value in values]


def numbers(*entries: Finding | Number) -> NumbersSideBySide:
    """Put findings side by side."""
    return NumbersSideBySide(tuple(entry if isinstance(entry, Number) else Number(entry) for entry in entries))

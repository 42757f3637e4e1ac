"""Tables of findings for people and programs: text, Markdown, HTML, plain types for JSON, Arrow. One way for each.

Everything takes any `Findings`: what it shows follows from keys, quantities and claims alone. A bound is written with
its sign, an estimate with ≈; where both ends are known and apart, they follow in brackets.
"""

from collections.abc import Callable, Sequence
from html import escape
from math import isfinite, isinf
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from reluscope.findings.finding import Claim, Finding

if TYPE_CHECKING:
    from reluscope.findings.table import Findings

SIGNS = {Claim.EXACT: "", Claim.LOWER: "≥ ", Claim.UPPER: "≤ ", Claim.ESTIMATE: "≈ "}


def number(value: float) -> str:
    """Return a number as a reader likes it: thousands apart, or four significant digits.

    Examples
    --------
    >>> from reluscope.findings.writing import number
    >>> number(12345), number(0.000123456), number(54.5), number(1241.5), number(float("inf"))
    ('12,345', '0.0001235', '54.5', '1,241.5', '∞')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if 1e3 <= abs(value) < 1e6 else f"{value:.4g}"


def signed(finding: Finding) -> str:
    """Return a finding's value with the sign of its claim.

    Examples
    --------
    >>> from reluscope.findings import Claim, Finding
    >>> from reluscope.findings.writing import signed
    >>> signed(Finding(5, Claim.LOWER))
    '≥ 5'
    """
    return SIGNS[finding.claim] + number(finding.value)


def with_ends(finding: Finding) -> str:
    """Return a finding's value with the sign of its claim, and its ends if both are known.

    Examples
    --------
    >>> from reluscope.findings import Claim, Finding
    >>> from reluscope.findings.writing import with_ends
    >>> with_ends(Finding(5, Claim.LOWER, interval=(5, 9))), with_ends(Finding(5, Claim.EXACT))
    ('≥ 5 [5, 9]', '5')
    """
    ends = finding.interval
    if ends is None or finding.claim is Claim.EXACT or not all(map(isfinite, ends)):
        return signed(finding)
    return f"{signed(finding)} [{number(ends[0])}, {number(ends[1])}]"


def as_text(found: "Findings", *, most: int = 20) -> str:
    """Return the table as lines of text: numbers flush right, at most so many rows."""
    head, rows = _cells(found, with_ends, most)
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    left = len(found.keys)
    lines = [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (head, *rows)
    ]
    return "\n".join([*lines, *_notes(found, len(rows))])


def as_markdown(found: "Findings", *, most: int = 1000) -> str:
    """Return the table in Markdown."""
    head, rows = _cells(found, with_ends, most)
    rule = ["---" if place < len(found.keys) else "--:" for place in range(len(head))]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (head, rule, *rows)]
    return "\n".join([*lines, *("\n" + note for note in _notes(found, len(rows)))])


def as_html(found: "Findings", *, most: int = 50) -> str:
    """Return the table as HTML; the definition of a quantity is the title of its heading."""
    head, rows = _cells(found, with_ends, most)
    titles = ["" for _ in found.keys] + [column.definition for column in found.columns.values()]
    headings = "".join(
        f'<th scope="col"{f" title={_quoted(title)}" if title else ""}>{escape(cell)}</th>'
        for cell, title in zip(head, titles, strict=True)
    )
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(found, len(rows)))
    return f"<div><table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"


def as_plain(found: "Findings") -> dict[str, Any]:
    """Return everything but details as plain types, ready for JSON; infinite and missing numbers are null."""
    plain: dict[str, Any] = {"domain": found.domain} if found.domain else {}
    plain["keys"] = {name: table.tolist() for name, table in found.keys.items()}
    plain["status"] = [str(status) for status in found.status]
    for name, column in found.columns.items():
        quantity = column.quantity
        plain[name] = {
            "definition": column.definition,
            "kind": str(quantity.kind),
            **({"unit": quantity.unit} if quantity.unit else {}),
            **({"source": quantity.source} if quantity.source else {}),
            **({"method": column.method} if column.method else {}),
            **{end: _finite(getattr(column, end).tolist()) for end in ("value", "lower", "upper")},
            "claim": [
                str(claim) if value == value else None
                for claim, value in zip(column.claims, column.value.tolist(), strict=True)
            ],
        }
    if found.population is not None:
        plain["population"] = found.population
    return plain | {"stopped": found.stopped, "seconds": found.seconds}


def as_arrow(found: "Findings") -> pa.Table:
    """Return keys, status, and for each quantity value, ends and claim, as an Arrow table; definitions are metadata."""
    columns: dict[str, Any] = dict(found.keys) | {"status": [str(status) for status in found.status]}
    fields: dict[str, dict[str, str]] = {}
    for name, column in found.columns.items():
        fields[name] = {"definition": column.definition, "unit": column.quantity.unit, "method": column.method}
        columns[name] = column.value
        columns[f"{name}_lower"], columns[f"{name}_upper"] = column.lower, column.upper
        columns[f"{name}_claim"] = [str(claim) for claim in column.claims]
    table = pa.table(columns)
    for place, name in enumerate(table.column_names):
        if name in fields:
            table = table.set_column(place, table.field(place).with_metadata(fields[name]), table.column(place))
    return table


def _cells(found: "Findings", write: Callable[[Finding], str], most: int) -> tuple[list[str], list[list[str]]]:
    head = [*found.keys, *(column.title for column in found.columns.values())]
    rows = []
    for row in range(min(len(found), most)):
        keys = [_key(table[row]) for table in found.keys.values()]
        rows.append(keys + [_cell(found, name, row, write) for name in found.columns])
    return head, rows


def _cell(found: "Findings", name: str, row: int, write: Callable[[Finding], str]) -> str:
    if not found.is_done[row]:
        return str(found.status[row])
    value = found.columns[name].value[row]
    return write(found.finding(name, row)) if value == value else ""


def _key(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    return f"{plain:,}" if isinstance(plain, int) else str(plain)


def _notes(found: "Findings", shown: int) -> Sequence[str]:
    notes = [] if shown == len(found) else [f"{shown:,} of {len(found):,} rows."]
    return [*notes, *([f"Ended early: {found.stopped}."] if found.stopped else [])]


def _finite(values: list[float]) -> list[float | None]:
    return [value if isfinite(value) else None for value in values]


def _quoted(text: str) -> str:
    return '"' + escape(text, quote=True) + '"'

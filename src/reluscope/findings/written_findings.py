"""Tables of findings for people and programs: a writer each for text, Markdown, HTML, plain types for JSON, Arrow.

Everything takes any `Findings`: what it shows follows from keys, quantities and claims alone. A bound is written with
its sign, an estimate with ≈; where both ends are known and apart, they follow in brackets.
"""

import json
import shutil
from collections.abc import Sequence
from html import escape
from math import inf, isinf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from reluscope.findings.claims import Claim
from reluscope.findings.column import Column
from reluscope.findings.finding import Finding

if TYPE_CHECKING:
    import pyarrow as pa

    from reluscope.findings.table import Findings

SIGNS = {Claim.EXACT: "", Claim.LOWER: "≥ ", Claim.UPPER: "≤ ", Claim.ESTIMATE: "≈ "}
# Digits of numbers that are no whole ones, at least and at most.
MIN_DIGITS, MAX_DIGITS = 4, 17
# Whole numbers below are told apart by float64, and are numbers of int64.
LARGEST_WHOLE = 2.0**53
# Columns of text where no terminal says how many there are.
WIDTH = 100


def number(value: float, digits: int = MIN_DIGITS) -> str:
    """Return a number with its thousands apart, or with four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.{digits - 3}f}" if 1e3 <= abs(value) < 1e6 else f"{value:.{digits}g}"


def written(finding: Finding, value: float, digits: int = MIN_DIGITS) -> str:
    """Return the finding's value, or one of its ends, as `number` writes it.

    Shares are in percent, angles with their sign.
    """
    if finding.is_share:
        return f"{100 * value:.{digits - 3}f} %"
    return number(value, digits) + "°" * (finding.unit == "degrees")


def signed(finding: Finding, digits: int = MIN_DIGITS) -> str:
    """Return a finding's value with the sign of its claim."""
    return SIGNS[finding.claim] + written(finding, finding.value, digits)


def with_ends(finding: Finding) -> str:
    """Return a finding's value with the sign of its claim, and its ends if both are known.

    The ends have as many digits as tell them apart.
    """
    ends = finding.interval
    # Ends that are one number add nothing.
    if ends is None or finding.claim is Claim.EXACT or inf in map(abs, ends) or ends[0] == ends[1]:
        return signed(finding)
    digits = _digits(finding, *ends)
    return f"{signed(finding, digits)} [{', '.join(written(finding, end, digits) for end in ends)}]"


def ends_in_words(finding: Finding) -> str:
    """Return between which ends the truth lies, in words; empty where the value says it all."""
    if finding.interval is None or finding.claim is Claim.EXACT or finding.interval[0] == finding.interval[1]:
        return ""
    low, high = finding.interval
    if high == inf:
        return f"{written(finding, low)} or more"
    digits = _digits(finding, low, high)
    return f"between {written(finding, low, digits)} and {written(finding, high, digits)}"


def as_text(found: "Findings", *, most: int = 20, width: int | None = None) -> str:
    """Return the table as lines of text: numbers flush right, at most so many rows.

    Columns that do not fit beside each other follow below, each block with the keys; by default in the terminal's
    width, and in 100 columns elsewhere.
    """
    head, rows, left = _cells(found, most)
    width = width or shutil.get_terminal_size((WIDTH, 24)).columns
    columns = list(zip(*([head, *rows] if head else rows), strict=True))
    widths = [max(map(len, column)) for column in columns]
    text: list[str] = []
    for block in _blocks(widths, left, width):
        if text:
            text.append("")
        for line in zip(*(columns[place] for place in block), strict=True):
            cells = (
                cell.ljust(widths[place]) if place < left else cell.rjust(widths[place])
                for place, cell in zip(block, line, strict=True)
            )
            text.append("  ".join(cells).rstrip())
    summary = [] if found.summary is None else as_text(found.summary, most=most, width=width).splitlines()
    return "\n".join([*text, *_notes(found, most), *summary])


def _blocks(widths: Sequence[int], left: int, most: int) -> list[list[int]]:
    """Return which columns stand beside each other: the first ones, and so many others as fit, one at least."""
    keys = list(range(left))
    blocks, used = [keys.copy()], sum(widths[:left]) + 2 * left
    for place in range(left, len(widths)):
        if len(blocks[-1]) > left and used + widths[place] > most:
            blocks.append(keys.copy())
            used = sum(widths[:left]) + 2 * left
        blocks[-1].append(place)
        used += widths[place] + 2
    return blocks


def as_markdown(found: "Findings", *, most: int = 1000) -> str:
    """Return the table in Markdown."""
    head, rows, left = _cells(found, most)
    head = head or ["quantity", "value"]
    rule = ["---" if place < left else "--:" for place in range(len(head))]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in (head, rule, *rows)]
    summary = [] if found.summary is None else ["\n" + as_markdown(found.summary, most=most)]
    return "\n".join([*lines, *("\n" + note for note in _notes(found, most)), *summary])


def as_html(found: "Findings", *, most: int = 50) -> str:
    """Return the table as HTML; the definition of a quantity is the title of its heading."""
    head, rows, _ = _cells(found, most)
    titles = [column.definition for column in found.columns.values()]
    if head:
        headings = "".join(_heading(*one, "col") for one in zip(head, ["" for _ in found.keys] + titles, strict=True))
        headings = f"<thead><tr>{headings}</tr></thead>"
        marked = [["<td>" + escape(cell) + "</td>" for cell in row] for row in rows]
    else:
        headings = ""
        marked = [
            [_heading(row[0], title, "row"), f"<td>{escape(row[1])}</td>"]
            for row, title in zip(rows, titles, strict=True)
        ]
    body = "".join("<tr>" + "".join(row) + "</tr>" for row in marked)
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(found, most))
    summary = "" if found.summary is None else as_html(found.summary, most=most)
    return f"<div><table>{headings}<tbody>{body}</tbody></table>{notes}{summary}</div>"


def as_plain(found: "Findings") -> dict[str, Any]:
    """Return everything but details as plain types, ready for JSON; `Findings.from_dict` reads them.

    Missing numbers and ends at which nothing is known are null; other infinite numbers are ``"inf"`` and ``"-inf"``.
    Tolerances are there where they are not those that columns have by default.
    """
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
            **({"least": plain_number(quantity.least)} if quantity.least != 0 else {}),
            **({"most": plain_number(quantity.most)} if quantity.most != quantity.kind.most else {}),
            **({"method": column.method} if column.method else {}),
            **({"given": column.given} if column.given else {}),
            **({"confidence": column.confidence} if column.confidence < 1 else {}),
            "value": [plain_number(value) for value in _cells_of(column, column.value)],
            "lower": [plain_number(end, unknown=-inf) for end in _cells_of(column, column.lower)],
            "upper": [plain_number(end, unknown=inf) for end in _cells_of(column, column.upper)],
            **({} if column.has_default_scale else {"scale": column.scale.tolist()}),
            "claim": [
                str(claim) if value == value else None
                for claim, value in zip(column.claims, column.value.tolist(), strict=True)
            ],
        }
    if found.notes:
        plain["notes"] = list(found.notes)
    if found.num_samples is not None:
        plain["samples"] = found.num_samples
    if found.population is not None:
        plain["population"] = found.population
    if found.summary is not None:
        plain["summary"] = as_plain(found.summary)
    if found.stop is not None:
        plain["stop"] = found.stop.to_dict()
    return plain | {"stopped": found.stopped, "seconds": found.seconds}


def as_arrow(found: "Findings") -> "pa.Table":
    """Return keys, status, and for each quantity value, ends and claim, as an Arrow table.

    Definitions are metadata of the columns; a summary and notes, as JSON, of the table.
    """
    import pyarrow as pa

    columns: dict[str, Any] = dict(found.keys) | {"status": [str(status) for status in found.status]}
    fields: dict[str, dict[str, str]] = {}
    for name, column in found.columns.items():
        fields[name] = {"definition": column.definition, "unit": column.quantity.unit, "method": column.method}
        for ending, table in (("", column.value), ("_lower", column.lower), ("_upper", column.upper)):
            columns[f"{name}{ending}"] = _whole(table) if column.quantity.is_discrete else table
        columns[f"{name}_claim"] = [str(claim) for claim in column.claims]
    table = pa.table(columns)
    for place, name in enumerate(table.column_names):
        if name in fields:
            table = table.set_column(place, table.field(place).with_metadata(fields[name]), table.column(place))
    about = {} if found.summary is None else {"summary": json.dumps(as_plain(found.summary))}
    if found.notes:
        about["notes"] = json.dumps(found.notes)
    return table.replace_schema_metadata(about) if about else table


def _cells_of(column: Column, numbers: Float[np.ndarray, " k"]) -> list[float]:
    """Return numbers of a column as Python's; whole ones of counts and truths as int."""
    cells = numbers.tolist()
    return [int(one) if one.is_integer() else one for one in cells] if column.quantity.is_discrete else cells


def _whole(numbers: Float[np.ndarray, " k"]) -> "pa.Array | np.ndarray":
    """Return numbers as int64, null where there is none, if all others are whole; else as they are."""
    import pyarrow as pa

    is_missing = np.isnan(numbers)
    known = numbers[~is_missing]
    if not (np.abs(known) < LARGEST_WHOLE).all() or (known % 1).any():
        return numbers
    return pa.array(np.where(is_missing, 0.0, numbers).astype(np.int64), mask=is_missing)


def _cells(found: "Findings", most: int) -> tuple[list[str], list[list[str]], int]:
    """Return headings and rows of cells, and how many columns stand flush left.

    Without keys there is one row, which is turned around: names beside cells, and no headings.
    """
    titles = [column.title for column in found.columns.values()]
    rows = []
    for row in range(min(len(found), most)):
        keys = [_key(table[row]) for table in found.keys.values()]
        rows.append(keys + [written_cell(found, name, row) for name in found.columns])
    if not found.keys:
        return [], [list(pair) for pair in zip(titles, rows[0], strict=True)], 1
    return [*found.keys, *titles], rows, len(found.keys)


def written_cell(found: "Findings", name: str, row: int = 0) -> str:
    """Return what stands in a cell: a number with its sign and ends, nothing, or why there is none."""
    if not found.is_done[row]:
        return str(found.status[row])
    value = found.columns[name].value[row]
    return with_ends(found.finding(name, row)) if value == value else ""


def _key(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    return f"{plain:,}" if isinstance(plain, int) else str(plain)


def _notes(found: "Findings", most: int) -> Sequence[str]:
    notes = [] if most >= len(found) else [f"{most:,} of {len(found):,} rows."]
    return [*notes, *found.notes, *([f"Ended early: {found.stopped}."] if found.stop else [])]


def _digits(finding: Finding, low: float, high: float) -> int:
    """Return how many digits tell two numbers apart."""
    for digits in range(MIN_DIGITS, MAX_DIGITS):
        if written(finding, low, digits) != written(finding, high, digits):
            return digits
    return MIN_DIGITS if low == high else MAX_DIGITS


def plain_number(value: float, *, unknown: float | None = None) -> float | str | None:
    """Return a number as JSON can have it; null where it is missing, or is the infinite `unknown`."""
    if isnan(value) or value == unknown:
        return None
    return str(float(value)) if isinf(value) else value


def _heading(text: str, title: str, scope: str) -> str:
    said = f' title="{escape(title, quote=True)}"' if title else ""
    return f'<th scope="{scope}"{said}>{escape(text)}</th>'

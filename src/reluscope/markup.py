"""Semantic HTML for notebooks: tables, terms, notes, a thumbnail; everything escaped.

Colours are the page's own, so that light and dark notebooks both read well.
"""

from collections.abc import Iterable, Sequence
from html import escape

CELL = "text-align:left;padding:.15em .8em .15em 0"
NUMBER = "text-align:right;padding:.15em .8em .15em 0;font-variant-numeric:tabular-nums"


def figure(title: str, *blocks: str) -> str:
    """Return blocks under a title; the title is escaped, blocks are HTML already."""
    return f'<section style="max-width:60em"><p><strong>{escape(title)}</strong></p>{"".join(blocks)}</section>'


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; whole numbers are grouped by thousands and stand at the right."""
    head = "".join(f'<th scope="col" style="{CELL}">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def terms(entries: Iterable[tuple[str, object]]) -> str:
    """Return a small table of names and what they stand for; empty entries are left out."""
    rows = "".join(
        f'<tr><th scope="row" style="{CELL};font-weight:normal;opacity:.75">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(_text(value))}</td></tr>'
        for name, value in entries
        if value not in ("", None)
    )
    return f"<table><tbody>{rows}</tbody></table>" if rows else ""


def notes(texts: Iterable[str]) -> str:
    """Return sentences as a list, or nothing if there are none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def thumbnail(lines: Sequence[Sequence[float]], width: float, height: float, description: str) -> str:
    """Return line pieces ``(x, y, x, y)``, y upwards, in a window of the given size as a small picture."""
    scale = min(180 / width, 180 / height)
    right, top = scale * width, scale * height
    path = "".join(
        f"M{scale * a:.4g} {top - scale * b:.4g}L{scale * c:.4g} {top - scale * d:.4g}" for a, b, c, d in lines
    )
    return (
        f'<svg role="img" aria-label="{escape(description)}" width="{right:.0f}" height="{top:.0f}" '
        f'viewBox="0 0 {right:.4g} {top:.4g}" fill="none" stroke="currentColor">'
        f'<path stroke-width="0.5" d="{path}"/>'
        f'<rect width="{right:.4g}" height="{top:.4g}" stroke-width="1.5"/></svg>'
    )


def _cell(cell: object) -> str:
    style = NUMBER if isinstance(cell, int | float) else CELL
    return f'<td style="{style}">{escape(_text(cell))}</td>'


def _text(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)

"""What the papers print: their numbers in `tables.json`, each table with its section and the pages that this spans.

Entries are kept as they stand, with their misprints (errata.md); a dash is a dash of the paper. `figures.json` lists
every figure and table of the papers, in their order.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "tables.json"
FIGURES = FILE.with_name("figures.json")


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def rows(paper: str, table: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a printed table.

    Parameters
    ----------
    paper : str
        A key of the citations.
    table : str
        As the paper names it.

    Raises
    ------
    KeyError
        If the file does not have it.

    Examples
    --------
    >>> rows("sattelberg2026", "Table 3.1")[-1]
    ('4', '5')
    """
    return tuple(tuple(row) for row in _tables()[paper][table]["rows"])


def place(paper: str, table: str) -> str:
    """Return where a table stands: its section, and the pages that this spans where they are known.

    Examples
    --------
    >>> place("sattelberg2026", "Table 6.1")
    'section 6.1, pages 114 to 121'
    """
    found = _tables()[paper][table]
    pages = found.get("pages")
    return f"section {found['section']}" + (f", pages {pages}" if pages else "")


def names() -> list[tuple[str, str]]:
    """Return papers and tables, in the order of the file.

    Examples
    --------
    >>> ("zhang2020", "Table 2") in names()
    True
    """
    return [(paper, table) for paper, tables in _tables().items() for table in tables]


@cache
def figures() -> dict[str, dict[str, str]]:
    """Return what every figure and table of a paper shows, by paper and name, in the order of the paper.

    Examples
    --------
    >>> figures()["zhang2020"]["Figure 7"]
    'two spirals'
    """
    kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    return {paper: {one["name"]: one["what"] for one in found} for paper, found in kept.items()}

"""Quantities: what can be measured, each declared once.

A quantity has a name that is a column of tables and a key of JSON, and a definition that a reader can check. Its kind
says which values it may have, and so what is known of a row that was not measured.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import inf

# What tables of findings have beside their columns, as plain types.
RESERVED = frozenset(
    {"domain", "keys", "status", "notes", "population", "samples", "summary", "stop", "stopped", "seconds"}
)


class Kind(StrEnum):
    """Which values a quantity may have.

    COUNT: whole numbers from 0. REAL: real numbers, by default from 0. SHARE: from 0 to 1. TRUTH: 0 for no, 1 for yes.
    """

    COUNT = "count"
    REAL = "real"
    SHARE = "share"
    TRUTH = "truth"

    @property
    def most(self) -> float:
        """The value above which there is none, unless a quantity says otherwise: 1 for shares and truths."""
        return 1.0 if self in (Kind.SHARE, Kind.TRUTH) else inf


@dataclass(frozen=True)
class Quantity:
    """Something that can be measured; made by `declare`.

    Parameters
    ----------
    name : str
        As a column is called: lower case, words joined by ``_``.
    definition : str
        What it is, as a reader could check it; a phrase without an article, and without a full stop.
    kind : Kind
    unit : str
        In whose unit it is: ``"input"``, ``"output"``, ``"degrees"``; empty for pure numbers.
    source : str
        Key of the publication that it follows.
    least, most : float
        No value is below, or above.

    Examples
    --------
    >>> from reluscope.findings import Kind, Quantity
    >>> Quantity("num_regions", "linear regions that meet the domain", Kind.COUNT).title
    'number of regions'
    """

    name: str
    definition: str
    kind: Kind = Kind.REAL
    unit: str = ""
    source: str = ""
    least: float = 0.0
    most: float = inf

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """The name in words."""
        return ("number of " + self.name[4:] if self.name.startswith("num_") else self.name).replace("_", " ")

    @property
    def scale(self) -> float:
        """The largest absolute value that it may have, 0 where there is none: with what errors are compared."""
        largest = max(abs(self.least), abs(self.most))
        return largest if largest < inf else 0.0

    @property
    def is_discrete(self) -> bool:
        """Whether values are whole numbers, of which two are equal or not."""
        return self.kind in (Kind.COUNT, Kind.TRUTH)


_DECLARED: dict[str, Quantity] = {}


def declare(
    name: str,
    definition: str,
    *,
    kind: Kind = Kind.REAL,
    unit: str = "",
    source: str = "",
    least: float = 0.0,
    most: float | None = None,
) -> Quantity:
    """Declare a quantity; a name means one thing in the whole library.

    Parameters
    ----------
    name, definition, kind, unit, source, least, most
        See `Quantity`; shares and truths end at 1.

    Raises
    ------
    ValueError
        If the name is taken by another quantity, or by an entry of every table.

    Examples
    --------
    >>> from reluscope.findings import Kind, declare
    >>> declare("example_share", "share of examples that run", kind=Kind.SHARE).most
    1.0
    """
    if name in RESERVED:
        raise ValueError(f"every table has an entry {name}: call the quantity something else")
    quantity = Quantity(name, definition, kind, unit, source, least, kind.most if most is None else most)
    if _DECLARED.setdefault(name, quantity) != quantity:
        raise ValueError(f"the quantity {name} is declared already, as: {_DECLARED[name].definition}")
    return quantity


def quantity_named(name: str) -> Quantity:
    """Return the quantity that was declared by this name; KeyError if there is none."""
    return _DECLARED[name]


def declared() -> tuple[Quantity, ...]:
    """Return all quantities declared so far, by name."""
    return tuple(quantity for _, quantity in sorted(_DECLARED.items()))

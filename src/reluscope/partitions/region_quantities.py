"""Quantities of regions: numbers that every region of a partition has, each declared once with how it is computed.

Tables, Parquet files, pictures, commands, the explorer and the report loop over what is declared here, and name no
quantity themselves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Shaped

from reluscope.arguments import NonNegative, describe, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Quantity
from reluscope.partitions.left_open import left_open
from reluscope.shown import Shown

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition

# The values of some regions of a partition, and both ends of each value.
Values = Callable[["Partition", slice], Shaped[np.ndarray, " k"]]
Ends = Callable[["Partition", slice, np.ndarray], tuple[np.ndarray, np.ndarray]]
# Whether a partition has what is needed, and what it lacks otherwise.
NEEDS: "dict[str, tuple[Callable[[Partition], bool], str]]" = {
    "corners": (lambda part: part.has_vertices, "the corners of regions, which this partition does not keep"),
    "facets": (
        lambda part: part.has_vertices and not part.jumps,
        "corners and facets, which this partition does not keep",
    ),
    "polygons": (
        lambda part: part.has_facet_vertices and part.dim == 2,
        "a bounded plane, partitioned by incidence",
    ),
    "network": (
        lambda part: part.network is not None,
        "the network, and the partition was loaded without one: Partition.load(path, network=net)",
    ),
    "two pieces": (
        lambda part: any(gate.num_pieces == 2 for gate in part.codes.layout),
        "gates of two pieces, and this network has none",
    ),
}

# Columns of tables and colours of pictures that are no quantities.
RESERVED = frozenset({"code", "class", "area", "length", "random", "gate", "unit", "prefix"})
SECONDS_PER_REGION = 1e-5

_DECLARED: "dict[str, RegionQuantity]" = {}


@dataclass(frozen=True, repr=False)
class RegionQuantity(Shown):
    """A number that every region has; made by `declare_region_quantity`.

    Parameters
    ----------
    quantity : Quantity
        Its name, definition, kind and unit.
    values : callable
        From a partition and a slice of its rows to the values.
    ends : callable, optional
        From a partition, a slice and the values to the lower and upper ends.
    needs : tuple of str
        What a partition must have.
    seconds : callable, optional
        From a partition to about how long all regions take.
    is_listed : bool
        Whether tables, commands and the report show the quantity without being asked.
    is_logarithmic : bool
        Whether pictures colour regions by its logarithm.
    scale : float, optional
        Scale of the question, against which errors of small values are compared.
    """

    quantity: Quantity
    values: Values
    ends: Ends | None
    needs: tuple[str, ...]
    seconds: "Callable[[Partition], float] | None"
    is_listed: bool
    is_logarithmic: bool
    scale: float | None = None

    @property
    def name(self) -> str:
        """The name of the quantity: a column of tables, a colour of pictures."""
        return self.quantity.name

    def why_not(self, part: "Partition") -> str:
        """Return what the partition lacks; empty if nothing."""
        return next((said for is_met, said in map(NEEDS.__getitem__, self.needs) if not is_met(part)), "")

    def cost(self, part: "Partition") -> float:
        """Return about how many seconds all regions take."""
        return SECONDS_PER_REGION * len(part) if self.seconds is None else self.seconds(part)

    def of(self, part: "Partition") -> Shaped[np.ndarray, " r"]:
        """Return the values of all regions; InputError if the partition lacks what they need."""
        if lacking := self.why_not(part):
            raise InputError(f"{self.name} needs {lacking}")
        return np.asarray(self.values(part, slice(0, len(part))))

    def column(self, part: "Partition", rows: slice) -> Column:
        """Return the values of some regions between their ends; estimates where these are not known."""
        values = np.asarray(self.values(part, rows))
        if self.ends is None or not left_open(part).is_listed_sure:
            return Column.estimate(self.quantity, values, method=part.method)
        low, high = self.ends(part, rows, values)
        return Column.of(self.quantity, values, low, high, scale=self.scale, method=part.method)


@read_arguments
def declare_region_quantity(
    quantity: Quantity,
    *,
    ends: Ends | None = None,
    needs: Sequence[str] = (),
    seconds: "Callable[[Partition], float] | None" = None,
    listed: bool = True,
    logarithmic: bool = False,
    scale: NonNegative | None = None,
) -> Callable[[Values], RegionQuantity]:
    """Declare a number of every region; decorates the function that computes it for many regions at once.

    Parameters
    ----------
    quantity : Quantity
        As `reluscope.findings.declare` returns it.
    ends : callable, optional
        From the partition, the slice of rows and their values to lower and upper ends, which decide what each value
        claims. Without it values are estimates.
    needs : sequence of {"corners", "facets", "polygons", "network", "two pieces"}
        What a partition must have: corners of its regions; also the facets between them; regions that are bounded
        polygons; its network; units of two pieces. Where it is missing the quantity is left out.
    seconds : callable, optional
        From the partition to about how many seconds all regions take; by default 10 microseconds for each.
    listed : bool
        Whether `Partition.to_table`, Parquet files and the report have the quantity without being asked.
    logarithmic : bool
        Whether pictures colour regions by its logarithm.
    scale : float, optional
        Scale of the question: small values with errors of at most 1e-9 of it are EXACT (`reluscope.findings.claims`).
        By default the largest absolute value that the quantity may have, 0 where there is none.

    Returns
    -------
    callable
        Takes a function from a partition and a slice of its rows to their values, and returns the `RegionQuantity`.

    Raises
    ------
    InputError
        If another function computes a quantity of this name, the name stands for a column or a colour already, or a
        need is unknown.

    Notes
    -----
    Where the signs of a partition stay undecided, or regions are not proved, every quantity is an estimate.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.findings import declare
    >>> FAR = declare("example_distance", "distance of the region's witness from the origin", unit="input")
    >>> @rs.declare_region_quantity(FAR, listed=False)
    ... def example_distance(part, rows):
    ...     return (part.witnesses[rows] ** 2).sum(axis=1) ** 0.5
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> rs.partition(net, rs.Box(-2, 2, 2)).to_table(["example_distance"])["example_distance"].to_numpy().round(3)
    array([1.414, 1.414, 1.414, 1.414])
    """
    if unknown := [need for need in needs if need not in NEEDS]:
        raise InputError(f"needs must be some of {', '.join(NEEDS)}, got {unknown[0]!r}")
    for name, given in (("ends", ends), ("seconds", seconds)):
        if given is not None and not callable(given):
            raise InputError(f"{name} must be a function or None, got {describe(given)}: see the example")
    if quantity.name in RESERVED or quantity.name.startswith("witness_"):
        raise InputError(f"{quantity.name} is a column or a colour already: call the quantity something else")

    def declared(values: Values) -> RegionQuantity:
        known = _DECLARED.get(quantity.name)
        if known is not None and _place(known.values) != _place(values):
            raise InputError(f"{quantity.name} is computed already, by {'.'.join(_place(known.values))}: rename one")
        entry = RegionQuantity(quantity, values, ends, tuple(needs), seconds, listed, logarithmic, scale)
        _DECLARED[quantity.name] = entry
        return entry

    return declared


def region_quantities() -> tuple[RegionQuantity, ...]:
    """Return all quantities of regions in the order in which they were declared."""
    return tuple(_DECLARED.values())


def chosen_quantities(part: "Partition", names: str | Sequence[str] | None) -> tuple[RegionQuantity, ...]:
    """Return the quantities of these names; by default those that are listed, for "all" every one the partition allows.

    InputError if a name is unknown, or the partition lacks what a named one needs.
    """
    if names is None or names == "all":
        allowed = (entry for entry in region_quantities() if not entry.why_not(part))
        return tuple(entry for entry in allowed if entry.is_listed or names == "all")
    found = tuple(region_quantity(name) for name in ([names] if isinstance(names, str) else names))
    for entry in found:
        if lacking := entry.why_not(part):
            raise InputError(f"{entry.name} needs {lacking}")
    return found


def region_quantity(name: str) -> RegionQuantity:
    """Return the quantity of this name; InputError if there is none."""
    if name not in _DECLARED:
        raise InputError(f"expected a quantity of regions, one of {', '.join(_DECLARED)}, got {name!r}")
    return _DECLARED[name]


def _place(function: Values) -> tuple[str, str]:
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))

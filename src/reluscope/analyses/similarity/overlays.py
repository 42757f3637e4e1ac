"""Several networks on one domain: the common refinement of their partitions.

A piece of the refinement is a maximal set that lies in one region of every network. It is a region of the networks
stacked side by side, so that one exact partition finds all pieces. Behind the stack the largest score of a network is
one more gate, whose piece is the class: cut along it, every piece has one class of every network.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.extremes.largest_value import LargestValue, maximize
from reluscope.arguments import read_arguments, read_position
from reluscope.budget import RegionBudget
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.packed import Codes
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.findings.data_frames import as_pandas
from reluscope.geometry.numbers.resolutions import TOTALS
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.networks.building.combined import largest_distance, stack, with_class_gates
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_quantities import region_quantity
from reluscope.progress import Progress
from reluscope.shown import Shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SHARE_OF_EQUAL_CLASSES = declare(
    "share_of_equal_classes", "share of the domain on which both networks say the same class", kind=Kind.SHARE
)


@dataclass(frozen=True, eq=False, repr=False)
class Overlay(Shown):
    """The common refinement of partitions of one domain; a table with a row for each piece.

    Parameters
    ----------
    partition : Partition
        The pieces, as the partition of a network that evaluates all networks at once: its outputs are theirs, one
        after the other. Its claim is that of the refinement.
    networks : tuple of Network
        The k networks.
    regions : (r, k) int64
        Row of each piece's region in the given partition of each network; -1 where that partition does not list it.
    classes : (r, k) int64, optional
        Class of each network on each piece; None unless pieces are cut by classes.
    """

    partition: Partition
    networks: tuple[Network, ...]
    regions: Int[np.ndarray, "r k"]
    classes: Int[np.ndarray, "r k"] | None = None

    def __len__(self) -> int:
        return len(self.partition)

    def agreement(self) -> Findings:
        """Return for each pair of networks the share of the domain on which both say the same class.

        Returns
        -------
        Findings
            ``share_of_equal_classes`` for each pair ``first`` < ``second``: EXACT within the rounding of volumes;
            LOWER, with an interval, where work stopped early; anything from 0 to 1 where signs stayed undecided.

        Raises
        ------
        InputError
            If pieces are not cut by classes, the domain is unbounded, or no corners are kept.
        """
        if self.classes is None:
            raise InputError("shares need pieces of one class each: make the overlay with classes=True")
        if not self.partition.window.is_bounded():
            raise InputError(f"shares need a bounded domain, got {self.partition.domain.describe()}: partition a Box")
        volume = region_quantity("volume")
        if lacking := volume.why_not(self.partition):
            raise InputError(f"shares need {lacking}: partition a domain of up to eight dimensions, keep='vertices'")
        sizes = volume.column(self.partition, slice(0, len(self)))
        pairs = list(combinations(range(len(self.networks)), 2))
        found = [self._share(sizes, self.classes[:, one] == self.classes[:, other]) for one, other in pairs]
        value, lower, upper = np.array(found, dtype=np.float64).reshape(-1, 3).T
        method = "volumes of pieces of the common refinement, cut where a class changes"
        return Findings.of(
            Column.of(SHARE_OF_EQUAL_CLASSES, value, lower, upper, method=method),
            keys={"first": np.array([one for one, _ in pairs]), "second": np.array([other for _, other in pairs])},
            domain=self.partition.domain.describe(),
            stop=self.partition.stop,
        )

    def _share(self, sizes: Column, is_equal: np.ndarray) -> tuple[float, float, float]:
        """Return a share between its ends: what is not listed may have equal classes, or not."""
        whole = self.partition.window.volume()
        least = max(0.0, float(sizes.lower[is_equal].sum()) / whole - TOTALS) if len(sizes) else 0.0
        most = min(1.0, 1.0 - float(sizes.lower[~is_equal].sum()) / whole + TOTALS)
        if not most >= least:  # undecided signs: volumes have no ends
            least, most = 0.0, 1.0
        reached = float(sizes.value.sum())
        value = float(sizes.value[is_equal].sum()) / reached if reached > 0 else 0.0
        return float(np.clip(value, least, most)), least, most

    @read_arguments
    def largest_difference(
        self, first: int = 0, second: int = 1, *, budget: RegionBudget | None = None, progress: Progress = False
    ) -> LargestValue:
        """Return the largest absolute difference of two networks' outputs on the domain, and a point that takes it.

        ``max_x max_j |f_j(x) - g_j(x)|`` with rounding included, as `reluscope.maximize` returns it.

        Parameters
        ----------
        first, second : int
            The two networks.
        budget : Budget, optional
            Of the search.
        progress : bool or callable

        Raises
        ------
        ShapeError
            If the networks have different numbers of outputs.
        InputError
            If the domain is unbounded, a network jumps, or a last function is left off.
        """
        f, g = (self.networks[read_position(one, "network", len(self.networks), "networks")] for one in (first, second))
        return maximize(largest_distance(f, g), self.partition.domain, budget=budget, progress=progress)

    @read_arguments
    def differences(self, first: int = 0, second: int = 1) -> Float[np.ndarray, " r"]:
        """Return the largest absolute difference of two networks' outputs on every bounded piece, in float64.

        A difference is affine on a piece, so that its largest absolute value is taken at a corner.

        Raises
        ------
        InputError
            If the networks have different numbers of outputs, the domain is unbounded, or no corners are kept.
        """
        one, other = (read_position(place, "network", len(self.networks), "networks") for place in (first, second))
        starts = np.cumsum([0, *(network.num_outputs for network in self.networks)])
        if self.networks[one].num_outputs != self.networks[other].num_outputs:
            raise InputError("differences need networks with equally many outputs: choose two of the same task")
        if not self.partition.window.is_bounded():
            raise InputError(f"differences need a bounded domain, got {self.partition.domain.describe()}: take a Box")
        outputs = self.partition.outputs
        own, others = (outputs[:, starts[place] : starts[place + 1]] for place in (one, other))
        offsets, ids = self.partition.region_vertices
        apart = np.abs(own - others).max(axis=1)[ids]
        return np.maximum.reduceat(apart, offsets[:-1]) if len(self) else np.zeros(0)

    def to_table(self) -> "pa.Table":
        """Return one row per piece: what `Partition.to_table` returns, and the region and class of each network.

        ``region_0``, ``region_1``, ...: rows of the given partitions; ``class_0``, ``class_1``, ... if pieces are cut
        by classes; of two networks of equally many outputs with corners on a bounded domain ``difference``, see
        `differences`.

        Returns
        -------
        pyarrow.Table
        """
        table = self.partition.to_table()
        columns = {f"region_{place}": own for place, own in enumerate(self.regions.T)}
        if self.classes is not None:
            columns |= {f"class_{place}": own for place, own in enumerate(self.classes.T)}
        is_pair = len(self.networks) == 2 and len({network.num_outputs for network in self.networks}) == 1
        if is_pair and self.partition.has_vertices and self.partition.window.is_bounded():
            columns["difference"] = self.differences()
        for name, column in columns.items():
            table = table.append_column(name, [column])
        return table

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas."""
        return as_pandas(self.to_table())


@read_arguments
def overlay(
    parts: Sequence[Partition],
    *,
    classes: bool = False,
    budget: RegionBudget | None = None,
    progress: Progress = False,
) -> Overlay:
    """Return the common refinement of the partitions of several networks on one domain.

    Parameters
    ----------
    parts : sequence of Partition
        Two or more of one domain, with their networks.
    classes : bool
        Cut pieces where a class of some network changes, too, as its `decision` reads it: `Overlay.agreement` then
        returns the share of the domain on which classes agree.
    budget : Budget, optional
        Regions or seconds, for the refinement.
    progress : bool or callable

    Returns
    -------
    Overlay
        The pieces with the region of each network; its partition is EXACT, or LOWER where signs stayed undecided or
        work stopped early. `reluscope.plots.partition` draws it on lines and planes.

    Raises
    ------
    InputError
        If there are fewer than two partitions, their domains differ, or one was loaded without its network.

    Notes
    -----
    One partition of the networks side by side, with the tolerance of the first one: about one forward pass of all
    networks for each vertex of the refinement.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> upper, right = (rs.load([(row, np.zeros(1)), (np.eye(1), np.zeros(1))]) for row in ([[0.0, 1.0]], [[1.0, 0.0]]))
    >>> found = rs.similarity.overlay([rs.partition(net, rs.Box(-1, 1, 2)) for net in (upper, right)], classes=True)
    >>> len(found), sorted(found.regions.tolist())
    (4, [[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> print(found.agreement().finding("share_of_equal_classes"), found.largest_difference())
    0.5 (EXACT) 1 (EXACT)
    """
    networks = _networks(parts)
    first = parts[0]
    side_by_side = with_class_gates(networks) if classes else stack([replace(one, left_off=None) for one in networks])
    found = partition(side_by_side, first.domain, budget=budget, progress=progress, tolerance=first.tolerance)
    regions = np.zeros((len(found), len(parts)), dtype=np.int64)
    start = 0
    for place, part in enumerate(parts):
        stop = start + part.codes.layout.num_words
        regions[:, place] = _rows_of(part.codes.words, found.codes.words[:, start:stop])
        start = stop
    return Overlay(found, networks, regions, _classes(found.codes, len(parts)) if classes else None)


def _networks(parts: Sequence[Partition]) -> tuple[Network, ...]:
    """Return the networks of partitions, once these are known to share a domain."""
    if len(parts) < 2:
        raise InputError(f"expected two or more partitions, got {len(parts)}: partition one domain by each network")
    domain = domain_arrays(parts[0].domain)
    for place, part in enumerate(parts):
        own = domain_arrays(part.domain)
        if own.keys() != domain.keys() or not all(np.array_equal(own[name], domain[name]) for name in domain):
            raise InputError(
                f"expected partitions of one domain, got {parts[0].domain.describe()} and {part.domain.describe()}: "
                "partition the same domain by each network"
            )
        if part.network is None:
            raise InputError(
                f"an overlay needs the networks, and partition {place} was loaded without its own: "
                "Partition.load(path, network=net)"
            )
    return tuple(part.network for part in parts if part.network is not None)


def _rows_of(known: np.ndarray, asked: np.ndarray) -> Int[np.ndarray, " r"]:
    """Return where each row of words is among known ones, -1 where it is not."""
    first, group, _ = group_equal_rows(np.ascontiguousarray(np.concatenate([known, asked])))
    places = first[group[len(known) :]]
    return np.where(places < len(known), places, -1)


def _classes(codes: Codes, number: int) -> Int[np.ndarray, "r k"]:
    """Return the pieces of the last gates, of one unit each."""
    gates = list(codes.by_gate().values())[-number:]
    return np.concatenate([gate.to_array() for gate in gates], axis=1).astype(np.int64)

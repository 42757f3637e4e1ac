"""Facets along which two classes tie and do not change places: the lead of one falls to zero, and rises again.

The lead is the difference of two scores, affine on each region. It vanishes on a facet between two regions, and is
positive beside it, if and only if the leads of the two regions are negative multiples of each other: they agree on the
facet, whose line is where they agree. On the boundary of the domain the lead of one region is a positive multiple of
the distance from a wall. Both are decided in fractions, since a lead that almost vanishes is no tie.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.polygons import means_at_corners

# Multiplications of fractions for all facets of a partition: some seconds.
MOST_MULTIPLICATIONS = 2_000_000

Function = tuple[Fraction, ...]


class Touching(NamedTuple):
    """Facets along which two classes tie without changing places, as rows of a decision boundary."""

    regions: Int[np.ndarray, " p"]
    classes: Int[np.ndarray, "p 2"]
    ends: Float[np.ndarray, "p d d"]
    doubtful: float  # length (number, on a line) of undecided facets


class TouchingTies:
    """The search for facets along which classes tie without changing places.

    The partition must be of a bounded line or plane, with its network.
    """

    def __init__(self, part: Partition) -> None:
        self.part = part
        self._rational: RationalNetwork | None = None
        self._left = MOST_MULTIPLICATIONS
        self._walls = [
            tuple(Fraction(float(entry)) for entry in (*row, -end))
            for row, end in zip(*part.window.polyhedron.inequalities(), strict=True)
        ]

    def beside(
        self,
        values: Float[np.ndarray, "v k"],
        chosen: Int[np.ndarray, " c"],
        start: int,
        stop: int,
        error: float,
    ) -> Touching:
        """Return the facets with touching ties that have the regions ``start`` to ``stop`` on their left.

        ``values`` are scores at all vertices, ``chosen`` the classes that may be ahead in these regions; scores no
        farther apart than ``error`` may tie.
        """
        part, outline = self.part, self.part.facets_with_ends
        which = np.flatnonzero((outline.left >= start) & (outline.left < stop))
        at = values[outline.known_ends[which]][:, :, chosen]
        tied = (at >= at.max(axis=2, keepdims=True) - error).all(axis=1)
        found: list[tuple[int, int, int]] = []
        doubtful = 0.0
        for place in np.flatnonzero(tied.sum(axis=1) > 1).tolist():
            facet = int(which[place])
            sides = [int(side) for side in (outline.left[facet], outline.right[facet]) if side >= 0]
            pair = self._pair(values, chosen, sides, tied[place], error)
            if pair is None:
                continue
            is_touched = self._touches(sides, pair)
            if is_touched:
                found.append((facet, *pair))
            elif is_touched is None:
                ends = part.vertices[outline.known_ends[facet]]
                doubtful += 1.0 if part.dim == 1 else float(np.linalg.norm(ends[0] - ends[1]))
        facets = np.array([facet for facet, _, _ in found], dtype=np.int64)
        classes = np.sort(np.array([pair for _, *pair in found], dtype=np.int64).reshape(-1, 2), axis=1)
        ends = part.vertices[outline.known_ends[facets]].reshape(-1, part.dim, part.dim)
        return Touching(outline.left[facets].astype(np.int64), classes, ends, doubtful)

    def _pair(
        self, values: np.ndarray, chosen: np.ndarray, sides: list[int], tied: np.ndarray, error: float
    ) -> tuple[int, int] | None:
        """Return the class that leads on both sides of a facet and another one that ties with it there, if any."""
        offsets, ids = self.part.region_vertices
        leaders, flats = [], np.zeros(len(chosen), dtype=bool)
        for side in sides:
            corners = values[ids[offsets[side] : offsets[side + 1]]][:, chosen]
            means = means_at_corners(corners, np.array([0, len(corners)]), np.arange(len(corners), dtype=np.int32))[0]
            among = np.flatnonzero(tied)
            leader = int(among[means[among] >= means[among].max() - error][0])
            # What is the same at all corners is so on the whole region, and no boundary runs there.
            flats |= (corners == corners[:, [leader]]).all(axis=0)
            leaders.append(leader)
        if leaders[0] != leaders[-1]:
            return None  # classes change places
        others = np.flatnonzero(tied & ~flats)
        others = others[others != leaders[0]]
        return (int(chosen[leaders[0]]), int(chosen[others[0]])) if len(others) else None

    def _touches(self, sides: list[int], pair: tuple[int, int]) -> bool | None:
        """Return whether the lead of the first class vanishes on a facet and nowhere beside it, None if not decided."""
        try:
            leads = [self._lead(side, pair) for side in sides]
        except TooManyMultiplicationsError:
            return None
        if len(leads) == 2:
            return _are_opposite(leads[0], leads[1])
        # The rows of the domain are at most 0 inside.
        return any(_are_opposite(leads[0], wall) for wall in self._walls)

    def _lead(self, region: int, pair: tuple[int, int]) -> Function:
        """Return by how much one class is ahead of another one on a region: slopes and constant."""
        network = scores_network(self.part.network_on_domain)
        if self._rational is None:
            self._rational = RationalNetwork(network)
        one, other = pair
        if network.num_outputs > 1:
            weights = {one: Fraction(1), other: Fraction(-1)}
        else:  # the score of class 0 is 0
            weights = {0: Fraction(1 if one else -1)}
        pieces = [table[0].tolist() for table in pieces_of(self.part.codes[region : region + 1])]
        try:
            found = self._rational.pull_back(pieces, weights, most=self._left)
        except TooManyMultiplicationsError:
            self._left = 0
            raise
        self._left -= found.cost
        slopes = (found.coefficients.get(axis, Fraction(0)) for axis in range(self.part.dim))
        return (*slopes, found.constant)


def _are_opposite(one: Function, other: Function) -> bool:
    """Whether two affine functions, neither of them zero, are negative multiples of each other."""
    pivot = next((place for place, entry in enumerate(one) if entry), None)
    if pivot is None or not any(other) or not other[pivot]:
        return False
    factor = other[pivot] / one[pivot]
    return factor < 0 and all(two == factor * entry for entry, two in zip(one, other, strict=True))

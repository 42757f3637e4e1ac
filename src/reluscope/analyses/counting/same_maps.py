"""Which regions have the same affine map, decided exactly.

Floats only sort out what is clearly different: maps whose coefficients are farther apart than both their rounding
bounds. What is left is equal for a plain reason, the same pieces of all units that matter, or is compared in rational
arithmetic.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes, pieces_of, units_that_matter
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, rational_maps
from reluscope.partitions.driver.walk import Step, walk
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import Stop


@dataclass(frozen=True)
class SameMaps:
    """Regions grouped by their affine map.

    Where all is decided, ``certain`` and ``possible`` are the same grouping.
    """

    certain: Int[np.ndarray, " r"]  # regions with one number have one map
    possible: Int[np.ndarray, " r"]  # regions with different numbers have different maps
    num_undecided: int  # maps not compared because work stopped early
    stop: Stop | None  # why it did, None if all were compared

    @property
    def interval(self) -> tuple[int, int]:
        """Least and largest number of different maps."""
        return _distinct(self.possible), _distinct(self.certain)


def same_maps(part: Partition, effort: Effort | None = None) -> SameMaps:
    """Group the regions of a partition by their affine map.

    Rational arithmetic stops when the effort's seconds are over. A few forward passes,
    and d + 1 rational evaluations for every map that floats do not tell from all others.
    """
    number = len(part)
    if number == 0:
        nothing = np.zeros(0, dtype=np.int64)
        return SameMaps(nothing, nothing, 0, None)
    network = part.network_on_domain
    maps, errors = maps_of_codes(network, part.codes)
    table = np.concatenate([maps.weight.numpy(), maps.bias.numpy()[..., None]], axis=2)
    groups = _clearly_different(table, errors)
    members = np.bincount(groups)
    doubtful = np.flatnonzero(members[groups] > 1)
    if not len(doubtful):
        return SameMaps(groups, groups, 0, None)
    codes = part.codes[doubtful]
    which = zip(pieces_of(codes), units_that_matter(network, codes), strict=True)
    needed = np.concatenate(
        [*(np.where(matters, piece, -1) for piece, matters in which), groups[doubtful, None]], axis=1
    )
    _, first, kinds = np.unique(needed, axis=0, return_index=True, return_inverse=True)
    certain, possible = groups.copy(), groups.copy()
    largest = number
    certain[doubtful] = largest + kinds.reshape(-1)
    several = np.bincount(groups[doubtful[first]], minlength=groups.max() + 1) > 1
    # One kind that is alone in its group is compared with nothing.
    comparison = _Comparison(RationalNetwork(network), codes[first], np.flatnonzero(several[groups[doubtful[first]]]))
    start = [comparison] if comparison.waiting else []
    walked = walk(start, _Comparison.step, effort=effort or Effort())
    certain[doubtful] = largest + comparison.names[kinds.reshape(-1)]
    # A group with anything undecided in it may still be one map.
    settled = np.ones(groups.max() + 1, dtype=bool)
    settled[groups[doubtful[first[comparison.waiting]]]] = False
    clear = settled[groups]
    possible[clear] = certain[clear]
    return SameMaps(_numbered(certain), _numbered(possible), len(comparison.waiting), walked.stop)


class _Comparison:
    """Maps that are compared in rational arithmetic; a step of `walk` takes one of them.

    ``names`` has for each code the first compared kind with the same map, else the kind itself; ``waiting`` lists the
    kinds not compared yet.
    """

    is_finished = False

    def __init__(self, exact: RationalNetwork, codes: Codes, kinds: Int[np.ndarray, " k"]) -> None:
        self.names, self.waiting = np.arange(len(codes)), kinds[::-1].tolist()
        self._exact, self._codes = exact, codes
        self._first_of: dict[tuple[AffineFunction, ...], int] = {}

    def __len__(self) -> int:
        return len(self.waiting)

    def step(self, room: float) -> Step:
        """Compare one map with those before it."""
        del room
        kind = self.waiting[-1]
        code = [piece[0].tolist() for piece in pieces_of(self._codes[kind : kind + 1])]
        self.names[kind] = self._first_of.setdefault(rational_maps(self._exact, code).outputs, kind)
        self.waiting.pop()
        return Step([self] if self.waiting else [], 1)


def _clearly_different(table: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return a grouping (r,) that keeps together whatever rounding may have parted."""
    groups = np.zeros(len(table), dtype=np.int64)
    largest = errors.max(axis=0)
    for output in range(table.shape[1]):
        for column in table[:, output].T:
            order = np.lexsort((column, groups))
            apart = np.diff(column[order]) > 2 * largest[output]
            starts = np.concatenate([[False], apart | (np.diff(groups[order]) != 0)])
            groups[order] = np.cumsum(starts)
        if groups.max() == len(table) - 1:
            break
    return _numbered(groups)


def _numbered(labels: np.ndarray) -> np.ndarray:
    """Return the same groups, numbered from 0 in the order in which they first occur."""
    _, first, groups = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[groups.reshape(-1)]


def _distinct(labels: np.ndarray) -> int:
    return len(np.unique(labels))

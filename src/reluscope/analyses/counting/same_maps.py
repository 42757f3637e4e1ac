"""Which regions have the same affine map, decided exactly.

Floats only sort out what is clearly different: maps whose coefficients are farther apart than both their rounding
bounds. What is left is equal for a plain reason, the same pieces of all units that matter, or is compared in rational
arithmetic.
"""

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.budget import ENDS, why_ended
from reluscope.networks.maps_of_codes import maps_of_codes, pieces_of, units_that_matter
from reluscope.networks.rational import RationalNetwork
from reluscope.networks.rational_maps import AffineFunction, rational_maps
from reluscope.partitions.table import Partition


@dataclass(frozen=True)
class SameMaps:
    """Regions grouped by their affine map.

    Parameters
    ----------
    certain : (r,) int64
        Regions with one number have one map.
    possible : (r,) int64
        Regions with different numbers have different maps. Where all is decided, the same grouping as ``certain``.
    num_undecided : int
        Maps that were not compared because time ran out.
    stopped : str
        Why, empty if all were.
    """

    certain: Int[np.ndarray, " r"]
    possible: Int[np.ndarray, " r"]
    num_undecided: int
    stopped: str

    @property
    def interval(self) -> tuple[int, int]:
        """Least and largest number of different maps."""
        return _distinct(self.possible), _distinct(self.certain)


def same_maps(part: Partition, *, until: float = float("inf")) -> SameMaps:
    """Group the regions of a partition by their affine map.

    Parameters
    ----------
    part : Partition
    until : float
        Value of ``time.perf_counter()`` at which rational arithmetic stops.

    Returns
    -------
    SameMaps

    Notes
    -----
    A few forward passes, and d + 1 rational evaluations for every map that floats do not tell from all others.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])])
    >>> same_maps(rs.partition(net, rs.Box(-3, 3, 1))).interval  # four regions, zero on two of them
    (3, 3)
    """
    number = len(part)
    if number == 0:
        nothing = np.zeros(0, dtype=np.int64)
        return SameMaps(nothing, nothing, 0, "")
    network = part.network_on_domain
    maps, errors = maps_of_codes(network, part.codes)
    table = np.concatenate([maps.weight.numpy(), maps.bias.numpy()[..., None]], axis=2)
    groups = _clearly_different(table, errors)
    members = np.bincount(groups)
    doubtful = np.flatnonzero(members[groups] > 1)
    if not len(doubtful):
        return SameMaps(groups, groups, 0, "")
    codes = part.codes[doubtful]
    which = zip(pieces_of(codes), units_that_matter(network, codes), strict=True)
    needed = np.concatenate(
        [*(np.where(matters, piece, -1) for piece, matters in which), groups[doubtful, None]], axis=1
    )
    _, first, kinds = np.unique(needed, axis=0, return_index=True, return_inverse=True)
    certain, possible = groups.copy(), groups.copy()
    largest = number
    certain[doubtful] = largest + kinds.reshape(-1)
    exact = RationalNetwork(network)
    seen: dict[tuple[AffineFunction, ...], int] = {}
    names = np.zeros(len(first), dtype=np.int64)
    decided = np.zeros(len(first), dtype=bool)
    stopped = ""
    several = np.bincount(groups[doubtful[first]], minlength=groups.max() + 1) > 1
    try:
        for kind, row in enumerate(first.tolist()):
            if not several[groups[doubtful[row]]]:
                continue  # one kind alone in its group: nothing to compare
            if time.perf_counter() > until:
                stopped = "budget of seconds"
                break
            held = [piece[0].tolist() for piece in pieces_of(codes[row : row + 1])]
            names[kind] = seen.setdefault(rational_maps(exact, held).outputs, kind)
            decided[kind] = True
    except ENDS as end:
        stopped = why_ended(end)
    alone = ~several[groups[doubtful[first]]]
    names[alone], decided[alone] = np.flatnonzero(alone), True
    names[~decided] = np.flatnonzero(~decided)
    certain[doubtful] = largest + names[kinds.reshape(-1)]
    # A group with anything undecided in it may still be one map.
    settled = np.ones(groups.max() + 1, dtype=bool)
    settled[groups[doubtful[first[~decided]]]] = False
    clear = settled[groups]
    possible[clear] = certain[clear]
    return SameMaps(_numbered(certain), _numbered(possible), int((~decided).sum()), stopped)


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

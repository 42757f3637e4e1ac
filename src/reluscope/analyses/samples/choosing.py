"""Which samples are looked at: a few of many classes, triples for planes, pairs for segments, from an explicit seed.

The same points, classes and seed give the same choice on every machine.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.arguments import Seed, read_arguments
from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.slices import Plane

MAX_TRIES = 2_000


@dataclass(frozen=True)
class Pairs:
    """Pairs of samples."""

    first: Int[np.ndarray, " p"]  # rows of the points
    second: Int[np.ndarray, " p"]  # rows of the points
    same: Bool[np.ndarray, " p"]  # whether both are of one class

    def __len__(self) -> int:
        return len(self.first)


def choose_samples(classes: Int[np.ndarray, " s"], number: int, *, seed: int = 0) -> Int[np.ndarray, " k"]:
    """Choose at most ``number`` samples, of as many classes as there are.

    Rows come by class: every class gives one sample before any gives a second.
    """
    order = np.random.default_rng(seed).permutation(len(classes))
    shuffled = classes[order]
    grouped = np.argsort(shuffled, kind="stable")
    starts = np.flatnonzero(np.diff(shuffled[grouped], prepend=shuffled[grouped][:1] - 1))
    turn = np.empty(len(classes), dtype=np.int64)  # how many of its class come before a sample
    turn[grouped] = np.arange(len(classes)) - np.repeat(starts, np.diff(np.append(starts, len(classes))))
    chosen = order[np.argsort(turn, kind="stable")[:number]]
    return chosen[np.lexsort((chosen, classes[chosen]))].astype(np.int64)


@read_arguments
def choose_triple(
    points: Float[np.ndarray, "s n"], classes: Int[np.ndarray, " s"], *, seed: Seed = 0
) -> tuple[int, int, int] | None:
    """Return three samples that span a plane, of three classes if there are at least three classes.

    Parameters
    ----------
    points : (s, n) float64
    classes : (s,) int
    seed : int

    Returns
    -------
    three rows, or None
        None if there are fewer than three distinct points, or all triples tried are collinear.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> rs.planes.choose_triple(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [1.0, 0.0]]), np.array([0, 1, 1, 1]))
    (2, 0, 3)
    """
    order = np.random.default_rng(seed).permutation(len(points))
    chosen: list[int] = []
    for place in range(3):
        # Samples of a class that is not there yet come first, in random order.
        new = ~np.isin(classes[order], classes[chosen])
        candidates = np.concatenate([order[new], order[~new]])[:MAX_TRIES] if place else order[:1]
        found = next((int(row) for row in candidates if _spans(points, [*chosen, int(row)])), None)
        if found is None:
            return None
        chosen.append(found)
    return chosen[0], chosen[1], chosen[2]


def choose_pairs(
    points: Float[np.ndarray, "s n"], classes: Int[np.ndarray, " s"], number: int, *, seed: int = 0
) -> Pairs:
    """Choose pairs of different points, as many within a class as between classes, where both exist.

    At most ``number`` pairs of each kind, those within a class first. No pair comes twice; few or none if the points
    are few or coincide.
    """
    generator = np.random.default_rng(seed)
    size = len(points)
    if size * (size - 1) // 2 <= 64 * number:
        first, second = np.triu_indices(size, 1)
        shuffled = generator.permutation(len(first))
        first, second = first[shuffled], second[shuffled]
    else:
        # Enough draws that pairs within one of a hundred classes still turn up.
        drawn = generator.integers(0, size, size=(400 * number + 400, 2))
        drawn = np.unique(np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1), axis=0)
        drawn = drawn[generator.permutation(len(drawn))]
        first, second = drawn[:, 0], drawn[:, 1]
    same = classes[first] == classes[second]
    kept: list[int] = []
    for kind in (True, False):
        rows = (int(row) for row in np.flatnonzero(same == kind))
        differing = (row for row in rows if not np.array_equal(points[first[row]], points[second[row]]))
        kept.extend(row for row, _ in zip(differing, range(number), strict=False))
    rows = np.array(kept, dtype=np.int64)
    return Pairs(first[rows].astype(np.int64), second[rows].astype(np.int64), same[rows])


def _spans(points: np.ndarray, rows: list[int]) -> bool:
    """Whether one, two or three points are in general position."""
    if len(rows) == 2:
        return not np.array_equal(points[rows[0]], points[rows[1]])
    if len(rows) == 3:
        try:
            Plane(*points[rows])
        except DegenerateGeometryError:
            return False
    return True

"""The decision boundary of a plane as polygonal curves: which pieces follow each other, and which curves are closed."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.partitions.decisions.decision_boundary import DecisionBoundary
from reluscope.shown import Shown

# Ends of pieces this close, in parts of the boundary's extent, are one point: far above rounding.
CLOSE = 1e-9
# A corner is where the direction changes by more than this, in radians.
STRAIGHT = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryCurve(Shown):
    """A polygonal curve.

    Parameters
    ----------
    points : (k, 2) float64
        In order; of a closed curve the first is not repeated.
    is_closed : bool
    """

    points: Float[np.ndarray, "k 2"]
    is_closed: bool

    @property
    def num_corners(self) -> int:
        """Points where the direction changes, the ends of an open curve left out."""
        around = self.points if self.is_closed else self.points[1:-1]
        before, after = np.roll(self.points, 1, axis=0), np.roll(self.points, -1, axis=0)
        if not self.is_closed:
            before, after = self.points[:-2], self.points[2:]
        if not len(around):
            return 0
        first, second = around - before, after - around
        cross = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        turn = np.abs(np.arctan2(cross, (first * second).sum(axis=1)))
        return int((turn > STRAIGHT).sum())


@read_arguments
def boundary_curves(boundary: DecisionBoundary) -> tuple[BoundaryCurve, ...]:
    """Return the curves that join the pieces of a decision boundary in the plane.

    Parameters
    ----------
    boundary : DecisionBoundary
        Of a plane.

    Returns
    -------
    tuple of BoundaryCurve
        Longest first, by the number of points. A curve ends at the border of the window, and where three or more
        pieces meet. A curve is closed if every end of its pieces is that of exactly one other piece.

    Raises
    ------
    InputError
        If the boundary is not of a plane.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> layers = [(np.r_[np.eye(2), -np.eye(2)], np.zeros(4)), (np.ones((1, 4)), -np.ones(1))]
    >>> (curve,) = rs.planes.boundary_curves(rs.decision_boundary(rs.partition(rs.load(layers), rs.Box(-2, 2, 2))))
    >>> curve.is_closed, curve.num_corners
    (True, 4)
    """
    if boundary.ends.shape[1] != 2:
        raise InputError("curves of a decision boundary need the partition of a plane, got one of a line")
    if not len(boundary):
        return ()
    points, pieces = _joined(boundary.ends)
    degree = np.bincount(pieces.ravel(), minlength=len(points))
    beside: list[list[tuple[int, int]]] = [[] for _ in points]
    for index, (one, other) in enumerate(pieces.tolist()):
        beside[one].append((other, index))
        beside[other].append((one, index))
    used = np.zeros(len(pieces), dtype=bool)
    curves = []
    # First from where curves end, then what is left: closed ones.
    for start in [*np.flatnonzero(degree != 2).tolist(), *np.flatnonzero(degree == 2).tolist()]:
        for other, index in beside[start]:
            if used[index]:
                continue
            used[index] = True
            walk = [start, other]
            while degree[walk[-1]] == 2 and walk[-1] != start:
                following = next(((there, piece) for there, piece in beside[walk[-1]] if not used[piece]), None)
                if following is None:
                    break
                used[following[1]] = True
                walk.append(following[0])
            is_closed = bool(walk[-1] == start and degree[start] == 2)
            curves.append(BoundaryCurve(points[walk[:-1] if is_closed else walk], is_closed))
    return tuple(sorted(curves, key=lambda curve: -len(curve.points)))


def _joined(ends: Float[np.ndarray, "p 2 2"]) -> tuple[Float[np.ndarray, "k 2"], Int[np.ndarray, "p 2"]]:
    """Return distinct ends, and the two ends of every piece that has any length."""
    every = ends.reshape(-1, 2)
    close = CLOSE * max(float(np.abs(every).max()), float(np.ptp(every, axis=0).max()))
    pairs = KDTree(every).query_pairs(close, output_type="ndarray").reshape(-1, 2)
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(every), len(every)))
    number, group = connected_components(matrix, directed=False)
    points = np.zeros((number, 2))
    points[group] = every
    pieces = group.reshape(-1, 2).astype(np.int64)
    return points, pieces[pieces[:, 0] != pieces[:, 1]]

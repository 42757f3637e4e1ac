"""How far a feature vector is from the image of a layer: ``min_x |gate(A x + b) - y|``, by branching over pieces.

The problem is not convex: each unit may be on any of its pieces. With some units kept on pieces and the others anywhere
in the convex hull of their graph the least distance is that of a polyhedron's image (`nearest_image`), a lower bound;
the input found gives an upper one. The unit that is farthest off its graph is split.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.feature_distances import IMAGE_DISTANCE, distance_column, tolerance_for
from reluscope.analyses.preimages.layer import GateLayer
from reluscope.analyses.preimages.reading_layers import read_layer
from reluscope.arguments import read_arguments, read_point
from reluscope.budget import Budget, RegionBudget
from reluscope.errors import ShapeError
from reluscope.findings import Findings
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.nearest_image import NearestImage, nearest_image
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import BestFirst, Branch

# Tolerance of distances that decide, and of bounds as a share of what is left.
SHARP, SHARE = 1e-8, 0.05
NUM_BRANCHES = 2_000


@read_arguments
def distance_to_image(
    layer: GateLayer | Network | tuple[ArrayLike, ArrayLike],
    y: ArrayLike,
    *,
    domain: Box | None = None,
    gate: str | int | None = None,
    budget: RegionBudget | None = None,
) -> Findings:
    """Return the distance (l2) from a feature vector to the image of a layer.

    Parameters
    ----------
    layer : Network, GateLayer, or pair (A, b)
        The pair stands for ``relu(A x + b)``.
    y : (u,) or the gate's shape
        Any numbers, negative ones included.
    domain : Box, optional
        Prior bounds on the inputs of the layer; without one all of R^n.
    gate : str or int, optional
        Gate of a network; the first one by default. For a deeper gate any input of its layer counts;
        `distance_to_range` counts only inputs of the network.
    budget : Budget, optional
        Number of branches to examine, as its regions, 2,000 by default, or time.

    Returns
    -------
    Findings
        ``distance_to_image``, one row: exact within 1e-7 of the size of y. Otherwise at most the distance found,
        and at least the bound of convex relaxation where the budget ended, or of multipliers of linear programs.
        Without a domain these hold for inputs up to a million times the size of y. The details ``points`` and
        ``features`` are the input with the closest features found, and its features.

    Raises
    ------
    ShapeError
        If y or the domain has the wrong length.

    Notes
    -----
    Each branch costs a few dozen linear programs, more without a domain. The number of branches may grow
    exponentially with the number of units; 24 units of 4 inputs take some hundred branches and seconds.

    Examples
    --------
    >>> import reluscope as rs
    >>> found = rs.preimages.distance_to_image(([[1.0], [1.0]], [0.0, 0.0]), [3.0, 1.0])  # (t, t) for t >= 0
    >>> print(found.finding("distance_to_image"), found.details["features"].round(6))
    1.41421 (EXACT) [[2. 2.]]
    """
    layer = read_layer(layer, gate)
    goal = read_point(y, "features")
    if len(goal) != layer.num_units:
        raise ShapeError(f"expected features of the {layer.num_units} units of {layer.name!r}, got {len(goal)}")
    if domain is not None and domain.dim != layer.num_inputs:
        raise ShapeError(
            f"expected a domain of {layer.num_inputs} coordinates, those that the layer reads, got {domain.dim}"
        )
    search = _ImageSearch(layer, goal, domain)
    stopped = search.run_unbroken(Budget(regions=NUM_BRANCHES) if budget is None else budget)
    lower = min(search.lower if stopped else np.inf, search.unproved, search.best)
    column = distance_column(IMAGE_DISTANCE, search.best, lower, goal, method="branching over pieces")
    return Findings.of(
        column,
        domain="inputs of the layer up to a million times the size of y" if domain is None else domain.describe(),
        details={"points": search.point[None], "features": layer(search.point[None])},
        stop=stopped,
    )


class _Codes(NamedTuple):
    """Units may be on the pieces from first to last; ``unit`` is the one to split."""

    first: np.ndarray
    last: np.ndarray
    unit: int


class _ImageSearch(BestFirst):
    """The nearest point of the image, over sets of codes."""

    def __init__(self, layer: GateLayer, goal: np.ndarray, box: Box | None) -> None:
        super().__init__()
        self.layer, self.goal, self.box = layer, goal, box
        weight = layer.weight
        self.weight = weight.toarray() if isinstance(weight, scipy.sparse.csr_array) else weight
        edge = np.full((1, layer.num_units), np.inf)
        self.edges = np.concatenate([-edge, layer.breakpoints, edge])
        self.low, self.high = -edge[0], edge[0]
        if box is not None:
            center, half = (box.lo + box.hi) / 2, (box.hi - box.lo) / 2
            middle, reach = self.weight @ center + layer.bias, np.abs(self.weight) @ half
            reach = reach + SUMS * (np.abs(middle) + reach)
            self.low, self.high = middle - reach, middle + reach
        # The least bound of branches that were left without a proof that they are no nearer.
        self.best = self.unproved = np.inf
        self.point = np.zeros(layer.num_inputs) if box is None else box.center
        self.tolerance = tolerance_for(goal)
        self.tried: set[bytes] = set()

    def is_settled(self, key: float) -> bool:
        """Whether features are no nearer than those that are known."""
        return key >= self.best - self.tolerance

    def start(self) -> None:
        """Bound all codes together."""
        self._improve(self.point)
        first = np.zeros(self.layer.num_units, dtype=np.int64)
        self._bound(0.0, first, np.full_like(first, len(self.layer.slopes) - 1))

    def split(self, branch: Branch) -> None:
        """Bound the codes with a unit on its lower pieces, and those with it on its upper ones."""
        codes: _Codes = branch.what
        low, high = int(codes.first[codes.unit]), int(codes.last[codes.unit])
        middle = (low + high) // 2
        for start, stop in ((low, middle), (middle + 1, high)):
            first, last = codes.first.copy(), codes.last.copy()
            first[codes.unit], last[codes.unit] = start, stop
            self._bound(branch.key, first, last)

    def _bound(self, key: float, first: np.ndarray, last: np.ndarray) -> None:
        """Put codes into the queue whose features may be nearer than those that are known."""
        self.num_branches += 1
        # Bounds far below the best distance need not be sharp: such a branch is split in any case.
        size = max(1.0, float(np.abs(self.goal).max(initial=0.0)), self.best)
        is_open = first < last
        for tolerance in (max(SHARP, SHARE * (self.best - key) / size), SHARP):
            found, outputs = self._relaxed(first, last, tolerance)
            off = is_open.astype(float)
            if np.isfinite(found.distance):
                point = found.point[: self.layer.num_inputs]
                self._improve(point)
                off = np.where(is_open, np.abs(outputs - self.layer(point[None])[0]), 0.0)
            key = max(key, found.lower)
            if key >= self.best - self.tolerance:
                return
            # A point on all graphs is as near as any in the branch, if it is the nearest one.
            if off.max(initial=0.0) > 0.0:
                break
        if not is_open.any():
            self.unproved = min(self.unproved, key)
            return
        unit = int(off.argmax()) if off.any() else int(is_open.argmax())
        self.push(key, _Codes(first, last, unit))

    def _improve(self, point: np.ndarray) -> None:
        """Take a point, and the best one among those with its code."""
        self._take(point)
        pre = self.layer.preactivations(point[None])[0]
        code = (pre > self.edges[1:-1]).sum(axis=0)
        if code.tobytes() in self.tried:
            return
        self.tried.add(code.tobytes())
        found, _ = self._relaxed(code, code, SHARP)
        if np.isfinite(found.distance):
            self._take(found.point[: self.layer.num_inputs])

    def _take(self, point: np.ndarray) -> None:
        if self.box is not None:
            point = np.clip(point, self.box.lo, self.box.hi)
        distance = float(np.linalg.norm(self.layer(point[None])[0] - self.goal))
        if distance < self.best:
            self.best, self.point = distance, point

    def _relaxed(self, first: np.ndarray, last: np.ndarray, tolerance: float) -> tuple[NearestImage, np.ndarray]:
        """Return the nearest point where units are in the hulls of their graphs over some pieces, and outputs there.

        The coordinates are x and, for each unit that is open, weights of the corners and rays of its hull.
        """
        layer, size = self.layer, self.layer.num_inputs
        unit = np.arange(layer.num_units)
        start = np.maximum(self.edges[first, unit], self.low)
        stop = np.minimum(self.edges[last + 1, unit], self.high)
        if (start > stop).any():
            return NearestImage(np.full(size, np.nan), np.full(layer.num_units, np.nan), np.inf, np.inf), self.goal
        hulls = [
            self._hull(i, float(start[i]), float(stop[i]), int(first[i]), int(last[i]))
            for i in np.flatnonzero(first < last).tolist()
        ]
        total = size + sum(len(hull.levels) for hull in hulls)
        weight = np.zeros((layer.num_units, total))
        weight[:, :size] = layer.slopes[first, unit][:, None] * self.weight
        bias = layer.slopes[first, unit] * layer.bias + layer.intercepts[first, unit]
        equations, values = np.zeros((2 * len(hulls), total)), np.zeros(2 * len(hulls))
        own = size
        for row, hull in enumerate(hulls):
            columns = slice(own, own + len(hull.levels))
            equations[2 * row, :size] = self.weight[hull.unit]
            equations[2 * row, columns] = -hull.levels
            values[2 * row] = -layer.bias[hull.unit]
            equations[2 * row + 1, columns] = hull.is_corner
            values[2 * row + 1] = 1.0
            weight[hull.unit] = 0.0
            weight[hull.unit, columns] = hull.outputs
            bias[hull.unit] = 0.0
            own += len(hull.levels)
        rows = [np.zeros((0, total)), -np.eye(total)[size:]]
        offsets = [np.zeros(0), np.zeros(total - size)]
        for sign, ends in ((1.0, stop), (-1.0, -start)):
            fixed = np.flatnonzero((first == last) & np.isfinite(ends))
            rows.append(np.pad(sign * self.weight[fixed], ((0, 0), (0, total - size))))
            offsets.append(ends[fixed] - sign * layer.bias[fixed])
        if self.box is not None:
            sides = np.eye(total)[:size]
            rows += [sides, -sides]
            offsets += [self.box.hi, -self.box.lo]
        body = Polyhedron(np.concatenate(rows), np.concatenate(offsets), equations, values)
        found = nearest_image(body, weight, bias, self.goal, bound=self.best, tolerance=tolerance)
        return found, found.image

    def _hull(self, unit: int, start: float, stop: float, first: int, last: int) -> "_Hull":
        """Return the hull of a unit's graph over an interval as corners and rays (level, output)."""
        levels = self.layer.breakpoints[first:last, unit]
        levels = np.unique(
            np.concatenate([levels[np.isfinite(levels)], [end for end in (start, stop) if np.isfinite(end)]])
        )
        levels = levels[(levels >= start) & (levels <= stop)]
        piece = (levels > self.layer.breakpoints[:, unit][:, None]).sum(axis=0)
        outputs = self.layer.slopes[piece, unit] * levels + self.layer.intercepts[piece, unit]
        rays = [(-1.0, -self.layer.slopes[first, unit])] if not np.isfinite(start) else []
        rays += [(1.0, self.layer.slopes[last, unit])] if not np.isfinite(stop) else []
        ways = np.array(rays).reshape(-1, 2)
        is_corner = np.append(np.ones(len(levels)), np.zeros(len(ways)))
        return _Hull(unit, np.append(levels, ways[:, 0]), np.append(outputs, ways[:, 1]), is_corner)


class _Hull(NamedTuple):
    """The convex hull of a unit's graph over an interval: levels and outputs of its corners and rays."""

    unit: int
    levels: np.ndarray
    outputs: np.ndarray
    is_corner: np.ndarray

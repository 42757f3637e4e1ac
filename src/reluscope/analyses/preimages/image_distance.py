"""How far a feature vector is from the image of a layer: ``min_x |gate(A x + b) - y|``, by branching over pieces.

The problem is not convex: each unit may be on any of its pieces. With some units held to pieces and the others anywhere
in the convex hull of their graph the least distance is that of a polyhedron's image (`nearest_image`), a lower bound;
the input found gives an upper one. The unit that is farthest off its graph is split.
"""

import heapq
import time
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.layer import Layer, read_layer
from reluscope.arguments import read_arguments, read_point
from reluscope.budget import Budget
from reluscope.errors import ShapeError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.geometry.nearest_image import NearestImage, nearest_image
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.network import Network

# Distances that differ by less than this share of the size of y are the same.
RELATIVE = 1e-7
# Tolerance of distances that decide, and of bounds as a share of what is left.
SHARP, SHARE = 1e-8, 0.05
MOST_BRANCHES = 2_000


@dataclass(frozen=True, eq=False)
class ImageDistance:
    """Where the image of a function is nearest to a feature vector.

    Parameters
    ----------
    distance : Finding
        EXACT, or UPPER with an interval that begins at what is proved.
    point : (n,) float64
        The input whose features are nearest, among those found.
    features : (u,) float64
        Its features.
    """

    distance: Finding
    point: Float[np.ndarray, " n"]
    features: Float[np.ndarray, " u"]

    @property
    def lower(self) -> float:
        """No feature vector of the image is nearer, up to the tolerance of the finding."""
        if self.distance.interval is not None:
            return float(self.distance.interval[0])
        return max(0.0, float(self.distance.value) - (self.distance.tolerance or 0.0))


@read_arguments
def distance_to_image(
    layer: Layer | Network | tuple[ArrayLike, ArrayLike],
    y: ArrayLike,
    *,
    gate: str | int | None = None,
    box: Box | None = None,
    budget: Budget | int | None = None,
) -> ImageDistance:
    """Return the distance (l2) from a feature vector to what a layer can give.

    Parameters
    ----------
    layer : Network, Layer, or pair (A, b)
        The pair stands for ``relu(A x + b)``.
    y : (u,) or the gate's shape
        Any numbers, negative ones included.
    gate : str or int, optional
        Which gate of a network; the first one by default. Deeper down the layer reads any point of its own input space;
        for what inputs of the network reach see `distance_to_range`.
    box : Box, optional
        Prior bounds on what the layer reads; without one all of R^n.
    budget : Budget or int, optional
        Most branches to look into, 2,000 by default, or time.

    Returns
    -------
    ImageDistance
        EXACT within 1e-7 of the size of y, or UPPER with a lower end by convex relaxation where the budget ended, or
        where multipliers of linear programs did not prove enough. Without a box these speak for inputs up to a million
        times the size of y.

    Raises
    ------
    ShapeError
        If y or the box has the wrong length.

    Notes
    -----
    A few dozen linear programs for each branch, more without a box. The number of branches may grow exponentially with
    that of units; 24 units of 4 inputs take some hundred branches and seconds.

    Examples
    --------
    >>> import reluscope as rs
    >>> found = rs.preimages.distance_to_image(([[1.0], [1.0]], [0.0, 0.0]), [3.0, 1.0])  # (t, t) for t >= 0
    >>> round(found.distance.value, 9), found.distance.claim.value, found.features.round(9).tolist()
    (1.414213562, 'EXACT', [2.0, 2.0])
    """
    layer = read_layer(layer, gate)
    goal = read_point(y, "features")
    if len(goal) != layer.num_units:
        raise ShapeError(f"expected features of the {layer.num_units} units of {layer.name!r}, got {len(goal)}")
    if box is not None and box.dim != layer.num_inputs:
        raise ShapeError(f"expected a box of {layer.num_inputs} coordinates, those that the layer reads, got {box.dim}")
    limit = budget if isinstance(budget, Budget) else Budget(regions=MOST_BRANCHES if budget is None else budget)
    search = _Search(layer, goal, box)
    stopped = search.run(limit)
    is_exact = not stopped and search.unproved >= search.best - search.tolerance
    lower = max(0.0, min(search.lower if stopped else np.inf, search.unproved, search.best))
    finding = Finding(
        search.best,
        Claim.EXACT if is_exact else Claim.UPPER,
        name="distance to the image of the layer",
        interval=None if is_exact else (lower, search.best),
        definition="least l2 distance of the features to those of an input of the layer",
        domain="inputs of the layer up to a million times the size of y" if box is None else box.describe(),
        method="branching over pieces" + (f", {stopped}" if stopped else ""),
        tolerance=search.tolerance if is_exact else None,
        work={"branches": search.num_branches},
    )
    return ImageDistance(finding, search.point, layer(search.point[None])[0])


class _Branch(NamedTuple):
    key: float
    order: int
    first: np.ndarray
    last: np.ndarray
    unit: int


class _Search:
    """Best first over sets of codes; units may be on the pieces from first to last."""

    def __init__(self, layer: Layer, goal: np.ndarray, box: Box | None) -> None:
        self.layer, self.goal, self.box = layer, goal, box
        weight = layer.weight
        self.weight = weight.toarray() if isinstance(weight, scipy.sparse.csr_array) else weight
        edge = np.full((1, layer.num_units), np.inf)
        self.edges = np.concatenate([-edge, layer.breakpoints, edge])
        self.low, self.high = -edge[0], edge[0]
        if box is not None:
            center, half = (box.lo + box.hi) / 2, (box.hi - box.lo) / 2
            middle, reach = self.weight @ center + layer.bias, np.abs(self.weight) @ half
            reach = reach + 1e-12 * (np.abs(middle) + reach)
            self.low, self.high = middle - reach, middle + reach
        self.best, self.lower, self.num_branches = np.inf, 0.0, 0
        # The least bound of branches that were left without a proof that they are no nearer.
        self.unproved = np.inf
        self.point = np.zeros(layer.num_inputs) if box is None else box.center
        self.tolerance = RELATIVE * max(1.0, float(np.abs(goal).max(initial=0.0)))
        self.tried: set[bytes] = set()
        self.queue: list[_Branch] = []
        self._order = count()

    def run(self, budget: Budget) -> str:
        """Work until the distance is known; return why it stopped early, empty if it did not."""
        began = time.time()
        pieces = len(self.layer.slopes)
        self._improve(self.point)
        first = np.zeros(self.layer.num_units, dtype=np.int64)
        self._bound(0.0, first, np.full_like(first, pieces - 1))
        while self.queue and self.queue[0].key < self.best - self.tolerance:
            self.lower = max(self.lower, self.queue[0].key)
            stopped = budget.spent(self.num_branches, began)
            if stopped:
                return stopped
            branch = heapq.heappop(self.queue)
            low, high = int(branch.first[branch.unit]), int(branch.last[branch.unit])
            middle = (low + high) // 2
            for start, stop in ((low, middle), (middle + 1, high)):
                first, last = branch.first.copy(), branch.last.copy()
                first[branch.unit], last[branch.unit] = start, stop
                self._bound(branch.key, first, last)
        return ""

    def _bound(self, key: float, first: np.ndarray, last: np.ndarray) -> None:
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
        heapq.heappush(self.queue, _Branch(key, next(self._order), first, last, unit))

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
            held = np.flatnonzero((first == last) & np.isfinite(ends))
            rows.append(np.pad(sign * self.weight[held], ((0, 0), (0, total - size))))
            offsets.append(ends[held] - sign * layer.bias[held])
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
    unit: int
    levels: np.ndarray
    outputs: np.ndarray
    is_corner: np.ndarray

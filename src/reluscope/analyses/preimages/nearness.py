"""Bounds on how near the features of other regions come to those of an input, for networks of any size.

Boxes of inputs are halved, those first on which bounds of the features come nearest. Boxes within the region of the
input are left out; the centres of the others, and the regions of these, give distances that are reached.
"""

import heapq
import time
from dataclasses import dataclass
from itertools import count

import numpy as np
from jaxtyping import Float

from reluscope.analyses.preimages.box_search import Cell, cell_of
from reluscope.arguments import NonNegative, read_arguments
from reluscope.budget import Budget
from reluscope.errors import DegenerateGeometryError, ShapeError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.geometry.nearest_image import nearest_image
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.networks.truncation import up_to_gate
from reluscope.regions.region import Region
from reluscope.regions.regions import region

MOST_BOXES = 1_000
# Regions whose nearest features are found exactly.
MOST_REGIONS = 16
RELATIVE = 1e-7


@dataclass(frozen=True, eq=False)
class ElsewhereBounds:
    """How near the features of other regions come to those of an input.

    Parameters
    ----------
    distance : Finding
        UPPER, the nearest features found in another region, with an interval that begins at what is proved.
    point : (n,) float64
        Where; NaN if no other region was found.
    """

    distance: Finding
    point: Float[np.ndarray, " n"]

    @read_arguments
    def answer(self, epsilon: NonNegative) -> bool | None:
        """Tell whether features within epsilon come from another region; None if that is open."""
        lower = self.distance.interval[0] if self.distance.interval is not None else self.distance.value
        if self.distance.value <= epsilon:
            return True
        return False if lower > epsilon else None


@read_arguments
def elsewhere_bounds(
    net: Network, x: Points, box: Box, *, gate: str | int | None = None, budget: Budget | int | None = None
) -> ElsewhereBounds:
    """Return bounds on the distance (l2) from the features of x to those of all other regions in a box.

    Parameters
    ----------
    net : Network
    x : one point of the box
    box : Box
        Which inputs count.
    gate : str or int, optional
        Features and regions of the network up to this gate; by default of all of it.
    budget : Budget or int, optional
        How many boxes to look into, 1,000 by default, or time.

    Returns
    -------
    ElsewhereBounds
        UPPER, with an interval.

    Raises
    ------
    ShapeError
        If the box has another dimension, or x is not one point.
    InputError
        If x lies outside the box.

    Notes
    -----
    An enclosure for each box. In few inputs the two ends meet, though slowly: there `reached_from_elsewhere` is exact.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [1.0]]), np.array([0.0, -1.0])), (np.eye(2), np.zeros(2))])
    >>> found = rs.preimages.elsewhere_bounds(net, [0.5], rs.Box(-1, 2, 1), budget=50)  # (relu(x), relu(x - 1))
    >>> round(found.distance.value, 6), found.answer(0.1), found.answer(0.6)
    (0.5, False, True)
    """
    features = up_to_gate(net, gate)
    if box.dim != features.num_inputs:
        raise ShapeError(f"expected a box in {features.num_inputs} dimensions, as many as inputs, got {box.describe()}")
    own = region(features, x, domain=box)
    goal = features(x).reshape(-1).cpu().numpy()
    limit = budget if isinstance(budget, Budget) else Budget(regions=MOST_BOXES if budget is None else budget)
    search = _Search(features, goal, box, own)
    stopped = search.run(limit)
    lower = min(search.lower, search.best)
    finding = Finding(
        search.best,
        Claim.EXACT if search.best - lower <= search.tolerance else Claim.UPPER,
        name="distance to the features of other regions",
        interval=None if search.best - lower <= search.tolerance else (lower, search.best),
        definition="least l2 distance between features of the input and those of inputs outside its region",
        domain=box.describe(),
        method="halved boxes with affine bounds" + (f", {stopped}" if stopped else ""),
        tolerance=search.tolerance if search.best - lower <= search.tolerance else None,
        work={"boxes": search.num_boxes},
    )
    return ElsewhereBounds(finding, search.point)


class _Search:
    def __init__(self, features: Network, goal: np.ndarray, box: Box, own: Region) -> None:
        self.features, self.goal, self.box = features, goal, box
        self.own = own.polyhedron
        self.code = own.code.words.tobytes()
        self.best, self.lower, self.num_boxes = np.inf, 0.0, 0
        self.point = np.full(box.dim, np.nan)
        self.tolerance = RELATIVE * max(1.0, float(np.abs(goal).max(initial=0.0)))
        self.seen: set[bytes] = {self.code}
        self.queue: list[tuple[float, int, Cell]] = []
        self._order = count()

    def run(self, budget: Budget) -> str:
        """Halve boxes until the distance is known; return why it stopped early, empty if it did not."""
        began = time.time()
        self._bound(0.0, self.box.lo, self.box.hi)
        while self.queue and self.queue[0][0] < self.best - self.tolerance:
            self.lower = max(self.lower, self.queue[0][0])
            stopped = budget.spent(self.num_boxes, began)
            if stopped:
                return stopped
            key, _, cell = heapq.heappop(self.queue)
            slopes = np.abs(cell.outputs.weights).sum(axis=0)
            for lower, upper in cell.halves(slopes + max(float(slopes.mean()), np.finfo(float).tiny)):
                self._bound(key, lower, upper)
        self.lower = self.best
        return ""

    def _bound(self, key: float, lower: np.ndarray, upper: np.ndarray) -> None:
        self.num_boxes += 1
        center, half = (lower + upper) / 2, (upper - lower) / 2
        if (self.own.A @ center + np.abs(self.own.A) @ half <= self.own.b).all():
            return
        cell = cell_of(self.features, lower, upper)
        least, most = cell.range(np.eye(len(self.goal)))
        key = max(key, float(np.linalg.norm(np.maximum(np.maximum(least - self.goal, self.goal - most), 0.0))))
        self._take(center)
        heapq.heappush(self.queue, (key, next(self._order), cell))

    def _take(self, point: np.ndarray) -> None:
        """Take a point of another region, and for the first ones the nearest features of all of their regions."""
        code = self.features.codes(point).words.tobytes()
        if code == self.code:
            return
        self._reach(point)
        if code in self.seen or len(self.seen) > MOST_REGIONS:
            return
        self.seen.add(code)
        try:
            found = region(self.features, point, domain=self.box)
        except DegenerateGeometryError:
            return
        weight, bias = (part[0].cpu().numpy() for part in (found.map.weight, found.map.bias))
        nearest = nearest_image(found.polyhedron, weight, bias, self.goal, bound=self.best)
        if np.isfinite(nearest.distance):
            self._reach(nearest.point)

    def _reach(self, point: np.ndarray) -> None:
        distance = float(np.linalg.norm(self.features(point).reshape(-1).cpu().numpy() - self.goal))
        if distance < self.best:
            self.best, self.point = distance, point

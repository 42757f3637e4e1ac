"""Bounds on how near the features of other regions come to those of an input, for networks of any size.

Boxes of inputs are halved, those first on which bounds of the features come nearest. Boxes within the region of the
input are left out; the centres of the others, and the regions of these, give distances that are reached.
"""

import numpy as np

from reluscope.analyses.boxes.output_boxes import halved, output_box
from reluscope.analyses.preimages.feature_distances import ELSEWHERE_DISTANCE, distance_column, tolerance_for
from reluscope.arguments import read_arguments
from reluscope.budget import Budget, RegionBudget
from reluscope.errors import DegenerateGeometryError, ShapeError
from reluscope.findings import Findings
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.nearest_image import nearest_image
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.regions.region import Region
from reluscope.regions.regions import region

NUM_BOXES = 1_000
# Regions whose nearest features are found exactly.
NUM_REGIONS = 16


@read_arguments
def elsewhere_bounds(
    network: Network,
    x: Points,
    *,
    domain: Box,
    gate: str | int | None = None,
    budget: RegionBudget | None = None,
) -> Findings:
    """Return bounds on the distance (l2) from the features of x to those of all other regions in a box.

    Parameters
    ----------
    network : Network
    x : one point of the domain
    domain : Box
        The inputs considered.
    gate : str or int, optional
        Features and regions of the network up to this gate; by default of the whole network.
    budget : Budget, optional
        Number of boxes to examine, as its regions, 1,000 by default, or time.

    Returns
    -------
    Findings
        ``distance_from_elsewhere``, one row: the upper end is the closest distance found, the lower end is proved.
        Features within epsilon come from another region if the upper end is at most epsilon, and from none if the
        lower end is above epsilon. The detail ``points`` is the input of the closest features; NaN if no other
        region was found.

    Raises
    ------
    ShapeError
        If the domain has another dimension, or x is not one point.
    InputError
        If x lies outside the domain.

    Notes
    -----
    Each box costs an enclosure. In few inputs the two ends meet, but slowly: there `reached_from_elsewhere` is
    exact.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([([[1.0], [1.0]], [0.0, -1.0]), (np.eye(2), np.zeros(2))])  # (relu(x), relu(x - 1))
    >>> budget = rs.Budget(regions=50)
    >>> found = rs.preimages.elsewhere_bounds(net, [0.5], domain=rs.Box(-1, 2, 1), budget=budget)
    >>> print(found.finding("distance_from_elsewhere"))
    0.5 (UPPER, in [0.499878, 0.5])
    """
    features = up_to_gate(network, gate)
    refuse_left_off("a distance of features", features.left_off)
    if domain.dim != features.num_inputs:
        raise ShapeError(
            f"expected a domain in {features.num_inputs} dimensions, as many as inputs, got {domain.describe()}"
        )
    own = region(features, x, domain=domain)
    goal = features(x).reshape(-1).cpu().numpy()
    search = _FeatureSearch(features, goal, domain, own)
    stopped = search.run_unbroken(Budget(regions=NUM_BOXES) if budget is None else budget)
    column = distance_column(
        ELSEWHERE_DISTANCE,
        search.best,
        search.lower if stopped else search.best,
        goal,
        method=f"{search.num_branches:,} boxes with affine bounds",
    )
    details = {"points": search.point[None]}
    return Findings.of(column, domain=domain.describe(), details=details, stop=stopped)


class _FeatureSearch(BestFirst):
    """The nearest features of other regions, over boxes of inputs."""

    def __init__(self, features: Network, goal: np.ndarray, box: Box, own: Region) -> None:
        super().__init__()
        self.features, self.goal, self.box = features, goal, box
        self.own = own
        self.code = own.code.words.tobytes()
        self.best = np.inf
        self.point = np.full(box.dim, np.nan)
        self.tolerance = tolerance_for(goal)
        self.seen: set[bytes] = {self.code}

    def is_settled(self, key: float) -> bool:
        """Whether features are no nearer than those that are known."""
        return key >= self.best - self.tolerance

    def start(self) -> None:
        """Bound the whole box."""
        self._bound(0.0, self.box.lo, self.box.hi)

    def split(self, branch: Branch) -> None:
        """Bound the halves of a box."""
        for ends in halved(branch.what, np.eye(len(self.goal))):
            self._bound(branch.key, *ends)

    def _bound(self, key: float, lower: np.ndarray, upper: np.ndarray) -> None:
        """Put a box into the queue unless it lies within the region of the input."""
        self.num_branches += 1
        center, half = (lower + upper) / 2, (upper - lower) / 2
        A, b = self.own.polyhedron.A, self.own.polyhedron.b
        if (A @ center + np.abs(A) @ half <= b).all() and self.own.is_whole_within(lower, upper):
            return
        box = output_box(self.features, lower, upper)
        least, most = box.range(np.eye(len(self.goal)))
        key = max(key, float(np.linalg.norm(np.maximum(np.maximum(least - self.goal, self.goal - most), 0.0))))
        self._take(center)
        self.push(key, box)

    def _take(self, point: np.ndarray) -> None:
        """Take a point of another region, and for the first ones the nearest features of all of their regions."""
        code = self.features.codes(point).words.tobytes()
        if code == self.code:
            return
        self._reach(point)
        if code in self.seen or len(self.seen) > NUM_REGIONS:
            return
        self.seen.add(code)
        try:
            found = region(self.features, point, domain=self.box)
        except DegenerateGeometryError:
            return
        if not found.is_whole_within(self.box.lo, self.box.hi):
            return
        weight, bias = (part[0].cpu().numpy() for part in (found.map.weight, found.map.bias))
        nearest = nearest_image(found.polyhedron, weight, bias, self.goal, bound=self.best)
        if np.isfinite(nearest.distance):
            self._reach(nearest.point)

    def _reach(self, point: np.ndarray) -> None:
        distance = float(np.linalg.norm(self.features(point).reshape(-1).cpu().numpy() - self.goal))
        if distance < self.best:
            self.best, self.point = distance, point

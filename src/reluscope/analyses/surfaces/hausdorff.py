"""`hausdorff`: how far two level sets are from each other, between ends.

The distance to a convex polygon is a convex function, so on a triangle it is largest at a corner: the farthest corner
from some polygon of the other surface is an upper end for all points of the triangle. Points themselves give lower
ends. Triangles that may hold the farthest point are halved until the ends are close.
"""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.surfaces.nearest_points import NearestPieces
from reluscope.arguments import Positive, read_arguments
from reluscope.budget import Budget, TimeBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Claim, Column, Findings, declare
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.partitions.driver.walk import Step, walk
from reluscope.partitions.levels.level_sets import LevelSet

ONE_SIDED = declare(
    "one_sided_distance", "largest distance of a point of one level set to the nearest of another", unit="input"
)
HAUSDORFF = declare("hausdorff_distance", "the larger of the two one-sided distances of level sets", unit="input")
METHOD = "branch and bound over triangles"
# Of the computation of distances, as a share of coordinates.
ROUNDED = 512 * UNIT_ROUNDOFF
# Triangles that are halved together.
BATCH = 512


@read_arguments
def hausdorff(
    first: LevelSet, second: LevelSet, *, precision: Positive = 1e-6, budget: TimeBudget | None = None
) -> Findings:
    """Return the Hausdorff distance of two level sets, and the points that attain it.

    Parameters
    ----------
    first, second : LevelSet
        Both in the plane, or both in space, in the same coordinates.
    precision : float
        Target width of the intervals, as a share of the diagonal of the box around both.
    budget : Budget, optional
        Seconds; the ends are then those reached.

    Returns
    -------
    Findings
        ``one_sided_distance`` in two rows: from the ``first`` to the second, and from the ``second`` to the first.
        Details: ``points``, a point at the distance of the value, and ``nearest``, the closest point on the other
        level set. The summary has the ``hausdorff_distance``. Values are attained by the points; upper ends are
        proved.

    Raises
    ------
    InputError
        If one level set lies in the plane and the other in space.

    Notes
    -----
    The distance from an empty level set is 0, and the distance to one is infinite. If a level set is incomplete,
    distances are bounded on one side only. The cost grows if distances are nearly maximal on much of a surface, for
    example between parallel surfaces.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> small, large = (rs.level_set(ball, rs.Box(-2, 2, 3), level=level) for level in (0.0, 0.5))
    >>> found = rs.surfaces.hausdorff(small, large)
    >>> print(found.finding("one_sided_distance", 0), found.finding("one_sided_distance", 1))
    0.288675 (EXACT) 0.5 (EXACT)
    """
    if first.dim != second.dim:
        raise InputError(
            f"second must have the {first.dim} dimensions of first, got {second.dim}: take both in the plane or in "
            "space"
        )
    corners = np.concatenate([first.vertices, second.vertices])
    diagonal = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) else 0.0
    ways = [_Directed(*pair, precision * diagonal) for pair in ((first, second), (second, first))]
    effort = Effort(budget or Budget(seconds=float("inf")))
    walked = walk([way for way in ways if not way.is_settled], _Directed.step, effort=effort)
    values, low, high = (np.array([getattr(way, name) for way in ways]) for name in ("value", "low", "high"))
    return Findings.of(
        Column.of(ONE_SIDED, values, low, high, scale=diagonal, method=METHOD),
        keys={"from": np.array(["first", "second"])},
        details={
            "points": np.array([way.point for way in ways]),
            "nearest": np.array([way.nearest for way in ways]),
        },
        summary=Findings.of(
            Column.of(HAUSDORFF, [values.max()], [low.max()], [high.max()], scale=diagonal, method=METHOD),
            domain=first.domain.describe(),
        ),
        domain=first.domain.describe(),
        stop=walked.stop or first.stop or second.stop,
    )


class _Directed:
    """The largest distance of one level set to another; a step of `walk` halves some triangles.

    ``value``, ``point`` and ``nearest`` are the largest distance found, and where. ``precision`` is how far the ends
    may be apart.
    """

    is_finished = False

    def __init__(self, source: LevelSet, target: LevelSet, precision: float) -> None:
        self._source, self._target = source, target
        # Upper ends hold the errors of vertices, which no halving takes away.
        sizes = (float(np.abs(one.vertices).max(initial=0.0)) for one in (source, target))
        self._precision = precision + float(target.vertex_errors.max(initial=0.0)) + ROUNDED * sum(sizes)
        self._pieces = NearestPieces(target)
        self._error = float(source.vertex_errors.max(initial=0.0))
        self.value = np.inf if len(source) and not len(target) else 0.0
        self._low, self._done = self.value, 0.0
        self.point, self.nearest = np.full(source.dim, np.nan), np.full(source.dim, np.nan)
        self._open, self._most = np.zeros((0, 3, source.dim)), np.zeros(0)
        if len(source) and len(target):
            self._look_at(NearestPieces(source).corners)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to halve."""
        return not len(self._open)

    @property
    def low(self) -> float:
        """No larger than the distance, given what is known of both surfaces."""
        if Claim.ESTIMATE in (self._source.claim, self._target.claim) or self._target.num_open:
            return 0.0
        return max(0.0, self._low - self._error)

    @property
    def high(self) -> float:
        """No smaller than the distance."""
        if Claim.ESTIMATE in (self._source.claim, self._target.claim) or self._source.num_open:
            return np.inf
        return max(self._done, self.value, float(self._most.max(initial=0.0))) + self._error

    def step(self, room: float) -> Step:
        """Halve the triangles that may reach farthest."""
        del room
        order = np.argsort(-self._most, kind="stable")
        chosen, rest = self._open[order[:BATCH]], order[BATCH:]
        self._open, self._most = self._open[rest], self._most[rest]
        self._look_at(_halved(chosen))
        return Step([] if self.is_settled else [self], len(chosen))

    def _look_at(self, corners: np.ndarray) -> None:
        number, dim = len(corners), self._source.dim
        points = np.concatenate([corners, corners.mean(axis=1, keepdims=True)], axis=1)
        found = self._pieces.find(points.reshape(-1, dim))
        best = int(found.distances.argmax())
        if found.distances[best] >= self.value:
            self.value = float(found.distances[best])
            self.point, self.nearest = points.reshape(-1, dim)[best], found.points[best]
        self._low = max(self._low, float(found.low.max()))
        pieces = found.pieces.reshape(number, 4)
        most = np.full(number, np.inf)
        for column in range(4):
            far = self._pieces.distances_to(corners.reshape(-1, dim), np.repeat(pieces[:, column], 3))
            most = np.minimum(most, far.reshape(number, 3).max(axis=1))
        self._open, self._most = np.concatenate([self._open, corners]), np.concatenate([self._most, most])
        is_done = self._most <= self.value + self._precision
        self._done = max(self._done, float(self._most[is_done].max(initial=0.0)))
        self._open, self._most = self._open[~is_done], self._most[~is_done]


def _halved(corners: Float[np.ndarray, "t 3 d"]) -> Float[np.ndarray, "k 3 d"]:
    """Return both halves of triangles, cut at the middle of their longest sides."""
    longest = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).argmax(axis=1)
    turned = (longest[:, None] + np.arange(3)) % 3
    tail, head, other = np.moveaxis(np.take_along_axis(corners, turned[..., None], axis=1), 1, 0)
    middle = (tail + head) / 2
    return np.concatenate([np.stack([tail, middle, other], axis=1), np.stack([middle, head, other], axis=1)])

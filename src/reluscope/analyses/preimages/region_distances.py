"""How far a feature vector is from what the regions of a partition give: one convex problem for each region.

On a region the features are an affine image of a polyhedron, whose nearest point is found exactly (`nearest_image`).
Boxes around the features at the vertices say which regions need not be examined.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.feature_distances import (
    ELSEWHERE_DISTANCE,
    IMAGE_DISTANCE,
    IS_REACHED,
    REGION_DISTANCE,
    RELATIVE,
    distance_column,
)
from reluscope.arguments import NonNegative, read_arguments, read_point
from reluscope.budget import RegionBudget
from reluscope.effort import Effort
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Column, Findings, Quantity
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.geometry.polyhedra.nearest_image import nearest_image
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.partitions.ask.region_search import partitioned
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.tolerance import Tolerance

METHOD = "nearest points of the images of regions"


@read_arguments
def distance_to_range(
    network: Network,
    y: ArrayLike,
    *,
    domain: Domain | Partition,
    gate: str | int | None = None,
    budget: RegionBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the distance (l2) from a feature vector to the features of all points of a domain.

    Parameters
    ----------
    network : Network
    y : (u,) or the shape of the features
    domain : Domain or Partition
        Of few dimensions; a partition must be of this network up to the gate.
    gate : str or int, optional
        Gate that gives the features; by default the outputs of the network.
    budget : Budget, optional
        Limit of the partition.
    tolerance : Tolerance, optional
        Of the partition.

    Returns
    -------
    Findings
        ``distance_to_image``, one row: exact within 1e-7 of the size of y if the partition is exact, and
        multipliers prove it. Otherwise an upper bound, the distance found. The details ``points`` and ``features``
        are the closest point and its features.

    Raises
    ------
    ShapeError
        If y has the wrong length.

    Notes
    -----
    One partition, and a few linear programs for every region that may be closest.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> print(rs.preimages.distance_to_range(net, [5.0], domain=rs.Box(-1, 2, 2)).finding("distance_to_image"))
    1 (EXACT)
    """
    part = _partition(network, domain, gate, Effort.of(budget, tolerance=tolerance))
    goal = _read(part, y)
    nothing = _Nearest(np.inf, np.inf, -1, np.full(part.dim, np.nan), np.full(len(goal), np.nan))
    found = _nearest(part, goal, np.arange(len(part)), 0.0)
    best = min([nothing, *found], key=lambda one: one.distance)
    return Findings.of(
        _column(part, IMAGE_DISTANCE, best.distance, _least(found), goal),
        domain=part.domain.describe(),
        details={"points": best.point[None], "features": best.image[None]},
        stop=part.stop,
    )


@read_arguments
def reached_from_elsewhere(
    network: Network,
    x: Points,
    epsilon: NonNegative,
    *,
    domain: Domain | Partition,
    gate: str | int | None = None,
    budget: RegionBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return whether inputs of other linear regions have features within epsilon of the features of x.

    If not, all inputs with features in the ball around f(x) lie in the region of x, and `local_inverse` covers
    them.

    Parameters
    ----------
    network : Network
    x : one point; for a slice as domain in slice coordinates
    epsilon : float
        Radius of the ball (l2) around ``f(x)``.
    domain : Domain or Partition
        Low-dimensional; contains the other regions.
    gate : str or int, optional
        Consider the network up to this gate; by default all of it.
    budget : Budget, optional
        If it stops the partition early, "yes" is still proved and "no" is not.
    tolerance : Tolerance, optional
        Of the partition.

    Returns
    -------
    Findings
        ``distance_from_region`` of every other ``region``, a row of the partition, whose features meet the ball,
        closest first. The detail ``points`` gives the place in domain coordinates. The summary has
        ``distance_from_elsewhere``, over all other regions, infinite if there is none, and
        ``is_reached_from_elsewhere``, undecided if no such region was found and the partition is incomplete or
        distances are not proved; its detail ``own`` is the region of x. Regions are closed: the neighbours of a
        region are as close as its facets.

    Raises
    ------
    InputError
        If x lies in no region of the partition, or epsilon is not a nonnegative number.

    Notes
    -----
    As for `distance_to_range`. For more inputs see `elsewhere_bounds`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    >>> box = rs.Box(-1, 1, 1)
    >>> found = rs.preimages.reached_from_elsewhere(net, [0.5], 0.1, domain=box)  # -0.5 has these features, too
    >>> print(found.finding("is_reached_from_elsewhere"), found.details["points"].round(6).tolist())
    1 (EXACT) [[-0.5]]
    >>> found = rs.preimages.reached_from_elsewhere(net, [0.5], 0.1, domain=box, gate=0)
    >>> print(found.finding("is_reached_from_elsewhere"))
    0 (EXACT)
    """
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"expected a radius from 0, got {epsilon}")
    part = _partition(network, domain, gate, Effort.of(budget, tolerance=tolerance))
    features = part.network_on_domain
    points = features.points(x)
    if len(points) != 1:
        raise ShapeError(f"expected one point, got {len(points)}: take them one by one")
    own = int(part.locate(points.reshape(1, -1).cpu().numpy())[0])
    if own < 0:
        raise InputError("expected a point in a region of the partition, got one outside: enlarge domain or budget")
    goal = features(points).reshape(-1).cpu().numpy()
    found = _nearest(part, goal, np.delete(np.arange(len(part)), own), epsilon)
    best = min([np.inf, *(one.distance for one in found)])
    within = sorted((one for one in found if one.distance <= epsilon), key=lambda one: one.distance)
    left = left_open(part)
    is_proved = left.is_nothing and _least(found) > epsilon
    is_reached = float(bool(within))
    least, most = is_reached if left.is_listed_sure else 0.0, is_reached if is_proved else 1.0
    summary = Findings.of(
        _column(part, ELSEWHERE_DISTANCE, best, _least(found), goal),
        Column.of(IS_REACHED, [is_reached], [least], [most], method=METHOD, given=f"within {epsilon:g}"),
        domain=part.domain.describe(),
        details={"own": np.array([own])},
    )
    distances = np.array([one.distance for one in within], dtype=np.float64)
    lower = np.array([max(0.0, min(one.lower, one.distance)) for one in within], dtype=np.float64)
    scale = float(np.abs(goal).max(initial=0.0))
    return Findings.of(
        Column.of(REGION_DISTANCE, distances, lower, scale=scale, method=METHOD),
        keys={"region": np.array([one.row for one in within], dtype=np.int64)},
        domain=part.domain.describe(),
        details={"points": np.array([one.point for one in within]).reshape(-1, part.dim)},
        stop=part.stop,
        summary=summary,
    )


class _Nearest(NamedTuple):
    """Where the image of a region is nearest to the goal."""

    distance: float
    lower: float
    row: int
    point: np.ndarray
    image: np.ndarray


def _nearest(part: Partition, goal: np.ndarray, rows: np.ndarray, radius: float) -> list[_Nearest]:
    """Return the nearest of some regions, all those within a radius, and others that had to be examined."""
    below, best = _lower(part, goal)[rows], np.inf
    found: list[_Nearest] = []
    for index in np.argsort(below, kind="stable"):
        if below[index] > max(best, radius):
            break
        row = int(rows[index])
        maps = part.linearize([row])
        weight, bias = maps.weight[0].cpu().numpy(), maps.bias[0].cpu().numpy()
        nearest = nearest_image(part[row].polyhedron, weight, bias, goal, tolerance=0.1 * RELATIVE)
        if not nearest.is_empty:
            best = min(best, nearest.distance)
            found.append(_Nearest(nearest.distance, nearest.lower, row, nearest.point, nearest.image))
    return found


def _least(found: list[_Nearest]) -> float:
    """Return a lower bound for the regions that were examined; the others are farther than the best of these."""
    return min([np.inf, *(one.lower for one in found)])


def _lower(part: Partition, goal: np.ndarray) -> np.ndarray:
    """Return, for every region, the distance to a box around its features."""
    if not part.has_vertices or not len(part) or not part.is_bounded().all():
        return np.zeros(len(part))
    offsets, ids = part.region_vertices
    outputs = part.outputs[ids]
    beyond = goal - np.maximum.reduceat(outputs, offsets[:-1])
    before = np.minimum.reduceat(outputs, offsets[:-1]) - goal
    slack = RELATIVE * np.maximum(1.0, np.abs(goal).max(initial=0.0))
    return np.maximum(np.linalg.norm(np.maximum(np.maximum(beyond, before), 0.0), axis=1) - slack, 0.0)


def _partition(network: Network, domain: Domain | Partition, gate: str | int | None, effort: Effort) -> Partition:
    features = up_to_gate(network, gate)
    refuse_left_off("a distance of features", features.left_off)
    return partitioned(features, domain, effort)


def _read(part: Partition, y: ArrayLike) -> np.ndarray:
    goal = read_point(y, "features")
    if len(goal) != part.network_on_domain.num_outputs:
        raise ShapeError(f"expected {part.network_on_domain.num_outputs} features, got {len(goal)}")
    return goal


def _column(part: Partition, quantity: Quantity, distance: float, lower: float, goal: np.ndarray) -> Column:
    """Return a distance over all regions; of those that the partition does not hold nothing is known."""
    left = left_open(part)
    if not left.is_listed_sure:  # points have other features than the maps say
        return Column.of(quantity, [distance], [0.0], [np.inf], method=METHOD)
    return distance_column(quantity, distance, lower if left.is_nothing else 0.0, goal, method=METHOD)

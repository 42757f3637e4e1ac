"""Radii within which the region's affine map certifies the class: lower bounds on distances to the decision boundary.

Up to the nearest facet the network is one affine map. Where that map changes its class on the way, its nearest
hyperplane is the exact distance to the decision boundary; elsewhere the class is certain up to the nearer of the two.
"""

from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.analyses.robustness.distance_quantities import DECISION_DISTANCE, distances
from reluscope.analyses.robustness.distance_to_facets import points_at_once, to_boundary
from reluscope.analyses.robustness.viewpoints import flat_points, open_domain
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.networks.fractions.rational import multiplications
from reluscope.networks.graph.points import Points
from reluscope.networks.input_units import InputUnits
from reluscope.networks.network import Network
from reluscope.networks.number_range import overflow_refused
from reluscope.networks.point_evaluation import Evaluation
from reluscope.progress import Progress
from reluscope.regions.exact_facets import MULTIPLICATIONS, ExactFacets
from reluscope.regions.nearest_facets import nearest_facets
from reluscope.tolerance import Tolerance

METHOD = "distance to the nearest hyperplane of the local affine map, and to the nearest facet, in float64"


@read_arguments
@overflow_refused()
def certified_radius(
    network: Network,
    x: Points,
    *,
    norm: AnyNorm,
    population: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the radius that the affine map of each point's linear region certifies for its class.

    Parameters
    ----------
    network : Network
        A classifier: the largest output wins, the lowest index at a tie, and a single output f where f > 0, unless
        its `decision` is defined otherwise.
    x : (s, *input_shape) or (s, n)
        In random order if time may not suffice for all.
    norm : "l1", "l2", "linf" or Norm
        A `Norm` may have weights, one per input, or per slice coordinate on a slice.
    population : int, optional
        Size of the population, if the points are a random sample from it.
    budget : Budget, optional
        Seconds; no point is started after them, and at least one is finished.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional

    Returns
    -------
    Findings
        ``decision_distance``: EXACT where the closest rival's hyperplane is not beyond the closest facet, since the
        network is one affine map up to there; elsewhere LOWER, the minimum of the two distances.
        ``boundary_distance`` and its details are those of `boundary_distance`.

    Raises
    ------
    InputError
        If the norm is unknown.

    Notes
    -----
    About n forward passes per point, for networks of any size. `decision_distance` continues the search beyond the
    region.

    References
    ----------
    Croce, Andriushchenko, Hein, "Provable robustness of ReLU networks via maximization of linear regions" (AISTATS
    2019).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.robustness.certified_radius(net, [[3.0, 2.0], [9.0, 1.0]], norm="l2")
    >>> print(found.finding("decision_distance", 0), found.finding("decision_distance", 1))
    0.707107 (EXACT) 1 (LOWER)
    """
    norm = Norm.of(norm)
    network, opened = open_domain(network.scores, None)
    units = InputUnits.of(norm, network.num_inputs)
    points, network = network.points(units.enter(flat_points(network, x))), units.network(network)
    tolerance = tolerance or Tolerance()

    def ask(block: slice) -> Measured:
        at = network.at(points[block], tolerance=tolerance)
        found = nearest_facets(at, norm=norm.plain)
        boundary = to_boundary(at, found, opened, units)
        reach = boundary.columns[0]
        certified = _certified(at, reach, found.of_gradients, units)
        return Measured((certified, reach), boundary.details)

    effort, most = Effort.of(budget, None, progress), points_at_once(network)
    return measure(len(points), ask, effort, most=most, population=population)


def _certified(at: Evaluation, reach: Column, of_gradients: Float[np.ndarray, "s m"], units: InputUnits) -> Column:
    """Return the least of the distances to rivals' hyperplanes and to facets, exact where the former is."""
    away, error, nearest = _to_rivals(at, of_gradients, units.norm.plain)
    exact = away + error <= reach.lower
    lower = np.maximum(np.minimum(np.minimum(away - error, reach.lower), nearest), 0.0)
    value, upper = np.where(exact, away, lower), np.where(exact, away + error, np.inf)
    points = at.points.reshape(len(at), -1).cpu().numpy()
    sizes = units.scales(points)
    return distances(DECISION_DISTANCE, value, lower, upper, sizes=sizes, points=points, units=units, method=METHOD)


def _to_rivals(at: Evaluation, of_gradients: Float[np.ndarray, "s m"], norm: Norm) -> tuple[np.ndarray, ...]:
    """Return distances to the nearest hyperplane where the map of a point changes its class, rounding, and lower ends.

    Outputs that are equal on the whole region are no rivals: the lowest one wins on all of it.
    """
    network, outputs = at.network, at.outputs
    classes, rows = classes_of_outputs(outputs), np.arange(len(at))
    margins, slopes = np.abs(outputs), np.zeros_like(outputs)
    # Maps are read in blocks: all of them at once may be large.
    for part, block in at.blocks(8 * network.num_inputs * network.num_outputs):
        weight = block.maps.weight.cpu().numpy()
        own = weight[rows[: len(weight)], classes[part]] if network.num_outputs > 1 else 0.0
        for rival in range(network.num_outputs):
            slopes[part, rival] = norm.dual.size(own - weight[:, rival])
    if network.num_outputs > 1:
        margins = outputs[rows, classes][:, None] - outputs
    away = np.divide(margins, slopes, out=np.full_like(margins, np.inf), where=slopes > 0)
    if network.num_outputs > 1:
        away[rows, classes] = np.inf
    # Slopes may be steeper by their rounding, and margins smaller: outputs that are one without any are no rivals.
    entries = norm.dual.size_of_ones(network.num_inputs)
    behind = margins - at.errors - at.errors.max(axis=1, keepdims=True)
    steepest = slopes + 2 * entries * of_gradients.max(axis=1, keepdims=True)
    least = np.divide(behind, steepest, out=np.full_like(margins, np.inf), where=steepest > 0)
    is_same = (margins == 0) & (slopes == 0)
    is_sure = (at.errors.max(axis=1, keepdims=True) == 0) & (steepest == 0)
    least[is_same] = np.where(is_sure, np.inf, 0.0)[is_same]
    if network.num_outputs > 1:
        least[rows, classes] = np.inf
    doubtful = np.argwhere(is_same & ~is_sure & (least == 0)).tolist()
    for row, rival in doubtful if multiplications(network) <= MULTIPLICATIONS else ():
        least[row, rival] = _exactly(at[row : row + 1], int(classes[row]), rival, norm)
    nearest = least.min(axis=1)
    rivals = away.argmin(axis=1)
    away, slopes = away[rows, rivals], slopes[rows, rivals]
    finite = np.isfinite(away)
    # Of the margin, and of its gradient, in whose units the distance is.
    spread = 2 * (at.errors.max(axis=1) + np.where(finite, away, 0.0) * of_gradients.max(axis=1) * entries)
    return away, np.divide(spread, slopes, out=np.zeros_like(away), where=finite), nearest


def _exactly(at: Evaluation, own: int, rival: int, norm: Norm) -> float:
    """Return how far a point is at least from where a class is no longer ahead of another one, in fractions."""
    network = at.network
    one = network.num_outputs == 1  # the score of class 0 is 0
    weights = {0: Fraction(1 if own else -1)} if one else {own: Fraction(1), rival: Fraction(-1)}
    code = [piece[0].tolist() for piece in at.pieces]
    found = ExactFacets(network, norm).lead(code, at.points.reshape(-1).cpu().numpy(), weights, MULTIPLICATIONS)
    if found is None:
        return 0.0
    return np.inf if found[0] is None else found[0].lower

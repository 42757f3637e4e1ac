"""How far points are from the boundary of their linear regions, in closed form."""

import numpy as np

from reluscope.analyses.robustness.distance_quantities import BOUNDARY_DISTANCE, distances
from reluscope.analyses.robustness.viewpoints import SearchDomain, flat_points, open_domain
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, holds_across_jumps, read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Findings
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.graph.points import Points
from reluscope.networks.input_units import InputUnits
from reluscope.networks.network import Network
from reluscope.networks.number_range import overflow_refused
from reluscope.networks.point_evaluation import BUDGET, Evaluation, bytes_of_gates
from reluscope.progress import Progress
from reluscope.regions.nearest_facets import NearestFacets, facet_normals, nearest_facets
from reluscope.tolerance import Tolerance

METHOD = "least (b - a x) / |a| over all half-spaces a z <= b, with the dual norm; in fractions where rounding decides"
# Points that are asked about together, so that there is something to show when time ends.
AT_ONCE = 512


def points_at_once(network: Network) -> int:
    """Return how many points are evaluated together: some hundred, or what memory holds."""
    return max(1, min(AT_ONCE, BUDGET // bytes_of_gates(network)))


@read_arguments
@holds_across_jumps
@overflow_refused()
def boundary_distance(
    network: Network,
    x: Points,
    *,
    norm: AnyNorm,
    domain: Domain | None = None,
    population: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the distance of each point to its region's boundary, the unit there, and the closest point.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order if time may not suffice for all; for a slice as domain ``(s, d)`` in slice coordinates.
    norm : "l1", "l2", "linf" or Norm
        A `Norm` may have weights, one per input, or per slice coordinate on a slice.
    domain : Box, Polyhedron, Slice or Space, optional
        Regions are restricted to it; by default all of input space. On a slice, distances are those of slice
        coordinates.
    population : int, optional
        Size of the population, if the points are a random sample from it.
    budget : Budget, optional
        Seconds; no point is started after them, and at least one is finished.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Its ``rounding`` defines which pre-activations count as zero.

    Returns
    -------
    Findings
        ``boundary_distance``, with an interval for rounding: infinite where neither a unit nor the domain bounds
        the region, 0 on a hyperplane up to rounding. Details: ``sources`` (s, 3), the gate, the unit, and the
        unit's piece beyond; for the domain -1, the row (upper bounds of a box first), -1; for infinite distances
        all -1. ``points`` (s, n), the closest boundary points, NaN for infinite distances; in slice coordinates on
        a slice.

    Raises
    ------
    InputError
        If the norm is unknown, or a point lies outside the domain.
    DiscontinuousNetworkError
        For top-k gates, whose regions end where two units are equal.

    Notes
    -----
    About n forward passes per point, in blocks; the normals are never all stored at once.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> for norm in ("l1", "l2", "linf"):
    ...     print(rs.robustness.boundary_distance(net, [[2.0, 1.0]], norm=norm).finding("boundary_distance"))
    2 (EXACT)
    2 (EXACT)
    1.42857 (EXACT)
    """
    norm = Norm.of(norm)
    network, opened = open_domain(network, domain)
    units = InputUnits.of(norm, network.num_inputs)
    flat = flat_points(network, x)
    if outside := [row for row, point in enumerate(flat) if not opened.contains(point)]:
        raise InputError(
            f"expected points in the domain ({opened.text}), got point {outside[0]} outside: move it inside"
        )
    points, network = network.points(units.enter(flat)), units.network(network)
    opened = opened.within(units)

    def ask(block: slice) -> Measured:
        at = network.at(points[block], tolerance=tolerance)
        return to_boundary(at, nearest_facets(at, norm=norm.plain), opened, units)

    effort, most = Effort.of(budget, None, progress), points_at_once(network)
    return measure(len(points), ask, effort, domain=opened.text, most=most, population=population)


def to_boundary(at: Evaluation, found: NearestFacets, domain: SearchDomain, units: InputUnits) -> Measured:
    """Return the distances of points in a domain whose nearest facets are known, all in some units."""
    norm = units.norm.plain
    flat = at.points.reshape(-1, at.network.num_inputs).cpu().numpy()
    parts = at.blocks(3 * at.network.bytes_per_point + 8 * at.network.num_inputs)
    normals = np.concatenate([facet_normals(part, found.sources[rows]) for rows, part in parts])
    for row, normal in found.normals.items():
        normals[row] = normal
    nearest, sources = found.distances.copy(), found.sources.copy()
    limits, rows, outward = _nearest_limits(domain, flat, norm)
    nearer = limits < nearest
    nearest[nearer], normals[nearer] = limits[nearer], outward[nearer]
    sizes = np.abs(flat).max(axis=1, initial=0.0)
    rounding = np.where(np.isfinite(limits), at.tolerance.unit * (sizes + limits), 0.0)
    lower = np.minimum(found.lower, limits - rounding)
    upper = np.minimum(found.distances + found.errors, limits + rounding)
    sources[nearer] = np.stack([np.full(len(rows), -1), rows, np.full(len(rows), -1)], axis=1)[nearer]
    touched = flat + np.where(np.isfinite(nearest), nearest, np.nan)[:, None] * norm.steepest(normals)
    sizes = units.scales(flat)
    column = distances(BOUNDARY_DISTANCE, nearest, lower, upper, sizes=sizes, points=flat, units=units, method=METHOD)
    return Measured((column,), {"sources": sources, "points": units.leave(touched)})


def _nearest_limits(domain: SearchDomain, points: np.ndarray, norm: Norm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each point the distance to the boundary of the domain, the row there, and its outward normal."""
    number, dim = points.shape
    each, limits = np.arange(number), domain.half_spaces
    if len(limits.rows):
        slack = np.maximum((limits.offsets - points @ limits.rows.T) / norm.dual.size(limits.rows), 0.0)
        rows = slack.argmin(axis=1)
        return slack[each, rows], rows, limits.rows[rows]
    slack = np.maximum(np.concatenate([limits.upper - points, points - limits.lower], axis=1), 0.0)
    rows, normals = slack.argmin(axis=1), np.zeros(points.shape)
    normals[each, rows % dim] = np.where(rows < dim, 1.0, -1.0)
    return slack[each, rows], rows, normals

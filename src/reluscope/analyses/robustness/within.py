"""How far points are from the nearest decision boundary inside their own linear regions."""

from concurrent.futures import Executor

import numpy as np

from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.distance_quantities import DECISION_DISTANCE_WITHIN, distances
from reluscope.analyses.robustness.exact_cells import ExactCells
from reluscope.analyses.robustness.rival_class import Rival
from reluscope.analyses.robustness.viewpoints import Pieces, Viewpoint, open_domain, viewpoints
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.analyses.samples.shared_points import shared
from reluscope.arguments import read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.findings import Findings
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.geometry.polyhedra.nearest_point import NearestPoint
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.number_range import overflow_refused
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

METHOD = "a quadratic or linear program for each rival, with a dual bound"


@read_arguments
@overflow_refused()
def decision_distance_within(
    network: Network,
    x: Points,
    *,
    norm: AnyNorm,
    domain: Domain | None = None,
    budget: TimeBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the distance of each point to the closest decision boundary inside its linear region.

    Parameters
    ----------
    network : Network
        A classifier: the largest output wins, the lowest index at a tie; a single output f wins where f > 0.
    x : (s, *input_shape) or (s, n)
        Points; for a slice as domain ``(s, d)`` in slice coordinates. A point on a kink uses one region that
        touches it.
    norm : "l1", "l2", "linf" or Norm
        A `Norm` may have weights, one per input, or per slice coordinate on a slice.
    domain : Box, Polyhedron, Slice or Space, optional
        Regions are restricted to it; by default they are not.
    budget : Budget, optional
        Seconds; no point is started after them, and at least one is finished.
    executor : concurrent.futures.Executor, optional
        Distributes the points, over processes or dask.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Its ``rounding`` defines which pre-activations count as zero.

    Returns
    -------
    Findings
        ``decision_distance_within``, between the bound from duality and the distance of a point that is certainly in
        the region and not of the point's class; infinite where provably no such point exists. Where it is
        finite and outputs cross, it is an upper bound on the distance to the closest decision boundary of the
        network; see `decision_distance`. Details: ``points`` (s, n), the closest point, NaN where there is none, in
        slice coordinates on a slice; ``classes`` and ``rivals`` (s,), the class of the point and the class that
        ties there, -1 where there is none. On Ctrl-C, and after the time, later points are not reached.

    Raises
    ------
    InputError
        If the norm is unknown, a point lies outside the domain, or the domain has equations.
    DegenerateGeometryError
        If the domain has no interior.

    Notes
    -----
    About n forward passes per point, and one program for each rival whose half-space alone is closer than the
    closest point so far.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.robustness.decision_distance_within(net, [[3.0, 1.0]], norm="l1")
    >>> print(found.finding("decision_distance_within"), found.details["rivals"])
    2 (EXACT) [1]
    """
    norm = Norm.of(norm)
    network, opened = open_domain(network.scores, domain)
    views = viewpoints(network, opened, x, norm, tolerance or Tolerance())

    effort = Effort.of(budget, None, progress)
    if executor is None:
        return measure(len(views), lambda block: _measured(*views[block]), effort, domain=opened.text, most=1)
    with shared(_measured, [(view,) for view in views], executor) as result:
        return measure(len(views), lambda block: result(block.start), effort, domain=opened.text, most=1)


def _measured(view: Viewpoint) -> Measured:
    """Return what is said of a point."""
    value, lower, upper, step, rival = _nearest_change(view, view.first_pieces())
    column = distances(
        DECISION_DISTANCE_WITHIN,
        np.array([value]),
        np.array([lower]),
        np.array([upper]),
        sizes=np.array([view.scale]),
        points=view.x[None],
        units=view.units,
        method=METHOD,
    )
    details = {
        "points": view.units.leave(view.x + step)[None],
        "classes": np.array([view.label]),
        "rivals": np.array([rival]),
    }
    return Measured((column,), details)


def _nearest_change(view: Viewpoint, code: Pieces) -> tuple[float, float, float, np.ndarray, int]:
    """Return distance, its lower and upper bounds, step and rival of the nearest change of class in a code's region."""
    cell, exact = StepRegion.of(view, code), ExactCells(view)
    best, lower, step, label = np.inf, np.inf, np.full(len(cell.origin), np.nan), -1
    nearest: tuple[Rival, NearestPoint] | None = None
    is_open = False  # whether rounding decides if some class wins anywhere
    for rival in sorted(cell.rivals, key=lambda rival: rival.distance):
        if not rival.is_sure:
            if (rival := exact.rival(code, rival)) is None:
                continue
            if not rival.is_sure:
                lower = min(lower, rival.least)
                continue
        if rival.least >= best:
            continue
        found = cell.nearest_change(rival, best)
        if found.is_empty and not cell.is_surely_empty(found, rival):
            lower, is_open = min(lower, rival.least), True
            continue
        lower = min(lower, cell.proved(rival, found))
        if found.distance < best:
            best, step, label, nearest = found.distance, found.point, rival.label, (rival, found)
    if nearest is None and not is_open:
        return best, lower, best, step, label
    # Classes that seem to tie on the boundary of the region may miss each other by less than rounding, and a hyperplane
    # that is not among the rows may end the region before the change.
    upper = np.inf if nearest is None else cell.reached(*nearest)
    lower = min(lower, upper)
    if np.isfinite(upper) and not is_open:
        return float(np.clip(best, lower, upper)), lower, upper, step, label
    if not exact.is_small:
        return lower, lower, upper, step, label
    changes = [one for rival in cell.rivals if (one := exact.change(code, rival.label)) is not None]
    if not changes:
        return np.inf, np.inf, np.inf, np.full(len(cell.origin), np.nan), -1
    nearest_change = min(changes, key=lambda one: one.distance)
    lower = min(one.lower for one in changes)
    return nearest_change.distance, lower, nearest_change.upper, nearest_change.step, nearest_change.label

"""How far points are from the nearest decision boundary of the whole network, exactly."""

import hashlib
import os
import time
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch

from reluscope.analyses.robustness.certified_radii import certified_radius
from reluscope.analyses.robustness.distance_quantities import DECISION_DISTANCE, distances
from reluscope.analyses.robustness.distance_search import EndedSearch, search
from reluscope.analyses.robustness.listed_changes import NearRegions
from reluscope.analyses.robustness.tied_regions import TiedRegions, tied_regions
from reluscope.analyses.robustness.viewpoints import SearchDomain, Viewpoint, flat_points, open_domain, viewpoints
from reluscope.analyses.samples.measuring import KeptRows, Measured, key_of, measure
from reluscope.analyses.samples.shared_points import shared
from reluscope.arguments import read_arguments
from reluscope.budget import Budget, RegionBudgetForEach
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Column, Findings
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.number_range import overflow_refused
from reluscope.progress import Progress
from reluscope.stopping import OUT_OF_MEMORY, is_interrupted, words_of
from reluscope.time_limits import if_in_time, is_overdue, time_limit
from reluscope.tolerance import Tolerance

# So many of the places at which other points met other classes are tried, the nearest ones.
NUM_PLACES = 64
METHOD = "best-first search over sets of regions, nearest points by quadratic or linear programs with dual bounds"


@read_arguments
@overflow_refused()
def decision_distance(
    network: Network,
    x: Points,
    *,
    norm: AnyNorm,
    domain: Domain | None = None,
    budget: RegionBudgetForEach | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    known: Findings | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Findings:
    """Return the exact distance of points to the closest decision boundary of the network.

    Parameters
    ----------
    network : Network
        A classifier: the largest output wins, the lowest index at a tie; a single output f wins where f > 0.
    x : (s, *input_shape) or (s, n)
        Points; for a slice as domain ``(s, d)`` in slice coordinates.
    norm : "l1", "l2", "linf" or Norm
        A `Norm` may have weights, one per input, or per slice coordinate on a slice.
    domain : Box, Polyhedron, Slice or Space, optional
        Only other classes inside it count; by default everywhere. On a slice, distances are those of slice
        coordinates.
    budget : Budget, optional
        Per point; ``regions`` counts sets of regions, or boxes of inputs. Without a budget, the search runs to its
        end. Every search first seeks a change of class near the point, an upper bound; ``Budget(regions=0)``
        computes only this bound and the certified radius. ``seconds`` count from the beginning of this step.
    executor : concurrent.futures.Executor, optional
        Distributes the points, over processes or dask. Searches then start without results of other points.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Its ``rounding`` defines which pre-activations count as zero.
    known : Findings, optional
        Result of this function for these points, possibly in another norm or with a smaller budget. The search
        starts from the closest change of class on the segment to that result. Each point also starts from results
        of earlier points.
    checkpoint : path, optional
        A folder that stores finished points, so that interrupted work can be resumed.

    Returns
    -------
    Findings
        ``decision_distance``, between the certified bound of the search and a distance at which the network
        certainly has another class. Infinite where provably the domain contains no other class, or none closer than
        float64 can represent. Rational arithmetic decides regions too thin and ties too close for floats, in
        networks of a few hundred units and 16 inputs; in other networks the lower end reports how close these
        regions and ties are. If a budget or Ctrl-C ended the search, the value is the lower end: no change of class
        is closer than the frontier, or than the certified radius. On Ctrl-C, later points are not reached. Details:
        ``witnesses`` (s, n), the closest boundary point found, and ``beyond`` (s, n), a point right beyond it where
        the network itself has another class; NaN where none was found, in slice coordinates on a slice. ``classes``
        and ``adversarial`` (s,), the class of the point and the class beyond, -1 where none was found.
        ``num_branches``, ``num_undecided``, ``seconds`` and ``stopped`` (s,): sets of regions or boxes examined,
        changes of class that rounding left undecided, the runtime, and why a search ended early.

    Raises
    ------
    InputError
        If the norm is unknown, a point lies outside the domain, the domain has equations, or ``known`` is for other
        points.
    DegenerateGeometryError
        If the domain has no interior.

    Notes
    -----
    The number of sets of regions, from one to very many, depends on how many units change their piece closer than
    the boundary. Each set costs about a forward pass per input and per such unit, and a closest-point program for
    each class that may win in it. With up to ten inputs, and more than 24 units that may change their piece within
    the closest change found at first, boxes of inputs are halved instead, at one or two tenths of a millisecond
    each. With up to three inputs and no budget of regions, one partition around all points is tried first, of at
    most 4,000 regions per point (1,500 with three inputs). If it completes, only the regions in which classes tie
    near a point are computed exactly, usually one or two. This is four to twenty times as fast as searches for ten
    points and more with two inputs, and three to twelve times for a hundred points with three.

    References
    ----------
    Tjeng, Xiao, Tedrake, "Evaluating robustness of neural networks with mixed integer programming" (ICLR 2019), for
    exact distances by branch and bound.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-2.0]))])
    >>> found = rs.robustness.decision_distance(net, [[0.5]], norm="l2")  # |x| - 2 changes its sign at 2
    >>> print(found.finding("decision_distance"), found.details["witnesses"][0], found.details["adversarial"][0])
    1.5 (EXACT) [2.] 1
    """
    norm = Norm.of(norm)
    tolerance = tolerance or Tolerance()
    network, opened = open_domain(network.scores, domain)
    points = flat_points(network, x)
    views = viewpoints(network, opened, points, norm, tolerance)
    places = _places(known, points)
    allowed = budget or Budget()

    def ask(block: slice) -> Measured:
        (view,) = views[block]
        met = np.concatenate([places[block], places[: block.start]]) if known is None else places[block]
        found, measured = _searched(view, met, allowed, listed.near(view))
        if known is None and found.change is not None:
            places[block] = view.units.leave(view.x + found.change.beyond)
        return measured

    kept = None
    if checkpoint is not None:
        kept = KeptRows(checkpoint, _key(network, opened, points, places, norm, Effort(allowed, tolerance=tolerance)))
        for row, part in enumerate(kept.parts(len(views)) if known is None else ()):
            if part.details.get("beyond", np.zeros(0)).shape != places[row : row + 1].shape:
                raise InputError(f"expected changes of samples in the checkpoint {checkpoint}, got others: remove it")
            places[row] = part.details["beyond"][0]
    first = 0 if kept is None else len(kept.parts(len(views)))
    listed = _Listed(views[first:], allowed)
    # The budget is one for each sample.
    effort, common = Effort(progress=progress), {"domain": opened.text, "most": 1, "checkpoint": kept}
    if executor is None:
        return measure(len(views), ask, effort, **common)
    tasks = [(view, places[row : row + 1], allowed, listed.near(view)) for row, view in enumerate(views[first:], first)]
    with shared(_searched, tasks, executor) as result:
        return measure(len(views), lambda block: result(block.start - first)[1], effort, **common)


class _Listed:
    """Regions in which classes tie around points, once for all of them; none where that would not be worth while."""

    def __init__(self, views: list[Viewpoint], budget: Budget) -> None:
        self._views = views if budget.regions is None else []
        self._seconds = None if budget.seconds is None else budget.seconds * len(views)

    @cached_property
    def _tied(self) -> TiedRegions | None:
        if not self._views:
            return None
        points, labels = np.stack([view.x for view in self._views]), np.array([view.label for view in self._views])
        one = self._views[0]
        return tied_regions(one.network, one.domain, points, labels, one.norm, one.tolerance, self._seconds)

    def near(self, view: Viewpoint) -> NearRegions | None:
        """Return the regions near a point, None if it has to be searched for."""
        return None if self._tied is None else self._tied.near(view)


def _key(
    network: Network,
    opened: SearchDomain,
    points: np.ndarray,
    places: np.ndarray,
    norm: Norm,
    effort: Effort,
) -> dict[str, str]:
    """Return everything that distances depend on."""
    limits = opened.half_spaces
    tables = (limits.rows, limits.offsets, limits.lower, limits.upper, places)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(table).tobytes() for table in tables)).hexdigest()
    name = norm.name if norm.weights is None else f"{norm.name} {norm.weights}"
    return key_of(
        network, torch.as_tensor(points), norm=name, limits=digest, budget=effort.budget, tolerance=effort.tolerance
    )


def _searched(
    view: Viewpoint, places: np.ndarray, budget: Budget, near: NearRegions | None
) -> tuple[EndedSearch, Measured]:
    """Return how the search for a point ended, and what is said of it."""
    began = time.perf_counter()
    places = view.units.enter(places[np.isfinite(places).all(axis=1)])
    nearest = np.argsort(view.norm.size(places - view.x), kind="stable")[:NUM_PLACES]
    with time_limit(budget.seconds_allowed):
        found = search(view, budget, places[nearest], near)
        if found.stop not in (None, OUT_OF_MEMORY) and not is_overdue():  # the region's own map may say more
            found = if_in_time(lambda: replace(found, lower=max(found.lower, _within_region(view))), found)
    stopped = found.stop if is_interrupted(found.stop) else None
    return found, Measured((_column(view, found),), _details(view, found, time.perf_counter() - began), stopped)


def _within_region(view: Viewpoint) -> float:
    """Return a lower bound by the region's own map."""
    own = certified_radius(view.network, view.x[None], norm=view.norm, tolerance=view.tolerance)
    return float(own[DECISION_DISTANCE].lower[0])


def _places(known: Findings | None, points: np.ndarray) -> np.ndarray:
    """Return where other classes were found, NaN where nowhere."""
    if known is None:
        return np.full_like(points, np.nan)
    found = known.details.get("beyond")
    if DECISION_DISTANCE.name not in known or found is None or found.shape != points.shape:
        raise InputError(
            f"expected known to be decision distances of {len(points)} points, got findings of others: give what "
            "decision_distance returned for these points"
        )
    return found


def _column(view: Viewpoint, found: EndedSearch) -> Column:
    change = found.change
    upper = np.inf if change is None else change.upper
    lower = max(0.0, min(found.lower, upper))
    is_done = not found.stop and not found.num_undecided
    value = float(np.clip(upper if change is None else change.distance, lower, upper)) if is_done else lower
    return distances(
        DECISION_DISTANCE,
        np.array([value]),
        np.array([lower]),
        np.array([upper]),
        sizes=np.array([view.scale]),
        points=view.x[None],
        units=view.units,
        method=METHOD,
    )


def _details(view: Viewpoint, found: EndedSearch, seconds: float) -> dict[str, np.ndarray]:
    change = found.change
    nowhere = np.full(len(view.x), np.nan)
    return {
        "witnesses": (nowhere if change is None else view.units.leave(view.x + change.step))[None],
        "beyond": (nowhere if change is None else view.units.leave(view.x + change.beyond))[None],
        "classes": np.array([view.label]),
        "adversarial": np.array([-1 if change is None else change.label]),
        "num_branches": np.array([found.num_branches]),
        "num_undecided": np.array([found.num_undecided]),
        "seconds": np.array([seconds]),
        "stopped": np.array([words_of(found.stop)]),
    }

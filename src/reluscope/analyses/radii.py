"""How large the regions of samples are: distance to the nearest facet, and the largest ball inside.

The distance to the nearest facet, ``min_i (b_i - a_i x) / |a_i|``, is how far every change of the sample is answered by
one affine map. The inscribed ball is the largest ball anywhere in the region; its centre may be far from the sample.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.analyses.bodies import as_bodies, ask_within_memory, bodies_at_once, regions_inside
from reluscope.analyses.coefficients.margins import margins_of_maps
from reluscope.analyses.coefficients.rounding import map_rounding
from reluscope.analyses.medians import median_finding
from reluscope.analyses.pacing import Pace, until_interrupted
from reluscope.arguments import Count, Seconds, read_arguments, read_position
from reluscope.findings import Claim, Finding
from reluscope.geometry.convex_questions import largest_balls
from reluscope.geometry.domains import Box
from reluscope.geometry.interior import WELL_PROVED, Ball
from reluscope.interruption import deferred
from reluscope.networks.choices import read_domain
from reluscope.networks.network import BUDGET, Network
from reluscope.networks.points import Points
from reluscope.networks.rounded_forward import rounded_forward
from reluscope.regions.nearest import NearestFacets, nearest_facets
from reluscope.regions.region import Region
from reluscope.tolerance import Tolerance

# Multiplications a second that the estimate of the time for one ball counts on, and steps of the method.
MULTIPLICATIONS = 2e10
STEPS = 25
# The gap of balls, relative to their radii.
RELATIVE_GAP = 1e-8


@dataclass(frozen=True)
class FacetDistances:
    """Distances of samples to the boundary of their regions.

    Parameters
    ----------
    nearest : NearestFacets
        Of the samples that were reached, in the order they were given.
    population : int
        Samples that they stand for.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given samples were reached, else empty.
    seconds : float
    """

    nearest: NearestFacets
    population: int
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.nearest)

    @property
    def distances(self) -> Float[np.ndarray, " s"]:
        """Euclidean distances in input space; infinite where nothing can bend."""
        return self.nearest.distances

    @property
    def gates(self) -> Int[np.ndarray, " s"]:
        """The gate that bends first; -1 where nothing can."""
        return self.nearest.sources[:, 0]

    @property
    def tolerance(self) -> float:
        """Bound on what rounding changes in a distance."""
        return float(self.nearest.errors.max(initial=0.0))

    def median(self) -> Finding:
        """Return the median distance: EXACT if all samples were reached, else an ESTIMATE with its interval."""
        return median_finding(
            self.distances,
            self.population,
            what="the distance to the nearest facet of the sample's region",
            tolerance=self.tolerance,
            name="median distance to the nearest facet",
            method="least (b - a x) / |a| over all half-spaces a z <= b of the region, in float64",
            work={"seconds": self.seconds},
        )

    def finding(self, row: int) -> Finding:
        """Return the distance of one sample, EXACT within the bound on rounding."""
        return Finding(
            float(self.distances[row]),
            Claim.EXACT,
            name="distance to the nearest facet",
            definition="Euclidean distance from the sample to the boundary of its linear region",
            domain="input space",
            method="least (b - a x) / |a| over all half-spaces a z <= b of the region, in float64",
            tolerance=float(self.nearest.errors[row]),
        )


def facet_distances(
    network: Network,
    x: Points,
    *,
    population: int | None = None,
    seconds: float = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> FacetDistances:
    """Return how far samples are from the boundary of their regions.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order, if there may not be time for all.
    population : int, optional
        How many samples these were drawn from, for the claim of the median; by default these are all.
    seconds : float
        When to stop; at least one sample is done.
    tolerance : Tolerance, optional
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    FacetDistances
        Of fewer samples if there was no time, or on Ctrl-C after the first.

    Notes
    -----
    See `nearest_facets`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> facet_distances(net, [[3.0, -1.0], [2.0, 5.0]]).distances
    array([1., 2.])
    """
    began = time.perf_counter()
    points = network.points(x)
    pace = Pace(len(points), seconds=seconds, most=512, tell=tell)
    parts: list[NearestFacets] = []

    def work() -> None:
        for block in pace.blocks():
            parts.append(nearest_facets(network, points[block], tolerance=tolerance))

    stopped = until_interrupted(work, parts) or pace.stopped
    joined = NearestFacets(
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.errors for part in parts]),
        np.concatenate([part.sources for part in parts]),
    )
    return FacetDistances(joined, population or len(points), stopped, time.perf_counter() - began)


@dataclass(frozen=True)
class BoundaryDistances:
    """What the regions of samples say about the distance to the decision boundary.

    Parameters
    ----------
    lower : (s,) float64
        The decision boundary is not nearer than this.
    is_exact : (s,) bool
        Whether it is exactly this far.
    tolerance : float
        Bound on what rounding changes.
    population : int
    seconds : float
    """

    lower: Float[np.ndarray, " s"]
    is_exact: Bool[np.ndarray, " s"]
    tolerance: float
    population: int
    seconds: float

    def median(self) -> Finding:
        """Return the median of the lower bounds: LOWER for the median distance, an ESTIMATE of it from some samples."""
        return median_finding(
            self.lower,
            self.population,
            what="a lower bound on the distance to the decision boundary: the least of the distances to the nearest "
            "facet and to where the region's affine map changes its class",
            tolerance=self.tolerance,
            name="median distance that keeps the class for certain",
            method="distances to hyperplanes of the local affine map, in float64",
            work={"seconds": self.seconds},
        )

    def share(self) -> Finding:
        """Return the share of these samples whose distance to the decision boundary is known exactly."""
        exact, number = int(self.is_exact.sum()), len(self.is_exact)
        return Finding(
            exact / number,
            Claim.EXACT,
            name="share of exactly known distances to the decision boundary",
            definition=f"share of samples whose region reaches to where its affine map changes the class: "
            f"{exact:,} of {number:,}",
            domain=f"{number:,} samples",
            method="distance to the nearest rival's hyperplane compared with that to the nearest facet, in float64",
            tolerance=0.0,
            work={"seconds": self.seconds},
        )


def boundary_distances(
    network: Network, x: Points, facets: FacetDistances, *, tolerance: Tolerance | None = None
) -> BoundaryDistances:
    """Return how near the decision boundary of a classifier may be.

    Parameters
    ----------
    network : Network
        A classifier.
    x : (s, *input_shape) or (s, n)
        The samples whose distances to facets are known.
    facets : FacetDistances
    tolerance : Tolerance, optional

    Returns
    -------
    BoundaryDistances
        Exact where the nearest rival's hyperplane is not beyond the nearest facet: the network is one affine map up to
        there. Elsewhere the distance to the facet is the lower bound.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> points = [[3.0, 2.0], [9.0, 1.0]]
    >>> found = boundary_distances(net, points, facet_distances(net, points))
    >>> found.lower.round(3), found.is_exact
    (array([0.707, 1.   ]), array([ True, False]))
    """
    began = time.perf_counter()
    points = network.points(x)[: len(facets)]
    forward = rounded_forward(network, points, tolerance=tolerance)
    of_gradients = 2 * map_rounding(network, tolerance or Tolerance())
    # Maps are read in blocks: all of them at once may be large.
    size = max(1, BUDGET // (8 * network.num_inputs * network.num_outputs))
    lower, errors = [], []
    for start in range(0, len(points), size):
        rows = slice(start, start + size)
        found = margins_of_maps(torch.as_tensor(forward.outputs[rows]), network.linearize(points[rows]).weight)
        # Of the margin, and of its gradient, in whose units the distance is.
        spread = 2 * forward.errors[rows].max(axis=1) + found.distances * of_gradients
        with np.errstate(divide="ignore", invalid="ignore"):
            errors.append(np.where(np.isfinite(found.distances) & (found.slopes > 0), spread / found.slopes, 0.0))
        lower.append(found.distances)
    distances, error = np.concatenate(lower), np.concatenate(errors)
    reach, unsure = facets.distances, facets.nearest.errors
    exact = distances + error <= reach - unsure
    exact |= np.isinf(distances) & np.isinf(reach)
    bound = np.where(exact, distances, np.minimum(distances, reach))
    finite = np.isfinite(bound)
    rounding = float(np.maximum(error, unsure)[finite].max(initial=0.0))
    return BoundaryDistances(bound, exact, rounding, facets.population, time.perf_counter() - began)


@dataclass(frozen=True)
class InscribedBalls:
    """Largest balls in the regions of samples.

    Parameters
    ----------
    rows : (k,) int64
        Which of the given samples these are.
    radii, gaps : (k,) float64
        A ball of this radius is inside, and none has a radius above the radius plus the gap. Infinite where there are
        balls of every size.
    offsets : (k,) float64
        Distance from the sample to the ball's centre; NaN for balls of every size.
    without : (j,) int64
        Samples on kinks whose code has no region with an interior.
    domain : Box, optional
        What regions were cut down to.
    population : int
        Samples that they stand for.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given samples were reached, else empty.
    seconds : float
    """

    rows: Int[np.ndarray, " k"]
    radii: Float[np.ndarray, " k"]
    gaps: Float[np.ndarray, " k"]
    offsets: Float[np.ndarray, " k"]
    without: Int[np.ndarray, " j"]
    domain: Box | None
    population: int
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def where(self) -> str:
        """Say what regions were cut down to."""
        return "input space" if self.domain is None else self.domain.describe()

    def median(self) -> Finding:
        """Return the median radius: EXACT within the gap if all samples were reached, else an ESTIMATE."""
        found = median_finding(
            self.radii,
            self.population,
            what="the radius of a largest ball in the sample's region",
            tolerance=float(self.gaps.max(initial=0.0)),
            name="median radius of the inscribed ball",
            method=METHOD,
            work={"seconds": self.seconds, "balls": len(self)},
        )
        return replace(found, domain=f"{found.domain}, {self.where}")

    @read_arguments
    def finding(self, position: int) -> Finding:
        """Return the radius of one ball, EXACT within its gap."""
        position = read_position(position, "position", len(self), "balls")
        return Finding(
            float(self.radii[position]),
            Claim.EXACT,
            name="radius of the inscribed ball",
            definition="radius of a largest Euclidean ball in the sample's linear region",
            domain=self.where,
            method=METHOD,
            tolerance=float(self.gaps[position]),
        )


METHOD = "linear program over all half-spaces of the region; the radius is checked against each, the gap is the dual's"


def ball_seconds(network: Network, domain: Box | None = None) -> float:
    """Return about how long one inscribed ball takes, from the size of its linear program."""
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    rows += 0 if domain is None else 2 * network.num_inputs
    return 0.01 + STEPS * rows * network.num_inputs**2 / MULTIPLICATIONS


def data_box(points: Float[np.ndarray, "s n"]) -> Box | None:
    """Return a box around the samples: their ranges, or one range for all inputs where some inputs never vary.

    Returns
    -------
    Box, or None
        None if all entries are equal.

    Examples
    --------
    >>> data_box(np.array([[0.0, 5.0], [1.0, 7.0]])).hi, data_box(np.array([[0.0, 1.0], [0.0, 0.5]])).hi
    (array([1., 7.]), array([1., 1.]))
    """
    low, high = points.min(axis=0), points.max(axis=0)
    if (low < high).all():
        return Box(low, high)
    if not points.min() < points.max():
        return None
    return Box(float(points.min()), float(points.max()), points.shape[1])


@read_arguments
def inscribed_balls(
    network: Network,
    x: Points,
    *,
    domain: Box | None = None,
    population: Count | None = None,
    seconds: Seconds = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> InscribedBalls:
    """Return largest balls in the regions of samples.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order, if there may not be time for all.
    domain : Box, optional
        What regions are cut down to; by default nothing.
    population : int, optional
        How many samples these were drawn from; by default these are all.
    seconds : float
        When to begin no other ball; one is always done.
    tolerance : Tolerance, optional
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    InscribedBalls
        Of fewer samples if there was no time, or on Ctrl-C.

    Raises
    ------
    ShapeError
        If points or the domain are not of the network's input space.

    Notes
    -----
    Also called Chebyshev balls. One linear program in n + 1 variables with a dense row per unit for every sample.

    References
    ----------
    Sattelberg, "Local linearity of ReLU neural networks", 2026.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> balls = inscribed_balls(net, [[3.0, -1.0]], domain=Box(-4, 4, 2))
    >>> balls.radii.round(9)
    array([2.])
    """
    began = time.perf_counter()
    if domain is not None:
        read_domain(domain, network.num_inputs)
    points = network.points(x)
    flat = points.reshape(len(points), -1)
    pace = Pace(len(points), seconds=seconds, most=bodies_at_once(network), tell=tell)
    found: list[tuple[int, float, float, float]] = []
    without: list[int] = []

    def work() -> None:
        for block in pace.blocks():
            there = regions_inside(network, points[block], tolerance)
            balls = []
            if there:
                ask = partial(_ask_balls, there, flat[block], domain)
                for row, ball in chain(*ask_within_memory(ask, list(there), network.device)):
                    away = np.linalg.norm(ball.center - flat[block.start + row].cpu().numpy())
                    away = float(away) if np.isfinite(ball.radius) else np.nan
                    balls.append((block.start + row, ball.radius, ball.gap, away))
            with deferred():
                without.extend(block.start + row for row in range(block.stop - block.start) if row not in there)
                found.extend(balls)

    stopped = until_interrupted(work, found) or pace.stopped
    table = np.array(found, dtype=np.float64).reshape(-1, 4)
    return InscribedBalls(
        table[:, 0].astype(np.int64),
        table[:, 1],
        table[:, 2],
        table[:, 3],
        np.array(without, dtype=np.int64),
        domain,
        population or len(points),
        stopped,
        time.perf_counter() - began,
    )


def _ask_balls(
    found: dict[int, Region], points: torch.Tensor, domain: Box | None, rows: list[int], device: torch.device
) -> list[tuple[int, Ball]]:
    return _largest_balls({row: found[row] for row in rows}, points[rows], domain, device)


def _largest_balls(
    found: dict[int, Region], points: torch.Tensor, domain: Box | None, device: torch.device
) -> list[tuple[int, Ball]]:
    """Return largest balls in regions cut down to a domain, by the rows of their samples."""
    bodies = as_bodies(list(found.values()), domain, device)
    answers = largest_balls(bodies, points.to(device), relative_gap=RELATIVE_GAP)
    balls = []
    for (row, region), center, radius, gap in zip(found.items(), *answers, strict=True):
        ball = Ball(center, float(radius), float(gap))
        if not (np.isinf(ball.radius) or (ball.radius > 0 and ball.gap <= WELL_PROVED * ball.radius)):
            polyhedron = region.polyhedron
            ball = (polyhedron if domain is None else polyhedron.intersect(domain.polyhedron)).insphere()
        balls.append((row, ball))
    return balls

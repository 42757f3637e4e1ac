"""What share of a linear region each class has, and how far its points are away, from points drawn inside it.

Points come from hit-and-run chains that do not know of one another. Means over chains are then independent, and their
spread says how well the mean is known, whatever dependence there is within a chain (Student's t).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv, stdtrit

from reluscope.analyses.bodies.region_bodies import whole_regions_inside
from reluscope.analyses.classification.class_predictions import classes_of_outputs, num_classes
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, Seed, read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, Kind, Quantity, declare
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

CONFIDENCE = 0.95


CLASS_SHARE = declare(
    "class_share", "share of the volume of the linear region that belongs to the class", kind=Kind.SHARE
)
MEAN_DISTANCE = declare(
    "mean_distance_in_region", "mean Euclidean distance from the point to the points of its linear region", unit="input"
)


@read_arguments
def class_shares(
    network: Network,
    x: Points,
    *,
    domain: Box,
    draws: Count = 50,
    chains: Count = 16,
    thinning: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Return an estimate of the share of every class in the linear regions of points.

    Parameters
    ----------
    network : Network
        A classifier; one output f stands for the logits 0 and f.
    x : (s, *input_shape) or (s, n)
    domain : Box
        Bounded; regions are cut to it.
    draws, chains : int
        Points of each chain, and chains for each region, at least two.
    thinning : int, optional
        Steps between two points of a chain; see `Polyhedron.sample`.
    budget : Budget, optional
        Its seconds: no further point is begun after them; one is always finished.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
    seed : int

    Returns
    -------
    Findings
        ``class_share``, a row for each point and class (keys ``sample``, ``label``), with an interval of 95 % for
        each row by itself. They are valid once chains no longer depend on their starting points. A point whose code
        has no region with an interior in the domain is undefined, and one whose `Region.clear` does not reach through
        the domain.

    Raises
    ------
    InputError
        If there are fewer than two chains.

    Notes
    -----
    Each interval is the wider of two: Student's over the chains, and that of Clopper and Pearson for the number of
    independent points with the spread of the chains. If all points agree, the interval is that of one point of
    every chain.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0]], [-0.25])])  # class 1 where the first input is above 1 / 4
    >>> found = rs.local.class_shares(net, [[0.5, 0.5]], domain=rs.Box(0, 1, 2))
    >>> low, high = found.where(label=1).finding("class_share").interval
    >>> bool(low < 0.75 < high)
    True
    """
    network = network.scores
    number = num_classes(network)

    def shares(drawn: _Drawn) -> np.ndarray:
        classes = classes_of_outputs(drawn.outputs).reshape(draws, chains)
        is_of = classes[..., None] == np.arange(number)
        return _mean_share(is_of.mean(axis=0).T, draws)

    drawing = _Drawing(network, domain, draws, chains, thinning, seed, tolerance)
    means, effort = drawing.means(x, CLASS_SHARE, shares, number), Effort.of(budget, None, progress)
    keys = {"label": range(number)}
    return measure(len(network.points(x)), means, effort, keys=keys, domain=domain.describe(), most=1)


@read_arguments
def mean_distances(
    network: Network,
    x: Points,
    *,
    domain: Box,
    draws: Count = 50,
    chains: Count = 16,
    thinning: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Return an estimate of the mean distance to the points of the linear region of each point.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    domain : Box
        Bounded; regions are cut to it.
    draws, chains : int
        Points of each chain, and chains for each region, at least two.
    thinning : int, optional
        Steps between two points of a chain; see `Polyhedron.sample`.
    budget : Budget, optional
        Its seconds: no further point is begun after them; one is always finished.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
    seed : int

    Returns
    -------
    Findings
        ``mean_distance_in_region`` with intervals of 95 %; see `class_shares`, which draws the same points.

    Raises
    ------
    InputError
        If there are fewer than two chains.

    Notes
    -----
    As `class_shares`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0]], [0.0])])  # from the middle of a square of side 2 it is about 0.77
    >>> found = rs.local.mean_distances(net, [[0.0, 0.0]], domain=rs.Box(-1, 1, 2))
    >>> low, high = found.finding("mean_distance_in_region").interval
    >>> bool(low < 0.77 < high)
    True
    """

    def away(drawn: _Drawn) -> np.ndarray:
        lengths = np.linalg.norm(drawn.points - drawn.center, axis=1).reshape(draws, chains)
        return _mean(lengths.mean(axis=0)[None])

    drawing = _Drawing(network, domain, draws, chains, thinning, seed, tolerance)
    means, effort = drawing.means(x, MEAN_DISTANCE, away, 1), Effort.of(budget, None, progress)
    return measure(len(network.points(x)), means, effort, domain=domain.describe(), most=1)


class _Drawn(NamedTuple):
    """Points drawn in the region of a point: of all chains one after the other, for each draw."""

    center: Float[np.ndarray, " n"]
    points: Float[np.ndarray, "p n"]
    outputs: Float[np.ndarray, "p m"]


@dataclass(frozen=True)
class _Drawing:
    """How points are drawn in the regions of samples."""

    network: Network
    domain: Box
    draws: int
    chains: int
    thinning: int | None
    seed: int
    tolerance: Tolerance | None

    def __post_init__(self) -> None:
        read_domain(self.domain, self.network.num_inputs)
        if self.chains < 2 or self.draws < 1:
            raise InputError(
                f"expected two chains of one draw at least, got {self.chains} of {self.draws}: their spread is the "
                "error"
            )

    def means(
        self, x: Points, quantity: Quantity, summary: Callable[[_Drawn], Float[np.ndarray, "q 3"]], size: int
    ) -> Callable[[slice], Measured]:
        """Return the function that draws points in the region of one sample and returns means with their ends."""
        points = self.network.points(x)
        flat, window = points.reshape(len(points), -1).cpu().numpy(), self.domain.polyhedron
        method = (
            f"coordinate hit-and-run, {self.chains} chains of {self.draws:,} points; the interval of {CONFIDENCE:.0%} "
            "follows from the spread of the chains"
        )

        def ask(block: slice) -> Measured:
            regions = whole_regions_inside(self.network, points[block], self.tolerance, self.domain)
            inside = regions[0].polyhedron.intersect(window) if regions else None
            means = np.full((size, 3), np.nan)
            if inside is not None and inside.insphere().radius > 0:
                number = self.draws * self.chains
                drawn = inside.sample(number, chains=self.chains, thinning=self.thinning, seed=self.seed)
                weight, bias = (part[0].cpu().numpy() for part in (regions[0].map.weight, regions[0].map.bias))
                means = summary(_Drawn(flat[block.start], drawn, drawn @ weight.T + bias))
            return Measured((Column.of(quantity, *means.T, method=method, confidence=CONFIDENCE),))

        return ask


def _mean(of_chains: Float[np.ndarray, "q c"]) -> Float[np.ndarray, "q 3"]:
    """Return means over chains and the ends of Student's intervals; the values are no lengths below zero."""
    chains = of_chains.shape[1]
    mean = of_chains.mean(axis=1)
    reach = stdtrit(chains - 1, 0.5 + CONFIDENCE / 2) * of_chains.std(axis=1, ddof=1) / np.sqrt(chains)
    return np.stack([mean, np.maximum(mean - reach, 0.0), mean + reach], axis=1)


def _mean_share(of_chains: Float[np.ndarray, "q c"], draws: int) -> Float[np.ndarray, "q 3"]:
    """Return mean shares over chains with the wider of two intervals: Student's, and that of independent draws.

    Student's is too short where few draws are of the class. That of Clopper and Pearson is not; it is taken at the
    number of independent draws that would have the spread of the chains, and of one draw a chain where all agree.
    """
    chains = of_chains.shape[1]
    mean, low, high = _mean(of_chains).T
    of_draws = mean * (1 - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = np.clip(of_chains.var(axis=1, ddof=1) * draws / of_draws, 1.0, draws)
    number = np.where(of_draws > 0, chains * draws / inflation, chains)
    hits, tail = number * mean, 0.5 - CONFIDENCE / 2
    with np.errstate(invalid="ignore"):
        lowest = np.where(mean > 0, betaincinv(hits, number - hits + 1, tail), 0.0)
        highest = np.where(mean < 1, betaincinv(hits + 1, number - hits, 1 - tail), 1.0)
    return np.stack([mean, np.minimum(low, lowest), np.minimum(1.0, np.maximum(high, highest))], axis=1)

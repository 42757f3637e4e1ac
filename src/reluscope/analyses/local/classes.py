"""Which classes live in the linear region of a point, and where each of them is likeliest there.

Logits z are affine on a region. Class t occurs in it iff ``max_x min_j (z_t - z_j)``, a linear program, is positive.
Zhang and Wu (2020) ask instead whether t is the class of the point at which its probability is largest: with three
classes or more that counts too few. On [0, 1] with z = (0, 0.6 x - 0.1, -10 x - 0.1), class 0 is the largest at 0, and
the point where it is likeliest, 0.265, belongs to class 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.analyses.bodies import as_bodies, bodies_at_once, regions_inside
from reluscope.analyses.classification import num_classes
from reluscope.analyses.pacing import Pace
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim, Finding
from reluscope.geometry.convex_questions import largest_balls, likeliest_points, widest_margins
from reluscope.geometry.domains import Box
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.regions.region import Region
from reluscope.tolerance import Tolerance

# How much less the logarithm of a probability may be than it could.
GAP = 1e-6
# How well the balls are known from whose centres searches begin.
ROUGH = 1e-2
# Differences of logits up to this share of the terms that they are sums of may be rounding.
ROUNDING = 1e-12

OCCURS = "classes with a point of the region at which they are strictly the largest"
AT_LIKELIEST = "classes that the points belong to at which their probabilities are largest"
PROGRAMS = "linear programs, decided by a point or by multipliers"
DISTORTION = (
    "distance to the farthest of the likeliest points of all classes in the region, each the nearest one of those as "
    f"likely, with the logarithm of its probability within {GAP:g} of the largest"
)


@dataclass(frozen=True)
class RegionClasses:
    """The classes of regions of points.

    Parameters
    ----------
    rows : (k,) int64
        Which of the given points these are.
    occurs : (k, m) bool
        Whether some point of the region belongs to the class, strictly.
    is_known : (k, m) bool
        Whether that is proved, rounding allowed for; what is not counts as not occurring. Of classes that tie and
        are nowhere ahead it is not.
    likeliest : (k, m, n) float64
        The class's likeliest point.
    classes_at_likeliest : (k, m) int64
        The class that it belongs to.
    log_probabilities, gaps : (k, m) float64
        The logarithm of the class's probability at its likeliest point, and how much larger it may be elsewhere.
    distances : (k, m) float64
        From the given point to the class's likeliest point. Often a whole face is as likely; the one meant is the
        nearest to the given point of all that are as likely as it is.
    without : (j,) int64
        Points on kinks whose code has no region with an interior.
    domain : Box
        What regions were cut down to.
    population : int
        Points that were given.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given points were reached, else empty.
    seconds : float
    """

    rows: Int[np.ndarray, " k"]
    occurs: Bool[np.ndarray, "k m"]
    is_known: Bool[np.ndarray, "k m"]
    likeliest: Float[np.ndarray, "k m n"]
    classes_at_likeliest: Int[np.ndarray, "k m"]
    log_probabilities: Float[np.ndarray, "k m"]
    gaps: Float[np.ndarray, "k m"]
    distances: Float[np.ndarray, "k m"]
    without: Int[np.ndarray, " j"]
    domain: Box
    population: int
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_at_likeliest(self) -> Bool[np.ndarray, "k m"]:
        """Whether each class owns its likeliest point: the paper's test, which implies that it occurs."""
        return self.classes_at_likeliest == np.arange(self.occurs.shape[1])

    @property
    def distortions(self) -> Float[np.ndarray, " k"]:
        """Distance from each point to the farthest of the likeliest points of all classes."""
        return self.distances.max(axis=1)

    def number(self, position: int) -> Finding:
        """Return how many classes one region holds: EXACT if every case is proved, else LOWER."""
        number, unknown = int(self.occurs[position].sum()), int((~self.is_known[position]).sum())
        return Finding(
            number,
            Claim.LOWER if unknown else Claim.EXACT,
            name="classes in the region",
            interval=(number, number + unknown) if unknown else None,
            definition=OCCURS,
            domain=f"one region, cut down to {self.domain.describe()}",
            method=PROGRAMS,
            num_undecided=unknown,
        )

    def number_at_likeliest(self, position: int) -> Finding:
        """Return how many classes one region holds by the paper's test, a LOWER bound."""
        return Finding(
            int(self.is_at_likeliest[position].sum()),
            Claim.LOWER,
            name="classes in the region, by their likeliest points",
            definition=AT_LIKELIEST,
            domain=f"one region, cut down to {self.domain.describe()}",
            method="interior-point method",
            source="zhang2020",
        )

    def distortion(self, position: int) -> Finding:
        """Return the distortion of one point, an ESTIMATE: likeliest points are found up to a gap in probability."""
        return Finding(
            float(self.distortions[position]),
            Claim.ESTIMATE,
            name="distortion",
            definition=DISTORTION,
            domain=f"one region, cut down to {self.domain.describe()}",
            method="interior-point method",
            source="zhang2020",
        )

    def share_with_boundary(self) -> Finding:
        """Return the share of regions that hold more than one class: EXACT if every case is proved, else LOWER."""
        several = self.occurs.sum(axis=1) > 1
        # With one class known to occur, another that may occur decides.
        unknown = ~several & (~self.is_known & ~self.occurs).any(axis=1)
        share = float(several.mean()) if len(self) else float("nan")
        return Finding(
            share,
            Claim.LOWER if unknown.any() else Claim.EXACT,
            name="share of regions with a decision boundary inside",
            interval=(share, float((several | unknown).mean())) if unknown.any() else None,
            definition=f"share of regions with points of more than one class: {int(several.sum()):,} of {len(self):,}",
            domain=self._where,
            method=PROGRAMS,
            tolerance=0.0,
            num_undecided=int(unknown.sum()),
        )

    def mean_number(self) -> Finding:
        """Return the mean number of classes of a region: EXACT if every case is proved, else LOWER."""
        return self._mean(
            self.occurs.sum(axis=1),
            Claim.EXACT if self.is_known.all() else Claim.LOWER,
            name="classes in a region",
            definition=OCCURS,
            method=PROGRAMS,
            num_undecided=int((~self.is_known).sum()),
        )

    def mean_number_at_likeliest(self) -> Finding:
        """Return the mean number of classes by the paper's test, a LOWER bound on the mean number of classes."""
        return self._mean(
            self.is_at_likeliest.sum(axis=1),
            Claim.LOWER,
            name="classes in a region, by their likeliest points",
            definition=AT_LIKELIEST,
            method="interior-point method",
            source="zhang2020",
        )

    def mean_distortion(self) -> Finding:
        """Return the mean distortion, an ESTIMATE: likeliest points are found up to a gap in probability."""
        return self._mean(
            self.distortions,
            Claim.ESTIMATE,
            name="distortion",
            definition=DISTORTION,
            method="interior-point method",
            source="zhang2020",
        )

    @property
    def _where(self) -> str:
        is_all = len(self) + len(self.without) == self.population
        which = f"the regions of {'all ' if is_all else ''}{len(self):,} of {self.population:,} points"
        return f"{which}, cut down to {self.domain.describe()}"

    def _mean(self, values: np.ndarray, claim: Claim, **fields) -> Finding:
        return Finding(
            float(values.mean()) if len(self) else float("nan"),
            claim,
            domain=f"mean over {self._where}",
            work={"seconds": self.seconds},
            **fields,
        )


def region_classes(
    network: Network,
    x: Points,
    *,
    domain: Box,
    seconds: float = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> RegionClasses:
    """Find the classes that occur in the linear regions of points, and where they are likeliest.

    Parameters
    ----------
    network : Network
        With its outputs as logits; one output f stands for the logits 0 and f.
    x : (s, *input_shape) or (s, n)
    domain : Box
        Bounded; regions are cut down to it.
    seconds : float
        When to begin with no further points; some are always done.
    tolerance : Tolerance, optional
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    RegionClasses
        Of fewer points if there was no time, or on Ctrl-C.

    Raises
    ------
    InputError
        If a point lies outside the domain.
    ShapeError
        If the domain has not as many dimensions as the network inputs.

    Notes
    -----
    A largest ball and two convex programs per class and region at most: about 25 times ``h n^2`` multiplications each,
    for h half-spaces. Regions are asked about together as memory allows, on the network's device.

    References
    ----------
    Key ``zhang2020``, section 3.4.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[0.0], [0.6], [-10.0]], [0.0, -0.1, -0.1])])
    >>> found = region_classes(net, [[0.5]], domain=rs.Box(0, 1, 1))
    >>> found.occurs[0].tolist(), found.is_at_likeliest[0].tolist()
    ([True, True, False], [False, True, False])
    """
    began = time.perf_counter()
    number = num_classes(network)
    points = network.points(x).reshape(-1, network.num_inputs)
    _check(points.cpu().numpy(), domain)
    pace = Pace(len(points), seconds=seconds, most=bodies_at_once(network), tell=tell)
    found: list[_Found] = []
    without: list[int] = []

    def work() -> None:
        for block in pace.blocks():
            there = regions_inside(network, network.points(points[block]), tolerance)
            rows = [block.start + row for row in there]
            tables = (
                _ask(network, rows, list(there.values()), points[rows], domain)
                if rows
                else _nothing(number, network.num_inputs)
            )
            without.extend(sorted(set(range(block.start, block.stop)) - set(tables.rows.tolist())))
            found.append(tables)

    stopped = ""
    try:
        work()
    except KeyboardInterrupt:
        if not found:
            raise
        stopped = "interrupted"
    table = _Found(
        *(np.concatenate(columns) for columns in zip(_nothing(number, network.num_inputs), *found, strict=True))
    )
    return RegionClasses(
        **table._asdict(),
        without=np.array(without, dtype=np.int64),
        domain=domain,
        population=len(points),
        stopped=stopped or pace.stopped,
        seconds=time.perf_counter() - began,
    )


def _check(points: np.ndarray, domain: Box) -> None:
    if domain.dim != points.shape[1]:
        raise ShapeError(
            f"expected a domain in {points.shape[1]} dimensions, as many as inputs, got {domain.describe()}"
        )
    outside = np.flatnonzero(((points < domain.lo) | (points > domain.hi)).any(axis=1))
    if len(outside):
        raise InputError(
            f"point {outside[0]} lies outside the domain, {domain.describe()}: move it inside, or ask on a larger one"
        )


class _Found(NamedTuple):
    """What is known of some regions: see `RegionClasses`."""

    rows: np.ndarray
    occurs: np.ndarray
    is_known: np.ndarray
    likeliest: np.ndarray
    classes_at_likeliest: np.ndarray
    log_probabilities: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray


def _nothing(number: int, size: int) -> _Found:
    shapes = (bool, (0, number)), (bool, (0, number)), (float, (0, number, size)), (np.int64, (0, number))
    tables = (np.zeros(shape, dtype=kind) for kind, shape in (*shapes, *((float, (0, number)),) * 3))
    return _Found(np.zeros(0, dtype=np.int64), *tables)


def _ask(network: Network, rows: list[int], regions: list[Region], points: torch.Tensor, domain: Box) -> _Found:
    """Ask about all classes of some regions."""
    number = num_classes(network)
    bodies = as_bodies(regions, domain, network)
    balls = largest_balls(bodies, points, relative_gap=ROUGH)
    inside = np.flatnonzero(balls.values > 0)
    if len(inside) == 0:
        return _nothing(number, network.num_inputs)
    which = torch.from_numpy(inside).to(network.device)
    bodies, near = bodies.take(which), points[which]
    start = torch.from_numpy(balls.points[inside]).to(network.device)
    weights, biases = _logits([regions[row] for row in inside], network)
    shape = (len(inside), number)
    occurs, is_known = (np.zeros(shape, dtype=bool) for _ in range(2))
    places, labels = np.zeros((*shape, network.num_inputs)), np.zeros(shape, dtype=np.int64)
    logs, gaps, distances = (np.zeros(shape) for _ in range(3))
    for one in range(number):
        classes = torch.full((len(inside),), one, dtype=torch.int64, device=network.device)
        likeliest = likeliest_points(bodies, start, weights, biases, classes, near=near, gap=GAP)
        there = torch.from_numpy(likeliest.points).to(network.device)
        logits = ((weights @ there[..., None])[..., 0] + biases).cpu().numpy()
        places[:, one], labels[:, one] = likeliest.points, logits.argmax(axis=1)
        logs[:, one], gaps[:, one] = likeliest.values, likeliest.gaps
        distances[:, one] = torch.linalg.vector_norm(there - near, dim=1).cpu().numpy()
        ahead = logits[:, one] - np.delete(logits, one, axis=1).max(axis=1)
        sizes = ((weights.abs() @ there.abs()[..., None])[..., 0] + biases.abs()).amax(dim=1)
        doubt = ROUNDING * sizes.cpu().numpy()
        occurs[:, one] = is_known[:, one] = ahead > doubt
        left = np.flatnonzero(~occurs[:, one])
        if len(left):
            some = torch.from_numpy(left).to(network.device)
            margins = widest_margins(
                bodies.take(some), start[some], weights[some], biases[some], classes[some], is_sign_enough=True
            )
            occurs[left, one] = margins.values > doubt[left]
            is_known[left, one] = occurs[left, one] | (margins.values + margins.gaps < -doubt[left])
    return _Found(np.array(rows)[inside], occurs, is_known, places, labels, logs, gaps, distances)


def _logits(regions: list[Region], network: Network) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits as affine maps, (r, m, n) and (r, m)."""
    weights = torch.stack([torch.as_tensor(one.map.weight[0]) for one in regions]).to(network.device)
    biases = torch.stack([torch.as_tensor(one.map.bias[0]) for one in regions]).to(network.device)
    if weights.shape[1] == 1:  # classes 0 and 1 of one output are those of the logits 0 and f
        weights = torch.cat([torch.zeros_like(weights), weights], dim=1)
        biases = torch.cat([torch.zeros_like(biases), biases], dim=1)
    return weights, biases

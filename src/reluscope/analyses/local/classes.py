"""Which classes live in the linear region of a point, and where each of them is likeliest there.

Logits z are affine on a region. Class t occurs in it iff ``max_x min_j (z_t - z_j)``, a linear program, is positive.
Zhang and Wu (2020) ask instead whether t is the class of the point at which its probability is largest: with three
classes or more that counts too few. On [0, 1] with z = (0, 0.6 x - 0.1, -10 x - 0.1), class 0 is the largest at 0, and
the point where it is likeliest, 0.265, belongs to class 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.analyses.bodies import as_bodies, ask_within_memory, bodies_at_once, regions_inside
from reluscope.analyses.classification.classes import num_classes
from reluscope.analyses.local.rivals import GAP, ROUNDING, Rivals
from reluscope.analyses.pacing import Pace, until_interrupted
from reluscope.arguments import Seconds, read_arguments, read_position
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim, Finding
from reluscope.geometry.convex_questions import Answers, largest_balls, likeliest_points, widest_margins
from reluscope.geometry.domains import Box
from reluscope.interruption import deferred
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.networks.rational import RationalNetwork
from reluscope.regions.region import Region
from reluscope.tolerance import Tolerance

# How well the balls are known from whose centres searches begin.
ROUGH = 1e-2
# Affine functions this near to each other, relative to their size, may be the same one.
ALIKE = 1e-9
# Memory for matrices and tables of programs that are solved together, in bytes.
MATRICES_BYTES = 2**29

OCCURS = "classes with a point of the region at which they are strictly the largest"
AT_LIKELIEST = "classes that the points belong to at which their probabilities are largest"
PROGRAMS = "convex programs, decided by a point or by multipliers"
BY_GAPS = "interior-point method, decided by the gaps of probabilities"
DISTORTION = (
    "distance to the farthest of the likeliest points of all classes in the region, each the nearest one of those as "
    f"likely, with the logarithm of its probability within about {GAP:g} of the largest, or this share"
)


@dataclass(frozen=True)
class RegionClasses:
    """The classes of regions of points.

    Parameters
    ----------
    rows : (k,) int64
        Which of the given points these are.
    occurs : (k, m) bool
        Whether some point of the region belongs to the class: it is ahead of all others, but for those of larger number
        that are the same affine function on the region. The lowest wins, as everywhere.
    is_known : (k, m) bool
        Whether that is proved, rounding allowed for; what is not counts as not occurring. Classes that are the same on
        the region are told from those that nearly are in rational arithmetic.
    is_at_likeliest : (k, m) bool
        Whether the class's likeliest points belong to the class: the paper's test, which implies that it occurs. All
        of them have the same probabilities.
    is_at_likeliest_known : (k, m) bool
        Whether that is proved for the true likeliest points, from the gap of the one found; what is not counts as no.
    log_probabilities, gaps : (k, m) float64
        The logarithm of the class's probability at a point found, and how much larger it may be elsewhere: 1e-7, or
        this share of the logarithm, is asked for; where float64 has no more digits it is some 1e-7.
    distances : (k, m) float64
        From the given point to where the class is as likely. Often that is a whole face; the distance is to the nearest
        point at which every rival is behind by as much as at the point found, or has next to no probability.
    distance_gaps : (k, m) float64
        No such point is nearer by more than this. Wide for classes that are nearer than another one, at whose distance
        the search ends: the farthest of all is known.
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
    is_at_likeliest: Bool[np.ndarray, "k m"]
    is_at_likeliest_known: Bool[np.ndarray, "k m"]
    log_probabilities: Float[np.ndarray, "k m"]
    gaps: Float[np.ndarray, "k m"]
    distances: Float[np.ndarray, "k m"]
    distance_gaps: Float[np.ndarray, "k m"]
    without: Int[np.ndarray, " j"]
    domain: Box
    population: int
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def distortions(self) -> Float[np.ndarray, " k"]:
        """Distance from each point to the farthest of the likeliest points of all classes."""
        return self.distances.max(axis=1)

    @read_arguments
    def number(self, position: int) -> Finding:
        """Return how many classes one region holds: EXACT if every case is proved, else LOWER."""
        position = read_position(position, "position", len(self), "points")
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

    @read_arguments
    def number_at_likeliest(self, position: int) -> Finding:
        """Return how many classes of one region pass the paper's test: EXACT if every case is proved, else LOWER."""
        position = read_position(position, "position", len(self), "points")
        unknown = int((~self.is_at_likeliest_known[position]).sum())
        return Finding(
            int(self.is_at_likeliest[position].sum()),
            Claim.LOWER if unknown else Claim.EXACT,
            name="classes in the region, by their likeliest points",
            definition=AT_LIKELIEST,
            domain=f"one region, cut down to {self.domain.describe()}",
            method=BY_GAPS,
            source="zhang2020",
            num_undecided=unknown,
        )

    @read_arguments
    def distortion(self, position: int) -> Finding:
        """Return the distortion of one point, an ESTIMATE: likeliest points are found up to a gap in probability."""
        position = read_position(position, "position", len(self), "points")
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
        """Return the mean number of classes by the paper's test, which is no more than the mean number of classes.

        Returns
        -------
        Finding
            EXACT, as the number that the test gives, if every case is proved, else LOWER.
        """
        return self._mean(
            self.is_at_likeliest.sum(axis=1),
            Claim.EXACT if self.is_at_likeliest_known.all() else Claim.LOWER,
            name="classes in a region, by their likeliest points",
            definition=AT_LIKELIEST,
            method=BY_GAPS,
            source="zhang2020",
            num_undecided=int((~self.is_at_likeliest_known).sum()),
        )

    def mean_distortion(self) -> Finding:
        """Return the mean distortion, an ESTIMATE: likeliest points are known up to gaps.

        Given these points, each distance that matters is that of a nearest point, by a dual active-set method with a
        gap of its own.
        """
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


@read_arguments
def region_classes(
    network: Network,
    x: Points,
    *,
    domain: Box,
    seconds: Seconds = np.inf,
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
    A largest ball and an interior-point method per class: about 20 times ``h n^2 / 2`` multiplications each, for h
    half-spaces. Whether classes occur that are not seen on the way is asked of a dual active-set method, which takes
    ``h n`` multiplications per tight row, and so is the distance to the farthest of the likeliest points. Regions are
    asked about together as memory allows, the interior-point method on the network's device.

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
    pace = Pace(len(points), seconds=seconds, most=bodies_at_once(network, number), tell=tell)
    exact = RationalNetwork(network)
    found: list[_Found] = []
    without: list[int] = []
    blocks: list[slice] = []

    def work() -> None:
        for block in pace.blocks():
            there = regions_inside(network, network.points(points[block]), tolerance)
            rows = [block.start + row for row in there]
            regions = {block.start + row: region for row, region in there.items()}
            ask = partial(_ask, exact, number, regions, points, domain, False)
            tables = [table for table, _ in ask_within_memory(ask, rows, network.device)] if rows else []
            known = {row for table in tables for row in table.rows.tolist()}
            with deferred():
                without.extend(sorted(set(range(block.start, block.stop)) - known))
                found.extend(tables)
                blocks.append(block)

    stopped = until_interrupted(work, blocks)
    table = _Found(*(np.concatenate(columns) for columns in zip(_nothing(number), *found, strict=True)))
    return RegionClasses(
        **table._asdict(),
        without=np.array(without, dtype=np.int64),
        domain=domain,
        population=len(points),
        stopped=stopped or pace.stopped,
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True)
class LikeliestPoints:
    """Where classes are likeliest in the regions of points.

    Parameters
    ----------
    rows : (k,) int64
        Which of the given points have a region with an interior.
    points : (k, m, n) float64
        Of each region the likeliest point of each class, as for `RegionClasses.distances`.
    classes : (k, m) int64
        The class that each of these points belongs to.
    """

    rows: Int[np.ndarray, " k"]
    points: Float[np.ndarray, "k m n"]
    classes: Int[np.ndarray, "k m"]


@read_arguments
def likeliest_in_regions(
    network: Network, x: Points, *, domain: Box, tolerance: Tolerance | None = None
) -> LikeliestPoints:
    """Find the likeliest point of every class in the linear regions of a few points: what a region can show of it.

    Parameters
    ----------
    network : Network
        With its outputs as logits; one output f stands for the logits 0 and f.
    x : (s, *input_shape) or (s, n)
        Few: all likeliest points are kept.
    domain : Box
        Bounded; regions are cut down to it.
    tolerance : Tolerance, optional

    Returns
    -------
    LikeliestPoints
        The logarithm of each probability is within some 1e-7 of the largest, or this share of it.

    Raises
    ------
    InputError
        If a point lies outside the domain.
    ShapeError
        If the domain has not as many dimensions as the network inputs.

    Notes
    -----
    Cost as for `region_classes`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[0.0], [0.6], [-10.0]], [0.0, -0.1, -0.1])])
    >>> found = likeliest_in_regions(net, [[0.5]], domain=rs.Box(0, 1, 1))
    >>> found.points[0].round(3).tolist(), found.classes[0].tolist()  # class 0 is likeliest where class 1 wins
    ([[0.265], [1.0], [0.0]], [1, 1, 0])
    """
    number = num_classes(network)
    points = network.points(x).reshape(-1, network.num_inputs)
    _check(points.cpu().numpy(), domain)
    empty = LikeliestPoints(
        np.zeros(0, dtype=np.int64),
        np.zeros((0, number, network.num_inputs)),
        np.zeros((0, number), dtype=np.int64),
    )
    parts = [empty]
    exact = RationalNetwork(network)
    size = bodies_at_once(network, number)
    for start in range(0, len(points), size):
        there = regions_inside(network, network.points(points[start : start + size]), tolerance)
        rows = [start + row for row in there]
        if rows:
            regions = {start + row: region for row, region in there.items()}
            ask = partial(_ask, exact, number, regions, points, domain, True)
            parts.extend(places for _, places in ask_within_memory(ask, rows, network.device))
    return LikeliestPoints(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.classes for part in parts]),
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
    is_at_likeliest: np.ndarray
    is_at_likeliest_known: np.ndarray
    log_probabilities: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray
    distance_gaps: np.ndarray


def _nothing(number: int) -> _Found:
    tables = (np.zeros((0, number), dtype=kind) for kind in (*(bool,) * 4, *(float,) * 4))
    return _Found(np.zeros(0, dtype=np.int64), *tables)


def _ask(
    exact: RationalNetwork,
    number: int,
    known: dict[int, Region],
    every: torch.Tensor,
    domain: Box,
    is_every: bool,
    rows: list[int],
    device: torch.device,
) -> tuple[_Found, LikeliestPoints]:
    """Ask about all classes of some regions; of every one, or the farthest only, what is nearest of all as likely."""
    regions, points = [known[row] for row in rows], every[rows].to(device)
    bodies = as_bodies(regions, domain, device)
    balls = largest_balls(bodies, points, relative_gap=ROUGH)
    inside = np.flatnonzero(balls.values > 0)
    if len(inside) == 0:
        nothing = np.zeros((0, number, every.shape[1])), np.zeros((0, number), dtype=np.int64)
        return _nothing(number), LikeliestPoints(inside.astype(np.int64), *nothing)
    which = torch.from_numpy(inside).to(device)
    bodies, near = bodies.take(which), points[which]
    start = torch.from_numpy(balls.points[inside]).to(device)
    weights, biases = _logits([regions[row] for row in inside], device)
    # All classes of a region together, over one table of its half-spaces.
    bodies, start, near = bodies.shared(number), *(part.repeat_interleave(number, dim=0) for part in (start, near))
    weights, biases = (part.repeat_interleave(number, dim=0) for part in (weights, biases))
    classes = torch.arange(number, device=device).repeat(len(inside))
    # Each program has matrices of its own; of one large region fewer of them are solved at once.
    matrices = MATRICES_BYTES // (4 * 8 * every.shape[1] ** 2)
    parts = torch.arange(len(classes), device=device).split(len(classes) if len(inside) > 1 else max(1, matrices))
    answers = [
        likeliest_points(
            bodies.take(part), start[part], weights[part], biases[part], classes[part], relative_gap=GAP / 2
        )
        for part in parts
    ]
    likeliest = Answers(*(np.concatenate(columns) for columns in zip(*answers, strict=True)))
    there = torch.from_numpy(likeliest.points).to(device)
    logits = (weights @ there[..., None])[..., 0] + biases
    sizes = ((weights.abs() @ there.abs()[..., None])[..., 0] + biases.abs()).amax(dim=1)
    own, doubt = classes.cpu().numpy(), ROUNDING * sizes.cpu().numpy()
    firsts = np.stack([_firsts(exact, regions[row]) for row in inside.tolist()])
    is_first = (firsts == np.arange(number)).reshape(-1)
    is_other = firsts.repeat(number, axis=0) != own[:, None]
    is_at, is_at_known = _at_likeliest(logits, own, is_other, likeliest.gaps, doubt)
    is_at &= is_first
    occurs = is_first & (_leads(logits.cpu().numpy(), own, is_other) > doubt)
    is_known = occurs | ~is_first
    distances, slack = np.zeros(len(own)), np.zeros(len(own))
    places, labels = likeliest.points.reshape(len(inside), number, -1), np.zeros((len(inside), number), dtype=np.int64)
    for place, row in enumerate(inside.tolist()):
        mine = slice(number * place, number * (place + 1))
        rivals = Rivals.of(regions[row], weights[mine.start], biases[mine.start], points[row], domain)
        apart = rivals.of_classes(np.flatnonzero(is_first[mine]))
        for one in np.flatnonzero(~is_known[mine]).tolist():
            ahead = apart.most_ahead(int(is_first[mine][:one].sum()))
            is_known[mine.start + one] = ahead < -doubt[mine.start + one]
        places[place], distances[mine], slack[mine] = rivals.nearest(likeliest.points[mine], doubt[mine], is_every)
        labels[place] = rivals.classes(places[place])
    left = np.flatnonzero(~is_known)
    # Margins are one more variable, and so a table for each of them.
    tables = max(1, MATRICES_BYTES // (8 * bodies.rows[0].numel()))
    for part in np.split(left, range(tables, len(left), tables)) if len(left) else []:
        some = torch.from_numpy(part).to(device)
        # In place of what is the same as another class stands one that is not: it says nothing new.
        stand_ins = torch.from_numpy(_stand_ins(is_first.reshape(-1, number)[part // number], own[part])).to(device)
        margins = widest_margins(
            bodies.take(some),
            start[some],
            weights[some[:, None], stand_ins],
            biases[some[:, None], stand_ins],
            classes[some],
            is_sign_enough=True,
        )
        occurs[part] = margins.values > doubt[part]
        is_known[part] = occurs[part] | (margins.values + margins.gaps < -doubt[part])
    # What does not occur is ahead nowhere.
    is_at_known |= is_known & ~occurs
    columns = (occurs, is_known, is_at, is_at_known, likeliest.values, likeliest.gaps + GAP / 2, distances, slack)
    kept = np.array(rows)[inside]
    return _Found(kept, *(column.reshape(-1, number) for column in columns)), LikeliestPoints(kept, places, labels)


def _firsts(exact: RationalNetwork, region: Region) -> np.ndarray:
    """Return for each class the lowest one whose logit is the same affine function on the region."""
    weight, bias = (part[0].cpu().numpy() for part in _logits([region], torch.device("cpu")))
    pieces = [codes.to_array()[0].tolist() for codes in region.code.by_gate().values()]
    shift = len(weight) - exact.network.num_outputs  # one output is the logit of class 1, and 0 that of class 0
    firsts = np.arange(len(weight))
    for one in range(1, len(weight)):
        for other in np.unique(firsts[:one]).tolist():
            apart = np.append(weight[one] - weight[other], bias[one] - bias[other])
            size = max(np.abs(weight[[one, other]]).max(initial=0.0), np.abs(bias[[one, other]]).max())
            if np.abs(apart).max() <= ALIKE * size:
                signs = {one - shift: Fraction(1), other - shift: Fraction(-1)}
                row, constant = exact.pull_back(pieces, {entry: sign for entry, sign in signs.items() if entry >= 0})
                if not row and constant == 0:
                    firsts[one] = other
                    break
    return firsts


def _stand_ins(is_first: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return for each class itself, or another than the row's own if it is the same as one of lower number."""
    classes = np.broadcast_to(np.arange(is_first.shape[1]), is_first.shape)
    others = is_first & (classes != own[:, None])
    return np.where(is_first, classes, others.argmax(axis=1)[:, None])


def _leads(values: np.ndarray, own: np.ndarray, is_other: np.ndarray) -> np.ndarray:
    """Return how far the own entry of each row is ahead of all that are others; infinite if none is."""
    return values[np.arange(len(own)), own] - np.where(is_other, values, -np.inf).max(axis=1)


def _at_likeliest(
    logits: torch.Tensor, own: np.ndarray, is_other: np.ndarray, gaps: np.ndarray, doubt: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Tell whether classes are ahead at their likeliest points, and whether gaps leave that certain.

    All likeliest points have the same probabilities p, and where the logarithm is less by at most g there are q with
    ``sum p log p / q <= g``: no difference of two probabilities is then off by more than the root of 2 g (Pinsker).
    """
    leads = _leads(torch.softmax(logits, dim=1).cpu().numpy(), own, is_other)
    spread = np.sqrt(2 * (gaps + 2 * doubt)) + 2 * doubt
    return leads > spread, np.abs(leads) > spread


def _logits(regions: list[Region], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits as affine maps, (r, m, n) and (r, m)."""
    weights = torch.stack([torch.as_tensor(one.map.weight[0]) for one in regions]).to(device)
    biases = torch.stack([torch.as_tensor(one.map.bias[0]) for one in regions]).to(device)
    if weights.shape[1] == 1:  # classes 0 and 1 of one output are those of the logits 0 and f
        weights = torch.cat([torch.zeros_like(weights), weights], dim=1)
        biases = torch.cat([torch.zeros_like(biases), biases], dim=1)
    return weights, biases

"""Where in the linear region of a point every class is likeliest: the largest ``z_t - log sum exp z``, z affine.

Probabilities are the same at all likeliest points of a class; often these are a whole face, whose nearest is wanted.
"""

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isinf

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.analyses.bodies.region_bodies import (
    as_bodies,
    ask_within_memory,
    bodies_at_once,
    whole_regions_inside,
)
from reluscope.analyses.classification.class_predictions import num_classes
from reluscope.analyses.local.rivals import GAP, Rivals
from reluscope.arguments import read_arguments
from reluscope.budget import Budget, TimeBudget
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.programs.convex_questions import Answers, largest_balls, likeliest_points
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.regions.region import Region
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

# How well the balls are known from whose centres searches begin.
ROUGH = 0.5
# Affine functions this near to each other, relative to their size, may be the same one.
ALIKE = 1e-9
# Memory for matrices and tables of programs that are solved together, in bytes.
MATRICES_BYTES = 2**29


@dataclass(frozen=True, repr=False)
class LikeliestPoints(Shown):
    """Likeliest points of classes in the regions of points.

    Parameters
    ----------
    rows : (k,) int64
        Indices of the given points that have a region with an interior and were reached in time.
    points : (k, m, n) float64
        The likeliest point of each class in each region, as for the ``distances`` of `region_classes`.
    classes : (k, m) int64
        The class of each likeliest point.
    """

    rows: Int[np.ndarray, " k"]
    points: Float[np.ndarray, "k m n"]
    classes: Int[np.ndarray, "k m"]


@read_arguments
def likeliest_in_regions(
    network: Network,
    x: Points,
    *,
    domain: Box,
    budget: TimeBudget | None = None,
    tolerance: Tolerance | None = None,
) -> LikeliestPoints:
    """Return the likeliest point of every class in the linear regions of a few points.

    Parameters
    ----------
    network : Network
        With its outputs as logits; one output f stands for the logits 0 and f.
    x : (s, *input_shape) or (s, n)
        Few: all likeliest points are kept.
    domain : Box
        Bounded; regions are cut to it.
    budget : Budget, optional
        Only its seconds: the region then in progress is left out, and no further region is begun.
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
        If the domain has another dimension than the input.

    Notes
    -----
    Cost as for `region_classes`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[0.0], [0.6], [-10.0]], [0.0, -0.1, -0.1])])
    >>> found = rs.local.likeliest_in_regions(net, [[0.5]], domain=rs.Box(0, 1, 1))
    >>> found.points[0].round(3).tolist(), found.classes[0].tolist()  # class 0 is likeliest where class 1 wins
    ([[0.265], [1.0], [0.0]], [1, 1, 0])
    """
    network = network.scores
    number = num_classes(network)
    points = network.points(x).reshape(-1, network.num_inputs)
    check_inside(points.cpu().numpy(), domain)
    empty = LikeliestPoints(
        np.zeros(0, dtype=np.int64),
        np.zeros((0, number, network.num_inputs)),
        np.zeros((0, number), dtype=np.int64),
    )
    parts = [empty]
    exact = RationalNetwork(network)
    until = time.perf_counter() + (budget or Budget()).seconds_allowed

    def ask(regions: dict[int, Region], rows: list[int], device: torch.device) -> LikeliestPoints:
        asked = likeliest_within(exact, regions, points, domain, until, rows, device)
        return empty if asked is None else _nearest_within(asked, domain, until)

    # With a limit one by one, so that those that are done are there when it comes.
    size = bodies_at_once(network, number) if isinf(until) else 1
    for start in range(0, len(points), size):
        if time.perf_counter() > until:
            break
        there = whole_regions_inside(network, network.points(points[start : start + size]), tolerance, domain)
        rows = [start + row for row in there]
        if rows:
            regions = {start + row: region for row, region in there.items()}
            parts.extend(ask_within_memory(partial(ask, regions), rows, network.device))
    return LikeliestPoints(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.classes for part in parts]),
    )


def check_inside(points: np.ndarray, domain: Box) -> None:
    """Refuse points outside of a domain."""
    if domain.dim != points.shape[1]:
        raise ShapeError(
            f"expected a domain in {points.shape[1]} dimensions, as many as inputs, got {domain.describe()}"
        )
    outside = np.flatnonzero(((points < domain.lo) | (points > domain.hi)).any(axis=1))
    if len(outside):
        raise InputError(
            f"point {outside[0]} lies outside the domain, {domain.describe()}: move it inside, or ask on a larger one"
        )


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The classes of some regions with the likeliest points found of them.

    One entry a region (r), or one a class of each (r m). Only regions with an interior are here.
    """

    rows: np.ndarray  # (r,), which of the given points the regions are of
    regions: list[Region]
    near: torch.Tensor  # (r, n), the points
    bodies: HalfSpaceStack  # regions, one copy a class
    start: torch.Tensor  # (r m, n), points strictly inside
    weights: torch.Tensor  # (r m, m, n), of the logits
    biases: torch.Tensor  # (r m, m), of the logits
    classes: np.ndarray  # (r m,)
    firsts: np.ndarray  # (r m,), lowest class that is the same on the region
    found: Answers
    doubt: np.ndarray  # (r m,), error of differences of logits at the points

    def of(self, place: int) -> slice:
        """Return which entries are those of a region's classes."""
        number = self.weights.shape[1]
        return slice(number * place, number * (place + 1))

    def by_region(self, column: np.ndarray) -> np.ndarray:
        """Return what there is of every class as a row for each region."""
        return column.reshape(len(self.rows), self.weights.shape[1], *column.shape[1:])

    def rivals(self, place: int, domain: Box) -> Rivals:
        """Return a region, for questions about one class at a time."""
        first = self.of(place).start
        return Rivals.of(self.regions[place], self.weights[first], self.biases[first], self.near[place], domain)


def likeliest_within(
    exact: RationalNetwork,
    known: dict[int, Region],
    every: torch.Tensor,
    domain: Box,
    until: float,
    rows: list[int],
    device: torch.device,
) -> Likeliest | None:
    """Find the likeliest point of every class in some regions; None if none of them has an interior.

    After ``until``, as ``time.perf_counter`` counts, points are left where they are, with the gaps that they then have.
    ``known`` has regions by the rows of their points. The domain has to be bounded.
    """
    regions, points = [known[row] for row in rows], every[rows].to(device)
    bodies = as_bodies(regions, domain, device)
    balls = largest_balls(bodies, points, relative_gap=ROUGH)
    inside = np.flatnonzero(balls.values > 0)
    if len(inside) == 0:
        return None
    which = torch.from_numpy(inside).to(device)
    bodies, near, regions = bodies.take(which), points[which], [regions[place] for place in inside.tolist()]
    weights, biases = _logits(regions, device)
    number = weights.shape[1]
    # All classes of a region together, over one table of its half-spaces.
    bodies, start = bodies.shared(number), torch.from_numpy(balls.points[inside]).to(device)
    start, weights, biases = (part.repeat_interleave(number, dim=0) for part in (start, weights, biases))
    classes = torch.arange(number, device=device).repeat(len(inside))
    # Each program has matrices of its own; of one large region fewer of them are solved at once.
    matrices = MATRICES_BYTES // (4 * 8 * every.shape[1] ** 2)
    parts = torch.arange(len(classes), device=device).split(len(classes) if len(inside) > 1 else max(1, matrices))
    answers = [
        likeliest_points(
            bodies.take(part),
            start[part],
            weights[part],
            biases[part],
            classes[part],
            relative_gap=GAP / 2,
            until=until,
        )
        for part in parts
    ]
    found = Answers(*(np.concatenate(columns) for columns in zip(*answers, strict=True)))
    there = torch.from_numpy(found.points).to(device)
    sizes = ((weights.abs() @ there.abs()[..., None])[..., 0] + biases.abs()).amax(dim=1)
    return Likeliest(
        np.array(rows)[inside],
        regions,
        near,
        bodies,
        start,
        weights,
        biases,
        classes.cpu().numpy(),
        np.concatenate([_firsts(exact, region) for region in regions]),
        found,
        SUMS * sizes.cpu().numpy(),
    )


def _nearest_within(asked: Likeliest, domain: Box, until: float) -> LikeliestPoints:
    """Return the nearest of the likeliest points of every class; regions that are not done in time are left out."""
    places, labels = asked.by_region(asked.found.points).copy(), asked.by_region(asked.classes).copy()
    for place in range(len(asked.rows)):
        mine, rivals = asked.of(place), asked.rivals(place, domain)
        places[place], _, _ = rivals.nearest(asked.found.points[mine], asked.doubt[mine], True, until)
        labels[place] = rivals.classes(places[place])
        if time.perf_counter() > until:
            return LikeliestPoints(asked.rows[:place], places[:place], labels[:place])
    return LikeliestPoints(asked.rows, places, labels)


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
                found = exact.pull_back(pieces, {entry: sign for entry, sign in signs.items() if entry >= 0})
                if not found.coefficients and found.constant == 0:
                    firsts[one] = other
                    break
    return firsts


def _logits(regions: list[Region], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits as affine maps, (r, m, n) and (r, m)."""
    weights = torch.stack([torch.as_tensor(one.map.weight[0]) for one in regions]).to(device)
    biases = torch.stack([torch.as_tensor(one.map.bias[0]) for one in regions]).to(device)
    if weights.shape[1] == 1:  # classes 0 and 1 of one output are those of the logits 0 and f
        weights = torch.cat([torch.zeros_like(weights), weights], dim=1)
        biases = torch.cat([torch.zeros_like(biases), biases], dim=1)
    return weights, biases

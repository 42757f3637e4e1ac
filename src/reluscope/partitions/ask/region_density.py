"""Estimated density of regions over a domain, from codes of random points and interval bounds in many boxes.

Where ``h`` units change between two random points of a box of d dimensions, boundaries that lie like random hyperplanes
cut the box into about ``(1 + c h)^d / d!`` regions. Points of a large box miss boundaries that crowd in a small part of
it, and interval bounds do not: every unit that can bend in a box has a breakpoint within its interval. Boxes are halved
where either number is large. The density is no bound on anything: it decides where windows of a forecast fall.
"""

import time
from dataclasses import dataclass
from math import factorial

import numpy as np
import torch

from reluscope.codes.changes import changed_units
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.network import Network
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.partitions.ask.sub_domains import SubDomains

# Units that cross the side of a square, for each that changes between two random points in it.
CROSSINGS = 1.9
# Random points in each box, and the shares of the boxes that are halved at once by each of the two numbers.
POINTS, LEAST_HALVED, MOST_HALVED = 3, 0.05, 0.25
# Shares of the windows that fall uniformly by volume, and by units that can bend, whatever codes say.
BY_VOLUME, BY_BENDS = 0.15, 0.15


@dataclass(frozen=True)
class RegionDensity:
    """Boxes that fill the bounds of a domain, with an estimate of the number of regions in each."""

    low: np.ndarray  # (c, d) lower corners of the boxes
    sides: np.ndarray  # (c, d) side lengths of the boxes
    regions: np.ndarray  # (c,) estimated regions in each box
    bends: np.ndarray  # (c,) upper bounds on the units that can bend in each box

    @property
    def chances(self) -> np.ndarray:
        """Probability of each box to be drawn: by its regions, by its volume, and by the units that can bend."""
        volumes = self.sides.prod(axis=1)
        by_regions, by_volume, by_bends = (one / one.sum() for one in (self.regions, volumes, 1.0 + self.bends))
        return (1 - BY_VOLUME - BY_BENDS) * by_regions + BY_VOLUME * by_volume + BY_BENDS * by_bends

    def halvings(self, box: int, regions: float) -> int:
        """Return how often all sides of a box are halved for a window of about so many regions."""
        return max(0, int(np.ceil(np.log2(self.regions[box] / regions) / self.low.shape[1])))


def region_density(
    network: Network, domain: Domain, where: SubDomains, max_boxes: int, until: float, draw: np.random.Generator
) -> RegionDensity:
    """Return the density of regions from at most ``max_boxes`` boxes.

    After ``until`` (monotonic seconds) no box is halved. Cost: some five forward passes of a point for each box, and
    for each that was halved.
    """
    inside = network.restrict(domain) if isinstance(domain, Slice) else network
    whole = (where.high - where.low)[None]
    low, sides = where.low[None], whole
    regions, bends = _regions(inside, low, sides, draw), _bends(inside, low, sides)
    while time.monotonic() < until:
        room = max(0, max_boxes - len(low) + 1) // 2
        many = np.union1d(*(_largest(one, least, room) for one, least in ((regions, 1), (bends, 0))))
        if not len(many):
            break
        halves = _halves(low[many], sides[many], whole)
        kept = np.setdiff1d(np.arange(len(low)), many)
        regions = np.concatenate([regions[kept], _regions(inside, *halves, draw)])
        bends = np.concatenate([bends[kept], _bends(inside, *halves)])
        low, sides = (np.concatenate([old[kept], half]) for old, half in zip((low, sides), halves, strict=True))
    return RegionDensity(low, sides, regions, bends)


def _largest(numbers: np.ndarray, least: float, room: int) -> np.ndarray:
    """Return the boxes with the largest numbers: those above half of the largest, at least and at most a share."""
    first = np.argsort(-numbers, kind="stable")[: min(max(1, int(MOST_HALVED * len(numbers))), room)]
    number = max(int(LEAST_HALVED * len(numbers)), np.count_nonzero(numbers[first] > 0.5 * numbers.max()))
    return first[:number][numbers[first[:number]] > least]


def _halves(low: np.ndarray, sides: np.ndarray, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes halved across their longest side, as a share of the domain's."""
    rows, axes = np.arange(len(low)), np.argmax(sides / whole, axis=1)
    shorter, upper = sides.copy(), low.copy()
    shorter[rows, axes] /= 2
    upper[rows, axes] += shorter[rows, axes]
    return np.concatenate([low, upper]), np.concatenate([shorter, shorter])


def _regions(network: Network, low: np.ndarray, sides: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Return the estimated number of regions in each box, from the units that change between random points."""
    dim, codes = low.shape[1], []
    for _ in range(POINTS):
        codes.append(network.codes(low + draw.random(low.shape) * sides))
    pairs = ((first, second) for index, first in enumerate(codes) for second in codes[:index])
    changed = np.mean([changed_units(*pair).sum(axis=1) for pair in pairs], axis=0)
    return np.maximum(1.0, (1 + CROSSINGS * changed) ** dim / factorial(dim))


def _bends(network: Network, low: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return an upper bound on the number of units that bend in each box, by interval arithmetic."""
    shape = (len(low), *network.input_shape)
    ends = (torch.tensor(end, device=network.device).reshape(shape) for end in (low, low + sides))
    *at_gates, _ = carry(network, Intervals(ANY_ORDER), FiniteEnds(*ends))
    found = torch.zeros(len(low), dtype=torch.int64, device=network.device)
    for stage, (least, most) in zip(network.stages, at_gates, strict=True):
        gate = stage.gate
        if isinstance(gate, Max):  # another candidate may be the largest than the one with the highest lower end
            is_open = (most >= least.amax(dim=-1, keepdim=True)).sum(dim=-1) > 1
        elif isinstance(gate, TopK):
            is_open = torch.ones_like(least, dtype=torch.bool)
        else:
            levels = [((least <= level) & (level <= most)) for level in gate.breakpoints]
            is_open = torch.stack([level.reshape(len(low), -1) for level in levels]).any(dim=0)
        found += is_open.reshape(len(low), -1).sum(dim=1)
    return found.cpu().numpy()

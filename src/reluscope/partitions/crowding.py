"""Where on a domain regions crowd: roughly, from the codes of a few random points in each of many boxes.

Between two points as many units change as have a boundary there, those not counted that change twice. Where ``h`` units
change on the way through a box of d dimensions, boundaries that lie like random hyperplanes cut it into about
``(1 + c h)^d / d!`` regions. Boxes with many are halved, and looked at again. That is no bound on anything: it serves
to look closely where there is much to see.
"""

import time
from dataclasses import dataclass
from math import factorial

import numpy as np

from reluscope.codes.changes import changed_units
from reluscope.geometry.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.sub_domains import SubDomains

# Units that cross the side of a square, for each that changes between two random points in it.
CROSSINGS = 1.9
# Boxes to end with; points in each of them; the share of them that is halved at once.
MAX_BOXES, POINTS, HALVED = 4096, 3, 0.25
# The share of random places that are looked at whatever codes say.
ANYWHERE = 0.2


@dataclass(frozen=True)
class Crowding:
    """Boxes that fill the bounds of a domain, and how much there is in each of them.

    Parameters
    ----------
    low, sides : (c, d) float64
        Of the boxes.
    regions : (c,) float64
        How many regions lie in each, roughly.
    """

    low: np.ndarray
    sides: np.ndarray
    regions: np.ndarray

    @property
    def chances(self) -> np.ndarray:
        """How likely a box is to be looked at: by its regions, and a little by its volume."""
        volumes = self.sides.prod(axis=1)
        return (1 - ANYWHERE) * self.regions / self.regions.sum() + ANYWHERE * volumes / volumes.sum()

    def halvings(self, box: int, regions: float) -> int:
        """Return how often all sides of a box are to be halved for a window of about so many regions."""
        return max(0, int(np.ceil(np.log2(self.regions[box] / regions) / self.low.shape[1])))


def crowding(
    network: Network, domain: Domain, where: SubDomains, seconds: float, draw: np.random.Generator
) -> Crowding:
    """Look at points for some seconds; at those of one box at the least.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.ones((9, 2)), np.arange(9)), (np.ones((1, 9)), np.zeros(1))])  # bends below 0 only
    >>> box = rs.Box(-6, 6, 2)
    >>> found = crowding(net, box, SubDomains.of(box), 0.1, np.random.default_rng(0))
    >>> len(found.low) > 1, bool(np.isclose(found.sides.prod(axis=1).sum(), box.volume()))
    (True, True)
    """
    began = time.monotonic()
    whole = (where.high - where.low)[None]
    low, sides = where.low[None], whole
    regions = _regions(network, domain, low, sides, draw)
    while len(low) < MAX_BOXES and time.monotonic() - began < seconds:
        started = time.monotonic()
        many = np.argsort(-regions, kind="stable")[: max(1, int(HALVED * len(low)))]
        many = many[regions[many] > 1]
        if not len(many):
            break
        halves = _halves(low[many], sides[many], whole)
        new = _regions(network, domain, *halves, draw)
        kept = np.setdiff1d(np.arange(len(low)), many)
        low, sides = (np.concatenate([old[kept], half]) for old, half in zip((low, sides), halves, strict=True))
        regions = np.concatenate([regions[kept], new])
        if 2 * time.monotonic() - started - began > seconds:  # the next time takes at least as long
            break
    return Crowding(low, sides, regions)


def _halves(low: np.ndarray, sides: np.ndarray, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes halved across their longest side, as a share of the domain's."""
    rows, axes = np.arange(len(low)), np.argmax(sides / whole, axis=1)
    shorter, upper = sides.copy(), low.copy()
    shorter[rows, axes] /= 2
    upper[rows, axes] += shorter[rows, axes]
    return np.concatenate([low, upper]), np.concatenate([shorter, shorter])


def _regions(
    network: Network, domain: Domain, low: np.ndarray, sides: np.ndarray, draw: np.random.Generator
) -> np.ndarray:
    """Return about how many regions lie in each box."""
    dim, codes = low.shape[1], []
    for _ in range(POINTS):
        points = low + draw.random(low.shape) * sides
        codes.append(network.codes(domain.lift(points) if isinstance(domain, Slice) else points))
    pairs = ((first, second) for index, first in enumerate(codes) for second in codes[:index])
    changed = np.mean([changed_units(*pair).sum(axis=1) for pair in pairs], axis=0)
    return np.maximum(1.0, (1 + CROSSINGS * changed) ** dim / factorial(dim))

"""Where classes tie around many points with few inputs, from one partition around them all.

Outputs are affine on every region, so a region on whose corners one class leads by more than rounding has no change of
class; on all others two classes tie within a box around where they do on the segments between corners, and on one side
of a hyperplane. Few of these boxes are as near to a point as the nearest tie.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from reluscope.analyses.robustness.listed_changes import NearRegions
from reluscope.analyses.robustness.viewpoints import SearchDomain, Viewpoint
from reluscope.budget import Budget
from reluscope.findings import Claim
from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.polyhedra.cut_boxes import distances_of_cut_boxes
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes, pieces_of
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import is_interrupted
from reluscope.tolerance import Tolerance

# Regions that a partition may have for each point, by the number of inputs, and in all: it then takes a quarter of
# their searches, at most. With more inputs each point is searched for by itself.
REGIONS_PER_POINT, MOST_REGIONS = {1: 4_000, 2: 4_000, 3: 1_500}, 300_000
# A point with more regions than these as near as a change of class is sought by itself.
MOST_NEAR = 64
# Corners are known up to this share of the box, and boxes of ties are wider by so much.
BLUR, WIDER = 1e-9, 1e-7
# Leads at points are sums, computed up to this share of their terms.
ROUNDED = 1e-10
# A box is no wider than this, in units of the points and how far they are apart.
FARTHEST = 1e3
# Regions whose corners are compared with each other at once.
AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class TiedRegions:
    """Regions on which classes may tie.

    How far the first class leads the second is an affine function of coefficients ``leads`` and ``constants``, whose
    rounding ``errors`` bound.
    """

    box: Box  # in which these are all
    lower: Float[np.ndarray, "t n"]  # lower ends of boxes around ties, some per region
    upper: Float[np.ndarray, "t n"]  # upper ends of boxes around ties, some per region
    classes: Int[np.ndarray, "t 2"]  # the two that may tie
    leads: Float[np.ndarray, "t n"]
    constants: Float[np.ndarray, " t"]
    errors: Float[np.ndarray, " t"]
    rows: Int[np.ndarray, " t"]  # regions of ties
    pieces: tuple[np.ndarray, ...]  # codes of regions, by gate

    def near(self, view: Viewpoint) -> NearRegions | None:
        """Return the regions in which the nearest change of class of a point may be; None if they are too many."""
        own = np.flatnonzero((self.classes == view.label).any(axis=1))
        low, high = self.lower[own] - view.x, self.upper[own] - view.x
        keys = view.norm.size(np.maximum(np.maximum(low, -high), 0.0))
        farthest = view.norm.size(np.maximum(np.abs(low), np.abs(high)))
        beyond = self._room(view)
        limit = min(float(farthest.min(initial=np.inf)), beyond)
        kept = np.flatnonzero(keys <= limit)
        near = self._cut(view, own[kept], low[kept], high[kept])
        keys[kept] = np.maximum(keys[kept], near)
        kept = kept[keys[kept] <= limit]
        rows, place = np.unique(self.rows[own[kept]], return_inverse=True)
        if len(rows) > MOST_NEAR:
            return None
        nearest = np.full(len(rows), np.inf)
        np.minimum.at(nearest, place, keys[kept])
        keys[kept] = np.inf
        codes = [tuple(table[row] for table in self.pieces) for row in rows]
        return NearRegions(nearest.tolist(), codes, float(keys.min(initial=beyond)))

    def _cut(self, view: Viewpoint, ties: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return how far boxes are from a point where it is not behind that classes tie there."""
        sign = np.where(self.classes[ties, 0] == view.label, -1.0, 1.0)
        forms, constants = sign[:, None] * self.leads[ties], sign * self.constants[ties]
        terms = np.abs(forms) @ np.abs(view.x) + np.abs(constants)
        levels = -(forms @ view.x + constants) - ROUNDED * terms - self.errors[ties] * _reach(self.box)
        return distances_of_cut_boxes(low, high, forms, levels, view.norm) * (1 - WIDER)

    def _room(self, view: Viewpoint) -> float:
        """Return how far a point is from where nothing is known."""
        limits = view.domain.half_spaces
        low = np.where(self.box.lo > limits.lower, view.x - self.box.lo, np.inf)
        high = np.where(self.box.hi < limits.upper, self.box.hi - view.x, np.inf)
        return float(np.minimum(low, high).min())


def tied_regions(
    network: Network,
    opened: SearchDomain,
    points: Float[np.ndarray, "s n"],
    labels: Int[np.ndarray, " s"],
    norm: Norm,
    tolerance: Tolerance,
    seconds: float | None = None,
) -> TiedRegions | None:
    """Return where classes tie around points, if one partition takes less than a search for each of them.

    None for more than three inputs, without gates, for unbounded surroundings, and where there are too many regions for
    so few points. The network's outputs have to be scores; the partition may take ``seconds``.
    """
    most = min(MOST_REGIONS, REGIONS_PER_POINT.get(network.num_inputs, 0) * len(points))
    if not most or not network.gates:
        return None
    box = _surroundings(opened, points, labels, norm)
    if box is None:
        return None
    limit = Budget(regions=most, seconds=seconds)
    part = partition(network, box, budget=limit, tolerance=tolerance)
    if is_interrupted(part.stop):
        raise KeyboardInterrupt
    return None if part.claim is not Claim.EXACT or part.num_undecided else _tied(part, box)


def _surroundings(opened: SearchDomain, points: np.ndarray, labels: np.ndarray, norm: Norm) -> Box | None:
    """Return a box around the balls to points of other classes, cut down to bounds of the domain; None if unbounded."""
    radii = np.full(len(points), np.inf)
    for label in np.unique(labels):
        own = labels == label
        if not own.all():
            radii[own] = KDTree(points[~own]).query(points[own], p=norm.order)[0] * (1 + WIDER)
    limits, spread = opened.half_spaces, float(np.ptp(points, axis=0).max() + np.abs(points).max())
    lower = np.maximum((points - radii[:, None]).min(axis=0), limits.lower)
    upper = np.minimum((points + radii[:, None]).max(axis=0), limits.upper)
    # The resolution of a partition is a share of its box, and not to be larger than that of the points.
    is_near = np.isfinite([lower, upper]).all() and float((upper - lower).max()) <= FARTHEST * spread
    return Box(lower, upper) if is_near and (lower < upper).all() else None


def _tied(part: Partition, box: Box) -> TiedRegions | None:
    """Return the regions of a partition on which classes may tie; None if a region is missing at some corner.

    Around a corner the classes that lead beyond rounding are one, or a region between them was too thin to be listed.
    """
    blur, dim = BLUR * float((box.hi - box.lo).max()), part.dim
    offsets, ids = part.region_vertices
    numbers = np.diff(offsets)
    found: list[tuple[np.ndarray, ...]] = []
    leading = np.full(len(part.vertices), -1)
    for number in np.unique(numbers):
        alike = np.flatnonzero(numbers == number)
        for start in range(0, len(alike), AT_ONCE):
            rows = alike[start : start + AT_ONCE]
            # Corners are blurred, and outputs of the network there may be those of a region beside: maps are by codes.
            maps, coefficients = maps_of_codes(part.network_on_domain, part.codes[rows])
            weight, bias = _with_zero(maps.weight.cpu().numpy()), _with_zero(maps.bias.cpu().numpy())
            coarse = _with_zero(coefficients)
            corners = part.vertices[ids[offsets[rows][:, None] + np.arange(number)]]
            scores = corners @ weight.mT + bias[:, None]
            terms = np.abs(corners) @ np.abs(weight).mT + np.abs(bias)[:, None]
            moved = blur * np.abs(weight).sum(axis=2) + coarse * _reach(box)
            spread = ROUNDED * terms + moved[:, None]
            if not _agree(leading, ids[offsets[rows][:, None] + np.arange(number)], scores, spread):
                return None
            for lower, upper, classes, places in _ties(corners, scores, spread):
                first, second = (places, classes[:, 0]), (places, classes[:, 1])
                leads, constants = weight[first] - weight[second], bias[first] - bias[second]
                found.append((lower, upper, classes, leads, constants, coarse[first] + coarse[second], rows[places]))
    points, numbers, labels = np.zeros((0, dim)), np.zeros(0), np.zeros((0, 2), np.int64)
    nothing = points, points, labels, points, numbers, numbers, np.zeros(0, np.int64)
    lower, upper, labels, leads, constants, errors, rows = (
        np.concatenate(tables) for tables in zip(nothing, *found, strict=True)
    )
    used, places = np.unique(rows, return_inverse=True)
    sides, pieces = box.hi - box.lo, tuple(table[used] for table in pieces_of(part.codes))
    lower, upper = lower - WIDER * sides, upper + WIDER * sides
    return TiedRegions(box, lower, upper, labels, leads, constants, errors, places, pieces)


def _agree(leading: np.ndarray, corners: np.ndarray, scores: np.ndarray, spread: np.ndarray) -> bool:
    """Note which classes lead at corners beyond rounding, and return whether no two do at one."""
    best = scores.argmax(axis=2)[..., None]
    lead = np.take_along_axis(scores - spread, best, axis=2)
    np.put_along_axis(rivals := scores + spread, best, -np.inf, axis=2)
    sure = lead[..., 0] > rivals.max(axis=2)
    which, classes = corners[sure], best[..., 0][sure]
    leading[which[leading[which] < 0]] = classes[leading[which] < 0]
    return bool((leading[which] == classes).all())


def _reach(box: Box) -> float:
    """Return how much of an error of an affine map's coefficients may be in its values on a box, at most."""
    return 1.0 + float(np.maximum(np.abs(box.lo), np.abs(box.hi)).sum())


def _with_zero(table: np.ndarray) -> np.ndarray:
    """Return what is said of outputs as of the classes: of a single output the classes 0 and 1 have 0 and it."""
    return table if table.shape[1] > 1 else np.concatenate([np.zeros_like(table), table], axis=1)


def _ties(
    corners: np.ndarray, scores: np.ndarray, spread: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return boxes around ties, which two classes tie there, and places of their regions among those given.

    Regions have equally many corners: (r, v, n) of these, (r, v, k) of their scores, and of how far these are known.
    """
    low, high = scores - spread, scores + spread
    # No class wins on a region that is nowhere as high there as another one is everywhere.
    may_win = high.max(axis=1) >= low.min(axis=1).max(axis=1, keepdims=True)
    labels = np.flatnonzero(may_win.any(axis=0))
    for label in labels:
        led: np.ndarray = np.all(low[:, :, labels] > high[:, :, [label]], axis=1)
        may_win[:, label] &= ~led.any(axis=1)
    found = []
    for place, first in enumerate(labels):
        for second in labels[place + 1 :]:
            kept = np.flatnonzero(may_win[:, first] & may_win[:, second])
            lead = scores[kept, :, first] - scores[kept, :, second]
            loose = spread[kept, :, first] + spread[kept, :, second]
            ties = (lead <= loose).any(axis=1) & (lead >= -loose).any(axis=1)
            kept, lead, loose = kept[ties], lead[ties], loose[ties]
            if len(kept):
                lower, upper = _box_of_ties(corners[kept], lead, loose)
                pair = np.tile(np.array([first, second]), (len(kept), 1))
                found.append((lower, upper, pair, kept))
    return found


def _box_of_ties(corners: np.ndarray, lead: np.ndarray, loose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes around where affine leads of some corners are zero up to what is loose."""
    lower, upper = np.full(corners[:, 0].shape, np.inf), np.full(corners[:, 0].shape, -np.inf)
    for i in range(corners.shape[1]):
        is_tied = (np.abs(lead[:, i]) <= loose[:, i])[:, None]
        lower = np.where(is_tied, np.minimum(lower, corners[:, i]), lower)
        upper = np.where(is_tied, np.maximum(upper, corners[:, i]), upper)
        for j in range(i):
            rise = lead[:, i] - lead[:, j]
            crosses = (lead[:, i] * lead[:, j] < 0)[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                # Where the lead is as large as it may be false, on either side of zero.
                for level in (-1.0, 1.0):
                    share = np.clip((level * np.maximum(loose[:, i], loose[:, j]) - lead[:, j]) / rise, 0.0, 1.0)
                    place = corners[:, j] + share[:, None] * (corners[:, i] - corners[:, j])
                    lower = np.where(crosses, np.minimum(lower, place), lower)
                    upper = np.where(crosses, np.maximum(upper, place), upper)
    return lower, upper

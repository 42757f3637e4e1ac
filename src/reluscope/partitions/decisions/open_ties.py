"""Ties of classes that floats leave open, and whether fractions are needed for them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.evaluation.rounded_forward import forward_with_errors, largest_errors, rounded_forward
from reluscope.networks.fractions.rational import multiplications
from reluscope.partitions.corner_errors import corner_errors
from reluscope.partitions.decisions.decision_pieces import BoundaryPieces, of_classes, scores_at, tie_error
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition

# Scores that differ by less than this share of the largest one are looked at, and more where rounding may be larger.
NEAR = 1e-6

# Multiplications of fractions, and rows that regions are cut by, for all regions of a partition: some seconds.
MOST_MULTIPLICATIONS, MOST_ROWS = 2_000_000, 50_000


TINY = np.finfo(float).tiny


def needs_fractions(part: Partition) -> bool:
    """Whether rounding may decide where classes tie, and the partition is small enough for fractions to decide it."""
    return not part.jumps and is_small(part) and not is_clear(part)


def is_clear(part: Partition) -> bool:
    """Whether one class is ahead at every vertex, beyond the rounding of scores and of the vertices themselves."""
    values = scores_at(part, part.vertices)
    near, _ = _near_vertices(part, values)
    return not near.any() or not _unclear_vertices(part, np.flatnonzero(near), tie_error(values)).any()


def _unclear_vertices(part: Partition, asked: Int[np.ndarray, " q"], resolution: float) -> Bool[np.ndarray, " v"]:
    """Return at which of some vertices no class is ahead beyond the rounding of scores and of the vertices.

    A lead below the ``resolution`` counts as none wherever scores are compared without their own errors.
    """
    unclear = np.zeros(len(part.vertices), dtype=bool)
    unclear[asked] = True
    offsets, ids = part.region_vertices
    numbers = np.diff(offsets)
    around = np.flatnonzero(np.add.reduceat(unclear[ids], offsets[:-1]))
    network = scores_network(part.network_on_domain)
    forward = rounded_forward(network, part.vertices[asked], tolerance=part.tolerance)
    maps, off = maps_of_codes(network, part.codes[around])
    slopes = np.linalg.norm(maps.weight.cpu().numpy(), axis=2) + np.sqrt(part.dim) * off
    steepest = np.zeros((len(unclear), slopes.shape[1]))
    corners = np.concatenate([ids[offsets[row] : offsets[row + 1]] for row in around])
    np.maximum.at(steepest, corners, np.repeat(slopes, numbers[around], axis=0))
    noise = of_classes(forward.errors + steepest[asked] * corner_errors(part)[asked, None])
    values = of_classes(forward.outputs)
    first = values.argmax(axis=1)[:, None]
    leads = np.take_along_axis(values - noise, first, axis=1) - (values + noise)
    np.put_along_axis(leads, first, np.inf, axis=1)
    unclear[asked] = ~(leads > resolution).all(axis=1)
    return unclear


class OpenTies(NamedTuple):
    """Regions in which rounding decides about ties, and how long the decision boundary in them is at most."""

    regions: Bool[np.ndarray, " r"]
    most: float  # on a line the number of points


def open_ties(part: Partition, values: Float[np.ndarray, "v k"], num_regions: int, pieces: BoundaryPieces) -> OpenTies:
    """Return in which of the first regions rounding decides about ties, for scores of the classes at vertices.

    Vertices are asked about where rounding may decide between two scores, and pieces along which a third class ties
    as nearly.
    """
    near, tolerance = _near_vertices(part, values)
    offsets, ids = part.region_vertices
    if num_regions < len(part):  # scores are not known at all vertices
        known = np.zeros(len(near), dtype=bool)
        known[ids[: offsets[num_regions]]] = True
        near &= known
    regions = np.zeros(len(part), dtype=bool)
    if near.any():
        unclear = _unclear_vertices(part, np.flatnonzero(near), tie_error(values))
        regions = np.add.reduceat(unclear[ids], offsets[:-1]) > 0
    regions[_of_three(part, pieces, tolerance)] = True
    regions[num_regions:] = False
    most = 0.0
    for row in np.flatnonzero(regions).tolist():
        corners = ids[offsets[row] : offsets[row + 1]]
        here, leaders = values[corners], np.unique(values[corners].argmax(axis=1))
        # Classes that no leader exceeds at all corners; a pair of them ties along one chord.
        number = int((~(here[:, leaders, None] - tolerance > here[:, None]).all(axis=0).any(axis=0)).sum())
        chord = float(np.linalg.norm(np.ptp(part.vertices[corners], axis=0))) if part.dim == 2 else 1.0
        most += number * (number - 1) / 2 * chord
    return OpenTies(regions, most)


def _near_vertices(part: Partition, values: Float[np.ndarray, "v k"]) -> tuple[Bool[np.ndarray, " v"], float]:
    """Return the vertices where rounding may decide which score is the largest, and how near is near enough."""
    tolerance = _largest_noise(part, NEAR * float(np.abs(values).max(initial=0.0)))
    near = (values >= values.max(axis=1, keepdims=True) - tolerance).sum(axis=1) > 1
    return near | _near_in_thin_regions(part, values, tolerance), tolerance


def _largest_noise(part: Partition, enough: float) -> float:
    """Return by how much rounding may change the difference of two scores at a vertex, at least ``enough``."""
    if not left_open(part).is_listed_sure:  # nothing is told EXACT
        return enough
    network, points = scores_network(part.network_on_domain), part.vertices
    errors = largest_errors(network, np.abs(points).max(axis=0), tolerance=part.tolerance)
    if not 2 * errors.max() <= enough:
        _, errors = forward_with_errors(network, points, tolerance=part.tolerance)
    return max(enough, 2 * float(errors.max()))


def _near_in_thin_regions(
    part: Partition, values: Float[np.ndarray, "v k"], tolerance: float
) -> Bool[np.ndarray, " v"]:
    """Return vertices where classes tie within what slopes make of the errors of corners of regions thin beside them.

    Scores vary by no more than NEAR of the largest one where corners of other regions are moved.
    """
    offsets, ids = part.region_vertices
    at, ends = part.vertices[ids], offsets[:-1]
    lengths = np.linalg.norm(np.maximum.reduceat(at, ends) - np.minimum.reduceat(at, ends), axis=1)
    widths = part.volumes() / np.maximum(lengths, TINY) ** (part.dim - 1)
    moved = np.maximum.reduceat(corner_errors(part)[ids], ends)
    near = np.zeros(len(values), dtype=bool)
    for row in np.flatnonzero(4 * moved > NEAR * widths).tolist():
        corners = ids[offsets[row] : offsets[row + 1]]
        here = values[corners]
        noise = tolerance + 4 * moved[row] / max(widths[row], TINY) * np.ptp(here, axis=0).max()
        near[corners] |= (here >= here.max(axis=1, keepdims=True) - noise).sum(axis=1) > 1
    return near


def _of_three(part: Partition, pieces: BoundaryPieces, tolerance: float) -> Int[np.ndarray, " p"]:
    """Return the regions of pieces along which a third class is behind by no more than a tolerance."""
    regions, ends, every = pieces.regions, pieces.ends, np.arange(len(pieces.regions))
    if not len(every):
        return regions
    values = scores_at(part, ends.reshape(-1, part.dim)).reshape(*ends.shape[:2], -1)
    one, other = pieces.classes.T
    tied = values[every, :, one]
    values[every, :, one] = values[every, :, other] = -np.inf
    # One class at both ends: where different ones tie at the ends, three classes meet in points.
    return regions[(values >= tied[:, :, None] - tolerance).all(axis=1).any(axis=-1)]


def is_small(part: Partition) -> bool:
    """Whether fractions take some seconds at most for all regions of a partition."""
    network = part.network_on_domain
    rows = sum(gate.num_units for gate in network.gates) * len(part)
    return rows <= MOST_ROWS and len(part) * (part.dim + 1) * multiplications(network) <= MOST_MULTIPLICATIONS

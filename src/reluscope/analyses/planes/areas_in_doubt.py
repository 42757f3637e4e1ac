"""How much of a plane may belong to another class than it seems to: where outputs tie within their rounding.

The lead of one output over another is affine on a region. Where it lies within its noise e of 0 is a strip across the
polygon. Sections of a convex polygon are concave along the way across, none longer than twice their mean, so that the
strip is at most the share ``4 e / (max - min)`` of the polygon, with the largest and the smallest lead at its corners.
"""

import numpy as np
from jaxtyping import Float, Int

from reluscope.geometry.cutting.polytopes import ragged_rows
from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.partitions.corner_errors import corner_errors
from reluscope.partitions.decisions.decision_pieces import of_classes, tie_error
from reluscope.partitions.partition_in_memory import Partition


def areas_in_doubt(part: Partition) -> Float[np.ndarray, " k"]:
    """Return for every class a bound on the area that it may gain or lose, by ties that rounding moves."""
    values, (offsets, ids) = part.scores, part.region_vertices
    network, error = scores_network(part.network_on_domain), tie_error(values)
    forward = rounded_forward(network, part.vertices, tolerance=part.tolerance)
    noise = np.maximum.reduceat(of_classes(forward.errors)[ids], offsets[:-1]) + error
    low, high = (end.reduceat(values[ids], offsets[:-1]) for end in (np.minimum, np.maximum))
    is_near = high + noise >= (low - noise).max(axis=1, keepdims=True)
    rows = np.flatnonzero(is_near.sum(axis=1) > 1)
    found = np.zeros(values.shape[1])
    if not len(rows):
        return found
    maps, off = maps_of_codes(network, part.codes[rows])
    slopes = np.linalg.norm(maps.weight.cpu().numpy(), axis=2) + np.sqrt(part.dim) * off
    blur = np.maximum.reduceat(corner_errors(part)[ids], offsets[:-1])
    noise[rows] += of_classes(slopes) * blur[rows, None]
    regions, one, other = _pairs(is_near, rows)
    starts, places = ragged_rows(offsets, regions)
    owner = np.repeat(np.arange(len(regions)), np.diff(starts))
    leads = values[ids[places], one[owner]] - values[ids[places], other[owner]]
    least, most = (end.reduceat(leads, starts[:-1]) for end in (np.minimum, np.maximum))
    moved = noise[regions, one] + noise[regions, other]
    reach = most - least - 2 * moved
    share = np.divide(4 * moved, reach, out=(moved > 0).astype(float), where=reach > 4 * moved)
    area = np.where((least > moved) | (most < -moved), 0.0, share) * part.volumes()[regions]
    for classes in (one, other):
        found += np.bincount(classes, weights=area, minlength=len(found))
    return found


def _pairs(
    is_near: np.ndarray, rows: Int[np.ndarray, " q"]
) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
    """Return (region, lower class, higher class) of all pairs of classes that are near the lead in a region."""
    number = is_near[rows].sum(axis=1)
    found = []
    for count in np.unique(number):
        some = rows[number == count]
        classes = np.nonzero(is_near[some])[1].reshape(-1, count)
        first, second = np.triu_indices(count, 1)
        found.append((np.repeat(some, len(first)), classes[:, first].ravel(), classes[:, second].ravel()))
    regions, one, other = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return regions, one, other

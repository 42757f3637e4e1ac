"""Polygons cut into the parts where each of several affine outputs wins (Sutherland and Hodgman's clipping).

A part is what is left of the polygon after one cut per rival; outputs are carried along to the new corners.
"""

import numpy as np
from numba import njit

from reluscope.interruption import held


@held
@njit(cache=True)
def winning_parts(outputs, vertices, offsets, ids, regions, error):
    """Return class, region, corner count and corners of every part of some regions.

    Parameters
    ----------
    outputs : (v, m) float64
        At the vertices.
    vertices : (v, 2) float64
    offsets : (r + 1,) int64; ids : (offsets[-1],) int
        Corners of every region, in order.
    regions : (k,) int64
        Which regions are cut.
    error : float
        Rounding of an output.
    """
    num_outputs = outputs.shape[1]
    classes, owners, sizes = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    corners = np.empty((256, 2))
    used, filled = 0, 0
    for region in regions:
        rows = ids[offsets[region] : offsets[region + 1]]
        values, places = outputs[rows], vertices[rows]
        candidates = np.array([c for c in range(num_outputs) if _may_win(values, c, error)])
        for one in candidates:
            polygon, carried = places, values
            for other in candidates:
                if other != one and len(polygon):
                    polygon, carried = _clip(polygon, carried, carried[:, one] - carried[:, other], error, one < other)
            if len(polygon) < 3:
                continue
            if used == len(classes):
                classes, owners, sizes = _longer(classes), _longer(owners), _longer(sizes)
            while filled + len(polygon) > len(corners):
                wider = np.empty((2 * len(corners), 2))
                wider[:filled] = corners[:filled]
                corners = wider
            classes[used], owners[used], sizes[used] = one, region, len(polygon)
            corners[filled : filled + len(polygon)] = polygon
            used += 1
            filled += len(polygon)
    return classes[:used].copy(), owners[:used].copy(), sizes[:used].copy(), corners[:filled].copy()


@njit(cache=True)
def _longer(array):
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True)
def _may_win(values, one, error):
    """Whether an output is the largest at a corner, or no single other one is above it at every corner."""
    number, num_outputs = values.shape
    for i in range(number):
        if values[i, one] >= values[i].max() - error:
            return True
    for other in range(num_outputs):
        above = other != one
        for i in range(number):
            above &= values[i, other] > values[i, one]
        if above:
            return False
    return True


@njit(cache=True)
def _clip(corners, values, ahead, error, wins_ties):
    """Keep the part of a polygon where a quantity, affine on it, is positive; all or nothing where it vanishes."""
    number = len(corners)
    if not (ahead > error).any():
        if wins_ties and (ahead >= -error).all():
            return corners, values
        return corners[:0], values[:0]
    kept_corners, kept_values = np.empty((2 * number, 2)), np.empty((2 * number, values.shape[1]))
    kept = 0
    for here in range(number):
        there = (here + 1) % number
        if ahead[here] >= -error:
            kept_corners[kept], kept_values[kept] = corners[here], values[here]
            kept += 1
        if (ahead[here] > error and ahead[there] < -error) or (ahead[here] < -error and ahead[there] > error):
            t = ahead[here] / (ahead[here] - ahead[there])
            kept_corners[kept] = (1 - t) * corners[here] + t * corners[there]
            kept_values[kept] = (1 - t) * values[here] + t * values[there]
            kept += 1
    return kept_corners[:kept], kept_values[:kept]

"""The volume of a union of convex bodies in space, from what is seen of their facets from outside.

By the divergence theorem the volume of the union is the sum over all facets of a third of the distance of their plane
times the area that no other body covers. What another body covers of a facet is the facet cut by that body's
half-spaces, a polygon; what all bodies cover is a union in the plane. Facets are looked at from a little outside, where
a neighbour that shares a facet covers it; of bodies that share a plane and a side of it the first one counts.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.geometry.polyhedra.corners import order_around
from reluscope.geometry.polyhedra.hulls import hull_of
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

# Relative to the largest coordinate: bodies that are thinner are flat, and points this near to a facet are on it.
FLAT = 1e-9
# How far outside facets are looked at, relative to the bodies' size; what the surface may lack to be closed.
AWAY, OPEN = 1e-13, 1e-9


class _Bodies(NamedTuple):
    """Half-spaces and corners of all bodies, one after the other, and where those of each begin."""

    rows: np.ndarray
    ends: np.ndarray
    first_row: np.ndarray
    corners: np.ndarray
    first_corner: np.ndarray


def volume_by_surface(
    bodies: Sequence[Float[np.ndarray, "_ 3"]],
    area_of_union: Callable[[list[Float[np.ndarray, "_ 2"]]], float],
    is_over: Callable[[], bool],
) -> float | None:
    """Return the volume of the union of the convex hulls of points, from its surface.

    None if time is over or rounding left a gap. Each body needs an interior. A product of the corners of each facet
    with the half-spaces of all bodies; a cut for each body that covers a facet in part.
    """
    together = np.concatenate(list(bodies))
    middle = together.mean(axis=0)
    # As wide in every direction, so that few sides are nearly parallel.
    _, widths, axes = np.linalg.svd(together - middle, full_matrices=False)
    stretch = axes.T / (widths / widths[0])
    points = [(body - middle) @ stretch for body in bodies]
    size = max(float(np.abs(body).max()) for body in points)
    hulls = [hull_of(body, FLAT * size) for body in points]
    every = _Bodies(
        np.concatenate([hull.A for hull in hulls]),
        np.concatenate([hull.b for hull in hulls]),
        np.cumsum([0, *(len(hull.b) for hull in hulls)])[:-1],
        np.concatenate(points),
        np.cumsum([0, *(len(body) for body in points)])[:-1],
    )
    volume, closed = 0.0, np.zeros(3)
    for index, (hull, body) in enumerate(zip(hulls, points, strict=True)):
        if is_over():
            return None
        for on, normal, end in _facets(hull, body, FLAT * size):
            seen = _seen(index, body[on], normal, every, AWAY * size, area_of_union)
            volume += seen * end / 3
            closed += seen * normal
    volume *= float(np.prod(widths / widths[0]))
    return volume if np.abs(closed).max() <= OPEN * size**2 else None


def _facets(hull: Polyhedron, body: np.ndarray, thin: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Return which corners are on each facet, its normal of length 1 and its offset; each facet once."""
    found: list[tuple[np.ndarray, np.ndarray, float]] = []
    on = np.abs(body @ hull.A.T - hull.b) <= thin
    for place in np.argsort(-on.sum(axis=0), kind="stable").tolist():
        if not any((other >= on[:, place]).all() for other, _, _ in found):
            found.append((on[:, place], hull.A[place], float(hull.b[place])))
    return found


def _seen(
    index: int,
    corners: np.ndarray,
    normal: np.ndarray,
    every: _Bodies,
    away: float,
    area_of_union: Callable[[list[np.ndarray]], float],
) -> float:
    """Return the area of a facet that no other body covers."""
    if len(corners) < 3:
        return 0.0
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle, full_matrices=False)
    first, second = axes[:2]
    flat = (corners - middle) @ axes[:2].T
    flat = flat[order_around(flat - flat.mean(axis=0))]
    whole = _area(flat)
    # Bodies that reach beyond the plane cover it from outside; of those that end in it the ones before this one do.
    top = np.maximum.reduceat((every.corners - middle) @ normal, every.first_corner)
    before = np.arange(len(top)) < index
    level = np.where(top > away, away, -away)
    considered = (top > away) | ((top > -away) & before)
    considered[index] = False
    owner = np.repeat(np.arange(len(top)), np.diff([*every.first_row, len(every.rows)]))
    slopes = every.rows @ np.stack([first, second], axis=1)
    room = every.ends - every.rows @ middle - (every.rows @ normal) * level[owner]
    out = flat @ slopes.T - room  # above 0 outside
    misses = np.logical_or.reduceat((out >= 0).all(axis=0), every.first_row)
    holds = np.logical_and.reduceat((out <= 0).all(axis=0), every.first_row)
    if (holds & considered).any():
        return 0.0
    parts = []
    for other in np.flatnonzero(considered & ~misses).tolist():
        begin = every.first_row[other]
        stop = every.first_row[other + 1] if other + 1 < len(top) else len(every.rows)
        rows = begin + np.flatnonzero((out[:, begin:stop] > 0).any(axis=0))
        part = flat
        for row in rows:
            part = _cut(part, slopes[row], room[row])
            if len(part) < 3:
                break
        else:
            parts.append(part)
    if not parts:
        return whole
    return max(0.0, whole - (_area(parts[0]) if len(parts) == 1 else area_of_union(parts)))


def _area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def _cut(polygon: np.ndarray, row: np.ndarray, end: float) -> np.ndarray:
    """Return the part of a convex polygon with ``row u <= end``."""
    out = polygon @ row - end
    inside = out <= 0
    if inside.all():
        return polygon
    after, later = np.roll(polygon, -1, axis=0), np.roll(out, -1)
    found = []
    for one, two, here, there in zip(polygon, after, out.tolist(), later.tolist(), strict=True):
        if here <= 0:
            found.append(one)
        if (here <= 0) != (there <= 0):
            found.append(one + (two - one) * (here / (here - there)))
    return np.array(found).reshape(-1, 2)

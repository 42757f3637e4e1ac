"""The volume of a union of convex bodies that may overlap: lengths, areas, surfaces, and what is new in each body.

While a line moves across the plane, the length of what it shares with the union is affine between two corners, or
points where two sides cross; its value in the middle times the width is the area of the strip. A crossing that rounding
misses changes the area by as little as it was missed by.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.budget import Budget
from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.geometry.polyhedra.hulls import hull_of
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.unions.set_differences import without
from reluscope.geometry.unions.union_surface import volume_by_surface
from reluscope.interruption import safe_point
from reluscope.stopping import Stop

# Pairs of sides, and of strips and bodies, that are in memory at a time.
TOGETHER = 2_000_000


class UnionVolume(NamedTuple):
    """A volume between two ends, and why they do not meet, if they do not."""

    lower: float
    upper: float
    stop: Stop | None = None


def volume_of_union(bodies: Sequence[Float[np.ndarray, "_ n"]], thin: float, budget: Budget) -> UnionVolume:
    """Return the volume of the union of the convex hulls of points.

    Each body needs an interior. From three dimensions on parts that hold no ball of radius ``thin`` are left out. From
    four on, or where rounding leaves gaps, a linear program or more for any two bodies whose boxes meet.
    """
    began = time.time()
    if not len(bodies):
        return UnionVolume(0.0, 0.0)
    dim = bodies[0].shape[1]
    if dim == 1:
        ends = np.array([(body.min(), body.max()) for body in bodies])
        length = float(_lengths(np.zeros(len(ends), dtype=np.int64), ends[:, 0], ends[:, 1], 1)[0])
        return UnionVolume(length, length)
    if dim == 2:
        return _area(bodies, budget, began)
    if dim == 3 and len(bodies) > 1:
        volume = volume_by_surface(
            bodies,
            lambda polygons: _area(polygons, Budget(), began).lower,
            lambda: bool(safe_point() or budget.spent(0, began)),
        )
        if volume is not None:
            return UnionVolume(volume, volume)
    return _in_space(bodies, thin, budget, began)


def _area(polygons: Sequence[np.ndarray], budget: Budget, began: float) -> UnionVolume:
    """Return the area of a union, strip by strip."""
    # Around a corner of all, so that far away nothing is lost.
    base = np.min([polygon.min(axis=0) for polygon in polygons], axis=0)
    lower, upper = _chains([hull_of_plane(polygon - base) for polygon in polygons])
    sides = np.concatenate([lower, upper])
    cuts = [sides[:, 0], sides[:, 2]]
    step = max(1, TOGETHER // len(sides))
    for start in range(0, len(sides), step):
        safe_point()
        cuts.append(_crossings(sides[start : start + step], sides))
    breaks = np.unique(np.concatenate(cuts))
    widths, middles = np.diff(breaks), (breaks[:-1] + breaks[1:]) / 2
    height = float(upper[:, [1, 3]].max())
    step = max(1, TOGETHER // len(polygons))
    areas: list[float] = []
    for start in range(0, len(middles), step):
        safe_point()
        if stopped := budget.spent(0, began):
            done = sum(areas)
            return UnionVolume(done, done + float(widths[start:].sum()) * height, stopped)
        rows = slice(start, start + step)
        (place, low), (_, high) = (_values(chain, middles[rows]) for chain in (lower, upper))
        areas.append(float(_lengths(place, low, high, len(middles[rows])) @ widths[rows]))
    total = float(np.sum(areas))
    return UnionVolume(total, total)


def hull_of_plane(points: Float[np.ndarray, "v 2"]) -> Float[np.ndarray, "w 2"]:
    """Return the corners of the convex hull of points of the plane, counter-clockwise.

    The lowest of the leftmost corners comes first.
    """
    ordered = np.unique(points, axis=0).tolist()
    chains = []
    for run in (ordered, ordered[::-1]):
        chain: list[list[float]] = []
        for point in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains += chain[:-1]
    return np.array(chains or ordered)


def _turn(one: list[float], two: list[float], three: list[float]) -> float:
    return (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0])


def _chains(polygons: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper sides ``(x, y, x', y')`` with x < x', by polygon and from left to right."""
    lower, upper = [], []
    for corners in polygons:
        sides = np.hstack([corners, np.roll(corners, -1, axis=0)])
        lower.append(sides[sides[:, 0] < sides[:, 2]])
        back = sides[sides[:, 0] > sides[:, 2]][:, [2, 3, 0, 1]]
        upper.append(back[::-1])
    found = tuple(np.concatenate(chain) for chain in (lower, upper))
    # A chain that begins with its second corner starts in its middle: by polygon, then by x.
    for chain, parts in zip(found, (lower, upper), strict=True):
        owners = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        chain[:] = chain[np.lexsort((chain[:, 0], owners))]
    return found[0], found[1]


def _crossings(some: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return where some sides cross others, as coordinates along the first axis."""
    left = np.maximum(some[:, None, 0], sides[None, :, 0])
    right = np.minimum(some[:, None, 2], sides[None, :, 2])
    one, two = np.nonzero(left < right)
    left, right = left[one, two], right[one, two]
    first = _at(some[one], left) - _at(sides[two], left)
    last = _at(some[one], right) - _at(sides[two], right)
    crosses = first * last < 0
    share = first[crosses] / (first[crosses] - last[crosses])
    return left[crosses] + (right[crosses] - left[crosses]) * share


def _at(sides: np.ndarray, x: np.ndarray) -> np.ndarray:
    x0, y0, x1, y1 = sides.T
    return y0 + (y1 - y0) * ((x - x0) / (x1 - x0))


def _values(chain: np.ndarray, middles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, polygon after polygon, which strips the sides of a chain pass, and how high."""
    begin, end = np.searchsorted(middles, chain[:, 0]), np.searchsorted(middles, chain[:, 2])
    counts = end - begin
    rows = np.repeat(np.arange(len(chain)), counts)
    strips = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) + begin[rows]
    return strips, _at(chain[rows], middles[strips])


def _lengths(place: np.ndarray, low: np.ndarray, high: np.ndarray, number: int) -> np.ndarray:
    """Return the length of the union of intervals at each of so many places."""
    order = np.lexsort((low, place))
    place, low, high = place[order], low[order], high[order]
    # The farthest end so far, place by place, by ranks: those of later places are above all before.
    ranked = np.sort(high)
    shift = place * len(high)
    far = ranked[np.maximum.accumulate(np.argsort(np.argsort(high)) + shift) - shift]
    before = np.concatenate([[-np.inf], far[:-1]])
    before[np.flatnonzero(np.diff(place, prepend=-1))] = -np.inf
    return np.bincount(place, np.maximum(0.0, high - np.maximum(low, before)), minlength=number)


def _in_space(bodies: Sequence[np.ndarray], thin: float, budget: Budget, began: float) -> UnionVolume:
    """Return the volume of a union: that of each body without those before it, the largest first."""
    volumes = np.array([hull_volume(body) for body in bodies])
    order = [int(index) for index in np.argsort(-volumes, kind="stable") if volumes[index] > 0]
    low = np.array([body.min(axis=0) for body in bodies])
    high = np.array([body.max(axis=0) for body in bodies])
    hulls: dict[int, Polyhedron] = {}
    done = 0.0
    for number, index in enumerate(order):
        safe_point()
        if stopped := budget.spent(0, began):
            return UnionVolume(done, done + float(volumes[order[number:]].sum()), stopped)
        body = bodies[index]
        whole = hull_of(body, thin)
        parts = [whole]
        for other, hull in hulls.items():
            meets = (np.minimum(high[index], high[other]) - np.maximum(low[index], low[other]) > thin).all()
            if meets and not (body @ hull.A.T >= hull.b - thin).all(axis=0).any():
                parts = [rest for part in parts for rest in _left(part, hull, thin)]
        done += float(volumes[index]) if parts == [whole] else sum(part.volume() for part in parts)
        hulls[index] = whole
    return UnionVolume(done, done)


def _left(part: Polyhedron, hull: Polyhedron, thin: float) -> list[Polyhedron]:
    """Return a body without another one; as it is where they do not overlap."""
    return without(part, hull, thin).parts if part.intersect(hull).insphere().radius > thin else [part]

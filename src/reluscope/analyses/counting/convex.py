"""Convex regions of a plane: the fewest cells of a polyhedral complex on each of which the function is affine.

The edges between different maps belong to every such complex; of the others as few as possible. A set of edges is a
complex of convex cells if at every vertex inside the domain either no edge ends, or two that go straight on, or at
least three with less than a half turn between neighbours. Note that convex sets alone are no complex: where several
edges end on one straight side, the region beyond that side must be cut too.
"""

from collections import defaultdict
from fractions import Fraction
from functools import cmp_to_key
from math import hypot

import numpy as np
from jaxtyping import Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.analyses.counting.connected import open_components
from reluscope.analyses.counting.exact_complex import ExactComplex
from reluscope.geometry.numbers.resolutions import TINY

# Relative to the largest coordinate: directions of shorter edges are compared in rational arithmetic.
SHORT = 1e-8
# Directions with a sine of the angle between them below this are compared in rational arithmetic.
SINE = 1e-6

Direction = tuple[Fraction, Fraction] | tuple[float, float]


def convex_cells(complex_: ExactComplex, maps: Int[np.ndarray, " r"]) -> tuple[int, int]:
    """Return the least and the greatest number of cells that the smallest complex of a plane can have.

    Lower: an open connected region with s corners that some edge must cut, and h holes, has at least 1 - h + s/2 cells.
    Upper: a complex made of edges of the partition. ``maps`` are numbers of the regions' affine maps.
    """
    plane = _Plane(complex_, maps)
    lower = plane.lower()
    plane.repair()
    return lower, plane.num_cells()


class _Plane:
    """Edges between regions, some of them kept; all edges between different maps are."""

    def __init__(self, complex_: ExactComplex, maps: np.ndarray) -> None:
        self.complex = complex_
        self.left, self.right, self.ends = complex_.left, complex_.right, complex_.ends
        inner = self.right >= 0
        self.labels = open_components(complex_.part, maps)
        self.free = inner & (maps[self.left] == maps[self.right])
        self.kept = inner & ~self.free
        on_boundary = np.zeros(len(complex_.vertices), dtype=bool)
        on_boundary[self.ends[~inner].reshape(-1)] = True
        self.inside = ~on_boundary
        # Where every edge is kept, the partition is a complex already.
        touched = np.zeros(len(complex_.vertices), dtype=bool)
        touched[self.ends[self.free].reshape(-1)] = True
        self.touched = np.flatnonzero(touched & ~on_boundary)

    def lower(self) -> int:
        """Bound the number of cells from below; to be asked before `repair`."""
        special: dict[int, int] = defaultdict(int)
        for vertex in self.touched.tolist():
            around = self._sorted(vertex, self._edges(vertex, self.kept))
            if not around or self._is_straight(around):
                continue
            for (edge, first), (_, second) in zip(around, [*around[1:], around[0]], strict=True):
                if len(around) == 1 or _cross(first, second) <= 0:
                    special[self._after(vertex, edge)] += 1
        # Holes of the open regions by their Euler characteristic.
        number = int(self.labels.max()) + 1 if len(self.labels) else 0
        euler = np.bincount(self.labels, minlength=number)
        euler -= np.bincount(self.labels[self.left[self.free]], minlength=number)
        for vertex in self.touched.tolist():
            edges = self._edges(vertex, self.free | self.kept)
            if self.free[edges].all():
                euler[self.labels[self.left[edges[0]]]] += 1
        total = 0
        for label in np.unique(self.labels).tolist():
            cuts = special.get(label, 0)
            total += max(1 if cuts == 0 else 2, int(euler[label]) + (cuts + 1) // 2)
        return total

    def repair(self) -> None:
        """Keep more edges until those kept are a complex."""
        waiting = self.touched.tolist()
        while waiting:
            vertex = waiting.pop()
            if not self.inside[vertex]:
                continue
            while (edge := self._missing(vertex)) is not None:
                self.kept[edge] = True
                waiting.append(int(self.ends[edge].sum() - vertex))

    def num_cells(self) -> int:
        """Return the number of cells between the edges kept."""
        gone = self.free & ~self.kept
        number = len(self.complex.part)
        pairs = (np.ones(int(gone.sum()), dtype=bool), (self.left[gone], self.right[gone]))
        return int(connected_components(coo_array(pairs, shape=(number, number)), directed=False)[0])

    def _missing(self, vertex: int) -> int | None:
        """Return one more edge to keep at a vertex, or None if those kept are as they must be."""
        around = self._sorted(vertex, self._edges(vertex, self.kept))
        if not around or self._is_straight(around):
            return None
        for (_, first), (_, second) in zip(around, [*around[1:], around[0]], strict=True):
            alone = len(around) == 1
            if alone or _cross(first, second) <= 0:
                break
        else:
            return None
        candidates = self._sorted(vertex, self._edges(vertex, self.free & ~self.kept))
        within = [(edge, way) for edge, way in candidates if alone or _is_between(first, way, second)]
        if not within:
            # Cells are convex, so edges come here in a wrong order: vertices too close together for floats.
            self.complex.num_blurred += 1
            return None
        straight = [edge for edge, way in within if alone and _is_opposite(first, way)]
        if straight:
            return straight[0]
        closing = [edge for edge, way in within if _cross(first, way) > 0 and _cross(way, second) > 0]
        if closing:
            # A straight continuation of another edge costs nothing at the vertices that follow.
            onward = [edge for edge, way in within if edge in closing and any(_is_opposite(w, way) for _, w in around)]
            return onward[0] if onward else closing[len(closing) // 2]
        return within[len(within) // 2][0]

    def _edges(self, vertex: int, chosen: np.ndarray) -> np.ndarray:
        edges = self.complex.facets_at(vertex)
        return edges[chosen[edges]]

    def _sorted(self, vertex: int, edges: np.ndarray) -> list[tuple[int, Direction]]:
        """Return edges with their directions away from a vertex, counter-clockwise."""
        where = self.complex.vertices
        others = self.ends[edges].sum(axis=1) - vertex
        ways: list[Direction] = [(x, y) for x, y in (where[others] - where[vertex]).tolist()]
        if self._is_doubtful(vertex):
            start = self.complex.point(vertex)
            stops = [self.complex.point(int(other)) for other in others]
            if start is not None and all(stop is not None for stop in stops):
                ways = [(s[0] - start[0], s[1] - start[1]) for s in stops if s is not None]
        return sorted(zip(edges.tolist(), ways, strict=True), key=cmp_to_key(lambda a, b: _turn(a[1], b[1])))

    def _is_doubtful(self, vertex: int) -> bool:
        """Return whether floats cannot order the edges at a vertex, or tell straight from bent."""
        edges = self._edges(vertex, self.free | self.kept)
        where = self.complex.vertices
        ways = [(x, y) for x, y in (where[self.ends[edges].sum(axis=1) - vertex] - where[vertex]).tolist()]
        lengths = [hypot(*way) for way in ways]
        scale = np.abs(where[vertex]).max() + TINY
        if min(lengths) < SHORT * scale:
            return True
        return any(
            abs(_cross(a, b)) <= SINE * p * q
            for i, (a, p) in enumerate(zip(ways, lengths, strict=True))
            for b, q in zip(ways[:i], lengths[:i], strict=True)
        )

    def _is_straight(self, around: list[tuple[int, Direction]]) -> bool:
        return len(around) == 2 and _is_opposite(around[0][1], around[1][1])

    def _after(self, vertex: int, edge: int) -> int:
        """Return the open connected region on the counter-clockwise side of an edge, seen from a vertex."""
        left, right = int(self.left[edge]), int(self.right[edge])
        other = int(self.ends[edge].sum()) - vertex
        if self._is_doubtful(vertex) and (height := self._exact_height(vertex, other, left)) is not None:
            return int(self.labels[left if height > 0 else right])
        where, witnesses = self.complex.vertices, self.complex.part.witnesses
        way = where[other] - where[vertex]
        middle = where[self.ends[edge]].mean(axis=0)
        heights = [float(_cross(tuple(way), tuple(witnesses[cell] - middle))) for cell in (left, right)]
        return int(self.labels[left if heights[0] > heights[1] else right])

    def _exact_height(self, vertex: int, other: int, cell: int) -> Fraction | None:
        """Return how far a cell reaches beside one of its edges: it is all on one side, however narrow it is."""
        corners = self.complex.corners[self.complex.cells == cell].tolist()
        start, stop, *points = (self.complex.point(corner) for corner in (vertex, other, *corners))
        if start is None or stop is None:
            return None
        way = (stop[0] - start[0], stop[1] - start[1])
        heights = [way[0] * (at[1] - start[1]) - way[1] * (at[0] - start[0]) for at in points if at is not None]
        return max(heights, key=abs, default=None)


def _cross(a: Direction, b: Direction) -> Fraction | float:
    return a[0] * b[1] - a[1] * b[0]  # type: ignore[operator]


def _dot(a: Direction, b: Direction) -> Fraction | float:
    return a[0] * b[0] + a[1] * b[1]  # type: ignore[operator]


def _is_opposite(a: Direction, b: Direction) -> bool:
    return _cross(a, b) == 0 and _dot(a, b) < 0


def _half(a: Direction) -> int:
    return 0 if a[1] > 0 or (a[1] == 0 and a[0] > 0) else 1


def _turn(a: Direction, b: Direction) -> int:
    """Compare two directions by their angle from 0 to a full turn."""
    if _half(a) != _half(b):
        return _half(a) - _half(b)
    cross = _cross(a, b)
    return -1 if cross > 0 else int(cross < 0)


def _is_between(first: Direction, way: Direction, second: Direction) -> bool:
    """Return whether a direction lies strictly on the way counter-clockwise from the first to the second."""
    if _cross(first, second) > 0:
        return _cross(first, way) > 0 and _cross(way, second) > 0
    if _is_opposite(first, second):
        return _cross(first, way) > 0
    return not (_cross(second, way) >= 0 and _cross(way, first) >= 0)

"""Doubtful signs decided in rational arithmetic.

A vertex is where a cut function vanishes between two earlier vertices, so its rational coordinates follow from theirs;
the sign of any unit there follows from one exact evaluation of the network. Both are found when they are asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from reluscope.geometry.cutting.complexes import Complex
from reluscope.geometry.cutting.splitting import Placement, Subdivision, subdivide
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.interruption import step_point
from reluscope.networks.fractions.rational import RationalNetwork, RationalVector
from reluscope.tolerance import EPSILON

# A sign is in doubt within this multiple of the rounding bound, or this fraction of the largest value of its unit.
MARGIN = 1024.0
FRACTION = 1e-8
Point = tuple[Fraction, ...]
# Positions on an edge are computed exactly unless floats give them to this accuracy: far better than doubt allows.
ACCURACY = 1e-10
# A cut that leaves less than this share of a cell on one side is not told from one along its boundary.
MIN_SHARE = Fraction(1, 10**12)
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class CutFunction:
    """A cut function: a unit of a stage against one of its breakpoints, or two candidates of a max unit."""

    stage: int
    first: int  # entry of the gate's input
    second: int = -1  # entry that is subtracted, -1 if a breakpoint is
    breakpoint: float = 0.0


class ExactVertex:
    """A vertex with rational coordinates: a corner of the domain, or the zero of a cut on an edge."""

    __slots__ = ("_point", "_values", "edge")

    def __init__(
        self, corner: Point | None = None, edge: "tuple[ExactVertex, ExactVertex, CutFunction] | None" = None
    ) -> None:
        self._point = corner
        self._values: dict[int, RationalVector] = {}
        self.edge = edge


class Certifier:
    """Exact arithmetic for one network on one domain."""

    def __init__(self, network: RationalNetwork, domain: Domain) -> None:
        self._rational = network
        self._lift: tuple[list[Fraction], list[list[Fraction]]] | None = None
        if isinstance(domain, Slice):
            origin = [Fraction(float(entry)) for entry in domain.origin]
            basis = [[Fraction(float(entry)) for entry in row] for row in domain.basis]
            self._lift = origin, basis

    def point(self, vertex: ExactVertex) -> Point:
        """Return the exact domain coordinates of a vertex."""
        # Oldest ancestors first, without recursion.
        stack = [vertex]
        while stack:
            current = stack[-1]
            if current._point is not None:
                stack.pop()
                continue
            assert current.edge is not None
            tail, head, _ = current.edge
            missing = [parent for parent in (tail, head) if parent._point is None]
            if missing:
                stack.extend(missing)
                continue
            share = self.share(current)
            current._point = tuple(a + share * (b - a) for a, b in zip(self.point(tail), self.point(head), strict=True))
            stack.pop()
        assert vertex._point is not None
        return vertex._point

    def share(self, vertex: ExactVertex) -> Fraction:
        """Return where on its edge a vertex lies, from 0 at the tail to 1 at the head."""
        assert vertex.edge is not None
        tail, head, cut = vertex.edge
        start, stop = self.height(tail, cut), self.height(head, cut)
        return start / (start - stop)

    def height(self, vertex: ExactVertex, cut: CutFunction) -> Fraction:
        """Return the exact value of a cut function at a vertex."""
        values = vertex._values.get(cut.stage)
        if values is None:
            values = self.preactivations(cut.stage, self.point(vertex))
            vertex._values[cut.stage] = values
        return height(values, cut)

    def preactivations(self, stage: int, point: Point) -> RationalVector:
        """Return what the gate of a stage sees at a point of the domain."""
        return self._rational.preactivations(stage, self._input(point))

    def in_domain(self, coefficients: Mapping[int, Fraction]) -> tuple[list[Fraction], Fraction]:
        """Return a linear function of inputs in coordinates of the domain: slopes and constant."""
        if self._lift is None:
            return [
                coefficients.get(entry, Fraction(0)) for entry in range(self._rational.network.num_inputs)
            ], Fraction(0)
        origin, basis = self._lift
        if not coefficients:  # candidates that are equal, as many are where a maximum follows ReLU
            return [_ZERO] * len(basis), _ZERO
        slopes, constant = [
            [sum((weight * row[entry] for entry, weight in coefficients.items()), Fraction(0)) for row in rows]
            for rows in (basis, [origin])
        ]
        return slopes, constant[0]

    def winners(self, corners: list[ExactVertex], stage: int, candidates: list[list[int]]) -> list[int]:
        """Return for each max unit the position of the lowest of its largest candidates inside a cell.

        ``corners`` are all vertices of the cell; candidates are entries of the gate's input, -1 where there is none.
        """
        points = [self.point(vertex) for vertex in corners]
        center = tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True))
        values = self.preactivations(stage, center).numerators
        found = []
        for entries in candidates:
            best = max(values[entry] for entry in entries if entry >= 0)
            found.append(next(i for i, entry in enumerate(entries) if entry >= 0 and values[entry] == best))
        return found

    def _input(self, point: Point) -> list[Fraction]:
        if self._lift is None:
            return list(point)
        origin, basis = self._lift
        return [
            start + sum((y * row[i] for y, row in zip(point, basis, strict=True)), Fraction(0))
            for i, start in enumerate(origin)
        ]


def subdivide_exactly(
    cells: Complex,
    placement: Placement,
    seams: np.ndarray,
    heights: np.ndarray,
    *,
    rounding: np.ndarray,
    vertices: list[ExactVertex],
    cuts: list[CutFunction],
    certifier: Certifier,
) -> tuple[Subdivision, list[ExactVertex]]:
    """Cut a complex like `subdivide`, with every sign decided exactly.

    Returns the subdivision, without undecided signs, and the old and new vertices. ``cuts`` says what the columns of
    ``heights`` are.
    """
    vertices, heights = list(vertices), heights.copy()
    nothing = np.zeros(1)
    parent = np.arange(cells.num_cells)
    sides = np.zeros((cells.num_cells, len(cuts)), dtype=np.uint8)
    tails, heads, shares = [], [], []
    num_undecided = 0
    for column, cut in enumerate(cuts):
        step_point()
        sizes = np.abs(heights[:, column])
        doubt = doubtful(rounding[column : column + 1], sizes.max(keepdims=True, initial=0.0))
        for row in np.flatnonzero(sizes <= doubt):
            step_point()
            exact = certifier.height(vertices[row], cut)
            # The float may have lost the sign; its size only places new vertices.
            amount = max(abs(float(exact)), np.finfo(float).tiny)
            heights[row, column] = 0.0 if exact == 0 else amount if exact > 0 else -amount
        work = subdivide(
            cells,
            placement,
            seams,
            heights[:, column : column + 1],
            rounding=nothing,
            slopes=nothing,
            floor=nothing,
            limit=2**62,
        )
        fresh = [
            ExactVertex(edge=(vertices[a], vertices[b], cut))
            for a, b in zip(work.tail.tolist(), work.head.tolist(), strict=True)
        ]
        share = work.share.copy()
        rise = np.abs(heights[work.tail, column] - heights[work.head, column])
        off = 2.0 * rounding[column] / np.maximum(rise, np.finfo(float).tiny)
        for row in np.flatnonzero(ACCURACY * rise < rounding[column]):
            step_point()
            share[row], off[row] = float(certifier.share(fresh[row])), 0.0
        grown = (1 - share[:, None]) * heights[work.tail] + share[:, None] * heights[work.head]
        grown[:, column] = 0.0
        heights = np.concatenate([heights, grown])
        points = work.placement.points.copy()
        new = slice(len(placement.points), None)
        points[new] = (1 - share[:, None]) * points[work.tail] + share[:, None] * points[work.head]
        # No sign depends on it, but what is made of the vertices does.
        blur = work.placement.blur.copy()
        moved = off * np.linalg.norm(points[work.tail] - points[work.head], axis=1)
        moved += 4 * EPSILON * np.abs(points[new]).max(axis=1, initial=0.0)
        blur[new] = np.maximum(blur[work.tail], blur[work.head]) + moved
        vertices += fresh
        tails.append(work.tail)
        heads.append(work.head)
        shares.append(share)
        parent, sides = parent[work.parent], sides[work.parent]
        sides[:, column] = work.sides[:, 0]
        cells, placement, seams = work.complex, replace(work.placement, points=points, blur=blur), work.seams
        num_undecided += work.num_undecided
    empty = np.zeros(0, dtype=np.int64)
    work = Subdivision(
        cells,
        seams,
        parent,
        sides,
        np.concatenate([empty, *tails]),
        np.concatenate([empty, *heads]),
        np.concatenate([np.zeros(0), *shares]),
        heights,
        np.zeros(len(cuts)),
        placement,
        len(cuts),
        num_undecided,
    )
    return work, vertices


def doubtful(rounding: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return up to which size a sign is in doubt, for functions of a given rounding error and largest value."""
    return np.maximum(MARGIN * rounding, FRACTION * size)


def height(values: RationalVector, cut: CutFunction) -> Fraction:
    """Return the exact value of a cut function, given what its gate sees."""
    if cut.second >= 0:
        return values[cut.first] - values[cut.second]
    return values[cut.first] - Fraction(cut.breakpoint)

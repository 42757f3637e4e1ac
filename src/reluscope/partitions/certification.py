"""Doubtful signs decided in rational arithmetic.

A vertex is where a cut function vanishes between two earlier vertices, so its rational coordinates follow from theirs;
the sign of any unit there follows from one exact evaluation of the network. Both are found when they are asked for.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reluscope.geometry.complexes import Complex
from reluscope.geometry.domains import Box, Slice
from reluscope.geometry.splitting import Subdivision, subdivide
from reluscope.networks.network import Network
from reluscope.networks.rational import RationalNetwork, RationalVector

# A sign is in doubt within this multiple of the rounding bound, or this fraction of the largest value of its unit.
MARGIN = 1024.0
FRACTION = 1e-8
# Positions on an edge are computed exactly unless floats give them to this accuracy: far better than doubt allows.
ACCURACY = 1e-10


@dataclass(frozen=True)
class Cut:
    """A cut function: a unit of a stage against one of its breakpoints, or two candidates of a max unit.

    Parameters
    ----------
    stage : int
    first : int
        Entry of the gate's input.
    second : int
        Entry that is subtracted, -1 if a breakpoint is.
    breakpoint : float
    """

    stage: int
    first: int
    second: int = -1
    breakpoint: float = 0.0


class ExactVertex:
    """A vertex with rational coordinates: a corner of the domain, or the zero of a cut on an edge.

    Parameters
    ----------
    corner : fractions, optional
        Domain coordinates of a corner.
    edge : two vertices and a cut, optional
    """

    __slots__ = ("_point", "_values", "edge")

    def __init__(
        self, corner: tuple[Fraction, ...] | None = None, edge: "tuple[ExactVertex, ExactVertex, Cut] | None" = None
    ) -> None:
        self._point = corner
        self._values: dict[int, RationalVector] = {}
        self.edge = edge


class Certifier:
    """Exact arithmetic for one network on one domain.

    Parameters
    ----------
    network : Network
    domain : Slice or Box
    """

    def __init__(self, network: Network, domain: Slice | Box) -> None:
        self._rational = RationalNetwork(network)
        self._lift: tuple[list[Fraction], list[list[Fraction]]] | None = None
        if isinstance(domain, Slice):
            origin = [Fraction(float(entry)) for entry in domain.origin]
            basis = [[Fraction(float(entry)) for entry in row] for row in domain.basis]
            self._lift = origin, basis

    def corner(self, point: np.ndarray) -> ExactVertex:
        """Return a vertex at float coordinates, taken as rationals."""
        return ExactVertex(corner=tuple(Fraction(float(entry)) for entry in point))

    def point(self, vertex: ExactVertex) -> tuple[Fraction, ...]:
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

    def height(self, vertex: ExactVertex, cut: Cut) -> Fraction:
        """Return the exact value of a cut function at a vertex."""
        values = vertex._values.get(cut.stage)
        if values is None:
            values = self._rational.preactivations(cut.stage, self._input(vertex))
            vertex._values[cut.stage] = values
        if cut.second >= 0:
            return values[cut.first] - values[cut.second]
        return values[cut.first] - Fraction(cut.breakpoint)

    def winners(self, corners: list[ExactVertex], stage: int, candidates: list[list[int]]) -> list[int]:
        """Return for each max unit the position of the lowest of its largest candidates inside a cell.

        Parameters
        ----------
        corners : list of ExactVertex
            All vertices of the cell.
        stage : int
        candidates : list of lists
            Entries of the gate's input per unit, -1 where there is none.
        """
        points = [self.point(vertex) for vertex in corners]
        center = ExactVertex(tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True)))
        values = self._rational.preactivations(stage, self._input(center)).numerators
        found = []
        for entries in candidates:
            best = max(values[entry] for entry in entries if entry >= 0)
            found.append(next(i for i, entry in enumerate(entries) if entry >= 0 and values[entry] == best))
        return found

    def _input(self, vertex: ExactVertex) -> list[Fraction]:
        point = self.point(vertex)
        if self._lift is None:
            return list(point)
        origin, basis = self._lift
        return [
            start + sum((y * row[i] for y, row in zip(point, basis, strict=True)), Fraction(0))
            for i, start in enumerate(origin)
        ]


def subdivide_exactly(
    cells: Complex,
    seams: np.ndarray,
    heights: np.ndarray,
    *,
    rounding: np.ndarray,
    vertices: list[ExactVertex],
    cuts: list[Cut],
    certifier: Certifier,
) -> tuple[Subdivision, list[ExactVertex]]:
    """Cut a complex like `subdivide`, with every sign decided exactly.

    Parameters
    ----------
    cells, seams, heights, rounding
        As for `subdivide`.
    vertices : list of ExactVertex
        The vertices of the complex.
    cuts : list of Cut
        What the columns of ``heights`` are.
    certifier : Certifier

    Returns
    -------
    work : Subdivision
        With no undecided sign.
    vertices : list of ExactVertex
        Old and new.
    """
    vertices, heights = list(vertices), heights.copy()
    nothing = np.zeros(1)
    parent = np.arange(cells.num_cells)
    positive = np.zeros((cells.num_cells, len(cuts)), dtype=bool)
    tails, heads, shares = [], [], []
    num_undecided = 0
    for column, cut in enumerate(cuts):
        for row in np.flatnonzero(np.abs(heights[:, column]) <= doubtful(heights, rounding)[column]):
            exact = certifier.height(vertices[row], cut)
            # The float may have lost the sign; its size only places new vertices.
            size = max(abs(float(exact)), np.finfo(float).tiny)
            heights[row, column] = 0.0 if exact == 0 else size if exact > 0 else -size
        work = subdivide(cells, seams, heights[:, column : column + 1], rounding=nothing, floor=nothing, limit=2**62)
        fresh = [
            ExactVertex(edge=(vertices[a], vertices[b], cut))
            for a, b in zip(work.tail.tolist(), work.head.tolist(), strict=True)
        ]
        share = work.share.copy()
        rise = np.abs(heights[work.tail, column] - heights[work.head, column])
        for row in np.flatnonzero(ACCURACY * rise < rounding[column]):
            share[row] = float(certifier.share(fresh[row]))
        grown = (1 - share[:, None]) * heights[work.tail] + share[:, None] * heights[work.head]
        grown[:, column] = 0.0
        heights = np.concatenate([heights, grown])
        vertices += fresh
        tails.append(work.tail)
        heads.append(work.head)
        shares.append(share)
        parent, positive = parent[work.parent], positive[work.parent]
        positive[:, column] = work.positive[:, 0]
        cells, seams = work.complex, work.seams
        num_undecided += work.num_undecided
    empty = np.zeros(0, dtype=np.int64)
    work = Subdivision(
        cells,
        seams,
        parent,
        positive,
        np.concatenate([empty, *tails]),
        np.concatenate([empty, *heads]),
        np.concatenate([np.zeros(0), *shares]),
        heights,
        len(cuts),
        num_undecided,
    )
    return work, vertices


def doubtful(heights: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Return per column the size up to which the sign of a float is in doubt."""
    return np.maximum(MARGIN * rounding, FRACTION * np.abs(heights).max(axis=0, initial=0.0))


def doubtful_candidates(pre: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Return per max unit and candidate the size up to which a lead over another candidate is in doubt."""
    size = np.abs(np.where(np.isfinite(pre), pre, 0.0)).max(axis=0, initial=0.0)
    return np.maximum(MARGIN * rounding, FRACTION * size)

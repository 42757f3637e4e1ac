"""The regions of a line or a plane as a complex of vertices, edges and cells, with exact coordinates where asked for.

Every vertex lies where facets end, and every facet where a unit vanishes or where the domain ends. Its rational
coordinates follow from two such lines, whose coefficients are exact: the affine map of a unit on a region beside.
"""

from fractions import Fraction
from functools import cached_property

import numpy as np

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.domains import Space
from reluscope.geometry.polyhedra.window_shapes import WindowShape, window_shape
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, RationalMaps, rational_maps
from reluscope.networks.graph.choosing_gates import Max
from reluscope.partitions.partition_in_memory import Partition

Point = tuple[Fraction, ...]


class ExactComplex:
    """Vertices, edges and cells of a partition, and rational arithmetic at them.

    The partition is complete, of a bounded line or plane. ``right`` is -1 on the boundary; ``cells``, ``corners`` list
    which vertex lies in which closed cell; ``num_blurred``: vertices that floats merged or misordered.
    """

    def __init__(self, part: Partition) -> None:
        facets = part.facets_with_ends
        self.part = part
        self.dim = part.dim
        self.network = part.network_on_domain
        self.exact = RationalNetwork(self.network)
        self.vertices = part.vertices
        self.ends, self.left, self.right = facets.known_ends, facets.left, facets.right
        self.pieces = pieces_of(part.codes)
        self.num_blurred = 0
        self._maps: dict[int, RationalMaps] = {}
        self._points: dict[int, Point | None] = {}

    @cached_property
    def _incidences(self) -> tuple[np.ndarray, np.ndarray]:
        columns = self.ends.shape[1]
        cells = np.concatenate([np.repeat(self.left, columns), np.repeat(self.right, columns)])
        corners = np.tile(self.ends.reshape(-1), 2)
        pairs = np.unique(np.stack([cells, corners], axis=1)[cells >= 0], axis=0)
        return pairs[:, 0], pairs[:, 1]

    @property
    def cells(self) -> np.ndarray:
        """Cells that closed cells' vertices are listed for, ascending."""
        return self._incidences[0]

    @property
    def corners(self) -> np.ndarray:
        """Vertices in the closed cells ``cells``."""
        return self._incidences[1]

    def maps(self, cell: int) -> RationalMaps:
        """Return the exact affine functions on a cell."""
        if cell not in self._maps:
            self._maps[cell] = rational_maps(self.exact, [table[cell].tolist() for table in self.pieces])
        return self._maps[cell]

    def point(self, vertex: int) -> Point | None:
        """Return the exact coordinates of a vertex, or None if the facets there do not meet in one point."""
        if vertex not in self._points:
            self._points[vertex] = self._meet(vertex)
            self.num_blurred += self._points[vertex] is None
        return self._points[vertex]

    def line(self, facet: int) -> AffineFunction:
        """Return an exact affine function that vanishes on a facet."""
        left, right = int(self.left[facet]), int(self.right[facet])
        if right < 0:
            return self._side(facet)
        for stage, (node, table) in enumerate(zip(self.network.stages, self.pieces, strict=True)):
            gate = node.gate
            for unit in np.flatnonzero(table[left] != table[right]).tolist():
                low, high = sorted((int(table[left, unit]), int(table[right, unit])))
                if isinstance(gate, Max):
                    entries = gate.index[unit, [low, high]].tolist()
                    first, second = (self.maps(left).entry(stage, entry) for entry in entries)
                    function = tuple(a - b for a, b in zip(first, second, strict=True))
                else:
                    level = Fraction(float(gate.breakpoints.expand(-1, gate.num_units)[low, unit]))
                    *slope, constant = self.maps(left).entry(stage, unit)
                    function = (*slope, constant - level)
                if any(function[:-1]):
                    return function
        raise DegenerateGeometryError(f"regions {left} and {right} share a facet on which no unit vanishes")

    @cached_property
    def _facets_at(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.ends.reshape(-1), kind="stable")
        starts = np.searchsorted(self.ends.reshape(-1)[order], np.arange(len(self.vertices) + 1))
        return order // self.ends.shape[1], starts

    def facets_at(self, vertex: int) -> np.ndarray:
        """Return the facets that end at a vertex."""
        facets, starts = self._facets_at
        return facets[starts[vertex] : starts[vertex + 1]]

    def _meet(self, vertex: int) -> Point | None:
        lines = [self.line(int(facet)) for facet in self.facets_at(vertex)]
        if self.dim == 1:
            points = {(-constant / slope,) for slope, constant in lines}
            return points.pop() if len(points) == 1 else None
        if not lines:
            return None
        a, b, c = lines[0]
        point = None
        for d, e, f in lines[1:]:
            if cross := a * e - b * d:
                point = ((b * f - c * e) / cross, (c * d - a * f) / cross)
                break
        if point is None or any(p * point[0] + q * point[1] + r for p, q, r in lines):
            return None
        return point

    def _side(self, facet: int) -> AffineFunction:
        """Return the side of the window on which a facet of the boundary lies."""
        shape = self._shape
        where = self.vertices[self.ends[facet]]
        distances = [_distances(where, shape.corners.points[members]).max() for members in shape.incidence.T]
        return tuple(map(Fraction, shape.sides[int(np.argmin(distances))]))

    @cached_property
    def _shape(self) -> WindowShape:
        window = self.part.window
        assert not isinstance(window, Space)
        return window_shape(window)


def _distances(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return how far points are from a segment, or from a single point."""
    along = ends[-1] - ends[0]
    length = float(along @ along)
    share = np.clip((points - ends[0]) @ along / length, 0.0, 1.0) if length > 0 else np.zeros(len(points))
    return np.linalg.norm(points - ends[0] - share[:, None] * along, axis=1)

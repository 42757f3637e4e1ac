"""Connected regions: where a function is one affine map on a connected set, open or closed.

Open: regions with one map that share facets belong together. Closed: for every map g, the components of {f = g} that
have an interior. They may hang together at a single point, or along a set without interior on which two maps agree:
{f = g} meets every region in a convex set, so two regions belong together if a chain of regions leads from one to the
other in which neighbours share a point with f = g.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.analyses.counting.exact_complex import ExactComplex
from reluscope.networks.fractions.rational_maps import AffineFunction
from reluscope.partitions.partition_in_memory import Partition

# A difference of outputs that is this small against the largest is compared in rational arithmetic.
FRACTION = 1e-7


def open_components(part: Partition, maps: Int[np.ndarray, " r"]) -> Int[np.ndarray, " r"]:
    """Return which open connected region every region belongs to.

    ``maps`` are numbers of the affine maps of the regions.
    """
    left, right, _ = part.facet_columns.inner
    same = maps[left] == maps[right]
    return _components(left[same], right[same], len(part))


@dataclass(frozen=True)
class ClosedComponents:
    """Which closed connected region every region belongs to."""

    labels: Int[np.ndarray, " r"]
    num_undecided: int  # points where f = g was in doubt; taken as apart


def closed_components(complex_: ExactComplex, maps: Int[np.ndarray, " r"]) -> ClosedComponents:
    """Return which closed connected region every region of a line or a plane belongs to.

    ``maps`` are numbers of the affine maps of the regions.
    """
    labels = open_components(complex_.part, maps)
    undecided = 0
    for cells in _apart(maps, labels):
        meeting = _MeetingPoints(complex_, cells)
        joined = meeting.components()
        undecided += meeting.num_undecided
        # All components of {f = g} that contain one of these regions, named by their first open component.
        for component in np.unique(joined):
            members = cells[joined == component]
            labels[members] = labels[members].min()
    return ClosedComponents(labels, undecided)


def _apart(maps: np.ndarray, labels: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the regions of every map that has several open components."""
    order = np.lexsort((labels, maps))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(maps[order]) != 0]))
    for first, last in zip(starts, [*starts[1:], len(order)], strict=True):
        cells = order[first:last]
        if labels[cells[0]] != labels[cells[-1]]:
            yield cells


class _MeetingPoints:
    """Vertices, and points inside edges, at which f is equal to the map g of some regions."""

    def __init__(self, complex_: ExactComplex, cells: np.ndarray) -> None:
        self.complex = complex_
        self.cells = cells
        self.num_undecided = 0
        part = complex_.part
        weight, bias = _float_map(complex_, int(cells[0]))
        vertices = part.vertices
        values = vertices @ weight.T + bias
        self.differences = part.outputs - values
        scale = np.abs(part.outputs).max(axis=0) + np.abs(vertices) @ np.abs(weight).T + np.abs(bias)
        self.doubt = FRACTION * scale
        surely = np.zeros(len(vertices), dtype=bool)
        inside = np.isin(complex_.cells, cells)
        surely[complex_.corners[inside]] = True
        self.zero = surely.copy()
        for vertex in np.flatnonzero(~surely & (np.abs(self.differences) <= self.doubt).all(axis=1)).tolist():
            exact = self._exact(vertex)
            if exact is None:
                self.num_undecided += 1
            else:
                self.zero[vertex] = not any(exact)

    def components(self) -> np.ndarray:
        """Return which component of {f = g} every one of the regions lies in."""
        one = self.complex
        at_vertex = self.zero[one.corners]
        cells, points = [one.cells[at_vertex]], [one.corners[at_vertex]]
        if one.dim == 2:
            edges = self._crossed()
            for side in (one.left, one.right):
                inner = edges[side[edges] >= 0]
                cells.append(side[inner])
                points.append(len(one.vertices) + inner)
        number = len(one.part)
        owner, meeting = np.concatenate(cells), np.concatenate(points)
        _, meeting = np.unique(meeting, return_inverse=True)
        total = number + (int(meeting.max()) + 1 if len(meeting) else 0)
        return _components(owner, number + meeting.reshape(-1), total)[self.cells]

    def _crossed(self) -> np.ndarray:
        """Return the edges with f = g at one point between their ends: there f - g points opposite ways at the ends."""
        tail, head = self.complex.ends.T
        both = ~self.zero[tail] & ~self.zero[head]
        a, b = self.differences[tail], self.differences[head]
        if a.shape[1] == 1:
            # Signs of what is not zero: floats give them, or the exact values do.
            signs = np.sign(self.differences[:, 0])
            for vertex in np.flatnonzero(~self.zero & (np.abs(self.differences) <= self.doubt).all(axis=1)).tolist():
                exact = self._exact(vertex)
                signs[vertex] = 0 if exact is None else (exact[0] > 0) - (exact[0] < 0)
            return np.flatnonzero(both & (signs[tail] * signs[head] < 0))
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        slack = FRACTION * lengths + np.linalg.norm(self.doubt[tail], axis=1) * np.linalg.norm(b, axis=1)
        slack += np.linalg.norm(self.doubt[head], axis=1) * np.linalg.norm(a, axis=1)
        opposite = (a * b).sum(axis=1) <= -lengths + slack
        found = []
        for edge in np.flatnonzero(both & opposite).tolist():
            first, second = (self._exact(int(vertex)) for vertex in self.complex.ends[edge])
            if first is None or second is None:
                self.num_undecided += 1
                continue
            pivot = next(index for index, entry in enumerate(first) if entry)
            parallel = all(x * second[pivot] == y * first[pivot] for x, y in zip(first, second, strict=True))
            if parallel and first[pivot] * second[pivot] < 0:
                found.append(edge)
        return np.array(found, dtype=np.int64)

    def _exact(self, vertex: int) -> AffineFunction | None:
        """Return f - g at a vertex, exactly."""
        point = self.complex.point(vertex)
        if point is None:
            return None
        value = self.complex.exact.output(point)
        maps = self.complex.maps(int(self.cells[0])).outputs
        return tuple(
            value[index] - sum((c * x for c, x in zip(slope, point, strict=True)), constant)
            for index, (*slope, constant) in enumerate(maps)
        )


def _float_map(complex_: ExactComplex, cell: int) -> tuple[np.ndarray, np.ndarray]:
    table = np.array([[float(entry) for entry in function] for function in complex_.maps(cell).outputs])
    return table[:, :-1], table[:, -1]


def _components(first: np.ndarray, second: np.ndarray, number: int) -> np.ndarray:
    """Return the component of every one of some nodes under pairs that belong together."""
    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(number, number))
    return connected_components(graph, directed=False)[1].astype(np.int64)

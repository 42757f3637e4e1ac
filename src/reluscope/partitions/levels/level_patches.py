"""The pieces of a level set in a finished chunk: facets between cells on different sides, and what is on its seams."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import unpack_pieces
from reluscope.partitions.complexes.certification import CutFunction
from reluscope.partitions.complexes.chunks import Chunk, means
from reluscope.partitions.complexes.vertex_names import mixed
from reluscope.partitions.levels.level_walls import cones_by_side


@dataclass(frozen=True)
class LevelPatch:
    """What is kept of a chunk that has passed the level gate.

    ``words``, ``witnesses`` and ``sides`` are of the cells beside facets, and of those on the level.
    """

    points: np.ndarray  # (v, d) vertices of facets
    blur: np.ndarray  # (v,) how far each vertex may be from its true place
    names: np.ndarray  # (v,) names of the vertices
    offsets: np.ndarray  # (f + 1,) where each facet's ``ids`` begin
    ids: np.ndarray  # vertices of facets in cyclic order; two in the plane
    cells: np.ndarray  # (f, 2) rows beside every facet, 2nd -1 beyond a seam
    facet_names: np.ndarray  # (f,) of those on seams, the same on both sides
    border: np.ndarray  # (e, d - 1) vertices of facet ridges on the boundary
    words: np.ndarray  # (c, w) codes before the level gate
    witnesses: np.ndarray  # (c, d) inner points
    sides: np.ndarray  # (c,) int8
    walls: np.ndarray  # (1, 3) boundary cone volumes by sides, `level_walls`
    roots: np.ndarray  # (r,) of all cells of the chunk

    @classmethod
    def of(cls, chunk: Chunk, sides: Callable[[Chunk], np.ndarray], apex: np.ndarray) -> "LevelPatch":
        """Keep what a finished chunk knows of the level.

        The chunk's vertices must have names. All cells on side 0 are kept; ``apex`` is that of the cones over the
        boundary of the domain.
        """
        assert chunk.names is not None
        complex_, dim = chunk.cells, chunk.cells.dim
        side = sides(chunk)
        left, right = complex_.cofaces()
        is_inner = right >= 0
        is_seam = ~is_inner & (chunk.seams >= 0)
        facets = np.flatnonzero(np.where(is_inner, side[left] != side[right], is_seam))
        offsets, ridges = _rows(*complex_.boundary(dim - 1), facets)
        of_border = np.flatnonzero(~is_inner & (chunk.seams == -1))
        on_border = np.zeros(int(complex_.size[dim - 2]), dtype=bool)
        on_border[_rows(*complex_.boundary(dim - 1), of_border)[1]] = True
        if dim == 2:
            ids, border = ridges, np.unique(ridges[on_border[ridges]])[:, None]
        else:
            ends = complex_.boundary(1)[1].reshape(-1, 2).astype(np.int64)
            ids, border = cycles(offsets, ends[ridges]), ends[np.unique(ridges[on_border[ridges]])]
        used, ids = np.unique(ids, return_inverse=True)
        beside = np.stack([left[facets], right[facets]], axis=1)
        kept = np.union1d(beside[beside >= 0], np.flatnonzero(side == 0))
        names = chunk.names[used]
        seams = chunk.seams[facets]
        facet_names = mixed(_sums(mixed(names)[ids], offsets) + mixed(seams.astype(np.uint64)))
        words = np.concatenate([np.zeros((len(chunk), 0), dtype=np.uint64), *chunk.words[:-1]], axis=1)
        return cls(
            chunk.points[used],
            chunk.blur[used],
            names,
            offsets,
            ids.astype(np.int64),
            np.where(beside < 0, -1, np.searchsorted(kept, beside)),
            np.where(beside[:, 1] < 0, facet_names, 0).astype(np.uint64),
            np.searchsorted(used, border),
            words[kept],
            means(chunk.points, *complex_.cell_vertices())[kept],
            side[kept],
            cones_by_side(complex_, chunk.points, ~is_inner & (chunk.seams == -1), side, apex)[None],
            chunk.roots,
        )

    def __len__(self) -> int:
        return len(self.roots)


def cycles(offsets: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the vertices of polygons in cyclic order.

    Polygon f has the edges ``edges[offsets[f] : offsets[f + 1]]``, in any order.
    """
    counts = np.diff(offsets)
    vertex = edges.reshape(-1)
    polygon = np.repeat(np.arange(len(counts)), 2 * counts)
    # Every vertex of a polygon ends two of its edges: there one end leads to the other.
    order = np.lexsort((vertex, polygon))
    other = np.empty(len(vertex), dtype=np.int64)
    other[order[0::2]], other[order[1::2]] = order[1::2], order[0::2]
    found = np.empty(len(edges), dtype=np.int64)
    active, end = np.arange(len(counts)), 2 * offsets[:-1]
    for step in range(int(counts.max(initial=0))):
        going = counts[active] > step
        active, end = active[going], end[going]
        found[offsets[active] + step] = vertex[end]
        end = other[end ^ 1]
    return found


def level_sides(chunk: Chunk, layout: CodeLayout) -> np.ndarray:
    """Return for every cell of a finished chunk whether it is above the level (1), below (-1), or on it (0).

    The layout is that of the level gate alone.
    """
    assert chunk.last is not None
    is_above = unpack_pieces(np.asarray(chunk.words[-1]), layout)[:, 0] > 0
    side = np.where(is_above, 1, -1).astype(np.int8)
    offsets, ids = chunk.cells.cell_vertices()
    is_zero = np.logical_and.reduceat(chunk.last[ids, 0] == 0, offsets[:-1])
    cut = CutFunction(chunk.num_stages - 1, 0)
    before = np.concatenate([np.zeros((len(chunk), 0), dtype=np.uint64), *chunk.words[:-1]], axis=1)
    for cell in np.flatnonzero(is_zero & ~is_above).tolist():
        # Zero at all vertices, as floats see it: of such cells rational arithmetic has been asked before.
        corners = chunk.points[ids[offsets[cell] : offsets[cell + 1]]]
        vertices = np.column_stack([corners, np.ones(len(corners))])
        exact = chunk.exact_signs
        found = None if exact is None else exact.signs(int(chunk.roots[cell]), vertices, before[cell], [cut])
        side[cell] = -1 if found is not None and found[0] == -1 else 0
    return side


def _rows(offsets: np.ndarray, ids: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some of several lists, back to back."""
    offsets = offsets.astype(np.int64)
    counts = np.diff(offsets)[rows]
    first = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(offsets[rows] - first[:-1], counts) + np.arange(first[-1])
    return first, ids[places].astype(np.int64)


def _sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values, offsets[:-1])

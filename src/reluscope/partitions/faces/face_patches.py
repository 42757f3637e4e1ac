"""All faces of a finished chunk, with names that are the same in all chunks that a face is in."""

from dataclasses import dataclass

import numpy as np

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import unpack_pieces
from reluscope.partitions.complexes.certification import CutFunction
from reluscope.partitions.complexes.chunks import Chunk
from reluscope.partitions.complexes.vertex_names import mixed


@dataclass(frozen=True)
class FacePatch:
    """The complex of a chunk that has passed all gates.

    Names and borders are by dimension, from vertices to cells; offsets and ids by dimension 1 to d.
    """

    points: np.ndarray  # (v, d) vertices
    blur: np.ndarray  # (v,) how far each vertex may be from its true place
    heights: np.ndarray  # (v, u) output functions that cut last; exactly 0 on cuts
    names: tuple[np.ndarray, ...]  # d + 1 arrays (faces,)
    offsets: tuple[np.ndarray, ...]  # d arrays, boundaries of the faces with ``ids``
    ids: tuple[np.ndarray, ...]  # d arrays
    is_border: tuple[np.ndarray, ...]  # (faces,) each, faces on the domain's boundary
    words: np.ndarray  # (cells, w) codes without functions of the outputs
    num_thin: int  # cells on which floats wrongly call a function zero
    roots: np.ndarray  # (cells,)

    @classmethod
    def of(cls, chunk: Chunk, layout: CodeLayout | None) -> "FacePatch":
        """Keep the faces of a finished chunk whose vertices have names.

        ``layout`` is that of the functions of the outputs, if they are the chunk's last gate.
        """
        assert chunk.names is not None
        cells, dim = chunk.cells, chunk.cells.dim
        lists = [cells.boundary(k) for k in range(1, dim + 1)]
        names = [chunk.names]
        for k, (offsets, ids) in enumerate(lists, 1):
            sums = np.add.reduceat(mixed(names[-1])[ids], offsets[:-1])
            names.append(mixed(sums + np.uint64(k)))
        left, right = cells.cofaces()
        is_border = [np.zeros(int(cells.size[dim]), dtype=bool), (right < 0) & (left >= 0) & (chunk.seams == -1)]
        for k in range(dim - 1, 0, -1):
            offsets, ids = lists[k - 1]
            below = np.zeros(int(cells.size[k - 1]), dtype=bool)
            below[ids[np.repeat(is_border[-1], np.diff(offsets))]] = True
            is_border.append(below)
        words = chunk.words if layout is None else chunk.words[:-1]
        has_heights = layout is not None and chunk.last is not None
        return cls(
            chunk.points,
            chunk.blur,
            chunk.last if has_heights and chunk.last is not None else np.zeros((len(chunk.points), 0)),
            tuple(names),
            tuple(offsets for offsets, _ in lists),
            tuple(ids for _, ids in lists),
            tuple(reversed(is_border)),
            np.concatenate([np.zeros((len(chunk), 0), dtype=np.uint64), *words], axis=1),
            _num_thin(chunk, layout) if layout is not None else 0,
            chunk.roots,
        )

    def __len__(self) -> int:
        return len(self.roots)


def _num_thin(chunk: Chunk, layout: CodeLayout) -> int:
    """Return on how many cells a last function is zero at all vertices, as floats see it, and not zero."""
    assert chunk.last is not None
    offsets, ids = chunk.cells.cell_vertices()
    is_zero = np.logical_and.reduceat((chunk.last == 0)[ids], offsets[:-1], axis=0)
    flat = np.flatnonzero(is_zero.any(axis=1))
    if not len(flat) or chunk.exact_signs is None:
        return 0
    is_above = unpack_pieces(np.asarray(chunk.words[-1])[flat], layout) > 0
    number = 0
    before = np.concatenate([np.zeros((len(chunk), 0), dtype=np.uint64), *chunk.words[:-1]], axis=1)
    for cell, above in zip(flat.tolist(), is_above, strict=True):
        units = np.flatnonzero(is_zero[cell])
        corners = chunk.points[ids[offsets[cell] : offsets[cell + 1]]]
        vertices = np.column_stack([corners, np.ones(len(corners))])
        cuts = [CutFunction(chunk.num_stages - 1, unit) for unit in units.tolist()]
        found = None
        if not above[units].any():
            found = chunk.exact_signs.signs(int(chunk.roots[cell]), vertices, before[cell], cuts)
        # Where nothing is left to spend the cut has counted them as undecided.
        number += bool(above[units].any() or (found is not None and any(sign != 0 for sign in found)))
    return number

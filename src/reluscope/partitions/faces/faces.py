"""All faces of a partition of a bounded domain, from vertices to cells, each once: the complex that topology is about.

Faces from different chunks are one where their names are; nothing is joined because it is near. The complex does not
depend on the chunks: faces of a dimension are in the order of their names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from reluscope.arguments import read_arguments
from reluscope.codes.distinct import group_equal_rows
from reluscope.errors import ShapeError
from reluscope.partitions.faces.face_patches import FacePatch
from reluscope.stopping import Noted, Stop


@dataclass(frozen=True, eq=False)
class Faces(Noted):
    """The polyhedral complex of a partition.

    Parameters
    ----------
    vertices : (v, d) float64; blur : (v,) float64
        In domain coordinates, with the possible rounding error of each position.
    heights : (v, u) float64
        Values at the vertices of the functions of the outputs that also cut the complex; exactly zero on their zero
        sets.
    offsets, ids : tuples of d arrays
        Face f of dimension k has the faces ``ids[k - 1][offsets[k - 1][f] : offsets[k - 1][f + 1]]`` of dimension
        k - 1 on its boundary.
    is_border : tuple of d + 1 (faces,) bool
        Which faces of every dimension lie on the boundary of the domain.
    words : (cells, w) uint64
        Packed codes of the cells; cells cut by max gates share one code.
    num_undecided : int
        Undecided signs, vertices of one name that lie apart, and facets without the cells beside them.
    num_open : int
        Unfinished cells when work stopped.
    stop : Stop, optional
        Why work stopped early, if it did; `note` says it in words.
    regions : (cells,) int64
        Region of a partition that each cell belongs to, -1 if it is not among them; empty if not requested.
    """

    vertices: Float[np.ndarray, "v d"]
    blur: Float[np.ndarray, " v"]
    heights: Float[np.ndarray, "v u"]
    offsets: tuple[Int[np.ndarray, " _"], ...]
    ids: tuple[Int[np.ndarray, " _"], ...]
    is_border: tuple[Bool[np.ndarray, " _"], ...]
    words: UInt64[np.ndarray, "cells w"]
    num_undecided: int
    num_open: int
    stop: Stop | None = None
    regions: Int[np.ndarray, " _"] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __repr__(self) -> str:
        """Return how many faces there are of every dimension."""
        numbers = ", ".join(f"{number:,}" for number in self.num_faces)
        return f"Faces({numbers} of dimensions 0 to {self.dim}{', stopped: ' * bool(self.stop)}{self.note})"

    @property
    def dim(self) -> int:
        """Dimension of the cells."""
        return len(self.ids)

    @property
    def num_faces(self) -> tuple[int, ...]:
        """Number of faces of every dimension, from vertices to cells."""
        return tuple(map(len, self.is_border))

    @read_arguments
    def among(self, is_in: Bool[np.ndarray, " v"]) -> tuple[Bool[np.ndarray, " _"], ...]:
        """Return for every dimension the faces with all vertices in a given set: a closed subcomplex.

        Parameters
        ----------
        is_in : (v,) bool
            Marks the vertices of the set.

        Raises
        ------
        ShapeError
            If there is not one entry per vertex.
        """
        if len(is_in) != len(self.vertices):
            raise ShapeError(f"is_in must say of each of {len(self.vertices)} vertices whether it is, got {len(is_in)}")
        found = [is_in]
        for offsets, ids in zip(self.offsets, self.ids, strict=True):
            inside = np.logical_and.reduceat(found[-1][ids], offsets[:-1]) if len(offsets) > 1 else found[-1][:0]
            found.append(inside)
        return tuple(found)

    @read_arguments
    def of_regions(self, words: UInt64[np.ndarray, "r w"]) -> "Faces":
        """Return the same faces, with the regions that cells are of, given the different codes of these."""
        first, group, _ = group_equal_rows(np.concatenate([words, self.words]))
        rows = first[group[len(words) :]]
        return replace(self, regions=np.where(rows < len(words), rows, -1))


def faces_of_facets(
    vertices: Float[np.ndarray, "v d"],
    blur: Float[np.ndarray, " v"],
    left: Int[np.ndarray, " f"],
    right: Int[np.ndarray, " f"],
    ends: Int[np.ndarray, "f d"],
    words: UInt64[np.ndarray, "r w"],
) -> Faces:
    """Return the faces of a line or plane from the facets of its regions; outer ones have no right side."""
    inner, number = np.flatnonzero(right >= 0), len(left)
    cells, sides = np.concatenate([left, right[inner]]), np.concatenate([np.arange(number), inner])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=len(words)))])
    sides = sides[np.argsort(cells, kind="stable")]
    is_outer, none = np.zeros(len(vertices), dtype=bool), np.zeros(len(words), dtype=bool)
    is_outer[ends[right < 0]] = True
    if ends.shape[1] == 1:  # facets of a line are vertices
        lists, is_border = [(offsets, ends[sides, 0])], (is_outer, none)
    else:
        edges = np.arange(0, 2 * number + 1, 2), ends.reshape(-1)
        lists, is_border = [edges, (offsets, sides)], (is_outer, right < 0, none)
    all_offsets, all_ids = zip(*lists, strict=True)
    heights = np.zeros((len(vertices), 0))
    return Faces(vertices, blur, heights, all_offsets, all_ids, is_border, words, 0, 0, regions=np.arange(len(words)))


def assemble_faces(patches: list[FacePatch], dim: int, num_words: int, num_heights: int, length: float) -> Faces:
    """Join the faces of chunks.

    Vertices of one name may be as far apart as ``length``.
    """
    first, row = [], []
    for k in range(dim + 1):
        names = _stacked([patch.names[k] for patch in patches], np.zeros(0, dtype=np.uint64))
        _, one, all_ = np.unique(names, return_index=True, return_inverse=True)
        first.append(one)
        row.append(all_)
    points = _stacked([patch.points for patch in patches], np.zeros((0, dim)))
    vertices = points[first[0]]
    num_apart = int((np.abs(points - vertices[row[0]]).max(axis=1, initial=0.0) > length).sum())
    heights = _stacked([patch.heights for patch in patches], np.zeros((0, num_heights)))
    # A vertex that is on a level in one chunk, and not in another.
    num_apart += int(((heights == 0) != (heights[first[0]] == 0)[row[0]]).sum())
    blur = np.zeros(len(vertices))
    np.maximum.at(blur, row[0], _stacked([patch.blur for patch in patches], np.zeros(0)))
    offsets, ids = [], []
    for k in range(1, dim + 1):
        starts = np.cumsum([0, *(len(patch.names[k - 1]) for patch in patches)])
        lists = [patch.ids[k - 1] + start for patch, start in zip(patches, starts, strict=False)]
        counts = _stacked([np.diff(patch.offsets[k - 1]) for patch in patches], np.zeros(0, dtype=np.int64))
        found = _rows(counts, _stacked(lists, np.zeros(0, dtype=np.int64)), first[k])
        offsets.append(found[0])
        ids.append(row[k - 1][found[1]])
    is_border = []
    for k in range(dim + 1):
        where = np.zeros(len(first[k]), dtype=bool)
        where[row[k][_stacked([patch.is_border[k] for patch in patches], np.zeros(0, dtype=bool))]] = True
        is_border.append(where)
    beside = np.bincount(ids[-1], minlength=len(first[dim - 1]))
    num_unmatched = int((beside != np.where(is_border[dim - 1], 1, 2)).sum())
    words = _stacked([patch.words for patch in patches], np.zeros((0, num_words), dtype=np.uint64))[first[dim]]
    num_thin = sum(patch.num_thin for patch in patches)
    return Faces(
        vertices,
        blur,
        heights[first[0]],
        tuple(offsets),
        tuple(ids),
        tuple(is_border),
        words,
        num_apart + num_unmatched + num_thin,
        0,
    )


def _stacked(parts: Sequence[np.ndarray], empty: np.ndarray) -> np.ndarray:
    return np.concatenate([empty, *parts])


def _rows(counts: np.ndarray, ids: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some of several lists, back to back."""
    begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(counts[rows])]).astype(np.int64)
    return first, ids[np.repeat(begins[:-1][rows] - first[:-1], counts[rows]) + np.arange(first[-1])]

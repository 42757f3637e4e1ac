"""The pieces of a level set from all chunks, joined into one mesh.

Vertices are one where their names are, and facets on the two sides of a seam are one where their vertices are; nothing
is joined because it is near. The result does not depend on the chunks: vertices are in the order of their names.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from reluscope.partitions.complexes.vertex_names import mixed
from reluscope.partitions.levels.level_patches import LevelPatch

Label = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class LevelPieces:
    """A level set as a mesh.

    ``words``, ``witnesses`` and ``sides`` are of the cells beside pieces, and of those on the level.
    """

    vertices: np.ndarray  # (v, d)
    blur: np.ndarray  # (v,) how far each vertex may be from its true place
    offsets: np.ndarray  # (p + 1,) where each piece's ``ids`` begin
    ids: np.ndarray  # vertices in cyclic order, either sense; 2 in the plane
    below: np.ndarray  # (p,) row of the cell below every piece
    above: np.ndarray  # (p,) row of the cell above every piece
    border: np.ndarray  # (e, d - 1) ridges on the boundary, ids ascending
    words: np.ndarray  # (c, w) codes
    witnesses: np.ndarray  # (c, d) inner points
    sides: np.ndarray  # (c,) int8
    walls: np.ndarray  # (3,) cones over the finished boundary, by sides
    num_unmatched: int  # vertices of one name that lie apart

    def scaled(self, sides: np.ndarray) -> "LevelPieces":
        """Return the pieces with every coordinate times a number of at most 1."""
        vertices, witnesses = self.vertices * sides, self.witnesses * sides
        return replace(self, vertices=vertices, witnesses=witnesses, walls=self.walls * sides.prod())


def assemble_level(patches: list[LevelPatch], dim: int, num_words: int, length: float, label: Label) -> LevelPieces:
    """Join the level pieces that chunks have found.

    Vertices of one name may be as far apart as ``length``. Pieces are where ``label`` of the sides of cells differs;
    the larger is above.
    """
    table = stacked(patches, dim, num_words)
    cells, names = table.cells, table.facet_names
    # The two sides of a seam's facet stand side by side in the order of names.
    alone = np.flatnonzero(cells[:, 1] < 0)
    order = alone[np.argsort(names[alone], kind="stable")]
    same = np.flatnonzero(names[order[1:]] == names[order[:-1]])
    cells = cells.copy()
    cells[order[same], 1] = cells[order[same + 1], 0]
    labels = label(table.sides)
    whole = np.flatnonzero(cells[:, 1] >= 0)
    pieces = whole[labels[cells[whole, 0]] != labels[cells[whole, 1]]]
    beside = cells[pieces]
    flipped = labels[beside[:, 0]] > labels[beside[:, 1]]
    below, above = np.where(flipped, beside[:, 1], beside[:, 0]), np.where(flipped, beside[:, 0], beside[:, 1])

    offsets, ids = _lists(table.offsets, table.ids, pieces)
    used, ids = np.unique(ids, return_inverse=True)
    _, first, vertex = np.unique(table.names[used], return_index=True, return_inverse=True)
    points = table.points[used]
    vertices = points[first]
    blur = np.zeros(len(vertices))
    np.maximum.at(blur, vertex, table.blur[used])
    apart = np.abs(points - vertices[vertex]).max(axis=1, initial=0.0) > length
    ids = vertex[ids]
    named = np.full(len(table.points), -1)
    named[used] = vertex
    border = named[table.border]
    border = np.unique(np.sort(border[(border >= 0).all(axis=1)], axis=1), axis=0)
    # Pieces are in the order of their vertices, too, and begin at the first of them.
    sums = np.add.reduceat(mixed(ids.astype(np.uint64)), offsets[:-1]) if len(pieces) else np.zeros(0, np.uint64)
    by_name = np.argsort(sums, kind="stable")
    offsets, ids = _lists(offsets, ids, by_name)
    ids = _from_lowest(offsets, ids)
    return LevelPieces(
        vertices,
        blur,
        offsets,
        ids,
        below[by_name],
        above[by_name],
        border,
        table.words,
        table.witnesses,
        table.sides,
        np.array([math.fsum(column) for column in table.walls.T]),
        int(apart.sum()),
    )


def stacked(patches: list[LevelPatch], dim: int, num_words: int) -> LevelPatch:
    """Return patches as one, in a domain of some dimensions, with codes of some words."""
    empty = LevelPatch(
        points=np.zeros((0, dim)),
        blur=np.zeros(0),
        names=np.zeros(0, dtype=np.uint64),
        offsets=np.zeros(1, dtype=np.int64),
        ids=np.zeros(0, dtype=np.int64),
        cells=np.zeros((0, 2), dtype=np.int64),
        facet_names=np.zeros(0, dtype=np.uint64),
        border=np.zeros((0, dim - 1), dtype=np.int64),
        words=np.zeros((0, num_words), dtype=np.uint64),
        witnesses=np.zeros((0, dim)),
        sides=np.zeros(0, dtype=np.int8),
        walls=np.zeros((0, 3)),
        roots=np.zeros(0, dtype=np.int64),
    )
    patches = [empty, *patches]
    columns = {field.name: [getattr(patch, field.name) for patch in patches] for field in fields(LevelPatch)}

    def shifted(name: str, by: str) -> list[np.ndarray]:
        starts = np.cumsum([0, *map(len, columns[by])])[:-1]
        return [np.where(part < 0, -1, part + start) for part, start in zip(columns[name], starts, strict=True)]

    columns["offsets"] = [part[1:] for part in shifted("offsets", "ids")]
    columns["offsets"].insert(0, np.zeros(1, dtype=np.int64))
    columns["ids"], columns["border"] = shifted("ids", "points"), shifted("border", "points")
    columns["cells"] = shifted("cells", "sides")
    return LevelPatch(**{name: np.concatenate(parts) for name, parts in columns.items()})


def _lists(offsets: np.ndarray, ids: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    counts = np.diff(offsets)[rows]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return first, ids[np.repeat(offsets[rows] - first[:-1], counts) + np.arange(first[-1])]


def _from_lowest(offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return cyclic lists turned so that each begins with its lowest entry."""
    counts = np.diff(offsets)
    if not len(counts):
        return ids
    lowest = np.repeat(np.minimum.reduceat(ids, offsets[:-1]), counts)
    shift = np.flatnonzero(ids == lowest) - offsets[:-1]
    place = np.arange(len(ids)) - np.repeat(offsets[:-1], counts)
    return ids[np.repeat(offsets[:-1], counts) + (place + np.repeat(shift, counts)) % np.repeat(counts, counts)]

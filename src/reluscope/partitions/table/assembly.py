"""Finished chunks joined into one complex: seams matched, vertices identified, equal codes merged.

Both sides of a seam were cut by the same units at the same places, up to rounding, so they carry the same facets in
the same order. Where they do not (a tie of max candidates that matters on one side only), facets are matched by
overlap.

Joining by names of vertices (`vertex_names`) was tried in its place. A tie that cuts one side of a seam gives its edges
other names there, and all vertices made on them later, so that chunks of networks with max gates have to stay whole: a
plane of 186,000 regions of a network with pooling then takes 94 s and 17 GB instead of 16 s and 0.6 GB. Without max
gates the same regions and vertices come out with the same memory; joining is 15 to 20 % faster and new names cost more
than that: planes of 1,700, 16,000 and 90,000 regions take 13, 11 and 5 % longer (fastest of 27 runs each).
"""

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope import _kernels
from reluscope.codes.compressed_words import CompressedWords
from reluscope.codes.distinct import group_equal_rows
from reluscope.freed_memory import give_back
from reluscope.partitions.complexes.chunks import Chunk, means
from reluscope.partitions.table.corner_columns import SharedCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns


@dataclass(frozen=True)
class Patch:
    """The finished cells of one chunk: what is left of it when values are forgotten."""

    points: np.ndarray  # (v, d)
    offsets: np.ndarray  # (r + 1,) where each cell's ``ids`` begin
    ids: np.ndarray  # vertices of the cells
    ends: np.ndarray  # (f, d) vertices of every facet
    left: np.ndarray  # (f,) cell beside every facet, -1 outside the chunk
    right: np.ndarray  # (f,) likewise
    seams: np.ndarray  # (f,) seam that a facet lies on, -1 for none
    roots: np.ndarray  # (r,)
    codes: CompressedWords  # packed codes (r, w)
    blur: np.ndarray  # (v,) how far each vertex may be from its true place
    in_doubt: np.ndarray  # (r,) whether a sign stayed undecided on the way to it
    outputs: np.ndarray | None = None  # (v, m)

    @classmethod
    def of(cls, chunk: Chunk) -> "Patch":
        """Keep the geometry and the codes of a chunk that has passed all gates."""
        dim = chunk.cells.dim
        facets, (offsets, ids) = chunk.cells.vertex_lists()
        ends = facets.ids.reshape(-1, dim)
        left, right = chunk.cells.cofaces()
        words = np.concatenate([*chunk.words, np.zeros((chunk.cells.num_cells, 0), dtype=np.uint64)], axis=1)
        codes = CompressedWords.of(words)
        in_doubt = np.full(len(chunk), chunk.in_doubt)
        return cls(
            chunk.points,
            offsets,
            ids,
            ends,
            left,
            right,
            chunk.seams,
            chunk.roots,
            codes,
            chunk.blur,
            in_doubt,
            chunk.outputs,
        )

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def witnesses(self) -> np.ndarray:
        """A strictly interior point of every cell: the mean of its vertices."""
        return means(self.points, self.offsets, self.ids)


def assemble(patches: list[Patch], dim: int, num_words: int, length: float) -> tuple[RegionColumns, np.ndarray]:
    """Join finished chunks to regions in the order of the patches, no two of one code, and return their roots, too.

    ``patches`` is emptied on the way, to save memory. Of merged regions the first stays. Ends of facets closer than
    ``length`` are the same point.
    """
    if not patches:
        return _empty(dim, num_words)
    columns = {f.name: [getattr(patch, f.name) for patch in patches] for f in fields(Patch)}
    patches.clear()
    if any(part is None for part in columns["outputs"]):
        columns["outputs"] = []
    point_shift, cell_shift, id_shift = (
        np.cumsum([0, *map(len, columns[name])]).tolist() for name in ("points", "roots", "ids")
    )
    # What the walk and, below, the patches have left in small pieces would be there beside the whole.
    size = sum(part.nbytes for name, parts in columns.items() if name != "codes" for part in parts)
    give_back(size)
    points = _stack(columns, "points")
    blur = _stack(columns, "blur")
    outputs = _stack(columns, "outputs") if columns["outputs"] else None
    words = _stack_words(columns.pop("codes"), num_words)
    of_vertices = np.int32 if len(points) < 2**31 else np.int64
    ids = _stack(columns, "ids", point_shift, of_vertices)
    columns["offsets"] = [part[1:] for part in columns["offsets"]]
    offsets = np.concatenate([np.zeros(1, np.int64), _stack(columns, "offsets", id_shift)])
    ends = _stack(columns, "ends", point_shift, of_vertices)
    left = _stack(columns, "left", cell_shift)
    right = _stack(columns, "right", cell_shift)
    seams = _stack(columns, "seams")
    roots, in_doubt = _stack(columns, "roots"), _stack(columns, "in_doubt")
    give_back(size)

    inner = right >= 0
    open_ends = np.flatnonzero(~inner & (seams >= 0))
    witnesses = means(points, offsets, ids) if len(open_ends) else np.zeros((0, dim))
    joined, same, num_unmatched = match_seams(
        seams[open_ends], ends[open_ends], left[open_ends], points, witnesses, dim, length
    )
    outer = ~inner & (seams < 0)
    # One after the other: of every array there is one copy more for a moment, and not of all at once.
    del witnesses, seams
    ends = np.concatenate([ends[inner], joined.ends.astype(of_vertices), ends[outer]])
    left = np.concatenate([left[inner], joined.left, left[outer]])
    right = np.concatenate([right[inner], joined.right, right[outer]])
    del inner, outer, joined

    if len(same):
        vertex = _identify(len(points), same)
        # Each vertex is taken for the first one that is the same point, and these are numbered anew.
        is_kept = vertex == np.arange(len(points))
        vertex = (np.cumsum(is_kept) - 1)[vertex].astype(of_vertices)
        known, blur = blur, np.zeros(int(is_kept.sum()))
        np.maximum.at(blur, vertex, known)
        points, ids, ends = points[is_kept], vertex[ids], vertex[ends]
        outputs = None if outputs is None else outputs[is_kept]
    facets = FacetColumns(left, right, num_unmatched, ends)
    merged = _merge_equal_codes(words, SharedCorners(points, offsets, ids, blur, outputs), facets)
    regions, roots = RegionColumns.flat(words[merged.first], merged.corners, merged.facets), roots[merged.first]
    if not facets.num_unmatched:
        in_doubt = in_doubt if merged.region is None else np.bincount(merged.region, in_doubt) > 0
        regions = replace(regions, in_doubt=in_doubt)
    first = _one_of_each_code(regions.words, roots)
    if len(first) < len(roots):
        regions, roots = regions.take(first), roots[first]
    give_back(size)
    return regions, roots


def split_by_root(regions: RegionColumns, roots: np.ndarray, number: int) -> list[RegionColumns]:
    """Return the regions in each of the disjoint cells that the walk began with."""
    parts = []
    corners, facets = regions.corners, regions.facets
    assert isinstance(corners, SharedCorners)
    assert facets is not None
    assert facets.ends is not None
    order = np.argsort(roots, kind="stable")
    bounds = np.searchsorted(roots[order], np.arange(number + 1))
    facet_order = np.argsort(roots[facets.left], kind="stable")
    facet_bounds = np.searchsorted(roots[facets.left][facet_order], np.arange(number + 1))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    for root in range(number):
        cells = order[bounds[root] : bounds[root + 1]]
        own = facet_order[facet_bounds[root] : facet_bounds[root + 1]]
        sizes = np.diff(corners.offsets)[cells]
        spans = (corners.ids[corners.offsets[cell] : corners.offsets[cell + 1]] for cell in cells)
        kept, ids = np.unique(np.concatenate([corners.ids[:0], *spans]), return_inverse=True)
        right = facets.right[own]
        parts.append(
            RegionColumns(
                words=regions.words[cells],
                witnesses=regions.witnesses[cells],
                facets=FacetColumns(
                    place[facets.left[own]] - bounds[root],
                    np.where(right < 0, -1, place[right] - bounds[root]),
                    facets.num_unmatched,
                    np.searchsorted(kept, facets.ends[own]),
                ),
                corners=corners.of_vertices(kept, np.concatenate([[0], np.cumsum(sizes)]), ids),
                is_bounded=np.ones(len(cells), dtype=np.bool_),
                in_doubt=None if regions.in_doubt is None else regions.in_doubt[cells],
            )
        )
    return parts


def _stack(
    columns: dict[str, list[np.ndarray]], name: str, shifts: list[int] | None = None, of_shifted: type = np.int64
) -> np.ndarray:
    """Take one column out and join its parts, entries shifted but for -1; each part is let go of on the way."""
    parts = columns.pop(name)
    rows = sum(map(len, parts))
    joined = np.empty((rows, *parts[0].shape[1:]), dtype=parts[0].dtype if shifts is None else of_shifted)
    parts.reverse()
    start = 0
    for shift in shifts or [0] * len(parts):
        if not parts:
            break
        part = parts.pop()
        joined[start : start + len(part)] = np.where(part < 0, -1, part + shift) if shift else part
        start += len(part)
    return joined


def _stack_words(parts: list[CompressedWords], num_words: int) -> np.ndarray:
    """Join the codes of parts; each part is let go of on the way."""
    joined = np.empty((sum(map(len, parts)), num_words), dtype=np.uint64)
    parts.reverse()
    start = 0
    while parts:
        part = parts.pop()
        joined[start : start + len(part)] = part.words
        start += len(part)
    return joined


@dataclass(frozen=True)
class _Joined:
    ends: np.ndarray
    left: np.ndarray
    right: np.ndarray


def match_seams(
    seams: np.ndarray,
    ends: np.ndarray,
    cells: np.ndarray,
    points: np.ndarray,
    witnesses: np.ndarray,
    dim: int,
    length: float,
) -> tuple[_Joined, np.ndarray, int]:
    """Pair the facets on the two sides of every seam; each seam is taken for itself.

    Returns the joined facets, pairs of vertices that are the same point, and how many seams are not covered.
    """
    none = np.zeros((0, dim), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    if not len(seams):
        return _Joined(none[0], cells[:0], cells[:0]), none[1], 0
    if dim == 1:
        order = np.argsort(seams, kind="stable")
        seam, end, cell = seams[order], ends[order, 0], cells[order]
        paired = np.flatnonzero(seam[1:] == seam[:-1])
        joined = _Joined(end[paired, None], cell[paired], cell[paired + 1])
        return joined, np.stack([end[paired], end[paired + 1]], axis=1), 0

    position, side = _along_seams(seams, ends, cells, points, witnesses)
    flipped = position[:, 0] > position[:, 1]
    ends = np.where(flipped[:, None], ends[:, ::-1], ends)
    position = np.sort(position, axis=1)
    order = np.lexsort((position.sum(axis=1), side, seams))
    seams, side, ends, cells, position = seams[order], side[order], ends[order], cells[order], position[order]
    _, first, number = np.unique(seams, return_index=True, return_counts=True)
    lower = np.add.reduceat((~side).astype(np.int64), first)
    rank = np.arange(len(seams)) - np.repeat(first, number)
    # The k-th facet on one side faces the k-th on the other.
    partner = np.repeat(first + lower, number) + rank
    candidate = np.flatnonzero((rank < np.repeat(lower, number)) & (np.repeat(2 * lower == number, number)))
    partner = partner[candidate]
    agrees = (np.abs(position[candidate] - position[partner]) <= length).all(axis=1)
    seam_of = np.repeat(np.arange(len(first)), number)
    # A seam with one side only borders on work that was not done.
    two_sided = (lower > 0) & (lower < number)
    bad = np.union1d(seam_of[candidate[~agrees]], np.flatnonzero(two_sided & (2 * lower != number)))
    good = ~np.isin(seam_of[candidate], bad)
    upper, below = candidate[good], partner[good]
    parts = [_Joined(ends[upper], cells[upper], cells[below])]
    same = [np.stack([ends[upper, i], ends[below, i]], axis=1) for i in (0, 1)]
    num_unmatched = 0
    for seam in bad.tolist():
        start = int(first[seam])
        rows = np.arange(start, start + int(number[seam]))
        one, two = rows[~side[rows]], rows[side[rows]]
        overlap, equal, covered = _overlap(one, two, ends, cells, position, length)
        parts.append(overlap)
        same.append(equal)
        extents = [float(np.ptp(position[rows, :], axis=1).sum()) for rows in (one, two)]
        num_unmatched += int(covered < min(extents) - length * (len(one) + len(two)))
    return (
        _Joined(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("ends", "left", "right"))),
        np.concatenate(same),
        num_unmatched,
    )


def _along_seams(
    seams: np.ndarray, ends: np.ndarray, cells: np.ndarray, points: np.ndarray, witnesses: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the position of both ends of every facet along its seam, and which side its cell lies on."""
    order = np.argsort(seams, kind="stable")
    _, first, number = np.unique(seams[order], return_index=True, return_counts=True)
    where = points[ends[order]]
    low = np.minimum.reduceat(where.min(axis=1), first, axis=0)
    high = np.maximum.reduceat(where.max(axis=1), first, axis=0)
    axis = np.argmax(high - low, axis=1)
    # Direction of a seam: between its extreme points along the longer axis.
    group = np.repeat(np.arange(len(first)), number)
    along = np.take_along_axis(where, axis[group][:, None, None].repeat(2, axis=1), axis=2)[:, :, 0]
    flat_along, flat_group = along.reshape(-1), np.repeat(group, 2)
    by_position = np.lexsort((flat_along, flat_group))
    flat_points = where.reshape(-1, 2)[by_position]
    start = flat_points[2 * first]
    stop = flat_points[2 * (first + number) - 1]
    # Beyond the resolution of floats a seam may be one point: then it has no direction, and no length to match.
    length = np.linalg.norm(stop - start, axis=1)
    direction = (stop - start) / np.where(length > 0, length, 1.0)[:, None]
    offset = where - start[group][:, None, :]
    position = np.empty((len(seams), 2))
    side = np.empty(len(seams), dtype=bool)
    position[order] = (offset * direction[group][:, None, :]).sum(axis=2)
    towards = witnesses[cells[order]] - start[group]
    side[order] = direction[group][:, 0] * towards[:, 1] - direction[group][:, 1] * towards[:, 0] > 0
    return position, side


def _overlap(
    one: np.ndarray, two: np.ndarray, ends: np.ndarray, cells: np.ndarray, position: np.ndarray, length: float
) -> tuple[_Joined, np.ndarray, float]:
    """Match facets of one seam by overlap, where its sides were cut at different places.

    Returns the joined facets, pairs of equal vertices, and the length that is covered from both sides.
    """
    covered = 0.0
    found_ends, found_left, found_right, same = [], [], [], []
    for i in one:
        for j in two:
            low = i if position[i, 0] >= position[j, 0] else j
            high = i if position[i, 1] <= position[j, 1] else j
            if position[high, 1] - position[low, 0] > length:
                covered += position[high, 1] - position[low, 0]
                found_ends.append((ends[low, 0], ends[high, 1]))
                found_left.append(cells[i])
                found_right.append(cells[j])
            for a in (0, 1):
                for b in (0, 1):
                    if abs(position[i, a] - position[j, b]) <= length:
                        same.append((ends[i, a], ends[j, b]))
    joined = _Joined(
        np.array(found_ends, dtype=np.int64).reshape(-1, 2),
        np.array(found_left, dtype=np.int64),
        np.array(found_right, dtype=np.int64),
    )
    return joined, np.array(same, dtype=np.int64).reshape(-1, 2), covered


def _identify(number: int, same: np.ndarray) -> np.ndarray:
    """Return for each vertex the first vertex that is the same point."""
    if not len(same):
        return np.arange(number)
    touched, compact = np.unique(same, return_inverse=True)
    compact = compact.reshape(same.shape)
    graph = coo_array((np.ones(len(same)), (compact[:, 0], compact[:, 1])), shape=(len(touched), len(touched)))
    _, label = connected_components(graph, directed=False)
    representative = np.full(label.max() + 1, number, dtype=np.int64)
    np.minimum.at(representative, label, touched)
    vertex = np.arange(number)
    vertex[touched] = representative[label]
    return vertex


class _Merged(NamedTuple):
    """Regions of pieces: the first piece of each, the region of each piece, None for itself, corners and facets."""

    first: np.ndarray | slice
    region: np.ndarray | None
    corners: SharedCorners
    facets: FacetColumns


def _merge_equal_codes(words: np.ndarray, corners: SharedCorners, facets: FacetColumns) -> _Merged:
    """Join neighbours with the same code, pieces of one region that cuts of a max gate left behind."""
    assert facets.ends is not None
    inner = facets.right >= 0
    different = ~_kernels.are_rows_equal(words, facets.left, np.where(inner, facets.right, facets.left))
    different |= ~inner
    if different.all():
        return _Merged(slice(None), None, corners, facets)
    number = len(words)
    links = np.ones(len(different) - different.sum()), (facets.left[~different], facets.right[~different])
    _, label = connected_components(coo_array(links, shape=(number, number)), directed=False)
    first = np.full(label.max() + 1, number, dtype=np.int64)
    np.minimum.at(first, label, np.arange(number))
    keep, region = np.unique(first[label], return_inverse=True)
    left, right, ends = facets.left[different], facets.right[different], facets.ends[different]
    left, right, ends = _join_straight(region[left], np.where(right < 0, -1, region[right]), ends, corners.vertices)
    # Corners of a region are ends of its facets; what else its pieces had lies inside it or on a straight side.
    pairs = np.stack([np.repeat(region, np.diff(corners.offsets)), corners.ids], axis=1)
    kept = np.unique(ends)
    pairs = np.unique(pairs[np.isin(pairs[:, 1], kept)], axis=0)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=len(keep)))])
    merged = corners.of_vertices(kept, offsets, np.searchsorted(kept, pairs[:, 1]))
    facets = FacetColumns(left, right, facets.num_unmatched, np.searchsorted(kept, ends))
    return _Merged(keep, region, merged, facets)


def _one_of_each_code(words: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Return the first of several pieces of one region that are no neighbours: what joins them was not finished."""
    if np.ptp(roots):
        words = np.concatenate([roots[:, None].astype(np.uint64), words], axis=1)
    return np.sort(group_equal_rows(words)[0])


def _join_straight(
    left: np.ndarray, right: np.ndarray, ends: np.ndarray, vertices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join facets between the same two regions into one: convex regions share one straight piece."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    if ends.shape[1] == 1:
        return left, right, ends
    order = np.lexsort((high, low, right < 0))
    low, high, left, right, ends = low[order], high[order], left[order], right[order], ends[order]
    starts = np.concatenate([[True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])]) | (right < 0)
    starts = np.flatnonzero(starts)
    sizes = np.diff(np.concatenate([starts, [len(left)]]))
    joined = ends[starts].copy()
    for group in np.flatnonzero(sizes > 1):
        members = ends[starts[group] : starts[group] + sizes[group]].reshape(-1)
        where = vertices[members]
        axis = int(np.argmax(where.max(axis=0) - where.min(axis=0)))
        joined[group] = members[np.argmin(where[:, axis])], members[np.argmax(where[:, axis])]
    return left[starts], right[starts], joined


def _empty(dim: int, num_words: int) -> tuple[RegionColumns, np.ndarray]:
    whole = np.zeros(0, dtype=np.int64)
    corners = SharedCorners(np.zeros((0, dim)), np.zeros(1, dtype=np.int64), whole, np.zeros(0))
    facets = FacetColumns(whole, whole, 0, np.zeros((0, dim), dtype=np.int64))
    return RegionColumns.flat(np.zeros((0, num_words), dtype=np.uint64), corners, facets), whole

"""Cutting polytopes one by one: each is kept by its vertices and by which of its facets every vertex lies on.

Two vertices span an edge if no third vertex lies on all facets that the two share; that is all a cut needs to know,
so faces of other dimensions are never built. In many dimensions this beats complexes of shared faces, whose number
grows with 3^d.

References: the double description method (Motzkin and others, 1953), with the combinatorial test of adjacency of Fukuda
and Prodon (1996).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from reluscope.geometry.cell_rows import (
    FacetRows,
    HeightRows,
    PartRows,
    VertexRows,
    copy_facets,
    copy_vertices,
    more,
    more_rows,
    room_for_facets,
    room_for_heights,
    room_for_parts,
    room_for_vertices,
)
from reluscope.geometry.polytope_cuts import (
    Crossing,
    crossed_edges,
    free_slot,
    mark_zero_facets,
    measure_heights,
    show_pieces,
    write_facets,
    write_half,
)
from reluscope.geometry.polytopes import INNER, Polytopes
from reluscope.interruption import held


@dataclass(frozen=True)
class Pieces:
    """Polytopes after the cuts of one layer.

    Parameters
    ----------
    cells : Polytopes
    parents : (c,) int64
        Cell that each lies in.
    pieces : (c, u) uint16
        Number of breakpoints below each unit.
    num_undecided : int
        Signs that were neither clear nor within rounding, and cuts that rounding made impossible.
    """

    cells: Polytopes
    parents: np.ndarray
    pieces: np.ndarray
    num_undecided: int


def cut_cells(
    cells: Polytopes,
    maps: np.ndarray,
    errors: np.ndarray,
    breakpoints: np.ndarray,
    piece_words: np.ndarray,
    zero_words: np.ndarray,
    *,
    rounding: float,
    resolution: np.ndarray,
    relative: float,
) -> Pieces:
    """Cut every cell where a unit, affine on the cell, crosses a breakpoint.

    Parameters
    ----------
    cells : Polytopes
    maps : (c, u, d + 1) float64
        Coefficients of every unit on every cell in homogeneous coordinates.
    errors : (c, u, d + 1) float64
        Bounds on the errors of the coefficients.
    breakpoints : (b, u) float64
        Ascending.
    piece_words : (u, b + 1, 2) uint64; zero_words : (u, b, 2) uint64
        Random words for keys.
    rounding : float
        Relative rounding of a sum.
    resolution : (d + 1,) float64
        Values up to the scalar product of this with the coefficients' magnitudes count as zero.
    relative : float
        Values up to this share of the magnitudes that add up to them count as zero, too.

    Returns
    -------
    Pieces
        In the order of their parents.

    Notes
    -----
    A cut of a cell of v vertices takes at most v^2 / 4 comparisons of bit masks, and as many searches for a third
    vertex where neither of two vertices is simple.
    """
    units = _Units(
        np.ascontiguousarray(maps),
        np.ascontiguousarray(errors),
        np.ascontiguousarray(breakpoints),
        piece_words,
        zero_words,
        rounding,
        np.asarray(resolution, dtype=np.float64),
        float(relative),
    )
    while True:
        vertices = VertexRows(cells.vertices, cells.errors, cells.tight)
        facets = FacetRows(cells.slots, cells.kinds, cells.keys, np.zeros(len(cells.slots), dtype=np.bool_))
        has_room, num_undecided, made, found = _cut(
            cells.vertex_offsets, vertices, cells.facet_offsets, facets, cells.flat, units
        )
        if has_room:
            break
        cells = cells.widened()
    num_vertices, num_facets = found.vertex_offsets[made], found.facet_offsets[made]
    after = Polytopes(
        found.vertex_offsets[: made + 1].copy(),
        *(part[:num_vertices].copy() for part in found.vertices),
        found.facet_offsets[: made + 1].copy(),
        *(part[:num_facets].copy() for part in found.facets[:3]),
        found.flat[:made].copy(),
    )
    return Pieces(after, found.parents[:made].copy(), found.pieces[:made].copy(), int(num_undecided))


class _Units(NamedTuple):
    """What cuts: arguments of `cut_cells`."""

    maps: np.ndarray
    errors: np.ndarray
    levels: np.ndarray
    piece_words: np.ndarray
    zero_words: np.ndarray
    rounding: float
    resolution: np.ndarray
    relative: float


class _Work(NamedTuple):
    """Everything that is made for one cell, back to back; parts that were cut stay behind as holes."""

    vertices: VertexRows
    facets: FacetRows
    parts: PartRows
    heights: HeightRows
    edges: np.ndarray
    keep: np.ndarray


class _Found(NamedTuple):
    """The cells that are returned, as in `Pieces`; tables may have more rows than are used."""

    vertex_offsets: np.ndarray
    vertices: VertexRows
    facet_offsets: np.ndarray
    facets: FacetRows
    flat: np.ndarray
    parents: np.ndarray
    pieces: np.ndarray


@njit(cache=True)
def _vertex_rows(number, width, words) -> VertexRows:
    return VertexRows(np.empty((number, width)), np.empty((number, width)), np.empty((number, words), dtype=np.uint64))


@njit(cache=True)
def _facet_rows(number) -> FacetRows:
    return FacetRows(
        np.empty(number, dtype=np.int64),
        np.empty(number, dtype=np.uint8),
        np.empty((number, 2), dtype=np.uint64),
        np.empty(number, dtype=np.bool_),
    )


@njit(cache=True)
def _new_work(width, words, num_units) -> _Work:
    """Return tables for the parts of one cell."""
    parts = PartRows(
        np.empty((64, 2), dtype=np.int64),
        np.empty((64, 2), dtype=np.int64),
        np.empty((64, 3), dtype=np.int64),
        np.empty((64, 2), dtype=np.uint64),
        np.empty(64, dtype=np.bool_),
        np.empty((64, num_units), dtype=np.uint16),
    )
    heights = HeightRows(np.empty(256), np.empty(256), np.empty(256), np.empty(256, dtype=np.int8))
    edges, keep = np.empty((256, 2), dtype=np.int64), np.empty(words, dtype=np.uint64)
    return _Work(_vertex_rows(256, width, words), _facet_rows(256), parts, heights, edges, keep)


@held
@njit(cache=True)
def _cut(vertex_offsets, given_vertices, facet_offsets, given_facets, flat, units):
    """Cut cell after cell by unit after unit.

    Returns
    -------
    bool
        Whether there were slots enough; without, nothing else means anything.
    num_undecided, made : int
        Open signs, and cells found.
    found : _Found
    """
    num_cells, num_units, width = units.maps.shape
    words = given_vertices.tight.shape[1]
    work = _new_work(width, words, num_units)
    num_vertices, num_facets = max(64, 2 * vertex_offsets[num_cells]), max(64, 2 * facet_offsets[num_cells])
    capacity = max(16, 2 * num_cells) + 1
    found = _Found(
        np.zeros(capacity, dtype=np.int64),
        _vertex_rows(num_vertices, width, words),
        np.zeros(capacity, dtype=np.int64),
        _facet_rows(num_facets),
        np.empty((capacity, 2), dtype=np.uint64),
        np.empty(capacity, dtype=np.int64),
        np.empty((capacity, num_units), dtype=np.uint16),
    )
    undecided, made = 0, 0
    for c in range(num_cells):
        used_v, used_f = vertex_offsets[c + 1] - vertex_offsets[c], facet_offsets[c + 1] - facet_offsets[c]
        vertices, facets = room_for_vertices(work.vertices, used_v), room_for_facets(work.facets, used_f)
        copy_vertices(given_vertices, vertex_offsets[c], used_v, vertices, 0)
        copy_facets(given_facets, facet_offsets[c], used_f, facets, 0)
        parts = work.parts
        parts.vertices[0, 0], parts.vertices[0, 1], parts.facets[0, 0], parts.facets[0, 1] = 0, used_v, 0, used_f
        parts.flat[0] = flat[c]
        parts.pieces[0] = 0
        work = _Work(vertices, facets, parts, work.heights, work.edges, work.keep)
        has_room, num_parts, num_open, work = _cut_cell(c, used_v, used_f, units, work)
        if not has_room:
            return False, 0, 0, found
        undecided += num_open
        found = _append(work, num_parts, c, made, found)
        made += num_parts
    return True, undecided, made, found


@njit(cache=True)
def _cut_cell(cell, used_v, used_f, units, work):
    """Cut one cell, the first part of the work, by unit after unit.

    Returns whether there were slots enough, the number of parts, that of open signs, and the work.
    """
    vertices, facets, parts, heights, edges, keep = work
    num_units, num_levels = units.maps.shape[1], units.levels.shape[0]
    dim, words = vertices.points.shape[1] - 1, vertices.tight.shape[1]
    undecided, num_parts = 0, 1
    # By names of their own: a field of a tuple costs time in a loop.
    spans, facet_spans, counts, flats, at_zero, pieces = parts
    for u in range(num_units):
        for i in range(num_parts):
            at_zero[i] = False
        for level in range(num_levels):
            if heights.values.shape[0] < used_v:
                heights = room_for_heights(heights, used_v)
            undecided += measure_heights(vertices, parts, num_parts, units, cell, u, level, heights)
            word_of_zero = units.zero_words[u, level]
            for i in range(num_parts):
                first, number = spans[i, 0], spans[i, 1]
                first_facet, num_facets = facet_spans[i, 0], facet_spans[i, 1]
                plus, minus, zero = counts[i, 0], counts[i, 1], counts[i, 2]
                is_cut, num_edges = plus > 0 and minus > 0, 0
                if is_cut:
                    edges, num_edges = crossed_edges(vertices, first, number, heights.signs, edges)
                    if zero + num_edges < dim:
                        is_cut = False
                        undecided += 1
                if not is_cut:
                    if plus >= minus and plus > 0:
                        pieces[i, u] += 1
                    if zero == number:
                        flats[i, 0] ^= word_of_zero[0]
                        flats[i, 1] ^= word_of_zero[1]
                        at_zero[i] = True
                    if zero >= dim:
                        mark_zero_facets(
                            vertices, first, number, facets, first_facet, num_facets, heights.signs, word_of_zero
                        )
                    continue
                slot = free_slot(facets.slots, first_facet, num_facets, words)
                if slot < 0:
                    return False, num_parts, undecided, _Work(vertices, facets, parts, heights, edges, keep)
                if vertices.points.shape[0] < used_v + number + zero + 2 * num_edges:
                    vertices = room_for_vertices(vertices, used_v + number + zero + 2 * num_edges)
                if facets.slots.shape[0] < used_f + 2 * (num_facets + 1):
                    facets = room_for_facets(facets, used_f + 2 * (num_facets + 1))
                if num_parts + 2 > spans.shape[0]:
                    parts = room_for_parts(parts, num_parts + 2)
                    spans, facet_spans, counts, flats, at_zero, pieces = parts
                crossing = Crossing(heights, edges, num_edges, slot, units.rounding)
                used_v, used_f = _halve(
                    vertices, facets, parts, i, num_parts, u, word_of_zero, crossing, keep, used_v, used_f
                )
                num_parts += 1
        show_pieces(facets, parts, num_parts, u, units.piece_words)
    return True, num_parts, undecided, _Work(vertices, facets, parts, heights, edges, keep)


@njit(cache=True)
def _halve(vertices, facets, parts, part, child, unit, word_of_zero, crossing, keep, used_v, used_f):
    """Write both halves of a part behind all rows: the upper one is a new part, the lower one takes the part's place.

    Returns the numbers of rows of vertices and facets that are used then.
    """
    spans, facet_spans, _, flats, at_zero, pieces = parts
    first, number = spans[part, 0], spans[part, 1]
    first_facet, num_facets = facet_spans[part, 0], facet_spans[part, 1]
    slot = crossing.slot
    for half in range(2):
        side, target = (1, child) if half == 0 else (-1, part)
        begin_v, begin_f = used_v, used_f
        used_v = write_half(vertices, first, number, crossing, side, used_v)
        used_f = write_facets(vertices, begin_v, used_v, facets, first_facet, num_facets, slot, keep, used_f)
        facets.slots[used_f], facets.kinds[used_f], facets.at_zero[used_f] = slot, INNER, True
        facets.keys[used_f, 0] = flats[part, 0] ^ word_of_zero[0]
        facets.keys[used_f, 1] = flats[part, 1] ^ word_of_zero[1]
        used_f += 1
        if half == 0:
            flats[target], pieces[target], at_zero[target] = flats[part], pieces[part], at_zero[part]
            pieces[target, unit] += 1
        spans[target, 0], spans[target, 1] = begin_v, used_v - begin_v
        facet_spans[target, 0], facet_spans[target, 1] = begin_f, used_f - begin_f
    return used_v, used_f


@njit(cache=True)
def _append(work, num_parts, cell, made, found) -> _Found:
    """Copy the parts of a cell to what is returned, which may have to grow."""
    vertex_offsets, vertices, facet_offsets, facets, flat, parents, pieces = found
    parts = work.parts
    for i in range(num_parts):
        number, num_facets = parts.vertices[i, 1], parts.facets[i, 1]
        at_v, at_f = vertex_offsets[made], facet_offsets[made]
        vertices, facets = room_for_vertices(vertices, at_v + number), room_for_facets(facets, at_f + num_facets)
        if made + 2 >= vertex_offsets.shape[0]:
            rows = 2 * vertex_offsets.shape[0]
            vertex_offsets, facet_offsets = more(vertex_offsets, rows), more(facet_offsets, rows)
            flat, parents, pieces = more_rows(flat, rows), more(parents, rows), more_rows(pieces, rows)
        copy_vertices(work.vertices, parts.vertices[i, 0], number, vertices, at_v)
        copy_facets(work.facets, parts.facets[i, 0], num_facets, facets, at_f)
        flat[made], parents[made], pieces[made] = parts.flat[i], cell, parts.pieces[i]
        made += 1
        vertex_offsets[made], facet_offsets[made] = at_v + number, at_f + num_facets
    return _Found(vertex_offsets, vertices, facet_offsets, facets, flat, parents, pieces)

"""Cutting polytopes one by one: each is kept by its vertices and by which of its facets every vertex lies on.

Two vertices span an edge if no third vertex lies on all facets that the two share; that is all a cut needs to know,
so faces of other dimensions are never built. In many dimensions this beats complexes of shared faces, whose number
grows with 3^d.

References: the double description method (Motzkin and others, 1953), with the combinatorial test of adjacency of Fukuda
and Prodon (1996).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

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
        has_room, *found = _cut(cells.vertex_offsets, vertices, cells.facet_offsets, facets, cells.flat, units)
        if has_room:
            break
        cells = cells.widened()
    vertex_offsets, (points, errors, tight), facet_offsets, (slots, kinds, keys, _) = found[:4]
    flat, parents, pieces, num_undecided = found[4:]
    after = Polytopes(vertex_offsets, points, errors, tight, facet_offsets, slots, kinds, keys, flat)
    return Pieces(after, parents, pieces, int(num_undecided))


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


@held
@njit(cache=True)
def _cut(voff, given_vertices, foff, given_facets, flat, units) -> tuple[Any, ...]:
    """Cut cell after cell by unit after unit; the first thing returned says whether there were slots enough."""
    # One function: handing the tables of a cell on to functions for one cell and one cut takes 10 to 25 % longer.
    num_cells, num_units, width = units.maps.shape
    zero_words = units.zero_words
    dim, num_levels = width - 1, units.levels.shape[0]
    words = given_vertices.tight.shape[1]
    undecided, made = 0, 0

    # Everything that is made for one cell, back to back; parts that were cut stay behind as holes.
    vertices = VertexRows(np.empty((256, width)), np.empty((256, width)), np.empty((256, words), dtype=np.uint64))
    facets = FacetRows(
        np.empty(256, dtype=np.int64),
        np.empty(256, dtype=np.uint8),
        np.empty((256, 2), dtype=np.uint64),
        np.empty(256, dtype=np.bool_),
    )
    parts = PartRows(
        np.empty((64, 2), dtype=np.int64),
        np.empty((64, 2), dtype=np.int64),
        np.empty((64, 3), dtype=np.int64),
        np.empty((64, 2), dtype=np.uint64),
        np.empty(64, dtype=np.bool_),
        np.empty((64, num_units), dtype=np.uint16),
    )
    heights = HeightRows(np.empty(256), np.empty(256), np.empty(256), np.empty(256, dtype=np.int8))
    edges = np.empty((256, 2), dtype=np.int64)
    keep = np.empty(words, dtype=np.uint64)

    # What is returned.
    rows, facet_rows = max(64, 2 * voff[num_cells]), max(64, 2 * foff[num_cells])
    out_vertices = VertexRows(
        np.empty((rows, width)), np.empty((rows, width)), np.empty((rows, words), dtype=np.uint64)
    )
    out_facets = FacetRows(
        np.empty(facet_rows, dtype=np.int64),
        np.empty(facet_rows, dtype=np.uint8),
        np.empty((facet_rows, 2), dtype=np.uint64),
        np.empty(facet_rows, dtype=np.bool_),
    )
    out_voff = np.zeros(max(16, 2 * num_cells) + 1, dtype=np.int64)
    out_foff = np.zeros(out_voff.shape[0], dtype=np.int64)
    out_flat = np.empty((out_voff.shape[0], 2), dtype=np.uint64)
    out_parents = np.empty(out_voff.shape[0], dtype=np.int64)
    out_pieces = np.empty((out_voff.shape[0], num_units), dtype=np.uint16)

    for c in range(num_cells):
        used_v, used_f, num_parts = voff[c + 1] - voff[c], foff[c + 1] - foff[c], 1
        vertices, facets = room_for_vertices(vertices, used_v), room_for_facets(facets, used_f)
        copy_vertices(given_vertices, voff[c], used_v, vertices, 0)
        copy_facets(given_facets, foff[c], used_f, facets, 0)
        parts.vertices[0, 0], parts.vertices[0, 1], parts.facets[0, 0], parts.facets[0, 1] = 0, used_v, 0, used_f
        parts.flat[0] = flat[c]
        parts.pieces[0] = 0
        # By names of their own: a field of a tuple costs time in a loop.
        spans, facet_spans, counts, flats, at_zero, pieces = parts
        for u in range(num_units):
            for i in range(num_parts):
                at_zero[i] = False
            for level in range(num_levels):
                if heights.values.shape[0] < used_v:
                    heights = room_for_heights(heights, used_v)
                undecided += measure_heights(vertices, parts, num_parts, units, c, u, level, heights)
                word_of_zero = zero_words[u, level]
                for i in range(num_parts):
                    first, number, first_facet, num_facets = (
                        spans[i, 0],
                        spans[i, 1],
                        facet_spans[i, 0],
                        facet_spans[i, 1],
                    )
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
                        return False, voff, given_vertices, foff, given_facets, flat, foff, out_pieces, 0
                    if vertices.points.shape[0] < used_v + number + zero + 2 * num_edges:
                        vertices = room_for_vertices(vertices, used_v + number + zero + 2 * num_edges)
                    if facets.slots.shape[0] < used_f + 2 * (num_facets + 1):
                        facets = room_for_facets(facets, used_f + 2 * (num_facets + 1))
                    if num_parts + 2 > spans.shape[0]:
                        parts = room_for_parts(parts, num_parts + 2)
                        spans, facet_spans, counts, flats, at_zero, pieces = parts
                    for half in range(2):
                        side, child = (1, num_parts) if half == 0 else (-1, i)
                        begin_v, begin_f = used_v, used_f
                        used_v = write_half(
                            vertices, first, number, heights, edges, num_edges, side, slot, units.rounding, used_v
                        )
                        used_f = write_facets(
                            vertices, begin_v, used_v, facets, first_facet, num_facets, slot, keep, used_f
                        )
                        facets.slots[used_f], facets.kinds[used_f], facets.at_zero[used_f] = slot, INNER, True
                        facets.keys[used_f, 0] = flats[i, 0] ^ word_of_zero[0]
                        facets.keys[used_f, 1] = flats[i, 1] ^ word_of_zero[1]
                        used_f += 1
                        if half == 0:
                            flats[child], pieces[child], at_zero[child] = flats[i], pieces[i], at_zero[i]
                            pieces[child, u] += 1
                        spans[child, 0], spans[child, 1] = begin_v, used_v - begin_v
                        facet_spans[child, 0], facet_spans[child, 1] = begin_f, used_f - begin_f
                    num_parts += 1
            show_pieces(facets, parts, num_parts, u, units.piece_words)

        for i in range(num_parts):
            first, nv, first_facet, nf = (
                parts.vertices[i, 0],
                parts.vertices[i, 1],
                parts.facets[i, 0],
                parts.facets[i, 1],
            )
            at_v, at_f = out_voff[made], out_foff[made]
            out_vertices, out_facets = (
                room_for_vertices(out_vertices, at_v + nv),
                room_for_facets(out_facets, at_f + nf),
            )
            if made + 2 >= out_voff.shape[0]:
                rows = 2 * out_voff.shape[0]
                out_voff, out_foff, out_parents = more(out_voff, rows), more(out_foff, rows), more(out_parents, rows)
                out_flat, out_pieces = more_rows(out_flat, rows), more_rows(out_pieces, rows)
            copy_vertices(vertices, first, nv, out_vertices, at_v)
            copy_facets(facets, first_facet, nf, out_facets, at_f)
            out_flat[made], out_parents[made], out_pieces[made] = parts.flat[i], c, parts.pieces[i]
            made += 1
            out_voff[made], out_foff[made] = at_v + nv, at_f + nf

    num_vertices, num_facets = out_voff[made], out_foff[made]
    return (
        True,
        out_voff[: made + 1].copy(),
        VertexRows(
            out_vertices.points[:num_vertices].copy(),
            out_vertices.errors[:num_vertices].copy(),
            out_vertices.tight[:num_vertices].copy(),
        ),
        out_foff[: made + 1].copy(),
        FacetRows(
            out_facets.slots[:num_facets].copy(),
            out_facets.kinds[:num_facets].copy(),
            out_facets.keys[:num_facets].copy(),
            out_facets.at_zero[:num_facets].copy(),
        ),
        out_flat[:made].copy(),
        out_parents[:made].copy(),
        out_pieces[:made].copy(),
        undecided,
    )

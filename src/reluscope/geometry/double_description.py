"""Cutting polytopes one by one: each is kept by its vertices and by which of its facets every vertex lies on.

Two vertices span an edge if no third vertex lies on all facets that the two share; that is all a cut needs to know,
so faces of other dimensions are never built. In many dimensions this beats complexes of shared faces, whose number
grows with 3^d. Vertices are homogeneous, (x, w): points have any positive w, directions of unbounded polyhedra w = 0.

Facets carry keys. A key is the exclusive or of one random 128-bit word for every unit that is not at a breakpoint on
the facet (for its piece) and one for every unit that is (for its breakpoint). Both sides of a facet see the same key,
so neighbours are found by sorting keys.

References: the double description method (Motzkin and others, 1953), with the combinatorial test of adjacency of Fukuda
and Prodon (1996).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from reluscope.interruption import held

# A facet lies on a unit's hyperplane, on the border of the domain, or on a wall between its parts, which parts nothing.
INNER, BORDER, WALL = 0, 1, 2


@dataclass(frozen=True)
class Cells:
    """Polytopes, each with its own vertices and facets.

    Parameters
    ----------
    vertex_offsets : (c + 1,) int64
    vertices : (v, d + 1) float64
        Homogeneous coordinates.
    errors : (v, d + 1) float64
        Bounds on the errors of the coordinates.
    tight : (v, k) uint64
        Which facets a vertex lies on, as bits of the facets' slots.
    facet_offsets : (c + 1,) int64
    slots : (f,) int64
        Bit of every facet, different within a cell.
    kinds : (f,) uint8
        INNER, BORDER or WALL.
    keys : (f, 2) uint64
        What a facet's key differs by from its cell's.
    flat : (c, 2) uint64
        The same for units at a breakpoint on the whole cell: where the keys of new facets begin.
    """

    vertex_offsets: np.ndarray
    vertices: np.ndarray
    errors: np.ndarray
    tight: np.ndarray
    facet_offsets: np.ndarray
    slots: np.ndarray
    kinds: np.ndarray
    keys: np.ndarray
    flat: np.ndarray

    def __len__(self) -> int:
        return len(self.vertex_offsets) - 1

    def take(self, first: int, last: int) -> "Cells":
        """Return the cells of a range."""
        v0, v1 = self.vertex_offsets[first], self.vertex_offsets[last]
        f0, f1 = self.facet_offsets[first], self.facet_offsets[last]
        return Cells(
            self.vertex_offsets[first : last + 1] - v0,
            self.vertices[v0:v1],
            self.errors[v0:v1],
            self.tight[v0:v1],
            self.facet_offsets[first : last + 1] - f0,
            self.slots[f0:f1],
            self.kinds[f0:f1],
            self.keys[f0:f1],
            self.flat[first:last],
        )

    def select(self, rows: np.ndarray) -> "Cells":
        """Return some cells, in the order given."""
        vertex_offsets, vertices = _rows_of(self.vertex_offsets, rows)
        facet_offsets, facets = _rows_of(self.facet_offsets, rows)
        return Cells(
            vertex_offsets,
            self.vertices[vertices],
            self.errors[vertices],
            self.tight[vertices],
            facet_offsets,
            self.slots[facets],
            self.kinds[facets],
            self.keys[facets],
            self.flat[rows],
        )

    def widened(self) -> "Cells":
        """Return the same cells with room for twice as many facets."""
        tight = np.hstack([self.tight, np.zeros_like(self.tight)])
        return Cells(**{**self.__dict__, "tight": tight})


@dataclass(frozen=True)
class Pieces:
    """Cells after the cuts of one layer.

    Parameters
    ----------
    cells : Cells
    parents : (c,) int64
        Cell that each lies in.
    pieces : (c, u) uint16
        Number of breakpoints below each unit.
    num_undecided : int
        Signs that were neither clear nor within rounding, and cuts that rounding made impossible.
    """

    cells: Cells
    parents: np.ndarray
    pieces: np.ndarray
    num_undecided: int


def cut_cells(
    cells: Cells,
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
    cells : Cells
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
        Values up to the scalar product of this with the coefficients' magnitudes count as zero,
    relative : float
        and so do values up to this share of the magnitudes that add up to them.

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
        vertices = _Vertices(cells.vertices, cells.errors, cells.tight)
        facets = _Facets(cells.slots, cells.kinds, cells.keys, np.zeros(len(cells.slots), dtype=np.bool_))
        has_room, *found = _cut(cells.vertex_offsets, vertices, cells.facet_offsets, facets, cells.flat, units)
        if has_room:
            break
        cells = cells.widened()
    (
        vertex_offsets,
        (coordinates, blurs, tight),
        facet_offsets,
        (slots, kinds, keys, _),
        flat,
        parents,
        pieces,
        open_,
    ) = found
    after = Cells(vertex_offsets, coordinates, blurs, tight, facet_offsets, slots, kinds, keys, flat)
    return Pieces(after, parents, pieces, int(open_))


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


class _Vertices(NamedTuple):
    """Rows for vertices: coordinates, their errors, and the facets they lie on; some may be unused."""

    places: np.ndarray
    errors: np.ndarray
    tight: np.ndarray


class _Facets(NamedTuple):
    """Rows for facets: as in `Cells`, and whether the unit at hand is at a breakpoint there; some may be unused."""

    slots: np.ndarray
    kinds: np.ndarray
    keys: np.ndarray
    at_zero: np.ndarray


class _Parts(NamedTuple):
    """Rows for the parts of one cell: first and number of vertices and of facets, and what a unit is on them."""

    vertices: np.ndarray
    facets: np.ndarray
    counts: np.ndarray
    flat: np.ndarray
    at_zero: np.ndarray
    pieces: np.ndarray


class _Heights(NamedTuple):
    """Rows for vertices: values of a unit there, what rounding may do to them, and signs, 0 if they are open."""

    values: np.ndarray
    doubts: np.ndarray
    blurs: np.ndarray
    signs: np.ndarray


def _rows_of(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return new offsets, and which entries of a ragged array belong to some rows."""
    sizes = np.diff(offsets)[rows]
    ends = np.cumsum(sizes)
    entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[rows] - (ends - sizes), sizes)
    return np.concatenate([[0], ends]), entries


@njit(cache=True)
def _count_bits(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _more_rows(array, rows):
    grown = np.empty((rows, array.shape[1]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@njit(cache=True)
def _more(array, length):
    grown = np.empty(length, dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@njit(cache=True)
def _is_edge(tight, common, a, b, first, number, words) -> bool:
    """Whether no third vertex lies on all facets that two share."""
    for v in range(first, first + number):
        if v in (a, b):
            continue
        inside = True
        for k in range(words):
            if tight[v, k] & common[k] != common[k]:
                inside = False
                break
        if inside:
            return False
    return True


@njit(cache=True)
def _room_for_vertices(vertices, number):
    """Return the same rows, and at least so many."""
    rows = vertices.places.shape[0]
    if rows >= number:
        return vertices
    while rows < number:
        rows *= 2
    return _Vertices(
        _more_rows(vertices.places, rows), _more_rows(vertices.errors, rows), _more_rows(vertices.tight, rows)
    )


@njit(cache=True)
def _room_for_facets(facets, number):
    rows = facets.slots.shape[0]
    if rows >= number:
        return facets
    while rows < number:
        rows *= 2
    return _Facets(
        _more(facets.slots, rows), _more(facets.kinds, rows), _more_rows(facets.keys, rows), _more(facets.at_zero, rows)
    )


@njit(cache=True)
def _room_for_parts(parts, number):
    rows = parts.vertices.shape[0]
    if rows >= number:
        return parts
    while rows < number:
        rows *= 2
    return _Parts(
        _more_rows(parts.vertices, rows),
        _more_rows(parts.facets, rows),
        _more_rows(parts.counts, rows),
        _more_rows(parts.flat, rows),
        _more(parts.at_zero, rows),
        _more_rows(parts.pieces, rows),
    )


@njit(cache=True)
def _room_for_heights(heights, number):
    rows = heights.values.shape[0]
    if rows >= number:
        return heights
    while rows < number:
        rows *= 2
    return _Heights(
        _more(heights.values, rows), _more(heights.doubts, rows), _more(heights.blurs, rows), _more(heights.signs, rows)
    )


@njit(cache=True)
def _copy_vertices(source, first, number, target, at):
    """Copy rows of vertices."""
    places, errors, tight = source.places, source.errors, source.tight
    new_places, new_errors, new_tight = target.places, target.errors, target.tight
    for v in range(number):
        for k in range(places.shape[1]):
            new_places[at + v, k], new_errors[at + v, k] = places[first + v, k], errors[first + v, k]
        for k in range(tight.shape[1]):
            new_tight[at + v, k] = tight[first + v, k]


@njit(cache=True)
def _copy_facet_rows(source, first, number, target, at):
    """Copy rows of facets, none of them at a breakpoint of the unit at hand."""
    slots, kinds, keys = source.slots, source.kinds, source.keys
    new_slots, new_kinds, new_keys, at_zero = target.slots, target.kinds, target.keys, target.at_zero
    for f in range(number):
        new_slots[at + f], new_kinds[at + f], at_zero[at + f] = slots[first + f], kinds[first + f], False
        new_keys[at + f, 0], new_keys[at + f, 1] = keys[first + f, 0], keys[first + f, 1]


@njit(cache=True, inline="always")
def _measure(vertices, parts, number_of_parts, units, cell, unit, level, heights):
    """Fill in heights at the vertices of all parts, and how many of each are above, below and neither.

    Returns how many signs are open.
    """
    places, blurred, maps, errors = vertices.places, vertices.errors, units.maps, units.errors
    values, doubts, blurs, signs = heights.values, heights.doubts, heights.blurs, heights.signs
    spans, counts = parts.vertices, parts.counts
    resolution, rounding, relative = units.resolution, units.rounding, units.relative
    threshold, dim, undecided = units.levels[level, unit], places.shape[1] - 1, 0
    thinnest = 0.0
    for a in range(dim + 1):
        coefficient = maps[cell, unit, a] - (threshold if a == dim else 0.0)
        thinnest += resolution[a] * abs(coefficient)
    for i in range(number_of_parts):
        plus, minus, zero = 0, 0, 0
        for v in range(spans[i, 0], spans[i, 0] + spans[i, 1]):
            value, doubt, blur, terms = 0.0, 0.0, 0.0, 0.0
            for a in range(dim + 1):
                coefficient = maps[cell, unit, a] - (threshold if a == dim else 0.0)
                term = coefficient * places[v, a]
                value += term
                terms += abs(term)
                doubt += errors[cell, unit, a] * abs(places[v, a])
                blur += blurred[v, a] * abs(coefficient)
            doubt += rounding * terms
            values[v], doubts[v], blurs[v] = value, doubt, blur
            doubt += blur
            floor = thinnest + relative * terms
            size = abs(value)
            if size > max(doubt, floor):
                signs[v] = 1 if value > 0 else -1
                plus += value > 0
                minus += value < 0
            else:
                signs[v] = 0
                zero += 1
                undecided += size > min(doubt, floor) and size > 0
        counts[i, 0], counts[i, 1], counts[i, 2] = plus, minus, zero
    return undecided


@njit(cache=True)
def _crossed_edges(vertices, first, number, signs, edges):
    """Return pairs of vertices, one above and one below, that span an edge, and how many there are."""
    tight, dim = vertices.tight, vertices.places.shape[1] - 1
    words = tight.shape[1]
    common = np.empty(words, dtype=np.uint64)
    found = 0
    for a in range(first, first + number):
        if signs[a] != 1:
            continue
        bits_a = 0
        for k in range(words):
            bits_a += _count_bits(tight[a, k])
        for b in range(first, first + number):
            if signs[b] != -1:
                continue
            shared = 0
            for k in range(words):
                common[k] = tight[a, k] & tight[b, k]
                shared += _count_bits(common[k])
            if shared < dim - 1:
                continue
            if bits_a > dim:
                bits_b = 0
                for k in range(words):
                    bits_b += _count_bits(tight[b, k])
                if bits_b > dim and not _is_edge(tight, common, a, b, first, number, words):
                    continue
            if found == edges.shape[0]:
                edges = _more_rows(edges, 2 * found)
            edges[found, 0], edges[found, 1] = a, b
            found += 1
    return edges, found


@njit(cache=True)
def _mark_zero_facets(vertices, first, number, facets, first_facet, num_facets, signs, word_of_zero):
    """Put a breakpoint into the keys of the facets at all whose vertices a unit is there."""
    slots, tight = facets.slots, vertices.tight
    for f in range(first_facet, first_facet + num_facets):
        word, bit = slots[f] >> 6, np.uint64(1) << np.uint64(slots[f] & 63)
        vanishes = True
        for v in range(first, first + number):
            if signs[v] != 0 and tight[v, word] & bit:  # pyright: ignore[reportOperatorIssue]
                vanishes = False
                break
        if vanishes:
            facets.keys[f, 0] ^= word_of_zero[0]
            facets.keys[f, 1] ^= word_of_zero[1]
            facets.at_zero[f] = True


@njit(cache=True)
def _free_slot(slots, first, number, words):
    """Return a slot that none of some facets has, -1 if all are taken."""
    for k in range(words):
        taken = np.uint64(0)
        for f in range(first, first + number):
            if slots[f] >> 6 == k:
                taken |= np.uint64(1) << np.uint64(slots[f] & 63)
        if taken != ~np.uint64(0):
            slot = 64 * k
            while taken >> np.uint64(slot & 63) & np.uint64(1):
                slot += 1
            return slot
    return -1


@njit(cache=True)
def _copy_half(vertices, first, number, heights, edges, num_edges, side, slot, rounding, target):
    """Write the vertices of one side of a cut, those on it and the crossings, from a row on; return the row after."""
    places, errors, tight = vertices.places, vertices.errors, vertices.tight
    values, doubts, blurs, signs = heights.values, heights.doubts, heights.blurs, heights.signs
    new_word, new_bit = slot >> 6, np.uint64(1) << np.uint64(slot & 63)
    for v in range(first, first + number):
        if signs[v] == side or signs[v] == 0:
            for k in range(places.shape[1]):
                places[target, k], errors[target, k] = places[v, k], errors[v, k]
            for k in range(tight.shape[1]):
                tight[target, k] = tight[v, k]
            if signs[v] == 0:
                tight[target, new_word] |= new_bit
            target += 1
    for e in range(num_edges):
        a, b = edges[e, 0], edges[e, 1]
        span = values[a] - values[b]
        # Both shares as quotients: one minus a share near one has no digits left.
        t, rest = values[a] / span, -values[b] / span
        # Errors of the ends along their edge do not move the crossing; those across it are as small as the better's.
        slide = (rest * doubts[a] + t * doubts[b] + min(blurs[a], blurs[b])) / span
        for k in range(places.shape[1]):
            places[target, k] = rest * places[a, k] + t * places[b, k]
            errors[target, k] = slide * abs(places[b, k] - places[a, k])
            errors[target, k] += rounding * abs(places[target, k]) + min(errors[a, k], errors[b, k])
        for k in range(tight.shape[1]):
            tight[target, k] = tight[a, k] & tight[b, k]
        tight[target, new_word] |= new_bit
        target += 1
    return target


@njit(cache=True)
def _copy_facets(vertices, first, last, facets, first_facet, num_facets, slot, keep, target):
    """Write the facets that a half has kept, and forget the others at its vertices; return the row after."""
    tight, dim = vertices.tight, vertices.places.shape[1] - 1
    slots, kinds, keys, at_zero = facets.slots, facets.kinds, facets.keys, facets.at_zero
    new_word, new_bit = slot >> 6, np.uint64(1) << np.uint64(slot & 63)
    for k in range(keep.shape[0]):
        keep[k] = 0
    keep[new_word] |= new_bit
    for f in range(first_facet, first_facet + num_facets):
        word, bit = slots[f] >> 6, np.uint64(1) << np.uint64(slots[f] & 63)
        on_it, vanishes = 0, True
        for v in range(first, last):
            if tight[v, word] & bit:
                on_it += 1
                if tight[v, new_word] & new_bit == 0:  # pyright: ignore[reportOperatorIssue]
                    vanishes = False
        # A facet with all its vertices on the cut is a face of the new facet, and none itself.
        if on_it >= dim and not vanishes:
            slots[target], kinds[target] = slots[f], kinds[f]
            keys[target, 0], keys[target, 1] = keys[f, 0], keys[f, 1]
            at_zero[target] = at_zero[f]
            keep[word] |= bit
            target += 1
    for v in range(first, last):
        for k in range(keep.shape[0]):
            tight[v, k] &= keep[k]
    return target


@njit(cache=True)
def _show_pieces(facets, parts, number, unit, piece_words):
    """Put the pieces of a unit into the keys of what is at its breakpoints, which does not show them."""
    keys, at_zero, ranges, flat = facets.keys, facets.at_zero, parts.facets, parts.flat
    for i in range(number):
        piece = parts.pieces[i, unit]
        for f in range(ranges[i, 0], ranges[i, 0] + ranges[i, 1]):
            if at_zero[f]:
                keys[f, 0] ^= piece_words[unit, piece, 0]
                keys[f, 1] ^= piece_words[unit, piece, 1]
                at_zero[f] = False
        if parts.at_zero[i]:
            flat[i, 0] ^= piece_words[unit, piece, 0]
            flat[i, 1] ^= piece_words[unit, piece, 1]


@held
@njit(cache=True)
def _cut(voff, given_vertices, foff, given_facets, flat, units) -> tuple[Any, ...]:
    """Cut cell after cell by unit after unit; the first thing returned says whether there were slots enough."""
    num_cells, num_units, width = units.maps.shape
    zero_words = units.zero_words
    dim, num_levels = width - 1, units.levels.shape[0]
    words = given_vertices.tight.shape[1]
    undecided, made = 0, 0

    # Everything that is made for one cell, back to back; parts that were cut stay behind as holes.
    vertices = _Vertices(np.empty((256, width)), np.empty((256, width)), np.empty((256, words), dtype=np.uint64))
    facets = _Facets(
        np.empty(256, dtype=np.int64),
        np.empty(256, dtype=np.uint8),
        np.empty((256, 2), dtype=np.uint64),
        np.empty(256, dtype=np.bool_),
    )
    parts = _Parts(
        np.empty((64, 2), dtype=np.int64),
        np.empty((64, 2), dtype=np.int64),
        np.empty((64, 3), dtype=np.int64),
        np.empty((64, 2), dtype=np.uint64),
        np.empty(64, dtype=np.bool_),
        np.empty((64, num_units), dtype=np.uint16),
    )
    heights = _Heights(np.empty(256), np.empty(256), np.empty(256), np.empty(256, dtype=np.int8))
    edges = np.empty((256, 2), dtype=np.int64)
    keep = np.empty(words, dtype=np.uint64)

    # What is returned.
    rows, facet_rows = max(64, 2 * voff[num_cells]), max(64, 2 * foff[num_cells])
    out_vertices = _Vertices(np.empty((rows, width)), np.empty((rows, width)), np.empty((rows, words), dtype=np.uint64))
    out_facets = _Facets(
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
        used_v, used_f, number_of_parts = voff[c + 1] - voff[c], foff[c + 1] - foff[c], 1
        vertices, facets = _room_for_vertices(vertices, used_v), _room_for_facets(facets, used_f)
        _copy_vertices(given_vertices, voff[c], used_v, vertices, 0)
        _copy_facet_rows(given_facets, foff[c], used_f, facets, 0)
        parts.vertices[0, 0], parts.vertices[0, 1], parts.facets[0, 0], parts.facets[0, 1] = 0, used_v, 0, used_f
        parts.flat[0] = flat[c]
        parts.pieces[0] = 0
        # By names of their own: a field of a tuple costs time in a loop.
        spans, facet_spans, counts, flats, at_zero, pieces = parts
        for u in range(num_units):
            for i in range(number_of_parts):
                at_zero[i] = False
            for level in range(num_levels):
                if heights.values.shape[0] < used_v:
                    heights = _room_for_heights(heights, used_v)
                undecided += _measure(vertices, parts, number_of_parts, units, c, u, level, heights)
                word_of_zero = zero_words[u, level]
                for i in range(number_of_parts):
                    first, number, first_facet, num_facets = (
                        spans[i, 0],
                        spans[i, 1],
                        facet_spans[i, 0],
                        facet_spans[i, 1],
                    )
                    plus, minus, zero = counts[i, 0], counts[i, 1], counts[i, 2]
                    is_cut, num_edges = plus > 0 and minus > 0, 0
                    if is_cut:
                        edges, num_edges = _crossed_edges(vertices, first, number, heights.signs, edges)
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
                            _mark_zero_facets(
                                vertices, first, number, facets, first_facet, num_facets, heights.signs, word_of_zero
                            )
                        continue

                    slot = _free_slot(facets.slots, first_facet, num_facets, words)
                    if slot < 0:
                        return False, voff, given_vertices, foff, given_facets, flat, foff, out_pieces, 0
                    if vertices.places.shape[0] < used_v + number + zero + 2 * num_edges:
                        vertices = _room_for_vertices(vertices, used_v + number + zero + 2 * num_edges)
                    if facets.slots.shape[0] < used_f + 2 * (num_facets + 1):
                        facets = _room_for_facets(facets, used_f + 2 * (num_facets + 1))
                    if number_of_parts + 2 > spans.shape[0]:
                        parts = _room_for_parts(parts, number_of_parts + 2)
                        spans, facet_spans, counts, flats, at_zero, pieces = parts
                    for half in range(2):
                        side, child = (1, number_of_parts) if half == 0 else (-1, i)
                        begin_v, begin_f = used_v, used_f
                        used_v = _copy_half(
                            vertices, first, number, heights, edges, num_edges, side, slot, units.rounding, used_v
                        )
                        used_f = _copy_facets(
                            vertices, begin_v, used_v, facets, first_facet, num_facets, slot, keep, used_f
                        )
                        facets.slots[used_f], facets.kinds[used_f], facets.at_zero[used_f] = slot, 0, True
                        facets.keys[used_f, 0] = flats[i, 0] ^ word_of_zero[0]
                        facets.keys[used_f, 1] = flats[i, 1] ^ word_of_zero[1]
                        used_f += 1
                        if half == 0:
                            flats[child], pieces[child], at_zero[child] = flats[i], pieces[i], at_zero[i]
                            pieces[child, u] += 1
                        spans[child, 0], spans[child, 1] = begin_v, used_v - begin_v
                        facet_spans[child, 0], facet_spans[child, 1] = begin_f, used_f - begin_f
                    number_of_parts += 1
            _show_pieces(facets, parts, number_of_parts, u, units.piece_words)

        for i in range(number_of_parts):
            first, nv, first_facet, nf = (
                parts.vertices[i, 0],
                parts.vertices[i, 1],
                parts.facets[i, 0],
                parts.facets[i, 1],
            )
            at_v, at_f = out_voff[made], out_foff[made]
            out_vertices, out_facets = (
                _room_for_vertices(out_vertices, at_v + nv),
                _room_for_facets(out_facets, at_f + nf),
            )
            if made + 2 >= out_voff.shape[0]:
                rows = 2 * out_voff.shape[0]
                out_voff, out_foff, out_parents = _more(out_voff, rows), _more(out_foff, rows), _more(out_parents, rows)
                out_flat, out_pieces = _more_rows(out_flat, rows), _more_rows(out_pieces, rows)
            _copy_vertices(vertices, first, nv, out_vertices, at_v)
            _copy_facet_rows(facets, first_facet, nf, out_facets, at_f)
            out_flat[made], out_parents[made], out_pieces[made] = parts.flat[i], c, parts.pieces[i]
            made += 1
            out_voff[made], out_foff[made] = at_v + nv, at_f + nf

    num_vertices, num_facets = out_voff[made], out_foff[made]
    return (
        True,
        out_voff[: made + 1].copy(),
        _Vertices(
            out_vertices.places[:num_vertices].copy(),
            out_vertices.errors[:num_vertices].copy(),
            out_vertices.tight[:num_vertices].copy(),
        ),
        out_foff[: made + 1].copy(),
        _Facets(
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

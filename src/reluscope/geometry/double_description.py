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
from typing import Any

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
    while True:
        out = _cut(
            cells.vertex_offsets,
            cells.vertices,
            cells.errors,
            cells.tight,
            cells.facet_offsets,
            cells.slots,
            cells.kinds,
            cells.keys,
            cells.flat,
            np.ascontiguousarray(maps),
            np.ascontiguousarray(errors),
            np.ascontiguousarray(breakpoints),
            piece_words,
            zero_words,
            rounding,
            np.asarray(resolution, dtype=np.float64),
            float(relative),
        )
        if out[0]:
            break
        cells = cells.widened()
    return Pieces(Cells(*out[1:10]), out[10], out[11], int(out[12]))


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


@held
@njit(cache=True)
def _cut(
    voff,
    x,
    err,
    tight,
    foff,
    slots,
    kinds,
    keys,
    flat,
    maps,
    merr,
    levels,
    piece_words,
    zero_words,
    gamma,
    resolution,
    relative,
) -> tuple[Any, ...]:
    num_cells, num_units, width = maps.shape
    dim = width - 1
    num_levels = levels.shape[0]
    words = tight.shape[1]
    undecided = 0

    # Everything that is made for one parent, back to back; cells that were cut stay behind as holes.
    bx = np.empty((256, width))
    be = np.empty((256, width))
    bm = np.empty((256, words), dtype=np.uint64)
    bslot = np.empty(256, dtype=np.int64)
    bkind = np.empty(256, dtype=np.uint8)
    bkey = np.empty((256, 2), dtype=np.uint64)
    bzero = np.empty(256, dtype=np.bool_)
    cv = np.empty((64, 2), dtype=np.int64)
    cf = np.empty((64, 2), dtype=np.int64)
    cflat = np.empty((64, 2), dtype=np.uint64)
    czero = np.empty(64, dtype=np.bool_)
    cpiece = np.empty((64, num_units), dtype=np.uint16)
    height = np.empty(256)
    doubts = np.empty(256)
    blurs = np.empty(256)
    sign = np.empty(256, dtype=np.int8)
    common = np.empty(words, dtype=np.uint64)
    keep = np.empty(words, dtype=np.uint64)
    edge_a = np.empty(256, dtype=np.int64)
    edge_b = np.empty(256, dtype=np.int64)

    # What is returned.
    ox = np.empty((max(64, 2 * x.shape[0]), width))
    oe = np.empty((ox.shape[0], width))
    om = np.empty((ox.shape[0], words), dtype=np.uint64)
    oslot = np.empty(max(64, 2 * slots.shape[0]), dtype=np.int64)
    okind = np.empty(oslot.shape[0], dtype=np.uint8)
    okey = np.empty((oslot.shape[0], 2), dtype=np.uint64)
    ovoff = np.zeros(max(16, 2 * num_cells) + 1, dtype=np.int64)
    ofoff = np.zeros(ovoff.shape[0], dtype=np.int64)
    oflat = np.empty((ovoff.shape[0], 2), dtype=np.uint64)
    oparent = np.empty(ovoff.shape[0], dtype=np.int64)
    opiece = np.empty((ovoff.shape[0], num_units), dtype=np.uint16)
    made = 0

    for c in range(num_cells):
        nv, nf = voff[c + 1] - voff[c], foff[c + 1] - foff[c]
        while bx.shape[0] < nv:
            bx, be, bm = (
                _more_rows(bx, 2 * bx.shape[0]),
                _more_rows(be, 2 * be.shape[0]),
                _more_rows(bm, 2 * bm.shape[0]),
            )
        while bslot.shape[0] < nf:
            rows = 2 * bslot.shape[0]
            bslot, bkind, bkey, bzero = (
                _more(bslot, rows),
                _more(bkind, rows),
                _more_rows(bkey, rows),
                _more(bzero, rows),
            )
        for i in range(nv):
            bx[i], be[i], bm[i] = x[voff[c] + i], err[voff[c] + i], tight[voff[c] + i]
        for i in range(nf):
            bslot[i], bkind[i], bkey[i] = slots[foff[c] + i], kinds[foff[c] + i], keys[foff[c] + i]
            bzero[i] = False
        cv[0, 0], cv[0, 1], cf[0, 0], cf[0, 1] = 0, nv, 0, nf
        cflat[0] = flat[c]
        cpiece[0] = 0
        used_v, used_f, cells = nv, nf, 1

        for u in range(num_units):
            for i in range(cells):
                czero[i] = False
            for level in range(num_levels):
                for i in range(cells):
                    first, number = cv[i, 0], cv[i, 1]
                    ffirst, fnumber = cf[i, 0], cf[i, 1]
                    while height.shape[0] < number:
                        rows = 2 * height.shape[0]
                        height, doubts, sign = _more(height, rows), _more(doubts, rows), _more(sign, rows)
                        blurs = _more(blurs, rows)
                    thinnest = 0.0
                    for a in range(width):
                        coefficient = maps[c, u, a] - (levels[level, u] if a == dim else 0.0)
                        thinnest += resolution[a] * abs(coefficient)
                    plus, minus, zero = 0, 0, 0
                    for v in range(number):
                        value, doubt, blur, terms = 0.0, 0.0, 0.0, 0.0
                        for a in range(width):
                            coefficient = maps[c, u, a] - (levels[level, u] if a == dim else 0.0)
                            term = coefficient * bx[first + v, a]
                            value += term
                            terms += abs(term)
                            doubt += merr[c, u, a] * abs(bx[first + v, a])
                            blur += be[first + v, a] * abs(coefficient)
                        doubt += gamma * terms
                        height[v], doubts[v], blurs[v] = value, doubt, blur
                        doubt += blur
                        floor = thinnest + relative * terms
                        size = abs(value)
                        if size > max(doubt, floor):
                            sign[v] = 1 if value > 0 else -1
                            plus += value > 0
                            minus += value < 0
                        else:
                            sign[v] = 0
                            zero += 1
                            undecided += size > min(doubt, floor) and size > 0

                    is_cut = plus > 0 and minus > 0
                    edges = 0
                    if is_cut:
                        for a in range(number):
                            if sign[a] != 1:
                                continue
                            bits_a = 0
                            for k in range(words):
                                bits_a += _count_bits(bm[first + a, k])
                            for b in range(number):
                                if sign[b] != -1:
                                    continue
                                shared = 0
                                for k in range(words):
                                    common[k] = bm[first + a, k] & bm[first + b, k]
                                    shared += _count_bits(common[k])
                                if shared < dim - 1:
                                    continue
                                if bits_a > dim:
                                    bits_b = 0
                                    for k in range(words):
                                        bits_b += _count_bits(bm[first + b, k])
                                    if bits_b > dim and not _is_edge(
                                        bm, common, first + a, first + b, first, number, words
                                    ):
                                        continue
                                if edges == edge_a.shape[0]:
                                    edge_a, edge_b = _more(edge_a, 2 * edges), _more(edge_b, 2 * edges)
                                edge_a[edges], edge_b[edges] = a, b
                                edges += 1
                        if zero + edges < dim:
                            is_cut = False
                            undecided += 1

                    if not is_cut:
                        if plus >= minus and plus > 0:
                            cpiece[i, u] += 1
                        if zero == number:
                            cflat[i, 0] ^= zero_words[u, level, 0]
                            cflat[i, 1] ^= zero_words[u, level, 1]
                            czero[i] = True
                        if zero >= dim:
                            for f in range(ffirst, ffirst + fnumber):
                                word, bit = bslot[f] >> 6, np.uint64(1) << np.uint64(bslot[f] & 63)
                                vanishes = True
                                for v in range(number):
                                    if sign[v] != 0 and bm[first + v, word] & bit:  # pyright: ignore[reportOperatorIssue]
                                        vanishes = False
                                        break
                                if vanishes:
                                    bkey[f, 0] ^= zero_words[u, level, 0]
                                    bkey[f, 1] ^= zero_words[u, level, 1]
                                    bzero[f] = True
                        continue

                    # A free slot for the new facet.
                    for k in range(words):
                        keep[k] = 0
                    for f in range(ffirst, ffirst + fnumber):
                        keep[bslot[f] >> 6] |= np.uint64(1) << np.uint64(bslot[f] & 63)
                    slot = -1
                    for k in range(words):
                        if keep[k] != ~np.uint64(0):
                            slot = 64 * k
                            while keep[k] >> np.uint64(slot & 63) & np.uint64(1):
                                slot += 1
                            break
                    if slot < 0:
                        return (False, voff, x, err, tight, foff, slots, kinds, keys, flat, foff, opiece, 0)
                    new_word, new_bit = slot >> 6, np.uint64(1) << np.uint64(slot & 63)

                    halves = (plus + zero + edges, minus + zero + edges)
                    need = used_v + halves[0] + halves[1]
                    while bx.shape[0] < need:
                        rows = 2 * bx.shape[0]
                        bx, be, bm = _more_rows(bx, rows), _more_rows(be, rows), _more_rows(bm, rows)
                    while bslot.shape[0] < used_f + 2 * (fnumber + 1):
                        rows = 2 * bslot.shape[0]
                        bslot, bkind = _more(bslot, rows), _more(bkind, rows)
                        bkey, bzero = _more_rows(bkey, rows), _more(bzero, rows)
                    if cells + 1 >= cv.shape[0]:
                        rows = 2 * cv.shape[0]
                        cv, cf, cflat = _more_rows(cv, rows), _more_rows(cf, rows), _more_rows(cflat, rows)
                        czero, cpiece = _more(czero, rows), _more_rows(cpiece, rows)

                    for half in range(2):
                        side = 1 if half == 0 else -1
                        where = used_v
                        for v in range(number):
                            if sign[v] == side or sign[v] == 0:
                                bx[where], be[where], bm[where] = bx[first + v], be[first + v], bm[first + v]
                                if sign[v] == 0:
                                    bm[where, new_word] |= new_bit
                                where += 1
                        for e in range(edges):
                            a, b = edge_a[e], edge_b[e]
                            span = height[a] - height[b]
                            # Both shares as quotients: one minus a share near one has no digits left.
                            t, rest = height[a] / span, -height[b] / span
                            # Errors of the ends along their edge do not move the crossing; those across it are as
                            # small as the better end's.
                            slide = (rest * doubts[a] + t * doubts[b] + min(blurs[a], blurs[b])) / span
                            for k in range(width):
                                bx[where, k] = rest * bx[first + a, k] + t * bx[first + b, k]
                                be[where, k] = slide * abs(bx[first + b, k] - bx[first + a, k])
                                be[where, k] += gamma * abs(bx[where, k]) + min(be[first + a, k], be[first + b, k])
                            for k in range(words):
                                bm[where, k] = bm[first + a, k] & bm[first + b, k]
                            bm[where, new_word] |= new_bit
                            where += 1
                        child_v, child_n = used_v, where - used_v
                        used_v = where
                        child_f = used_f
                        for k in range(words):
                            keep[k] = 0
                        keep[new_word] |= new_bit
                        for f in range(ffirst, ffirst + fnumber):
                            word, bit = bslot[f] >> 6, np.uint64(1) << np.uint64(bslot[f] & 63)
                            on_it, vanishes = 0, True
                            for v in range(child_v, child_v + child_n):
                                if bm[v, word] & bit:
                                    on_it += 1
                                    if bm[v, new_word] & new_bit == 0:  # pyright: ignore[reportOperatorIssue]
                                        vanishes = False
                            # A facet with all its vertices on the cut is a face of the new facet, and none itself.
                            if on_it >= dim and not vanishes:
                                bslot[used_f], bkind[used_f], bkey[used_f] = bslot[f], bkind[f], bkey[f]
                                bzero[used_f] = bzero[f]
                                keep[word] |= bit
                                used_f += 1
                        for v in range(child_v, child_v + child_n):
                            for k in range(words):
                                bm[v, k] &= keep[k]
                        bslot[used_f], bkind[used_f] = slot, 0
                        bkey[used_f, 0] = cflat[i, 0] ^ zero_words[u, level, 0]
                        bkey[used_f, 1] = cflat[i, 1] ^ zero_words[u, level, 1]
                        bzero[used_f] = True
                        used_f += 1
                        child = cells if half == 0 else i
                        if half == 0:
                            cflat[child], cpiece[child], czero[child] = cflat[i], cpiece[i], czero[i]
                            cpiece[child, u] += 1
                        cv[child, 0], cv[child, 1] = child_v, child_n
                        cf[child, 0], cf[child, 1] = child_f, used_f - child_f
                    cells += 1
            # A unit at a breakpoint on a facet does not show its piece there.
            for i in range(cells):
                piece = cpiece[i, u]
                for f in range(cf[i, 0], cf[i, 0] + cf[i, 1]):
                    if bzero[f]:
                        bkey[f, 0] ^= piece_words[u, piece, 0]
                        bkey[f, 1] ^= piece_words[u, piece, 1]
                        bzero[f] = False
                if czero[i]:
                    cflat[i, 0] ^= piece_words[u, piece, 0]
                    cflat[i, 1] ^= piece_words[u, piece, 1]

        for i in range(cells):
            nv, nf = cv[i, 1], cf[i, 1]
            at_v, at_f = ovoff[made], ofoff[made]
            while ox.shape[0] < at_v + nv:
                rows = 2 * ox.shape[0]
                ox, oe, om = _more_rows(ox, rows), _more_rows(oe, rows), _more_rows(om, rows)
            while oslot.shape[0] < at_f + nf:
                rows = 2 * oslot.shape[0]
                oslot, okind, okey = _more(oslot, rows), _more(okind, rows), _more_rows(okey, rows)
            if made + 2 >= ovoff.shape[0]:
                rows = 2 * ovoff.shape[0]
                ovoff, ofoff, oparent = _more(ovoff, rows), _more(ofoff, rows), _more(oparent, rows)
                oflat, opiece = _more_rows(oflat, rows), _more_rows(opiece, rows)
            for v in range(nv):
                ox[at_v + v], oe[at_v + v], om[at_v + v] = bx[cv[i, 0] + v], be[cv[i, 0] + v], bm[cv[i, 0] + v]
            for f in range(nf):
                oslot[at_f + f], okind[at_f + f] = bslot[cf[i, 0] + f], bkind[cf[i, 0] + f]
                okey[at_f + f] = bkey[cf[i, 0] + f]
            oflat[made], oparent[made], opiece[made] = cflat[i], c, cpiece[i]
            made += 1
            ovoff[made], ofoff[made] = at_v + nv, at_f + nf

    return (
        True,
        ovoff[: made + 1].copy(),
        ox[: ovoff[made]].copy(),
        oe[: ovoff[made]].copy(),
        om[: ovoff[made]].copy(),
        ofoff[: made + 1].copy(),
        oslot[: ofoff[made]].copy(),
        okind[: ofoff[made]].copy(),
        okey[: ofoff[made]].copy(),
        oflat[:made].copy(),
        oparent[:made].copy(),
        opiece[:made].copy(),
        undecided,
    )

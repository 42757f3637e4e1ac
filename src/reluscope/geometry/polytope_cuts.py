"""Cutting one polytope by one hyperplane: heights of vertices, edges that are crossed, and the two halves.

Two vertices span an edge if no third vertex lies on all facets that the two share (the combinatorial test of Fukuda and
Prodon, 1996); that is all a cut needs to know.
"""

import numpy as np
from numba import njit

from reluscope.geometry.cell_rows import more_rows


@njit(cache=True)
def _count_bits(word):
    """Return how many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _is_edge(tight, common, a, b, first, number, words) -> bool:
    """Return whether no third vertex lies on all facets that two vertices share."""
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


@njit(cache=True, inline="always")
def measure_heights(vertices, parts, number_of_parts, units, cell, unit, level, heights):
    """Fill in heights at the vertices of all parts, and how many of each are above, below and neither.

    Returns how many signs are open.
    """
    points, blurred, maps, errors = vertices.points, vertices.errors, units.maps, units.errors
    values, doubts, blurs, signs = heights.values, heights.doubts, heights.blurs, heights.signs
    spans, counts = parts.vertices, parts.counts
    resolution, rounding, relative = units.resolution, units.rounding, units.relative
    threshold, dim, undecided = units.levels[level, unit], points.shape[1] - 1, 0
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
                term = coefficient * points[v, a]
                value += term
                terms += abs(term)
                doubt += errors[cell, unit, a] * abs(points[v, a])
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
def crossed_edges(vertices, first, number, signs, edges):
    """Return pairs of vertices, one above and one below, that span an edge, and how many there are."""
    tight, dim = vertices.tight, vertices.points.shape[1] - 1
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
                edges = more_rows(edges, 2 * found)
            edges[found, 0], edges[found, 1] = a, b
            found += 1
    return edges, found


@njit(cache=True)
def mark_zero_facets(vertices, first, number, facets, first_facet, num_facets, signs, word_of_zero):
    """Put the breakpoint at hand into the keys of the facets on all whose vertices the unit has that value."""
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
def free_slot(slots, first, number, words):
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
def write_half(vertices, first, number, heights, edges, num_edges, side, slot, rounding, target):
    """Write the vertices of one side of a cut, those on it and the crossings, from a row on; return the row after."""
    points, errors, tight = vertices.points, vertices.errors, vertices.tight
    values, doubts, blurs, signs = heights.values, heights.doubts, heights.blurs, heights.signs
    new_word, new_bit = slot >> 6, np.uint64(1) << np.uint64(slot & 63)
    for v in range(first, first + number):
        if signs[v] == side or signs[v] == 0:
            for k in range(points.shape[1]):
                points[target, k], errors[target, k] = points[v, k], errors[v, k]
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
        for k in range(points.shape[1]):
            points[target, k] = rest * points[a, k] + t * points[b, k]
            errors[target, k] = slide * abs(points[b, k] - points[a, k])
            errors[target, k] += rounding * abs(points[target, k]) + min(errors[a, k], errors[b, k])
        for k in range(tight.shape[1]):
            tight[target, k] = tight[a, k] & tight[b, k]
        tight[target, new_word] |= new_bit
        target += 1
    return target


@njit(cache=True)
def write_facets(vertices, first, last, facets, first_facet, num_facets, slot, keep, target):
    """Write the facets that a half keeps, and take the others off its vertices; return the row after."""
    tight, dim = vertices.tight, vertices.points.shape[1] - 1
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
def show_pieces(facets, parts, number, unit, piece_words):
    """Take the piece of a unit out of the keys of facets and parts on its breakpoints, where it has none."""
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

"""Growing tables of vertices, facets and parts of cells, for compiled loops; some of their rows may be unused."""

from typing import NamedTuple

import numpy as np
from numba import njit


class VertexRows(NamedTuple):
    """Rows for vertices: homogeneous coordinates, their errors, and the facets that vertices lie on."""

    points: np.ndarray
    errors: np.ndarray
    tight: np.ndarray


class FacetRows(NamedTuple):
    """Rows for facets: as in `Polytopes`, and whether the unit at hand is at a breakpoint there."""

    slots: np.ndarray
    kinds: np.ndarray
    keys: np.ndarray
    at_zero: np.ndarray


class PartRows(NamedTuple):
    """Rows for the parts of one cell: first and number of vertices and of facets, and what a unit is on them."""

    vertices: np.ndarray
    facets: np.ndarray
    counts: np.ndarray
    flat: np.ndarray
    at_zero: np.ndarray
    pieces: np.ndarray


class HeightRows(NamedTuple):
    """Rows for vertices: values of a unit there, what rounding may do to them, and signs, 0 if they are open."""

    values: np.ndarray
    doubts: np.ndarray
    blurs: np.ndarray
    signs: np.ndarray


@njit(cache=True)
def more_rows(array, rows):
    """Return a table with more rows, the new ones undefined."""
    grown = np.empty((rows, array.shape[1]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@njit(cache=True)
def more(array, length):
    """Return a longer vector, its end undefined."""
    grown = np.empty(length, dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@njit(cache=True)
def room_for_vertices(vertices, number):
    """Return the same rows of vertices in a table of at least this many."""
    rows = vertices.points.shape[0]
    if rows >= number:
        return vertices
    while rows < number:
        rows *= 2
    return VertexRows(
        more_rows(vertices.points, rows), more_rows(vertices.errors, rows), more_rows(vertices.tight, rows)
    )


@njit(cache=True)
def room_for_facets(facets, number):
    """Return the same rows of facets in a table of at least this many."""
    rows = facets.slots.shape[0]
    if rows >= number:
        return facets
    while rows < number:
        rows *= 2
    return FacetRows(
        more(facets.slots, rows), more(facets.kinds, rows), more_rows(facets.keys, rows), more(facets.at_zero, rows)
    )


@njit(cache=True)
def room_for_parts(parts, number):
    """Return the same rows of parts in a table of at least this many."""
    rows = parts.vertices.shape[0]
    if rows >= number:
        return parts
    while rows < number:
        rows *= 2
    return PartRows(
        more_rows(parts.vertices, rows),
        more_rows(parts.facets, rows),
        more_rows(parts.counts, rows),
        more_rows(parts.flat, rows),
        more(parts.at_zero, rows),
        more_rows(parts.pieces, rows),
    )


@njit(cache=True)
def room_for_heights(heights, number):
    """Return the same rows of heights in a table of at least this many."""
    rows = heights.values.shape[0]
    if rows >= number:
        return heights
    while rows < number:
        rows *= 2
    return HeightRows(
        more(heights.values, rows), more(heights.doubts, rows), more(heights.blurs, rows), more(heights.signs, rows)
    )


@njit(cache=True)
def copy_vertices(source, first, number, target, at):
    """Copy rows of vertices."""
    points, errors, tight = source.points, source.errors, source.tight
    new_points, new_errors, new_tight = target.points, target.errors, target.tight
    for v in range(number):
        for k in range(points.shape[1]):
            new_points[at + v, k], new_errors[at + v, k] = points[first + v, k], errors[first + v, k]
        for k in range(tight.shape[1]):
            new_tight[at + v, k] = tight[first + v, k]


@njit(cache=True)
def copy_facets(source, first, number, target, at):
    """Copy rows of facets, none of them at a breakpoint of the unit at hand."""
    slots, kinds, keys = source.slots, source.kinds, source.keys
    new_slots, new_kinds, new_keys, at_zero = target.slots, target.kinds, target.keys, target.at_zero
    for f in range(number):
        new_slots[at + f], new_kinds[at + f], at_zero[at + f] = slots[first + f], kinds[first + f], False
        new_keys[at + f, 0], new_keys[at + f, 1] = keys[first + f, 0], keys[first + f, 1]

"""Polygons in space and segments in the plane as cyclic lists of vertices, back to back: what follows what, and sums.

Piece i has the vertices ``ids[offsets[i] : offsets[i + 1]]``.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.geometry.numbers.scales import exponents, times_power


def area_vectors(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the normals of pieces, as long as their areas, on the side from which they run counter-clockwise."""
    if vertices.shape[1] == 2:
        ends = vertices[ids].reshape(-1, 2, 2)
        along = ends[:, 1] - ends[:, 0]
        return np.stack([along[:, 1], -along[:, 0]], axis=1)
    middle = sums(vertices[ids], offsets) / np.diff(offsets)[:, None]
    around = np.repeat(middle, np.diff(offsets), axis=0)
    return sums(np.cross(vertices[ids] - around, vertices[following(offsets, ids)] - around), offsets) / 2


def oriented(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return the vertices of pieces in the sense that goes with their normals; the first stays, but for segments."""
    against = (area_vectors(vertices, offsets, ids) * normals).sum(axis=1) < 0
    counts = np.diff(offsets)
    start, number, turned = (np.repeat(one, counts) for one in (offsets[:-1], counts, against))
    place = np.arange(len(ids)) - start
    last = number if vertices.shape[1] == 3 else number - 1
    return ids[start + np.where(turned, (last - place) % number, place)]


def fans(vertices: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return convex polygons as triangles (t, 3), each polygon a fan of one sense.

    Corners are places in ``ids``.
    """
    # From the straightest corner: there, a vertex that a neighbour has made would else leave a flat triangle.
    vertices = times_power(vertices, -int(exponents(vertices)))  # products stay in range
    before, here, after = vertices[preceding(offsets, ids)], vertices[ids], vertices[following(offsets, ids)]
    one, two = here - before, after - here
    turn = np.linalg.norm(np.cross(one, two), axis=1)
    size = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    turn = np.where(size > 0, turn / np.where(size > 0, size, 1.0), 1.0)
    apex = first_lowest(turn, offsets)
    piece = fan_pieces(offsets)
    first = np.concatenate([[0], np.cumsum(np.diff(offsets) - 2)])[:-1]
    step = np.arange(len(piece)) - first[piece]
    start, number = offsets[:-1][piece], np.diff(offsets)[piece]
    return np.stack([start + (apex[piece] + offset) % number for offset in (0 * step, step + 1, step + 2)], axis=1)


def fan_pieces(offsets: np.ndarray) -> np.ndarray:
    """Return of which polygon each triangle of `fans` is."""
    counts = np.diff(offsets)
    return np.repeat(np.arange(len(counts)), counts - 2)


def following(offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return what follows every entry of cyclic lists."""
    after = np.arange(1, len(ids) + 1)
    after[offsets[1:] - 1] = offsets[:-1]
    return ids[after]


def preceding(offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return what precedes every entry of cyclic lists."""
    before = np.arange(-1, len(ids) - 1)
    before[offsets[:-1]] = offsets[1:] - 1
    return ids[before]


def sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the sum of every list."""
    return np.add.reduceat(values, offsets[:-1], axis=0)


def largest(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the largest entry of every list."""
    return np.maximum.reduceat(values, offsets[:-1])


def first_lowest(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return where in each list its first lowest value is."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    at = np.flatnonzero(values == np.minimum.reduceat(values, offsets[:-1])[rows])
    _, first = np.unique(rows[at], return_index=True)
    return at[first] - offsets[:-1]


def pinched(offsets: np.ndarray, ids: np.ndarray, number: int) -> np.ndarray:
    """Return which of ``number`` vertices have polygons around them that are not one fan, closed or open."""
    before, after = preceding(offsets, ids), following(offsets, ids)
    # The link of a vertex: its edges are nodes, and each polygon joins the two that it has there.
    keys = np.concatenate([ids * number + before, ids * number + after])
    nodes, row, degree = np.unique(keys, return_inverse=True, return_counts=True)
    joined = coo_array((np.ones(len(ids)), (row[: len(ids)], row[len(ids) :])), shape=(len(nodes), len(nodes)))
    _, part = connected_components(joined, directed=False)
    vertex = nodes // number
    parts = np.unique(np.stack([vertex, part], axis=1), axis=0)
    return np.union1d(np.flatnonzero(np.bincount(parts[:, 0], minlength=number) > 1), vertex[degree > 2])

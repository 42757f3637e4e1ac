"""Max gates: which candidates can win on a few cells, and which one does.

The largest of k affine functions cannot be read off a polygon's vertices alone: a candidate may win in the middle only.
Candidates that another one clearly dominates at every vertex are dropped, the cells are cut where the remaining ones
tie, all candidates that tie at a vertex are set equal there, and each piece is labelled by the lowest candidate that is
largest at all of its vertices. Pieces of one cell with the same label are joined again when the partition is
assembled; their union is convex.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from reluscope.geometry.complexes import grow
from reluscope.interruption import held


@dataclass(frozen=True)
class Rivals:
    """Pairs of candidates that may tie for the maximum on some cells.

    Parameters
    ----------
    heights : (v, pairs) float64
        First minus second candidate at the vertices.
    rounding : (pairs,) float64
        Bound on the rounding error of each difference.
    pairs : (pairs, 3) int64
        Unit, first candidate, second candidate.
    winner : (u,) int64
        Winning candidate of each unit on all cells, meaningless for the units of ``open_units``.
    open_units : (c,) int64
        Units whose winner may differ from cell to cell.
    """

    heights: np.ndarray
    rounding: np.ndarray
    pairs: np.ndarray
    winner: np.ndarray
    open_units: np.ndarray


def find_rivals(pre: np.ndarray, rounding: np.ndarray, margin: np.ndarray, *, ties: bool = True) -> Rivals:
    """Drop dominated candidates and pair up the others.

    Parameters
    ----------
    pre : (v, u, k) float64
        Candidates at the vertices, -inf where there is none.
    rounding : (u, k) float64
        Bound on the rounding error of each candidate.
    margin : (u, k) float64
        A candidate is behind another at a vertex if it is lower by more than both their margins.
    ties : bool
        Whether equal floats are equal numbers: then a candidate is also dropped if it is nowhere ahead of another and
        equal where it is not behind.
    """
    units, first, second, winner, is_open = _rivals(pre, margin, ties)
    return Rivals(
        pre[:, units, first] - pre[:, units, second],
        rounding[units, first] + rounding[units, second],
        np.stack([units, first, second], axis=1),
        winner,
        np.flatnonzero(is_open),
    )


@held
@njit(cache=True)
def _rivals(pre, margin, ties) -> tuple[np.ndarray, ...]:
    num_vertices, num_units, num_candidates = pre.shape
    units = np.empty(64, dtype=np.int64)
    first = np.empty(64, dtype=np.int64)
    second = np.empty(64, dtype=np.int64)
    winner = np.zeros(num_units, dtype=np.int64)
    is_open = np.zeros(num_units, dtype=np.bool_)
    used = 0
    alive = np.empty(num_candidates, dtype=np.bool_)
    for u in range(num_units):
        for a in range(num_candidates):
            alive[a] = pre[0, u, a] > -np.inf
        # The later of two candidates that are equal everywhere goes.
        for a in range(num_candidates - 1, -1, -1):
            for b in range(num_candidates):
                if not alive[a]:
                    break
                if b == a or not alive[b]:
                    continue
                dominated, always_ties = True, True
                for v in range(num_vertices):
                    lead = pre[v, u, b] - pre[v, u, a]
                    tied = ties and lead == 0
                    if not tied:
                        always_ties = False
                        if lead <= margin[u, a] + margin[u, b]:
                            dominated = False
                            break
                if dominated and not (always_ties and b > a):
                    alive[a] = False
        winner[u] = np.argmax(alive)
        is_open[u] = alive.sum() > 1
        # A candidate that was dropped still names the cells on which it ties, if it comes first.
        for b in range(winner[u]):
            for v in range(num_vertices):
                if is_open[u]:
                    break
                is_open[u] = pre[v, u, b] == pre[v, u, winner[u]]
        for a in range(num_candidates):
            for b in range(a + 1, num_candidates):
                if alive[a] and alive[b]:
                    if used == units.shape[0]:
                        units, first, second = grow(units, 2 * used), grow(first, 2 * used), grow(second, 2 * used)
                    units[used], first[used], second[used] = u, a, b
                    used += 1
    return units[:used].copy(), first[:used].copy(), second[:used].copy(), winner, is_open


@held
@njit(cache=True)
def settle(pre, pairs, heights):
    """Set candidates equal at the vertices where they were decided to tie, in place.

    All that were equal to one of the two follow, so that copies stay copies; what ties with zero is zero.

    Parameters
    ----------
    pre : (v, u, k) float64
    pairs : (pairs, 3) int64
        Unit, first candidate, second candidate.
    heights : (v, pairs) float64
        Exactly zero where the two tie.
    """
    for v in range(heights.shape[0]):
        for pair in range(pairs.shape[0]):
            u = pairs[pair, 0]
            one, other = pre[v, u, pairs[pair, 1]], pre[v, u, pairs[pair, 2]]
            if heights[v, pair] != 0 or one == other:
                continue
            common = 0.0 if other == 0 else one
            for a in range(pre.shape[2]):
                if pre[v, u, a] == one or pre[v, u, a] == other:
                    pre[v, u, a] = common


@held
@njit(cache=True)
def winners(pre, units, offsets, ids):
    """Return for every cell and listed unit the lowest candidate that is largest at all vertices of the cell.

    Parameters
    ----------
    pre : (v, u, k) float64
        Exactly equal where candidates tie.
    units : (c,) int64
        Units to label.
    offsets : (cells + 1,) int64; ids : (offsets[-1],) int32
        Vertices of the cells.

    Returns
    -------
    (cells, c) uint16
    """
    num_cells = offsets.shape[0] - 1
    num_candidates = pre.shape[2]
    labels = np.zeros((num_cells, units.shape[0]), dtype=np.uint16)
    for cell in range(num_cells):
        for c in range(units.shape[0]):
            u = units[c]
            least = np.inf
            for a in range(num_candidates):
                if pre[ids[offsets[cell]], u, a] == -np.inf:
                    continue
                # How far the candidate falls behind at the worst vertex.
                deficit = 0.0
                for i in range(offsets[cell], offsets[cell + 1]):
                    v = ids[i]
                    for b in range(num_candidates):
                        deficit = max(deficit, pre[v, u, b] - pre[v, u, a])
                if deficit < least:
                    labels[cell, c], least = a, deficit
                if deficit <= 0:
                    break
    return labels

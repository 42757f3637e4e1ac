"""Max gates: which candidates can win on a few cells, and which one does.

The largest of k affine functions cannot be read off a polygon's vertices alone: a candidate may win in the middle only.
Candidates that another one clearly dominates at every vertex are dropped, the cells are cut where the remaining ones
tie, all candidates that tie at a vertex are set equal there, and each piece is labelled by the lowest candidate that is
largest at all of its vertices. Pieces of one cell with the same label are joined again when the partition is
assembled; their union is convex.
"""

from dataclasses import dataclass

import numpy as np

from reluscope import _kernels


@dataclass(frozen=True)
class CandidatePairs:
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


def find_rivals(pre: np.ndarray, rounding: np.ndarray, margin: np.ndarray, *, ties: bool = True) -> CandidatePairs:
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
    units, first, second, winner, is_open = _kernels.find_rivals(pre, margin, ties)
    return CandidatePairs(
        pre[:, units, first] - pre[:, units, second],
        rounding[units, first] + rounding[units, second],
        np.stack([units, first, second], axis=1),
        winner,
        np.flatnonzero(is_open),
    )


def settle(pre: np.ndarray, pairs: np.ndarray, heights: np.ndarray) -> None:
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
    _kernels.settle(pre, pairs, heights)


def winners(pre: np.ndarray, units: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
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
    return _kernels.winners(pre, units, offsets, ids)

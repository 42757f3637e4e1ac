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
    """Pairs of candidates that may tie for the maximum on some cells."""

    heights: np.ndarray  # (v, pairs) first minus second candidate at the vertices
    rounding: np.ndarray  # (pairs,) bound on the error of each difference
    pairs: np.ndarray  # (pairs, 3) unit, first candidate, second candidate
    winner: np.ndarray  # (u,) on all cells, meaningless for ``open_units``
    open_units: np.ndarray  # (c,) units whose winner may differ between cells


def find_rivals(pre: np.ndarray, rounding: np.ndarray, margin: np.ndarray, *, ties: bool = True) -> CandidatePairs:
    """Drop dominated candidates and pair up the others.

    A candidate is behind at a vertex if lower by more than both margins; -inf stands for none. With ``ties`` one is
    also dropped that is nowhere ahead of another and equal where not behind.
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
    """Set candidates equal, in place, at the vertices where they were decided to tie.

    They tie where ``heights`` is exactly zero. Candidates equal to one of the two follow, so that copies stay copies;
    what ties with zero is zero.
    """
    _kernels.settle(pre, pairs, heights)


def winners(pre: np.ndarray, units: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return (cells, c) for each listed unit the lowest candidate that is largest at all vertices.

    Candidates that tie must be exactly equal in ``pre``.
    """
    return _kernels.winners(pre, units, offsets, ids)

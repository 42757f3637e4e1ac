"""Cutting polytopes one by one: each is kept by its vertices and by which of its facets every vertex lies on.

Two vertices span an edge if no third vertex lies on all facets that the two share; that is all a cut needs to know,
so faces of other dimensions are never built. In many dimensions this beats complexes of shared faces, whose number
grows with 3^d.

References: the double description method (Motzkin and others, 1953), with the combinatorial test of adjacency of Fukuda
and Prodon (1996).
"""

from dataclasses import dataclass

import numpy as np

from reluscope import _kernels
from reluscope.geometry.polytopes import Polytopes


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
    made, parents, pieces, num_undecided = _kernels.cut_cells(
        *cells.tables,
        maps=maps,
        errors=errors,
        breakpoints=breakpoints,
        piece_words=piece_words,
        zero_words=zero_words,
        rounding=rounding,
        resolution=resolution,
        relative=relative,
    )
    return Pieces(Polytopes(*made), parents, pieces, num_undecided)

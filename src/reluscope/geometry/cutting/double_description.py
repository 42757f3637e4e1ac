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
from reluscope.geometry.cutting.polytopes import Polytopes
from reluscope.kernel_threads import kernel_threads

UNLIMITED = 2**62
# Vertices times units from which threads pay.
THREADED_WORK = 2**14


@dataclass(frozen=True)
class CutPolytopes:
    """Polytopes after cuts by the units of one layer, by all of them or by some.

    Parameters
    ----------
    cells : Polytopes
    parents : (c,) int64
        Cell that each lies in.
    pieces : (c, u) uint16
        Number of breakpoints below each unit that has cut; 0 for others.
    hashes : (c, 2) uint64
        The exclusive or of the words of these pieces: what they add to the keys of all facets.
    next_units : (c,) int64
        The unit that comes next, u where all have cut: a call takes a cell through 64 breakpoints at least, or until
        there is no room.
    flat_units : (q, 4) int64
        Breakpoints that a unit is at on a whole part, up to rounding: part, unit, number of the breakpoint, and whether
        it is in doubt (1) that it counts as zero there. Its piece is the one below.
    middles : (c, d + 1) float64; is_bounded : (c,) bool
        After the last units the mean of each part's vertices, and whether all of them are points. Otherwise empty.
    corner_offsets : (c + 1,) int64; corner_ids : (v,) int32; corners : (p, d + 1) float64
        After the last units the vertices of parts that all of these have cut, if they are kept, as rows of a table:
        parts of one cell share them. Otherwise empty.
    num_taken : int
        Cells that were cut, the first ones: of the others there are no parts here.
    num_undecided : int
        Signs that were neither clear nor within rounding, and cuts that rounding made impossible.
    """

    cells: Polytopes
    parents: np.ndarray
    pieces: np.ndarray
    hashes: np.ndarray
    next_units: np.ndarray
    flat_units: np.ndarray
    middles: np.ndarray
    is_bounded: np.ndarray
    corner_offsets: np.ndarray
    corner_ids: np.ndarray
    corners: np.ndarray
    num_taken: int
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
    map_of_cell: np.ndarray | None = None,
    first_units: np.ndarray | None = None,
    max_parts: float = np.inf,
    max_vertices: float = np.inf,
    max_units: float = np.inf,
    is_last: bool = False,
    keeps_vertices: bool = True,
    corner_scale: np.ndarray | None = None,
) -> CutPolytopes:
    """Cut cells where a unit, affine on the cell, crosses a breakpoint.

    Parameters
    ----------
    cells : Polytopes
    maps : (m, u, d + 1) float64
        Coefficients of every unit on every cell in homogeneous coordinates.
    errors : (m, u, d + 1) float64
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
        Values up to this share of the sum of the coefficients' magnitudes times those of the coordinates count as zero,
        too: of ``w``, and of ``x_i - 2 min(0, x_1, x_2, ...)``, for cells each in one cone as `first_cells` has them.
    map_of_cell : (c,) int64, optional
        Which of the maps is that on each cell; by default there is one for each.
    first_units : (c,) int64, optional
        The unit to begin with on each cell; by default the first.
    max_parts, max_vertices : float
        Once there are so many parts, or vertices of parts, no more cells are begun, and a cell that has so many is not
        cut further: what is left then comes back as it is, to be cut another time.
    max_units : float
        Units by which a cell is cut at most.
    is_last : bool
        Whether nothing cuts the parts that all units have cut: they have middles and corners then, and no vertices by
        which they could be cut; those with flat units have them in any case.
    keeps_vertices : bool
        Whether these parts have corners.
    corner_scale : (d + 1,) float64, optional
        What each coordinate of corners is multiplied by; 1 by default.

    Returns
    -------
    Pieces
        In the order of their parents.

    Notes
    -----
    A simple cell, each vertex of which is on d facets, is cut along its edges as long as no sign is in doubt: a pass
    over the edges for each cut, and the heights of all units at each new vertex. Any other cell is cut by the general
    method: at most v^2 / 4 comparisons of bit masks for a cut of a cell of v vertices, and as many searches for a third
    vertex where neither of two vertices is simple. Both give the same parts, vertices and bounds, in other orders.

    Cells are shared out to the threads of `kernel_threads`, where that pays; what is returned is the same for any
    number of them. Where no corners are kept, the last cut of a part builds none: its facets are those of the part
    with a vertex on its side, and the new one.
    """
    if map_of_cell is None:
        map_of_cell = np.arange(len(cells))
    if first_units is None:
        first_units = np.zeros(len(cells), dtype=np.int64)
    found = _kernels.cut_cells(
        *cells.tables,
        maps=maps,
        errors=errors,
        breakpoints=breakpoints,
        piece_words=piece_words,
        zero_words=zero_words,
        rounding=rounding,
        resolution=resolution,
        relative=relative,
        map_of_cell=map_of_cell,
        first_units=first_units,
        max_parts=max(1, int(min(max_parts, UNLIMITED))),
        max_vertices=max(1, int(min(max_vertices, UNLIMITED))),
        max_units=max(1, int(min(max_units, UNLIMITED))),
        is_last=is_last,
        keeps_vertices=keeps_vertices,
        corner_scale=np.ones(maps.shape[2]) if corner_scale is None else corner_scale,
        num_threads=kernel_threads(len(cells.vertices) * maps.shape[1], THREADED_WORK),
    )
    made, parents, pieces, hashes, next_units, *others, num_taken, num_undecided = found
    flat_units, middles, is_bounded, corner_offsets, corner_ids, corners = others
    return CutPolytopes(
        cells=Polytopes(*made),
        parents=parents,
        pieces=pieces,
        hashes=hashes,
        next_units=next_units,
        flat_units=flat_units,
        middles=middles,
        is_bounded=is_bounded,
        corner_offsets=corner_offsets,
        corner_ids=corner_ids,
        corners=corners,
        num_taken=num_taken,
        num_undecided=num_undecided,
    )

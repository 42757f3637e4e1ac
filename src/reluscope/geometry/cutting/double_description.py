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
    """Polytopes after cuts by all or some units of one layer.

    ``middles``, ``is_bounded`` and corners are empty until the last units have cut. A call takes a cell through 64
    breakpoints at least, or until there is no room. A part in ``flat_units`` has the piece below.
    """

    cells: Polytopes
    parents: np.ndarray  # (c,) the cell that each part lies in
    pieces: np.ndarray  # (c, u) breakpoints below units that cut; others 0
    hashes: np.ndarray  # (c, 2) xor of the pieces' words: added to facet keys
    next_units: np.ndarray  # (c,) unit that comes next; u if all have cut
    flat_units: np.ndarray  # (q, 4) part, unit, number of breakpoint, doubt (1)
    middles: np.ndarray  # (c, d + 1) mean of each part's vertices
    is_bounded: np.ndarray  # (c,) whether all vertices are points
    corner_offsets: np.ndarray  # (c + 1,) parts' vertices within ``corner_ids``
    corner_ids: np.ndarray  # (v,) rows of ``corners``
    corners: np.ndarray  # (p, d + 1) shared by the parts of one cell
    doubtful: np.ndarray  # cells that were cut with a sign undecided
    num_taken: int  # cells that were cut, the first ones
    num_undecided: int  # unclear signs, cuts that rounding made impossible


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
    """Cut cells where a unit, affine on the cell, crosses a breakpoint, in the order of the cells.

    Values within `resolution`, or a share `relative` of their terms, count as zero. Past a limit no more cells are
    begun, and what is left of a cell comes back uncut. Any number of threads gives the same result.
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
    flat_units, middles, is_bounded, corner_offsets, corner_ids, corners, doubtful = others
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
        doubtful=doubtful,
        num_taken=num_taken,
        num_undecided=num_undecided,
    )

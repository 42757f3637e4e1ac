"""Finished cells of one batch, as a walk hands them on."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class CellPatch:
    """Finished cells of one batch.

    Facets are the inner ones of each cell. On a wall between parts of the domain both sides of a facet may be of one
    region.
    """

    words: np.ndarray  # (r, w) packed codes
    corner_offsets: np.ndarray  # (r + 1,) where each cell's ``corner_ids`` begin
    corner_ids: np.ndarray  # (v,) rows of ``corners``
    corners: np.ndarray  # (p, d + 1) homogeneous vertices shared by the cells
    middles: np.ndarray  # (r, d + 1) mean of each cell's vertices
    is_bounded: np.ndarray  # (r,) whether all vertices of the cell are points
    facet_cells: np.ndarray  # (f,) cell of each inner facet
    facet_keys: np.ndarray  # (f, 2) keys that both sides of a facet share
    on_walls: np.ndarray  # (f,) whether the facet lies on such a wall
    in_doubt: np.ndarray  # (r,) whether a sign stayed undecided on the way to the cell

    def __len__(self) -> int:
        return len(self.words)

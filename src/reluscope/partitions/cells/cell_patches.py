"""Finished cells of one batch, as a walk hands them on."""

from dataclasses import dataclass

import numpy as np

from reluscope.geometry.cutting.polytopes import ragged_rows


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
    owners: np.ndarray  # (r,) of which of several networks the cell is

    def __len__(self) -> int:
        return len(self.words)

    def by_owner(self, number: int) -> "list[CellPatch]":
        """Return the cells of each of some networks, in order."""
        order = np.argsort(self.owners, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        of_facets = places[self.facet_cells]
        facets = np.argsort(of_facets, kind="stable")
        offsets, entries = ragged_rows(self.corner_offsets, order)
        ids, every = self.corner_ids[entries], np.arange(number + 1)
        cells = np.searchsorted(self.owners[order], every)
        ends = np.searchsorted(of_facets[facets], cells)
        found = []
        for owner in range(number):
            rows, of_rows = order[cells[owner] : cells[owner + 1]], facets[ends[owner] : ends[owner + 1]]
            starts = offsets[cells[owner] : cells[owner + 1] + 1]
            corners, inverse = np.unique(ids[starts[0] : starts[-1]], return_inverse=True)
            found.append(
                CellPatch(
                    words=self.words[rows],
                    corner_offsets=starts - starts[0],
                    corner_ids=inverse.astype(self.corner_ids.dtype),
                    corners=self.corners[corners],
                    middles=self.middles[rows],
                    is_bounded=self.is_bounded[rows],
                    facet_cells=of_facets[of_rows] - cells[owner],
                    facet_keys=self.facet_keys[of_rows],
                    on_walls=self.on_walls[of_rows],
                    in_doubt=self.in_doubt[rows],
                    owners=self.owners[rows],
                )
            )
        return found

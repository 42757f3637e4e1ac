"""Finished cells of one batch, as a walk hands them on."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class CellPatch:
    """Finished cells of one batch.

    Parameters
    ----------
    words : (r, w) uint64
        Packed codes.
    corner_offsets : (r + 1,) int64; corner_ids : (v,) int32; corners : (p, d + 1) float64
        Homogeneous vertices of every cell, as rows of a table that cells share.
    middles : (r, d + 1) float64; is_bounded : (r,) bool
        The mean of its vertices, and whether all of them are points.
    facet_cells : (f,) int64; facet_keys : (f, 2) uint64; on_walls : (f,) bool
        The inner facets of every cell, with keys that both sides share, and whether they lie on a wall between parts of
        the domain, where both sides may be of one region.
    """

    words: np.ndarray
    corner_offsets: np.ndarray
    corner_ids: np.ndarray
    corners: np.ndarray
    middles: np.ndarray
    is_bounded: np.ndarray
    facet_cells: np.ndarray
    facet_keys: np.ndarray
    on_walls: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

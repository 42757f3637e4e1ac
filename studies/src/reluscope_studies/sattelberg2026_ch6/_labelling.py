"""The dissertation's way to draw regions of a slice: equal Jacobians on a grid (section 6.3), beside the exact ones.

Points of a p x p grid are taken from left to right, then from top to bottom. A point gets the label of its left
neighbour if their Jacobians agree within a tolerance; else that of the nearest Jacobian, within the tolerance, in the
row above, from the point above the left neighbour to the row's right end (Figure 6.12); else a new label. The
dissertation does not say which of several matches counts, nor the norm; here the nearest in the Frobenius norm,
relative to the point's own Jacobian.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

import reluscope as rs


@dataclass(frozen=True, eq=False)
class Labelling:
    """Labels on a grid by equal Jacobians, and what they miss.

    Parameters
    ----------
    labels : (p, p) int64
        The first row is at the top.
    tolerance : float
    num_codes : int
        Regions that hold a point of the grid: different codes.
    num_found : int
        Regions that the labels stand for: different codes among the first points of labels.
    """

    labels: Int[np.ndarray, "p p"]
    tolerance: float
    num_codes: int
    num_found: int

    @property
    def num_labels(self) -> int:
        """How many labels there are; a region may have several."""
        return int(self.labels.max()) + 1


def label_grid(network: rs.Network, plane: rs.Slice, size: int, tolerances: Sequence[float]) -> list[Labelling]:
    """Label the centres of p x p cells of a window, once for every tolerance.

    Parameters
    ----------
    network : Network
    plane : Slice
        With a box as its window.
    size : int
        Points in a row, p.
    tolerances : sequence of float

    Notes
    -----
    ``p^2`` Jacobians, two rows of them at a time, and up to p comparisons for each.
    """
    window = plane.window
    assert isinstance(window, rs.Box)
    shares = (np.arange(size) + 0.5) / size
    across = window.lo[0] + shares * (window.hi[0] - window.lo[0])
    down = window.hi[1] - shares * (window.hi[1] - window.lo[1])
    labels = np.empty((len(tolerances), size, size), dtype=np.int64)
    counts = [0] * len(tolerances)
    codes = []
    above: Tensor | None = None
    for row, height in enumerate(down):
        points = plane.lift(np.column_stack([across, np.full(size, height)]))
        codes.append(network.codes(points).words)
        jacobians = network.linearize(points).weight.flatten(1)
        left, up = _distances(jacobians, above)
        for place, tolerance in enumerate(tolerances):
            previous = labels[place, row - 1] if row else None
            counts[place] = _label_row(labels[place, row], previous, left <= tolerance, up, tolerance, counts[place])
        above = jacobians
    _, regions = np.unique(np.concatenate(codes), axis=0, return_inverse=True)
    regions = regions.reshape(-1)
    found = []
    for own, tolerance in zip(labels, tolerances, strict=True):
        _, first = np.unique(own, return_index=True)
        num_found = len(np.unique(regions[first]))
        found.append(Labelling(own, tolerance, int(regions.max()) + 1, num_found))
    return found


def _distances(jacobians: Float[Tensor, "p k"], above: Tensor | None) -> tuple[np.ndarray, np.ndarray]:
    """Return distances to the left neighbour (the first infinite) and to all of the row above, relative to the own."""
    sizes = torch.linalg.vector_norm(jacobians, dim=1)
    left = torch.full_like(sizes, torch.inf)
    left[1:] = torch.linalg.vector_norm(jacobians[1:] - jacobians[:-1], dim=1)
    up = sizes.new_full((len(sizes), len(sizes)), torch.inf)
    if above is not None:
        # Products would cancel: what is looked for are small differences of large Jacobians.
        up = torch.cdist(jacobians, above, compute_mode="donot_use_mm_for_euclid_dist")
    sizes = torch.where(sizes > 0, sizes, 1.0)
    return (left / sizes).cpu().numpy(), (up / sizes[:, None]).cpu().numpy()


def _label_row(
    labels: np.ndarray, previous: np.ndarray | None, same: np.ndarray, up: np.ndarray, tolerance: float, count: int
) -> int:
    """Fill in one row of labels and return how many labels there are then."""
    for column in range(len(labels)):
        start = max(0, column - 1)
        nearest = start + int(up[column, start:].argmin())
        if same[column]:
            labels[column] = labels[column - 1]
        elif previous is not None and up[column, nearest] <= tolerance:
            labels[column] = previous[nearest]
        else:
            labels[column], count = count, count + 1
    return count

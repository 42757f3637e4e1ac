"""The space that all gradients of a network lie in, where its first layer makes it smaller than the input space.

If everything reads the input through the first layer, gradients are combinations of the rows of that layer's matrix W:
``C = Z [V | 0; 0 | 1]^T`` with an orthonormal basis V of the rows of W. Sums over Z cost as much as V is narrow, and
least squares, inner products and singular values are those of C.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from reluscope.networks.evaluation.linearize import each_unit_maps
from reluscope.networks.network import Network


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Coordinates for rows of coefficients: those along a basis of all gradients, then the constant."""

    num_inputs: int
    basis: Float[np.ndarray, "n r"] | None  # orthonormal columns; None for the whole input space

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return 1 + (self.num_inputs if self.basis is None else self.basis.shape[1])

    def coordinates(self, rows: Float[np.ndarray, "s c"]) -> Float[np.ndarray, "s d"]:
        """Return the coordinates of rows of n + 1 entries; lengths and inner products stay."""
        if self.basis is None:
            return rows
        return np.concatenate([rows[:, :-1] @ self.basis, rows[:, -1:]], axis=1)

    def rows(self, coordinates: Float[np.ndarray, "s d"]) -> Float[np.ndarray, "s c"]:
        """Return the rows of n + 1 entries that have these coordinates."""
        if self.basis is None:
            return coordinates
        return np.concatenate([coordinates[:, :-1] @ self.basis.T, coordinates[:, -1:]], axis=1)


@torch.no_grad()
def row_space(network: Network) -> RowSpace:
    """Return a space that holds all gradients, from the rows of the first layer."""
    size = network.num_inputs
    origin = torch.zeros(1, *network.input_shape, dtype=torch.float64, device=network.device)
    if not network.stages:
        weight = network.linearize(origin).weight
    elif network.stages[0].keeps or network.stages[0].gate.num_units >= size:
        return RowSpace(size, None)
    else:
        weight = next(each_unit_maps(network, origin))[0]
    rows = weight.reshape(-1, size).cpu().numpy()
    if len(rows) >= size:
        return RowSpace(size, None)
    # Rows of any length count: later layers may weigh a short one up.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows[largest[:, 0] > 0] / largest[largest[:, 0] > 0]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    _, values, basis = np.linalg.svd(rows, full_matrices=False)
    rank = int((values > values.max(initial=0.0) * size * np.finfo(float).eps).sum())
    return RowSpace(size, np.ascontiguousarray(basis[:rank].T))

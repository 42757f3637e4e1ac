"""Half-spaces in coordinates of the solutions of equations, in which they may have an interior."""

import numpy as np

from reluscope.geometry.numbers.resolutions import CONSTANT_ROWS
from reluscope.geometry.numbers.row_scales import unit_rows

# Equations hold, and rows are constant on their solutions, up to this share of the terms of a sum.
RELATIVE = 1e-9


class AffineHull:
    """The half-spaces in coordinates of the solutions of C x = d: ``x = origin + z @ basis``, basis orthonormal."""

    def __init__(self, A: np.ndarray, b: np.ndarray, C: np.ndarray, d: np.ndarray) -> None:
        number = A.shape[1]
        equations, values, kept = unit_rows(C, d)
        self.is_consistent = not (np.delete(d, kept) != 0).any()
        if not len(kept):
            self.origin, self.basis = np.zeros(number), None
            self.dim, self.A, self.b = number, A, b
            return
        left, singular, right = np.linalg.svd(equations)
        rank = int((singular > singular[0] * max(equations.shape) * np.finfo(float).eps).sum())
        self.origin = right[:rank].T @ ((left[:, :rank].T @ values) / singular[:rank])
        self.is_consistent &= bool(self._vanishes(equations @ self.origin - values, equations, values).all())
        self.basis = right[rank:]
        self.dim = number - rank
        rows = A @ self.basis.T
        # A row along the hull is constant there: what rounding leaves of it must not count as a direction.
        lengths = np.linalg.norm(A, axis=1)
        constant = np.linalg.norm(rows, axis=1) <= CONSTANT_ROWS * lengths
        rows[constant] = 0.0
        self.A, self.b = rows, b - A @ self.origin
        self.b[constant & self._vanishes(self.b, A, b)] = 0.0

    def _vanishes(self, differences: np.ndarray, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return where ``rows @ origin - values`` is zero up to 1e-9 of the terms it is the sum of."""
        return np.abs(differences) <= RELATIVE * (np.abs(rows) @ np.abs(self.origin) + np.abs(values))

    def lift(self, z: np.ndarray) -> np.ndarray:
        """Return points from coordinates of the hull."""
        return z if self.basis is None else self.origin + z @ self.basis

    def lift_direction(self, z: np.ndarray) -> np.ndarray:
        """Return directions from coordinates of the hull."""
        return z if self.basis is None else z @ self.basis

    def project(self, x: np.ndarray) -> np.ndarray:
        """Return the coordinates of points in the hull."""
        return x if self.basis is None else self.basis @ (x - self.origin)

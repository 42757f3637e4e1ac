"""The equations ``(H + A' W A) u = v`` of a step of an interior-point method: H second derivatives, W weights of rows.

Among many rows few weigh much: those that are nearly tight. A matrix of as many of the heaviest rows as there are
variables, and a diagonal for the rest, is factorised in place of the whole one, and conjugate gradients with all rows
lead from there to the solution: a handful of products of rows with vectors, which programs that share their rows share.
On constraint reduction: Tits, Absil and Woessner, "Constraint reduction for linear programs with many inequality
constraints" (SIAM Journal on Optimization 17, 2006).
"""

import torch
from torch import Tensor

from reluscope.geometry.numbers.resolutions import TINY
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack, add_gram

# Relative to the diagonal, which is 1: what is added to it so that rounding leaves the matrix positive.
SHIFT = 1e-13
# From this many variables on, and this many rows for each, the heaviest rows alone are factorised.
MANY_VARIABLES, ROWS_PER_VARIABLE = 128, 2
# Shares of right sides up to which a solution by a whole factorisation is refined.
REFINED = 1e-2
MAX_ROUNDS = 60


class NewtonEquations:
    """Newton equations of bodies, one for each, ready to be solved.

    Weights (r, h + 2 n) are those of rows, lower and upper bounds; the outer products of the rows of ``curvature`` (r,
    k, n) sum up to H.
    """

    def __init__(self, bodies: HalfSpaceStack, weights: Tensor, curvature: Tensor | None = None) -> None:
        self.bodies, self.weights, self.curvature = bodies, weights, curvature
        self.is_large = bodies.dim >= MANY_VARIABLES
        self._is_whole = not self.is_large or bodies.num_dense_rows < ROWS_PER_VARIABLE * bodies.dim
        matrix = bodies.gram(weights) if self._is_whole else bodies.gram_of_heaviest(weights, bodies.dim)
        if curvature is not None:
            add_gram(matrix, curvature)
        # Scaling to a unit diagonal, and a little more than that, keeps the factorisation going near the end.
        self._sides = matrix.diagonal(dim1=1, dim2=2).clamp_min(TINY).rsqrt()
        matrix *= self._sides[:, :, None]
        matrix *= self._sides[:, None, :]
        matrix.diagonal(dim1=1, dim2=2).add_(SHIFT)
        self._factor, info = torch.linalg.cholesky_ex(matrix)
        self.is_sound = info == 0

    def apply(self, moves: Tensor) -> Tensor:
        """Return v for u."""
        moved = self.bodies.pull(self.weights * self.bodies.speeds(moves))
        return moved if self.curvature is None else moved + _times(self.curvature.mT, _times(self.curvature, moves))

    def solve(self, right: Tensor, left: float) -> Tensor:
        """Return the solutions (r, n) of the equations for right-hand sides (r, n).

        ``left`` is the share of the right-hand side that may remain as residual, in the norm of the inverse matrix.
        """
        if not self._is_whole:
            return self._solve_together(right, left)
        found = self._solve(right)
        return found + self._solve(right - self.apply(found)) if left < REFINED else found

    def _solve_together(self, right: Tensor, left: float) -> Tensor:
        """Solve by conjugate gradients, all equations at once."""
        found, rest = torch.zeros_like(right), right
        along = nearer = self._solve(rest)
        size = (rest * nearer).sum(dim=1, keepdim=True)
        enough = left**2 * size
        is_open = size > 0
        for _ in range(MAX_ROUNDS):
            moved = self.apply(along)
            length = torch.where(is_open, size / (along * moved).sum(dim=1, keepdim=True).clamp_min(TINY), 0.0)
            found, rest = found + length * along, rest - length * moved
            nearer = self._solve(rest)
            smaller = (rest * nearer).sum(dim=1, keepdim=True)
            is_open = is_open & (smaller > enough)
            if not is_open.any():
                break
            along = nearer + smaller / size.clamp_min(TINY) * along
            size = smaller
        return found

    def _solve(self, right: Tensor) -> Tensor:
        # Two triangular systems: `cholesky_solve` takes several times as long for a batch.
        half = torch.linalg.solve_triangular(self._factor, (self._sides * right)[..., None], upper=False)
        return self._sides * torch.linalg.solve_triangular(self._factor.mT, half, upper=True)[..., 0]


def _times(matrices: Tensor, vectors: Tensor) -> Tensor:
    return (matrices @ vectors[..., None])[..., 0]

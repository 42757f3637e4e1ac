"""Singular values of a Jacobian before and after a gate, with bounds on their errors.

Short sides go through a triangular factor (QR by blocks of rows, then LAPACK's singular values): backward stable, every
value known to ``gamma sqrt(max(m, n))`` times the largest. For long sides that takes too long, and the eigenvalues of
the Gram matrix ``J^T J`` do as long as they are large enough: they are known to ``delta = gamma (|J|_F^2 + sqrt(n)
sigma_1^2)``, so a value sigma is known to ``delta / sigma``, and below ``sqrt(delta)``, some 1e-7 of the largest,
nothing is. Where a value that is asked for is not known well enough, the triangular factor is taken after all.

A gate scales rows of J. Rows that it leaves alone (ReLU: active units) enter the Gram matrix and the triangular
factor once for both sides of the gate.
"""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.interruption import step_point
from reluscope.time_limits import look_ahead

EPS = float(np.finfo(np.float64).eps)
# Up to this side the triangular factor is quick: a second per decomposition.
SHORT = 768
# The error that a value from the Gram matrix may have, as a share of itself.
GOOD = 1e-3
BLOCK_ROWS = 4096
TILE = 256


@dataclass(frozen=True, eq=False)
class SingularValues:
    """Singular values in descending order, bounds on their errors, and how they were computed."""

    values: Float[np.ndarray, " k"]
    errors: Float[np.ndarray, " k"]
    method: str


def singular_values(columns: Tensor, *, gamma: float, error: float = 0.0) -> SingularValues:
    """Return the singular values of a matrix given by its columns.

    Columns (n, *shape) make a matrix ``(prod(shape), n)``, with as many values as its shorter side. ``error``, a bound
    on the Frobenius norm of the matrix's error, is added; ``gamma`` is the relative rounding of sums.
    """
    every = columns.new_ones(prod(columns.shape[1:]))
    return _of_scaled(columns, every, gamma, error)


def before_and_after(
    columns: Tensor, scale: Tensor, *, gamma: float, errors: tuple[float, float], before: bool
) -> tuple[SingularValues | None, SingularValues]:
    """Return the singular values of a matrix, if asked for, and of the matrix with its rows scaled.

    The scale is not negative. ``errors`` are bounds on the Frobenius norms of the errors of both matrices.
    """
    every = torch.ones_like(scale)
    n, num_left = len(columns), int((scale > 0).sum())
    if not before or n > num_left:
        first = _of_scaled(columns, every, gamma, errors[0]) if before else None
        return first, _of_scaled(columns, scale, gamma, errors[1])
    same = (scale == 1).to(scale.dtype)
    other = every - same
    rest = scale * other
    sizes = (len(scale), num_left)
    if n > SHORT:
        shared = _gram(columns, same)
        both = (shared + _gram(columns, other), shared + _gram(columns, rest) if bool(rest.any()) else shared)
        found = [_of_gram(gram, gamma, sizes[side], n, errors[side]) for side, gram in enumerate(both)]
        if all(one is not None for one in found):
            return found[0], found[1]  # pyright: ignore[reportReturnType]
    shared = _triangle(columns, same)
    return (
        _of_triangle(_triangle(columns, other, shared), sizes[0], n, gamma, errors[0]),
        _of_triangle(_triangle(columns, rest, shared), sizes[1], n, gamma, errors[1]),
    )


def _of_scaled(columns: Tensor, scale: Tensor, gamma: float, error: float) -> SingularValues:
    n, num_left = len(columns), int((scale > 0).sum())
    if n <= num_left:
        if n > SHORT:
            found = _of_gram(_gram(columns, scale), gamma, len(scale), n, error)
            if found is not None:
                return found
        return _of_triangle(_triangle(columns, scale), len(scale), n, gamma, error)
    # The rows are the shorter side.
    left = scale > 0
    rows = columns.flatten(1)[:, left] * scale[left]
    if num_left > SHORT:
        found = _of_gram(rows.T @ rows, gamma, len(scale), n, error)
        if found is not None:
            return found
    return _of_triangle(_triangle(rows.T, rows.new_ones(n)), len(scale), n, gamma, error)


def _gram(columns: Tensor, scale: Tensor) -> Tensor:
    """Return ``J^T D^2 J``, tile by tile: outputs of a convolution that lie together read few inputs."""
    n, shape = len(columns), columns.shape[1:]
    gram = columns.new_zeros(n, n)
    scale = scale.reshape(shape)
    for tile in _tiles(tuple(shape)):
        factors = scale[tile].flatten()
        live = factors != 0
        if not bool(live.any()):
            continue
        block = columns[(slice(None), *tile)].flatten(1)[:, live] * factors[live]
        seen = block.any(dim=1).nonzero().squeeze(1)
        step_point()
        if 2 * len(seen) > n:
            gram.addmm_(block, block.T)
        else:
            block = block[seen]
            gram[seen.unsqueeze(1), seen] += block @ block.T
    return gram


def _tiles(shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """Return windows of all channels and a few neighbouring places; of vectors, a few entries."""
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return [(slice(start, start + BLOCK_ROWS),) for start in range(0, size, BLOCK_ROWS)] if shape else [()]
    side = max(1, round((TILE / shape[0]) ** (1 / (len(shape) - 1))))
    ranges = [[slice(start, start + side) for start in range(0, length, side)] for length in shape[1:]]
    return [(slice(None), *window) for window in product(*ranges)]


def _triangle(columns: Tensor, scale: Tensor, above: Tensor | None = None) -> Tensor:
    """Return R of a QR factorisation of ``D J``, below the rows of another triangular factor."""
    flat = columns.flatten(1)
    live = (scale != 0).nonzero().squeeze(1)
    n = len(flat)
    found = flat.new_zeros(0, n) if above is None else above
    for rows in live.split(max(BLOCK_ROWS, n)):
        block = (flat[:, rows] * scale[rows]).T
        look_ahead(2.0 * (len(found) + len(block)) * n**2)
        found = torch.linalg.qr(torch.cat([found, block]), mode="r").R
    return found


def _of_triangle(triangle: Tensor, rows: int, n: int, gamma: float, error: float) -> SingularValues:
    look_ahead(8 / 3 * len(triangle) ** 3)
    values = torch.linalg.svdvals(triangle).cpu().numpy()
    largest = float(values.max(initial=0.0))
    bounds = np.full(len(values), error + gamma * np.sqrt(max(rows, n)) * largest)
    return SingularValues(_padded(values, min(rows, n)), _padded(bounds, min(rows, n)), "QR and SVD")


def _of_gram(gram: Tensor, gamma: float, rows: int, n: int, error: float) -> SingularValues | None:
    """Return the roots of the eigenvalues, or None where one of them is not known well."""
    trace = float(gram.trace())
    look_ahead(4 / 3 * len(gram) ** 3)
    squares = torch.linalg.eigvalsh(gram).flip(0).clamp_min(0.0).cpu().numpy()
    delta = gamma * (trace + np.sqrt(len(squares)) * float(squares[0]))
    if delta > 2 * GOOD * squares[-1]:
        return None
    # | sqrt(a) - sqrt(b) | = | a - b | / (sqrt(a) + sqrt(b)), and sqrt(b) may be as small as zero.
    values = np.sqrt(squares)
    bounds = error + delta / values
    return SingularValues(_padded(values, min(rows, n)), _padded(bounds, min(rows, n)), "Gram matrix")


def _padded(values: np.ndarray, number: int) -> np.ndarray:
    """Return values, or bounds on errors, with zeros for rows that a gate has removed: there they are exact."""
    return np.concatenate([values, np.zeros(max(0, number - len(values)))])

"""Least squares from sums over samples: ``min_M |X M - Y|_F^2 + ridge |M|_F^2`` without X and Y.

The sums are of X and Y divided by powers of two; so the ridge is divided, and the map multiplied, by powers of two.

The normal equations ``(X^T X + ridge) M = X^T Y`` square the condition number: relative errors of M are about
``eps cond(X)^2``. They are solved by Cholesky factors only where the matrix, scaled to a diagonal of ones, has a
condition number below 10^6, which leaves about nine digits. Elsewhere it takes a triangular factor of [X, Y], with the
minimum norm of `numpy.linalg.lstsq` where X has not full column rank.
"""

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_blas_funcs, get_lapack_funcs, lstsq, qr_multiply, solve_triangular

from reluscope.analyses.similarity.moments import Moments
from reluscope.errors import InputError
from reluscope.geometry.numbers.scales import WIDEST, exponents, times_power

_cholesky, _reciprocal_condition, _solve_by_cholesky = get_lapack_funcs(("potrf", "pocon", "potrs"), dtype=float)
(_triangular_condition,) = get_lapack_funcs(("trcon",), dtype=float)
(_triangular_product,) = get_blas_funcs(("trmm",), dtype=float)

# Of the scaled normal equations: eps times it is the relative error that they may add.
WORST_CONDITION = 1e6
# The rank is full without a doubt if the condition, estimated by norms, is below its limit by this factor.
CLEAR = 1e3
# Singular values of so many columns take no time worth saving.
FEW = 512


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear map M with what is known of it.

    ``condition`` is the largest singular value of X (with the ridge's rows) by the smallest nonzero one; an upper
    estimate by norms where normal equations were solved.
    """

    matrix: Float[np.ndarray, "d e"]
    rank: int  # of X, numerically; below d the map is of minimum norm
    condition: float
    residual: float  # ``|X M - Y|_F / |Y|_F``, NaN where Y is zero
    method: str


def solve(moments: Moments, first: int, second: int, *, ridge: float = 0.0, num_columns: int = 0) -> LinearFit | None:
    """Return the map from one representation to another, or None if moments are not accurate enough.

    Never None with a triangular factor. ``first`` is X, ``second`` Y, not centred; the ridge weighs ``|M|_F^2``.
    InputError if the map, or the ridge beside the squares of X, is out of the range of float64.
    """
    ahead, behind = moments.exponents[second] - moments.exponents[first], -2 * moments.exponents[first]
    ridge = _in_range(np.array(ridge), behind, "a ridge").item()
    left, right = moments.plain_factor(first), moments.plain_factor(second)
    if left is None or right is None:
        found = _by_normal_equations(moments, first, second, ridge)
    else:
        found = _by_factor(left, right, ridge, max(moments.num_samples, num_columns, left.shape[1]))
    return None if found is None else replace(found, matrix=_in_range(found.matrix, ahead, "a map"))


def _in_range(values: np.ndarray, exponent: int, what: str) -> np.ndarray:
    """Return values times two to a power, or refuse what would leave the numbers of float64."""
    if values.any() and abs(int(exponents(values)) + exponent) > WIDEST:
        raise InputError(
            f"expected representations between which {what} has a size that float64 holds, got one of about "
            f"2^{int(exponents(values)) + exponent}: scale the outputs of the networks"
        )
    return times_power(values, exponent)


def _by_factor(left: np.ndarray, right: np.ndarray, ridge: float, longest: int) -> LinearFit:
    size = left.shape[1]
    matrix, right_rows = left, right
    if ridge:
        matrix = np.concatenate([left, sqrt(ridge) * np.eye(size)])
        right_rows = np.concatenate([right, np.zeros((size, right.shape[1]))])
    cutoff = longest * np.finfo(float).eps
    found, rank, condition = _of_full_rank(matrix, right_rows, cutoff) or _of_least_norm(matrix, right_rows, cutoff)
    length = float(np.linalg.norm(right))
    residual = float(np.linalg.norm(left @ found - right)) / length if length else np.nan
    return LinearFit(found, rank, condition, residual, "triangular factor")


def _of_full_rank(matrix: np.ndarray, right: np.ndarray, cutoff: float) -> tuple[np.ndarray, int, float] | None:
    """Return what many columns give by Householder's factors; None if the rank may not be full."""
    if matrix.shape[1] <= FEW or len(matrix) < matrix.shape[1]:
        return None
    turned, triangle = (np.asarray(one) for one in qr_multiply(matrix, right.T, mode="right"))
    inverse, _ = _triangular_condition(np.asfortranarray(triangle))
    if not inverse > CLEAR * cutoff:
        return None
    return solve_triangular(triangle, turned.T, check_finite=False), matrix.shape[1], float(1 / inverse)


def _of_least_norm(matrix: np.ndarray, right: np.ndarray, cutoff: float) -> tuple[np.ndarray, int, float]:
    """Return solution of least norm, rank and condition by singular values."""
    solved = lstsq(matrix, right, cond=cutoff, lapack_driver="gelsd", check_finite=False)
    assert solved is not None
    found, _, rank, values = solved
    assert values is not None
    return found, int(rank), float(values[0] / values[rank - 1]) if rank else inf


def _by_normal_equations(moments: Moments, first: int, second: int, ridge: float) -> LinearFit | None:
    gram = np.asfortranarray(moments.plain(first, first))
    size = len(gram)
    gram[np.arange(size), np.arange(size)] += ridge
    diagonal = np.diag(gram).copy()
    if (moments.num_samples < size and not ridge) or diagonal.min() <= 0:
        return None
    length = float(np.linalg.norm(gram, 1))
    scale = 1 / np.sqrt(diagonal)
    gram *= scale
    gram *= scale[:, None]
    scaled_length = float(np.linalg.norm(gram, 1))
    factor, failed = _cholesky(gram, lower=0, clean=1, overwrite_a=1)
    if failed:
        return None
    inverse, _ = _reciprocal_condition(factor, scaled_length)
    if inverse * WORST_CONDITION < 1:
        return None
    products = moments.plain(first, second)
    found, _ = _solve_by_cholesky(factor, np.asfortranarray(products * scale[:, None]), lower=0, overwrite_b=1)
    found *= scale[:, None]
    # R = U diag(1 / scale): its condition number bounds that of X, up to the norm that is used.
    factor /= scale
    one, _ = _reciprocal_condition(factor, length)
    condition = sqrt(1 / one) if one > 0 else inf
    total = float(np.trace(moments.plain(second, second)))
    # |X M - Y|^2 = |Y|^2 - 2 tr(M^T X^T Y) + |R M|^2 - ridge |M|^2 with R^T R = X^T X + ridge
    square = total - 2 * float(np.vdot(found, products)) - ridge * float(np.vdot(found, found))
    square += float(np.linalg.norm(_triangular_product(1.0, factor, found)) ** 2)
    residual = sqrt(max(0.0, square) / total) if total > 0 else np.nan
    return LinearFit(found, size, condition, residual, "normal equations")

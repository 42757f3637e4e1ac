"""Full rank of many rows, proved from products of rows.

Rows of a matrix T are independent if ``T T^T - s I`` has a Cholesky factorisation in floating point for a shift s
beyond all rounding, and then the smallest singular value of T is at least the root of what is left of s (Rump,
"Verification of positive definiteness", BIT 46, 2006). Rows of a layer share one table of products, so that a subset
costs one factorisation; a sparse matrix is reordered into a band first.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from jaxtyping import Float
from scipy.sparse.csgraph import reverse_cuthill_mckee

from reluscope.geometry.numbers.resolutions import TINY, UNIT_ROUNDOFF

# A first shift, relative to the mean of the diagonal, that well-conditioned rows pass; then ever smaller ones.
SHIFTS = (1e-6, 1e-9, 0.0)


def smallest_singular_value_lower(gram: Float[np.ndarray, "p p"], num_terms: int, *, shifts: tuple = SHIFTS) -> float:
    """Return a lower bound on a matrix's smallest singular value from the products of its rows.

    0 if none is seen. ``gram`` is ``T T^T`` as computed, from products of ``num_terms`` terms. One Cholesky
    factorisation, p^3 / 3 operations, for each shift that is tried, relative to the mean diagonal entry.
    """
    size = len(gram)
    if size == 0:
        return np.inf
    trace = float(np.trace(gram))
    rounding = _rounding(size, num_terms, trace)
    for shift in shifts:
        shift = 2 * rounding + shift * trace / size
        moved = gram.copy()
        moved[np.diag_indices(size)] -= shift
        try:
            scipy.linalg.cholesky(moved, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return float(np.sqrt(shift - rounding))
    return 0.0


def smallest_singular_value_lower_sparse(matrix: scipy.sparse.csr_array) -> float:
    """Return a lower bound on the smallest of the n singular values of a sparse matrix (p, n).

    0 if none is seen. The products of columns are brought into a band of width w, for a convolution that of a few rows
    of the image; the cost is n w^2.
    """
    size = matrix.shape[1]  # pyright: ignore[reportOptionalSubscript]
    if matrix.shape[0] < size:  # pyright: ignore[reportOptionalSubscript]
        return 0.0
    gram = scipy.sparse.csr_array(matrix.T @ matrix)
    order = reverse_cuthill_mckee(gram, symmetric_mode=True)
    moved = scipy.sparse.coo_array(gram[order][:, order])
    rows, columns = moved.coords
    below = rows >= columns
    band = np.zeros((int((rows - columns)[below].max(initial=0)) + 1, size))
    band[(rows - columns)[below], columns[below]] = moved.data[below]
    trace = float(band[0].sum())
    num_terms = int(np.diff(matrix.tocsc().indptr).max(initial=1))
    rounding = _rounding(len(band), num_terms, trace)
    band[0] -= 2 * rounding
    try:
        scipy.linalg.cholesky_banded(band, overwrite_ab=True, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return 0.0
    return float(np.sqrt(rounding))


def _rounding(size: int, num_terms: int, trace: float) -> float:
    """Bound the norm of all errors: those of the products, and those of a factorisation with so many terms."""
    return (num_terms + size + 4) * UNIT_ROUNDOFF * trace * 1.01


class NullSpace(NamedTuple):
    """The null space of a matrix (p, n) and what is known of its rows.

    ``smallest`` is positive if the rows are proved independent, infinite without rows; else 0, and k is right only
    within the tolerance. ``row_basis`` and ``triangle`` factor the transposed matrix if rows are independent.
    """

    basis: Float[np.ndarray, "n k"]  # orthonormal
    smallest: float  # lower bound on the smallest of p singular values
    row_basis: Float[np.ndarray, "n p"]
    triangle: Float[np.ndarray, "p p"]

    def weights_of(self, combination: Float[np.ndarray, " n"]) -> Float[np.ndarray, " p"]:
        """Return the weights with which independent rows add up to a vector of the row space."""
        if not len(self.triangle):
            return np.zeros(0)
        return scipy.linalg.solve_triangular(self.triangle, self.row_basis.T @ combination, check_finite=False)


def null_space(
    matrix: Float[np.ndarray, "p n"], tolerance: float, gram: Float[np.ndarray, "p p"] | None = None
) -> NullSpace:
    """Return the null space of a matrix.

    Singular values up to the tolerance's share of the largest one count as zero. ``gram`` holds products of the rows,
    if they are known.
    """
    number, size = matrix.shape
    nothing = np.zeros((size, 0)), np.zeros((0, 0))
    if number == 0:
        return NullSpace(np.eye(size), np.inf, *nothing)
    if number <= size:
        products = matrix @ matrix.T if gram is None else gram
        smallest = smallest_singular_value_lower(products, size)
        if smallest > 0:
            every, triangle = np.linalg.qr(matrix.T, mode="complete")
            return NullSpace(every[:, number:], smallest, every[:, :number], triangle[:number])
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > tolerance * max(values[0], TINY)).sum())
    return NullSpace(vectors[rank:].T, 0.0, *nothing)

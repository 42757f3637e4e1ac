"""Singular values when rows are removed: Lemmas 8 and 9 of Behrmann et al. (2018), and a sharper bound.

For a matrix A with rows a_j and a set I of removed rows, D_I A has the rows of I set to zero. All bounds are on the
largest and on the smallest nonzero singular value of D_I A; each is given only where its hypotheses hold, and is
enlarged by what rounding can take from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from reluscope import Finding
from reluscope.arguments import NonNegative, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import Shown

__all__ = [
    "CorrelationCounts",
    "Interlacing",
    "RemovedRows",
    "correlation_counts",
    "lemma8",
    "lemma9",
]

EPS = float(np.finfo(np.float64).eps)
# Eigenvalues of a Gram matrix above this share of the largest are surely not zero.
GRAM_SHARE = 1e-9


@dataclass(frozen=True)
class Interlacing:
    """Lemma 8: bounds from the singular values of A alone.

    Parameters
    ----------
    num_nonzero : int
        N, of A.
    num_removed : int
        Rows in I.
    holds : bool
        Whether fewer rows are removed than A has nonzero singular values, which the second bound needs.
    largest_upper, smallest_upper : float
        Upper bounds; the second infinite where the hypothesis does not hold.
    """

    num_nonzero: int
    num_removed: int
    holds: bool
    largest_upper: float
    smallest_upper: float

    def findings(self) -> tuple[Finding, ...]:
        """Return the bounds that hold, UPPER."""
        names = (("largest", self.largest_upper), ("smallest nonzero", self.smallest_upper))
        return tuple(
            Finding.of(
                bound,
                -np.inf,
                name=f"{which} singular value after the gate, Lemma 8",
                definition=f"upper bound on the {which} singular value of D_I A",
                method=f"{self.num_removed:,} rows removed, {self.num_nonzero:,} nonzero singular values before",
                source="behrmann2018",
            )
            for which, bound in names[: 2 if self.holds else 1]
        )


@dataclass(frozen=True, eq=False, repr=False)
class RemovedRows(Shown):
    """Lemma 9 and the sharper bound, for every removed row k.

    Parameters
    ----------
    rows : (r,) int
        Which rows of A are removed.
    in_row_space : (r,) bool
        Whether a_k lies in the space of the rows that are left, which Lemma 9 needs; no row of zeros does.
    constants : (r,) float64
        Smallest c of Lemma 9, ``sqrt(M) max_j |<a_j, a_k>| / |a_k|`` over the M rows that are left; infinite where
        the lemma does not apply.
    sharper : (r,) float64
        ``|A_left a_k| / |P a_k|`` with P the projection on the row space of the rows that are left; infinite where
        ``P a_k`` is zero. It needs no hypothesis, is at most c where Lemma 9 applies, and there P a_k is a_k.
    """

    rows: np.ndarray
    in_row_space: Bool[np.ndarray, " r"]
    constants: Float[np.ndarray, " r"]
    sharper: Float[np.ndarray, " r"]

    def findings(self) -> tuple[Finding, ...]:
        """Return the smallest bound of either kind that holds, UPPER."""
        kinds = (
            ("Lemma 9", self.constants, "smallest constant of Lemma 9 over the removed rows it applies to"),
            ("sharper", self.sharper, "|A_left a_k| / |P a_k|, smallest over the removed rows"),
        )
        return tuple(
            Finding.of(
                float(bounds.min()),
                -np.inf,
                name=f"smallest nonzero singular value after the gate, {name}",
                definition="upper bound on the smallest nonzero singular value of D_I A",
                method=method,
                source="behrmann2018",
            )
            for name, bounds, method in kinds
            if np.isfinite(bounds.min(initial=np.inf))
        )


@dataclass(frozen=True, eq=False, repr=False)
class CorrelationCounts(Shown):
    """Number of the rows that are left which meet the correlation condition of Lemma 9, by the constant c.

    Parameters
    ----------
    constants : (q,) float64
    counts : (q,) int
        The most rows, over removed rows k, with ``|<a_j, a_k>| <= c |a_k| / sqrt(M)``.
    num_left : int
        M.
    all_from : float
        The smallest c from which all M rows meet it for some k: the bound that Lemma 9 gives if a_k lies in the row
        space.
    """

    constants: Float[np.ndarray, " q"]
    counts: np.ndarray
    num_left: int
    all_from: float


@read_arguments
def lemma8(
    matrix: Float[np.ndarray, "m n"], removed: np.ndarray | Sequence[int], *, nonzero: NonNegative | None = None
) -> Interlacing:
    """Return Lemma 8: ``sigma_min+(D_I A) <= sigma_(N - |I|)(A)`` and ``sigma_1(D_I A) <= sigma_1(A)``.

    Parameters
    ----------
    matrix : (m, n) float64
    removed : (m,) bool, or indices
        The rows I that become zero.
    nonzero : float, optional
        A singular value counts as nonzero above this share of the largest; by default ``32 max(m, n) eps``.

    Returns
    -------
    Interlacing
        The bound on the smallest value needs ``|I| < N``; elsewhere it says nothing, as in most wide layers.

    Examples
    --------
    >>> found = lemma8(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), [2])
    >>> round(found.largest_upper, 6), round(found.smallest_upper, 6), found.holds
    (1.417745, 1.417745, True)
    """
    matrix, gone = _checked(matrix, removed)
    values = np.linalg.svd(matrix, compute_uv=False)
    largest = float(values.max(initial=0.0))
    number = int((values > _share(matrix, nonzero) * largest).sum())
    num_removed = int(gone.sum())
    holds = num_removed < number
    rounding = _share(matrix, None) * largest
    bound = float(values[number - num_removed - 1]) + rounding if holds else np.inf
    return Interlacing(number, num_removed, holds, largest + rounding, bound)


@read_arguments
def lemma9(
    matrix: Float[np.ndarray, "m n"], removed: np.ndarray | Sequence[int], *, nonzero: NonNegative | None = None
) -> RemovedRows:
    """Return Lemma 9 and the sharper bound for every removed row.

    Parameters
    ----------
    matrix : (m, n) float64
    removed : (m,) bool, or indices
        The rows I that become zero.
    nonzero : float, optional
        What counts as nonzero, for the space of the rows that are left and for the distance of a row from it; see
        `lemma8`.

    Returns
    -------
    RemovedRows

    Notes
    -----
    The eigenvalues of one Gram matrix; where they leave open whether the rows that are left span all, one singular
    value decomposition with vectors.

    Examples
    --------
    >>> found = lemma9(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), [2])
    >>> found.constants.round(6), found.sharper.round(6)
    (array([0.141421]), array([0.1]))
    """
    matrix, gone = _checked(matrix, removed)
    # A power of two brings the entries near 1, where squares neither vanish nor overflow; the bounds are scaled back.
    unit = 2.0 ** np.frexp(np.abs(matrix).max())[1]
    matrix = matrix / unit
    left, rows = matrix[~gone], np.flatnonzero(gone)
    targets = matrix[rows]
    share = _share(matrix, nonzero)
    lengths = np.linalg.norm(targets, axis=1)
    if _is_surely_injective(left):
        inside, outside = lengths, np.zeros(len(rows))
    else:
        _, values, axes = np.linalg.svd(left, full_matrices=False)
        axes = axes[values > share * values.max(initial=0.0)]
        projected = targets @ axes.T
        inside = np.linalg.norm(projected, axis=1)
        outside = np.linalg.norm(targets - projected @ axes, axis=1)
    products = np.abs(left @ targets.T)
    # A product of two rows of n entries is known to some n eps of their lengths.
    rounding = _share(matrix, None) * np.linalg.norm(left) * lengths
    with np.errstate(divide="ignore", invalid="ignore"):
        is_inside = (lengths > 0) & (outside <= np.sqrt(share) * lengths)
        constants = unit * np.sqrt(len(left)) * (products.max(axis=0, initial=0.0) + rounding) / lengths
        sharper = unit * (np.linalg.norm(products, axis=0) + rounding) / inside
    return RemovedRows(
        rows,
        is_inside,
        np.where(is_inside, constants, np.inf),
        np.where(inside > np.sqrt(share) * lengths, sharper, np.inf),
    )


@read_arguments
def correlation_counts(
    matrix: Float[np.ndarray, "m n"], removed: np.ndarray | Sequence[int], constants: np.ndarray | Sequence[float]
) -> CorrelationCounts:
    """Return how many of the rows that are left are as little correlated with a removed row as Lemma 9 asks.

    Parameters
    ----------
    matrix : (m, n) float64
        Such as a prefix Jacobian before a gate.
    removed : (m,) bool, or indices
    constants : (q,) float64
        Values of c.

    Returns
    -------
    CorrelationCounts
        By the removed row that is best for each c, as in appendix A5 of the paper, whether or not it lies in the row
        space. Removed rows of zeros are left out.

    Notes
    -----
    All inner products of removed with other rows, a block at a time.

    Examples
    --------
    >>> found = correlation_counts(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), [2], [0.0, 0.1, 0.2])
    >>> found.counts, found.num_left, round(found.all_from, 6)
    (array([1, 1, 2]), 2, 0.141421)
    """
    matrix, gone = _checked(matrix, removed)
    limits = read_array(constants, "constants", ndim=1)
    left, targets = matrix[~gone], matrix[gone]
    lengths = np.linalg.norm(targets, axis=1)
    targets = targets[lengths > 0] / lengths[lengths > 0, None]
    counts, all_from = np.zeros(len(limits), dtype=np.int64), np.inf
    for start in range(0, len(targets), 256):
        needed = np.sqrt(len(left)) * np.abs(left @ targets[start : start + 256].T)
        all_from = min(all_from, float(needed.max(axis=0, initial=0.0).min()))
        needed.sort(axis=0)
        for column in needed.T:
            np.maximum(counts, np.searchsorted(column, limits, side="right"), out=counts)
    return CorrelationCounts(limits, counts, len(left), all_from)


def _checked(matrix: np.ndarray, removed: np.ndarray | Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix of finite numbers, and the mask of its removed rows."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ShapeError(f"expected a matrix (m, n) with rows and columns, got shape {matrix.shape}: reshape it")
    if not np.isfinite(matrix).all():
        raise InputError("expected finite entries, got a matrix with NaN or infinity: repair it")
    given = np.asarray(removed)
    if given.dtype == bool:
        if given.shape != (len(matrix),):
            raise ShapeError(f"expected a mask of {len(matrix)} rows, got shape {given.shape}: one entry per row")
        return matrix, given
    indices = given.reshape(-1)
    if len(indices) and (indices.dtype.kind not in "iu" or indices.min() < 0 or indices.max() >= len(matrix)):
        raise InputError(f"expected rows among 0 to {len(matrix) - 1}, got {given.tolist()}: count from zero")
    gone = np.zeros(len(matrix), dtype=bool)
    gone[indices.astype(np.int64)] = True
    return matrix, gone


def _is_surely_injective(matrix: np.ndarray) -> bool:
    """Return whether the Gram matrix shows that the rows span the space; it resolves large singular values only."""
    if len(matrix) < matrix.shape[1]:
        return False
    squares = np.linalg.eigvalsh(matrix.T @ matrix)
    return bool(squares[0] > GRAM_SHARE * squares[-1])


def _share(matrix: np.ndarray, nonzero: float | None) -> float:
    return 32 * max(matrix.shape) * EPS if nonzero is None else nonzero

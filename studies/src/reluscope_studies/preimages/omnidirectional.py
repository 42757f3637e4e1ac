"""Matrices of which every open half-space through the origin contains a row.

A matrix A is omnidirectional if ``A x <= 0`` has x = 0 only: if 0 is in the interior of the convex hull of its rows, or
if A has full column rank and ``A^T w = 0`` for some w > 0 (Behrmann et al. 2018, definition 1, corollary 2; Stiemke).
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from reluscope import Claim, Finding
from reluscope.arguments import NonNegative, read_arguments, read_array, read_point
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import (
    MixedSystem,
    PositiveCombination,
    RecessionDirection,
    boundedness,
    check_rows,
    null_space,
)

# Entries of a matrix up to which equations are checked in rational arithmetic.
MAX_ENTRIES = 100_000


@dataclass(frozen=True, eq=False)
class Omnidirectional:
    """Whether a matrix is omnidirectional; its truth value is the answer.

    Parameters
    ----------
    value : bool
    is_proved : bool
        Whether the answer is proved beyond rounding, and ``b = -A p`` in rational arithmetic; otherwise it holds
        within the tolerance.
    certificate : PositiveCombination or RecessionDirection, optional
        Weights w > 0 with ``A^T w = 0`` of rows that span everything, or a direction d with ``A d <= 0``. None if
        the bias does not fit the point.
    system : MixedSystem
        System against which the certificate is checked: ``A d <= 0`` without equations.
    """

    value: bool
    is_proved: bool
    certificate: PositiveCombination | RecessionDirection | None
    system: MixedSystem

    def __bool__(self) -> bool:
        return self.value

    @property
    def finding(self) -> Finding:
        """The answer as a number, 1 for yes: EXACT if it is proved, else an ESTIMATE."""
        value = int(self.value)
        found = Finding.of(value) if self.is_proved else Finding.estimate(value)
        return replace(found, name="omnidirectional", definition="A x <= 0 has x = 0 only", source="behrmann2018")

    @property
    def claim(self) -> Claim:
        """What the answer claims."""
        return self.finding.claim


@read_arguments
def is_omnidirectional(
    A: ArrayLike, b: ArrayLike | None = None, p: ArrayLike | None = None, *, tolerance: NonNegative = 1e-9
) -> Omnidirectional:
    """Return whether a matrix is omnidirectional, or a matrix and a bias for a point.

    For a matrix and a bias, ``b = -A p`` is required as well.

    Parameters
    ----------
    A : (m, n) array
    b : (m,) array, optional
    p : (n,) array, optional
        Both or none.
    tolerance : float
        Threshold for zero, relative to the sizes of the summands.

    Returns
    -------
    Omnidirectional

    Raises
    ------
    InputError
        If entries are not finite, or only one of b and p is given.
    ShapeError
        If the shapes do not fit.

    Notes
    -----
    One problem of non-negative least squares. Rows of zeros are ignored.

    Examples
    --------
    >>> import reluscope as rs
    >>> found = is_omnidirectional([[1, 0], [0, 1], [-1, -1]])
    >>> bool(found), found.certificate.weights
    (True, array([1., 1., 1.]))
    >>> found = is_omnidirectional([[1, 0], [-1, 0], [0, 1]])
    >>> bool(found), found.certificate.direction
    (False, array([ 0., -1.]))
    """
    matrix = read_array(A, "A", ndim=2)
    height, size = matrix.shape
    fits = True
    if not size:
        raise ShapeError(f"expected a matrix with columns, got one of shape {matrix.shape}")
    check_rows(matrix, "A")
    if (b is None) != (p is None):
        raise InputError("expected both a bias b and a point p, or neither, got one of them")
    nothing = np.zeros((0, size))
    rows = np.arange(height)
    system = MixedSystem(nothing, np.zeros(0), matrix, np.zeros(height), rows[:0], rows)
    if b is not None and p is not None:
        bias, point = read_point(b, "b"), read_point(p, "p")
        if len(bias) != height or len(point) != size:
            raise ShapeError(f"expected b of {height} and p of {size} entries, got {len(bias)} and {len(point)}")
        off = np.abs(bias + matrix @ point)
        sizes = np.abs(bias) + np.abs(matrix) @ np.abs(point)
        if (off > tolerance * sizes).any():
            return Omnidirectional(False, True, None, system)
        fits = _fits(matrix, bias, point)
    certificate, _, proved = boundedness(system, null_space(nothing, tolerance), tolerance)
    value = isinstance(certificate, PositiveCombination)
    # That a matrix is not omnidirectional needs no bias.
    return Omnidirectional(value, proved and (fits or not value), certificate, system)


def _fits(matrix: np.ndarray, bias: np.ndarray, point: np.ndarray) -> bool:
    """Whether ``b = -A p`` in rational arithmetic; False where that would take long."""
    if matrix.size > MAX_ENTRIES:
        return False
    exact = [Fraction(entry) for entry in point.tolist()]
    return all(
        sum((Fraction(entry) * at for entry, at in zip(row, exact, strict=True)), Fraction(offset)) == 0
        for row, offset in zip(matrix.tolist(), bias.tolist(), strict=True)
    )

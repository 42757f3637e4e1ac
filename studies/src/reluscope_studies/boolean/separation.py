"""Whether a linear function of given features separates two classes, proved either way in whole numbers.

Gordan's alternative: either some c has sign_x (features_x . c) > 0 for all x, or some multiplicities m >= 0, not all
zero, have sum_x m_x sign_x features_x = 0. A linear program finds one of them; rounding makes it whole; it is then
checked.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer

from reluscope.errors import SolverError
from reluscope.extending.analyses import LinearProgram, ProgramStatus


@dataclass(frozen=True)
class Separation:
    """Coefficients that separate, or multiplicities that prove that none do; whole numbers, checked."""

    coefficients: Integer[np.ndarray, " d"] | None
    multiplicities: Integer[np.ndarray, " size"] | None


def separate(features: Integer[np.ndarray, "size d"], ones: Integer[np.ndarray, " size"]) -> Separation:
    """Return what separates the points where ``ones`` is 1 from those where it is 0, or why nothing does.

    SolverError if neither side could be made whole; not seen up to eight inputs.
    """
    signed = (2 * ones.astype(np.int64) - 1)[:, None] * features.astype(np.int64)
    found = _coefficients(signed)
    if found is not None:
        return Separation(found, None)
    found = _multiplicities(signed)
    if found is None:
        raise SolverError(
            "expected the solution of a linear program to be near small whole numbers, and it is not; the question "
            "stays open: ask about fewer inputs"
        )
    return Separation(None, found)


def _coefficients(signed: Integer[np.ndarray, "size d"]) -> Integer[np.ndarray, " d"] | None:
    """Look for coefficients of small absolute sum with values of at least 1."""
    size, number = signed.shape
    program = LinearProgram(2 * number)
    program.add_rows(np.hstack([-signed, np.zeros_like(signed)]).astype(float), np.full(size, -1.0))
    identity = np.eye(number)
    program.add_rows(np.vstack([np.hstack([s * identity, -identity]) for s in (1, -1)]), np.zeros(2 * number))
    solution = program.maximize(np.concatenate([np.zeros(number), -np.ones(number)]))
    if solution.status is not ProgramStatus.OPTIMAL:
        return None
    for factor in (*range(1, 61), 1 << 20, 1 << 30):
        rounded = np.rint(factor * solution.point[:number])
        if np.abs(rounded).max() * number < 2**52 and (signed @ rounded.astype(np.int64) > 0).all():
            whole = rounded.astype(np.int64)
            return whole // max(1, int(np.gcd.reduce(whole)))
    return None


def _multiplicities(signed: Integer[np.ndarray, "size d"]) -> Integer[np.ndarray, " size"] | None:
    """Look for a corner of the polytope of multiplicities, whose entries have small denominators."""
    size, number = signed.shape
    program = LinearProgram(size)
    program.set_all_bounds(np.zeros(size), np.full(size, np.inf))
    program.add_rows(signed.T.astype(float), np.zeros(number), np.zeros(number))
    program.add_rows(np.ones((1, size)), np.ones(1), np.ones(1))
    solution = program.maximize(np.zeros(size))
    if solution.status is not ProgramStatus.OPTIMAL or solution.point.max() <= 0:
        return None
    shares = solution.point / solution.point.max()
    for factor in range(1, 5001):
        whole = np.rint(factor * shares).astype(np.int64)
        if not (whole @ signed).any() and whole.min() >= 0:
            return whole
    return None

"""What proves that a preimage is empty, a point, bounded or unbounded, and the checking of it from the system alone.

Nothing here is shared with what finds certificates: singular values are those of LAPACK, multipliers of equations come
from least squares. A certificate *holds* if its residual is small against its margin at a tolerance; it is a *proof* if
the margin is beyond the residual and all rounding, or, for small systems, if it is true of the numbers as they are in
rational arithmetic.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.preimages.layer import Matrix
from reluscope.analyses.preimages.mixed_system import MixedSystem
from reluscope.arguments import NonNegative, read_arguments
from reluscope.geometry.numbers.resolutions import TINY, ZEROS
from reluscope.shown import Shown
from reluscope.tolerance import EPSILON

# Systems with so many entries are checked in rational arithmetic where rounding leaves a proof open.
RATIONAL_ENTRIES = 4000


class Check(NamedTuple):
    """Result of checking a certificate.

    Parameters
    ----------
    holds : bool
        Whether the certificate holds within the tolerance.
    is_proof : bool
        Whether it holds beyond rounding.
    residual, margin : float
        Deviation of the certificate from its claim, and the possible deviation.
    """

    holds: bool
    is_proof: bool
    residual: float
    margin: float


@dataclass(frozen=True, eq=False, repr=False)
class FullRank(Shown):
    """Equations whose rows span all of R^n, so that at most one point solves them.

    Parameters
    ----------
    rows : (j,) int64
        Rows of the equations.
    """

    rows: Int[np.ndarray, " j"]

    @read_arguments
    def check(self, system: MixedSystem, tolerance: NonNegative = ZEROS) -> Check:
        """Compare the smallest of n singular values, the margin, with their rounding, the residual."""
        smallest, largest = _extremes(_dense(system.equations, self.rows))
        rounding = _spectral_rounding(system, largest)
        return Check(smallest > tolerance * largest, smallest > rounding, rounding, smallest)


@dataclass(frozen=True, eq=False, repr=False)
class PositiveCombination(Shown):
    """Weights w > 0 of inequalities that prove a set bounded.

    The set is bounded if ``Z_I^T w = -P^T v`` for some v and the rows of P and Z_I span R^n: only 0 has ``P d = 0,
    Z_I d <= 0``. If the rows Z_I are tight at a point, that point is the whole set.

    Parameters
    ----------
    rows : (j,) int64
        The inequalities I.
    weights : (j,) float64
        Positive.
    point : (n,) float64, optional
        Point at which the inequalities are tight.
    """

    rows: Int[np.ndarray, " j"]
    weights: Float[np.ndarray, " j"]
    point: Float[np.ndarray, " n"] | None = None

    @read_arguments
    def check(self, system: MixedSystem, tolerance: NonNegative = ZEROS) -> Check:
        """Compare what is left of the combination, over the least singular value, with the least weight."""
        equations, inequalities = _dense(system.equations), _dense(system.inequalities, self.rows)
        lengths = np.linalg.norm(inequalities, axis=1)
        if not len(self.rows) or not (lengths > 0).all() or not (self.weights > 0).all():
            return Check(False, False, np.inf, 0.0)
        weights, unit = self.weights * lengths, inequalities / lengths[:, None]
        total = weights @ unit
        others, *_ = np.linalg.lstsq(equations.T, -total, rcond=None) if len(equations) else (np.zeros(0),)
        rest = total + others @ equations
        rounding = (
            (len(weights) + len(others) + 2) * EPSILON * (weights @ np.abs(unit) + np.abs(others) @ np.abs(equations))
        )
        scale = max(float(np.linalg.norm(equations, 2)), 1.0) if len(equations) else 1.0
        smallest, largest = _extremes(np.vstack([equations / scale, unit]))
        spread = _spectral_rounding(system, largest)
        residual = float(np.linalg.norm(rest)) / float(weights.sum())
        proved = (np.linalg.norm(rest) + np.linalg.norm(rounding)) < (smallest - spread) * float(weights.min())
        if self.point is None:
            return Check(residual <= tolerance and smallest > tolerance * largest, bool(proved), residual, smallest)
        off = np.abs(system.inequalities[self.rows] @ self.point - system.bounds[self.rows])
        off = np.r_[off, system.violation(self.point)] / _size(system, self.point)
        residual = max(residual, float(off.max()))
        proved = proved and _is_exactly_tight(system, self.rows, self.point)
        return Check(residual <= tolerance and smallest > tolerance * largest, bool(proved), residual, smallest)


@dataclass(frozen=True, eq=False, repr=False)
class RecessionDirection(Shown):
    """A direction along which a point of the set never leaves it: ``P d = 0``, ``Z d <= 0``, d not 0.

    Parameters
    ----------
    direction : (n,) float64
    """

    direction: Float[np.ndarray, " n"]

    @read_arguments
    def check(self, system: MixedSystem, tolerance: NonNegative = ZEROS) -> Check:
        """Compare how far the direction is from the equations with how far it is inside the inequalities."""
        length = float(np.linalg.norm(self.direction))
        if length == 0:
            return Check(False, False, np.inf, 0.0)
        shift, along = _shift(system, self.direction, 0 * system.values)
        lengths = _lengths(system.inequalities)
        alive = lengths > 0
        inside = -(system.inequalities @ self.direction)[alive] / lengths[alive] / length
        margin = float(inside.min(initial=np.inf))
        size = float(np.abs(along).max(initial=0.0)) / length
        holds = margin >= -tolerance and size <= tolerance * max(_longest(system.equations), 1.0)
        rounding = (system.num_inputs + 2) * EPSILON
        proved = bool(min(margin, 1.0) > shift / length + rounding) or _is_exact_direction(system, self.direction)
        return Check(holds, proved, max(size, -margin, 0.0), margin)


@dataclass(frozen=True, eq=False, repr=False)
class SecondPoint(Shown):
    """Two different points of the set, so that it is no single point.

    Parameters
    ----------
    point, other : (n,) float64
    """

    point: Float[np.ndarray, " n"]
    other: Float[np.ndarray, " n"]

    @read_arguments
    def check(self, system: MixedSystem, tolerance: NonNegative = ZEROS) -> Check:
        """Compare what the points violate with their distance."""
        distance = float(np.linalg.norm(self.other - self.point))
        shifts = [certain_shift(system, point) for point in (self.point, self.other)]
        residual = max(system.violation(point) / _size(system, point) for point in (self.point, self.other))
        proved = bool(distance > sum(shifts))
        size = max(1.0, float(np.linalg.norm(self.point)))
        return Check(residual <= tolerance and distance > tolerance * size, proved, residual, distance)


@dataclass(frozen=True, eq=False, repr=False)
class Farkas(Shown):
    """Multipliers v of equations and w >= 0 of inequalities that prove a set empty.

    They have ``P^T v + Z^T w = 0`` and ``v c + w d < 0``.

    Parameters
    ----------
    equation_weights : (p,) float64
    inequality_weights : (q,) float64
    """

    equation_weights: Float[np.ndarray, " p"]
    inequality_weights: Float[np.ndarray, " q"]

    @read_arguments
    def check(self, system: MixedSystem, tolerance: NonNegative = ZEROS) -> Check:
        """Compare the combination of the rows, the residual, with the gap, the margin; both for weights of sum 1.

        Beyond exact weights this excludes all x with ``|x| <= margin / residual``.
        """
        total = np.abs(self.equation_weights).sum() + self.inequality_weights.sum()
        if not total > 0 or (self.inequality_weights < 0).any():
            return Check(False, False, np.inf, 0.0)
        v, w = self.equation_weights / total, self.inequality_weights / total
        rest = np.asarray(system.equations.T @ v + system.inequalities.T @ w)
        gap = -float(v @ system.values + w @ system.bounds)
        residual = float(np.linalg.norm(rest))
        holds = gap > 0 and residual <= tolerance * max(_longest(system.equations), _longest(system.inequalities), 1.0)
        proved = gap > 0 and (self._is_proof(system, v, w, rest, gap) or _is_exact_contradiction(system, self))
        return Check(holds, proved, residual, gap)

    def _is_proof(self, system: MixedSystem, v: np.ndarray, w: np.ndarray, rest: np.ndarray, gap: float) -> bool:
        """Return whether weights near these cancel exactly: rows of full rank can cancel all that is left."""
        used = np.flatnonzero(w)
        rows = np.vstack([_dense(system.equations), _dense(system.inequalities, used)])
        if len(rows) < system.num_inputs:
            return False
        weights, right = np.r_[v, w[used]], np.r_[system.values, system.bounds[used]]
        smallest, largest = _extremes(rows)
        rounding = (len(rows) + 2) * EPSILON * (np.abs(weights) @ np.abs(rows))
        below = smallest - _spectral_rounding(system, largest)
        if not below > 0:
            return False
        change = float(np.linalg.norm(np.abs(rest) + rounding)) / below
        doubt = change * float(np.linalg.norm(right)) + len(rows) * EPSILON * float(np.abs(weights) @ np.abs(right))
        doubt += system.error * (1 + np.sqrt(len(rows)) * change)
        return bool(change < w[used].min(initial=np.inf) and gap > doubt)


Certificate = FullRank | PositiveCombination | RecessionDirection | SecondPoint | Farkas


def certain_shift(system: MixedSystem, point: Float[np.ndarray, " n"]) -> float:
    """Return how far a point of the set certainly is from a given one; infinite if none is known to be near.

    More equations than inputs are met in rational arithmetic only.
    """
    if len(system.values) <= system.num_inputs:
        shift, _ = _shift(system, point, system.values, system.error)
        slack = system.bounds - system.inequalities @ point
        lengths = _lengths(system.inequalities)
        rounding = (system.num_inputs + 3) * EPSILON * (lengths * float(np.linalg.norm(point)) + np.abs(system.bounds))
        rounding += system.error
        # Rows of zeros say nothing of the point.
        is_idle = (lengths == 0) & (system.bounds >= system.error)
        if np.isfinite(shift) and (is_idle | (slack > lengths * shift + rounding)).all():
            return shift
    return 0.0 if _is_exactly_inside(system, point) else np.inf


def is_small(system: MixedSystem) -> bool:
    """Return whether a system is so small that rational arithmetic is quick on it."""
    return (len(system.values) + len(system.bounds)) * system.num_inputs <= RATIONAL_ENTRIES


def _shift(system: MixedSystem, point: np.ndarray, values: np.ndarray, error: float = 0.0) -> tuple[float, np.ndarray]:
    """Return how far a solution of the equations is at most, inf if unknown, and what the point leaves of them."""
    equations = _dense(system.equations)
    left = equations @ point - values
    if not len(values):
        return 0.0, left
    smallest, largest = _extremes(equations.T)
    rounding = (system.num_inputs + 2) * EPSILON * (np.abs(equations) @ np.abs(point) + np.abs(values)) + error
    below = smallest - _spectral_rounding(system, largest)
    return (float(np.linalg.norm(np.abs(left) + rounding)) / below if below > 0 else np.inf), left


def _extremes(matrix: np.ndarray) -> tuple[float, float]:
    """Return the smallest of as many singular values as there are columns, and the largest."""
    rows, columns = matrix.shape
    values = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(1)
    return (float(values[-1]) if rows >= columns else 0.0), float(values[0])


def _spectral_rounding(system: MixedSystem, largest: float) -> float:
    return 4 * max(system.num_inputs, len(system.values)) * EPSILON * largest


def _size(system: MixedSystem, point: np.ndarray) -> float:
    """Return the size of what is added up in the rows at a point."""
    longest = max(_longest(system.equations), _longest(system.inequalities))
    constant = max(np.abs(system.values).max(initial=0.0), np.abs(system.bounds).max(initial=0.0))
    return max(longest * float(np.linalg.norm(point)) + float(constant), TINY)


def _dense(matrix: Matrix, rows: np.ndarray | None = None) -> np.ndarray:
    taken = matrix if rows is None else matrix[rows]
    return taken if isinstance(taken, np.ndarray) else taken.toarray()


def _lengths(matrix: Matrix) -> np.ndarray:
    if isinstance(matrix, np.ndarray):
        return np.linalg.norm(matrix, axis=1)
    return np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).reshape(-1))


def _longest(matrix: Matrix) -> float:
    return float(_lengths(matrix).max(initial=0.0))


def _fractions(matrix: Matrix, x: np.ndarray) -> list[Fraction]:
    """Return the product of a matrix and a vector in rational arithmetic."""
    exact = [Fraction(float(entry)) for entry in x]
    return [
        sum((Fraction(float(row[j])) * exact[j] for j in np.flatnonzero(row)), Fraction(0)) for row in _dense(matrix)
    ]


def _is_exact_direction(system: MixedSystem, direction: np.ndarray) -> bool:
    return (
        is_small(system)
        and not any(_fractions(system.equations, direction))
        and all(value <= 0 for value in _fractions(system.inequalities, direction))
    )


def _is_exactly_inside(system: MixedSystem, point: np.ndarray) -> bool:
    # Numbers that were rounded are not those of the layer.
    if not is_small(system) or system.error > 0:
        return False
    values = zip(_fractions(system.equations, point), system.values, strict=True)
    bounds = zip(_fractions(system.inequalities, point), system.bounds, strict=True)
    return all(left == Fraction(float(right)) for left, right in values) and all(
        left <= Fraction(float(right)) for left, right in bounds
    )


def _is_exactly_tight(system: MixedSystem, rows: np.ndarray, point: np.ndarray) -> bool:
    if not _is_exactly_inside(system, point):
        return False
    found = _fractions(system.inequalities[rows], point)
    return all(left == Fraction(float(right)) for left, right in zip(found, system.bounds[rows], strict=True))


def _is_exact_contradiction(system: MixedSystem, certificate: Farkas) -> bool:
    if not is_small(system) or system.error > 0:
        return False
    v, w = certificate.equation_weights, certificate.inequality_weights
    left = _fractions(_dense(system.equations).T, v)
    right = _fractions(_dense(system.inequalities).T, w)
    gap = sum(_fractions(system.values[None], v) + _fractions(system.bounds[None], w), Fraction(0))
    return gap < 0 and not any(one + other for one, other in zip(left, right, strict=True))

"""Is 0 the only d with ``P d = 0`` and ``Z d <= 0``? A direction, or weights that prove there is none.

In coordinates of the null space of P the rows of Z become those of a matrix B. Only 0 is left if and only if B is
omnidirectional: it has full column rank, and ``B^T w = 0`` for some w > 0 (Stiemke). Both answers come from one problem
of least squares, ``min |B^T (1 + u)|`` over u >= 0 (Lawson and Hanson, "Solving least squares problems", 1974): at
residual 0 the weights are 1 + u, else minus the residual is a direction. Rows join as directions violate them. A linear
program decides what is left.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize
from jaxtyping import Float, Int

from reluscope.analyses.preimages.layer import Matrix
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus

# Rows to begin with, for each dimension of the null space.
FIRST_ROWS = 4
# Rounds of strictly inner directions.
NUM_ROUNDS = 20


class Cone(NamedTuple):
    """What is known of the cone.

    The combination of ``rows`` with ``weights`` vanishes on the null space of P. ``margin``: of a direction the least
    ``-z_i d / |z_i|``, of weights a lower bound on the smallest singular value of the scaled rows there.
    """

    direction: Float[np.ndarray, " n"] | None  # in the cone, of length 1; None if there is none
    rows: Int[np.ndarray, " j"]  # of Z, of full rank on the null space of P
    weights: Float[np.ndarray, " j"]  # positive, in units of the rows' lengths
    margin: float
    with_program: bool  # a linear program was needed

    @property
    def is_trivial(self) -> bool:
        """Whether 0 is all there is."""
        return self.direction is None


def decide_cone(basis: Float[np.ndarray, "n k"], inequalities: Matrix, tolerance: float) -> Cone:
    """Decide whether 0 is the only point of the cone ``P d = 0``, ``Z d <= 0``.

    ``basis`` is an orthonormal basis of the null space of P, k > 0; ``inequalities`` is Z. The tolerance is for
    relative lengths of rows on the null space, products of unit directions and rows, and singular values.
    """
    problem = _NullSpaceRows(basis, inequalities, tolerance)
    if not problem.has_rows:
        return _found(problem, basis[:, 0])
    mean = problem.mean_direction()
    along = problem.along(mean)
    if along.max() < -tolerance:
        return _found(problem, mean)
    chosen = np.sort(np.argsort(-along, kind="stable")[: FIRST_ROWS * basis.shape[1] + 8])
    while True:
        reduced = problem.reduced(chosen)
        combination = _combination(reduced)
        if combination is None:
            return _by_program(problem)
        weights, rest = combination
        if np.linalg.norm(rest) <= tolerance * weights.sum():
            margin, null = _smallest(reduced, tolerance)
            if margin > 0:
                return Cone(None, problem.alive[chosen], weights, margin, False)
            trials = [basis @ null, -(basis @ null)]
        else:
            trials = [basis @ (-rest / np.linalg.norm(rest))]
        values = [problem.along(trial) for trial in trials]
        for trial, along in zip(trials, values, strict=True):
            if along.max() <= tolerance:
                return _found(problem, _inner(problem, chosen) if len(trials) == 1 else trial, trial)
        wanted = np.concatenate([_worst(along, tolerance, 2 * basis.shape[1]) for along in values])
        joined = np.union1d(chosen, wanted)
        if len(joined) == len(chosen):
            return _by_program(problem)
        chosen = joined


class _NullSpaceRows:
    """The rows of Z in units of their lengths, seen from the null space; rows of length 0 are left out."""

    def __init__(self, basis: np.ndarray, inequalities: Matrix, tolerance: float) -> None:
        self.basis, self.rows, self.tolerance = basis, inequalities, tolerance
        self.lengths = row_lengths(inequalities)
        self.alive = np.flatnonzero(self.lengths > 0)
        self.has_rows = len(self.alive) > 0

    def along(self, direction: np.ndarray) -> np.ndarray:
        """Return products of the rows with a direction."""
        return (self.rows @ direction)[self.alive] / self.lengths[self.alive]

    def mean_direction(self) -> np.ndarray:
        """Return minus the sum of the rows, projected onto the null space and of length 1."""
        factors = np.zeros(len(self.lengths))
        factors[self.alive] = 1 / self.lengths[self.alive]
        found = -self.basis @ (self.basis.T @ (self.rows.T @ factors))
        length = np.linalg.norm(found)
        return found / length if length > 0 else self.basis[:, 0]

    def reduced(self, chosen: np.ndarray) -> np.ndarray:
        """Return some rows in coordinates of the null space; those that are nothing but rounding there as zero."""
        which = self.alive[chosen]
        found = np.asarray(self.rows[which] @ self.basis) / self.lengths[which, None]
        found[np.linalg.norm(found, axis=1) <= self.tolerance] = 0.0
        return found


def _combination(reduced: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return weights of at least 1 and the shortest combination of the rows with such weights."""
    total = reduced.sum(axis=0)
    try:
        more, _ = scipy.optimize.nnls(reduced.T, -total, maxiter=10 * reduced.shape[0])
    except RuntimeError:
        return None
    return 1.0 + more, reduced.T @ more + total


def _smallest(reduced: np.ndarray, tolerance: float) -> tuple[float, np.ndarray]:
    """Return a lower bound on the smallest singular value, 0 if the tolerance calls it zero, and its vector."""
    size = reduced.shape[1]
    values, vectors = scipy.linalg.eigh(reduced.T @ reduced, check_finite=False)
    rounding = (sum(reduced.shape) + size) * UNIT_ROUNDOFF * max(values[-1], 0.0) * 4
    if values[0] > 1e3 * rounding:
        return float(np.sqrt(values[0] - rounding)), vectors[:, 0]
    if len(reduced) < size:
        return 0.0, vectors[:, 0]
    _, singular, right = np.linalg.svd(reduced, full_matrices=False)
    below = singular[-1] - size * 4 * UNIT_ROUNDOFF * singular[0]
    return float(below if singular[-1] > tolerance * singular[0] and below > 0 else 0.0), right[-1]


def _worst(along: np.ndarray, tolerance: float, most: int) -> np.ndarray:
    bad = np.flatnonzero(along > tolerance)
    return bad[np.argsort(-along[bad], kind="stable")[:most]]


def _inner(problem: _NullSpaceRows, chosen: np.ndarray) -> np.ndarray | None:
    """Return a direction strictly inside all half-spaces, the deepest one, if least squares find it."""
    for _ in range(NUM_ROUNDS):
        reduced = problem.reduced(chosen)
        # The shortest v with B v <= -1, by Lawson and Hanson's reduction of least distance to least squares.
        system = np.vstack([-reduced.T, np.ones(len(reduced))])
        right = np.zeros(len(system))
        right[-1] = 1.0
        try:
            weights, _ = scipy.optimize.nnls(system, right, maxiter=10 * len(reduced))
        except RuntimeError:
            return None
        rest = system @ weights - right
        if rest[-1] > -problem.tolerance:
            return None
        inner = problem.basis @ (rest[:-1] / -rest[-1])
        inner /= np.linalg.norm(inner)
        along = problem.along(inner)
        joined = np.union1d(chosen, _worst(along, -problem.tolerance, 2 * problem.basis.shape[1]))
        if along.max() < -problem.tolerance:
            return inner
        if len(joined) == len(chosen):
            return None
        chosen = joined
    return None


def _found(problem: _NullSpaceRows, *directions: np.ndarray | None) -> Cone:
    """Return the cone with the first direction given that is not None."""
    direction = next(one for one in directions if one is not None)
    direction = direction / np.linalg.norm(direction)
    margin = float(-problem.along(direction).max()) if problem.has_rows else np.inf
    return Cone(direction, np.zeros(0, dtype=np.int64), np.zeros(0), margin, False)


def _by_program(problem: _NullSpaceRows) -> Cone:
    """Maximise ``-1 B v`` subject to ``B v <= 0`` and ``|v| <= 1``: 0 if and only if there are weights."""
    reduced = problem.reduced(np.arange(len(problem.alive)))
    size = reduced.shape[1]
    margin, null = _smallest(reduced, problem.tolerance)
    if margin == 0:
        return _found(problem, problem.basis @ null)._replace(with_program=True)
    program = LinearProgram(size)
    program.set_all_bounds(-np.ones(size), np.ones(size))
    program.add_rows(reduced, np.zeros(len(reduced)))
    solution = program.maximize(-reduced.sum(axis=0))
    if solution.status is ProgramStatus.OPTIMAL and solution.value <= problem.tolerance * len(reduced):
        return Cone(None, problem.alive, 1.0 + np.maximum(solution.duals, 0.0), margin, True)
    return _found(problem, problem.basis @ solution.point)._replace(with_program=True)


def row_lengths(matrix: Matrix) -> Float[np.ndarray, " q"]:
    """Return the Euclidean lengths of the rows."""
    if isinstance(matrix, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    return np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).reshape(-1))

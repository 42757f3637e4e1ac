"""Is a mixed system empty? A point of it, as deep inside as a linear program finds, or multipliers that exclude all.

First the equations, by least squares: what they leave is orthogonal to all their columns, and so proves that there is
no solution. Then the inequalities, on the null space.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.preimages.kind_certificates import Farkas, is_small
from reluscope.analyses.preimages.mixed_system import MixedSystem
from reluscope.analyses.preimages.null_cones import row_lengths
from reluscope.analyses.preimages.rational_layers import snapped
from reluscope.geometry.numbers.resolutions import TINY
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus


class Feasibility(NamedTuple):
    """A point of the set, or why there is none; ``with_program`` says that a linear program was asked."""

    point: Float[np.ndarray, " n"] | None
    farkas: Farkas | None
    with_program: bool


def find_point(system: MixedSystem, basis: Float[np.ndarray, "n k"], tolerance: float) -> Feasibility:
    """Return a point of a system, or multipliers that prove it empty.

    ``basis`` is an orthonormal basis of the null space of the equations. Violations up to the tolerance's share of what
    is added up in a row count as none.
    """
    equations = system.equations if isinstance(system.equations, np.ndarray) else system.equations.toarray()
    start, *_ = np.linalg.lstsq(equations, system.values, rcond=None)
    left = system.values - equations @ start
    scale = row_lengths(equations) * np.linalg.norm(start) + np.abs(system.values)
    if (np.abs(left) > tolerance * scale).any():
        return Feasibility(None, _simplified(system, Farkas(-left, np.zeros(len(system.bounds)))), False)
    lengths = row_lengths(system.inequalities)
    slack = system.bounds - system.inequalities @ start
    scale = lengths * np.linalg.norm(start) + np.abs(system.bounds)
    reduced = np.asarray(system.inequalities @ basis)
    # Rows that vanish on the null space, or everywhere, are met or not.
    idle = np.linalg.norm(reduced, axis=1) <= tolerance * lengths
    broken = idle & (slack < -tolerance * scale)
    if broken.any():
        return Feasibility(None, _completed(system, equations, _only(np.where(broken, slack, 0.0))), False)
    if idle.all():
        return Feasibility(start, None, False)
    units = reduced[~idle] / lengths[~idle, None]
    program = LinearProgram(basis.shape[1] + 1)
    depth = max(1.0, float(np.linalg.norm(start)))
    program.set_bounds(basis.shape[1], -np.inf, depth)
    program.add_rows(np.column_stack([units, np.ones(len(units))]), slack[~idle] / lengths[~idle])
    solution = program.maximize(np.eye(basis.shape[1] + 1)[-1])
    size = float(np.max(scale[~idle] / lengths[~idle]))
    if solution.status is not ProgramStatus.OPTIMAL or solution.value < -tolerance * max(size, TINY):
        weights = np.zeros(len(system.bounds))
        weights[np.flatnonzero(~idle)] = np.maximum(solution.duals, 0.0) / lengths[~idle]
        return Feasibility(None, _completed(system, equations, weights), True)
    return Feasibility(start + basis @ solution.point[:-1], None, True)


def _only(slack: np.ndarray) -> np.ndarray:
    """Return weight 1 for the row that is violated most."""
    weights = np.zeros(len(slack))
    weights[np.argmin(slack)] = 1.0
    return weights


def _completed(system: MixedSystem, equations: np.ndarray, weights: np.ndarray) -> Farkas:
    """Return weights of inequalities with those of the equations that cancel them."""
    total = np.asarray(system.inequalities.T @ weights)
    others, *_ = np.linalg.lstsq(equations.T, -total, rcond=None)
    return _simplified(system, Farkas(others, weights))


def _simplified(system: MixedSystem, found: Farkas) -> Farkas:
    """Return small whole numbers in place of the multipliers of a small system if these prove the same exactly."""
    if is_small(system):
        whole = snapped(np.r_[found.equation_weights, found.inequality_weights])
        if whole is not None:
            simple = Farkas(*np.split(whole, [len(found.equation_weights)]))
            check = simple.check(system)
            if check.holds and check.is_proof:
                return simple
    return found

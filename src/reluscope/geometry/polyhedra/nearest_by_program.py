"""Nearest points in l1 and linf, by linear programs over the rows that turn out to matter."""

import numpy as np

from reluscope.errors import SolverError
from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.polyhedra.nearest_problem import VIOLATION, NearestPoint, NearestProblem
from reluscope.geometry.programs.active_set import ShortestVector
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.tolerance import EPSILON

# Rows that join a linear program at a time.
MAX_NEW_ROWS = 64


def nearest_by_program(problem: NearestProblem, norm: Norm, bound: float, start: ShortestVector) -> NearestPoint:
    """Solve in l1 or linf, first with the rows that matter in l2."""
    no_bounds, longest = np.zeros(len(problem.point)), float(np.abs(start.vector).max(initial=0.0))
    weights = start.rows / max(float(np.linalg.norm(start.vector)), np.finfo(float).tiny)
    below = _weak_bound(problem, norm, weights)
    if longest <= VIOLATION:
        distance = float(norm.size(start.vector))
        return problem.result(distance, min(below, distance), start.vector, weights, no_bounds)
    program = (_L1Program if norm.order == 1 else _LinfProgram)(problem, longest)
    taken = start.rows != 0
    taken[: problem.num_equations] = True
    fresh = np.flatnonzero(taken)
    order: list[int] = []
    while True:
        program.add(problem, fresh)
        order.extend(fresh.tolist())
        try:
            step, duals = program.solve()
        except SolverError:
            step, duals = None, np.zeros(len(order))
        if step is None:  # rows contradict each other by less than rounding: the point of l2 is as good as any
            distance = float(norm.size(start.vector))
            return problem.result(distance, min(below, distance), start.vector, weights, no_bounds)
        weights = np.zeros(len(problem.rows))
        weights[order] = duals
        below = max(below, _weak_bound(problem, norm, weights))
        if below >= bound:
            return problem.result(np.inf, below, None, weights, no_bounds)
        excess = problem.rows @ step - problem.slack
        excess[: problem.num_equations] = 0.0
        excess[taken] = 0.0
        fresh = np.flatnonzero(excess > VIOLATION * longest)
        if not len(fresh):
            distance = float(norm.size(step))
            return problem.result(distance, min(below, distance), step, weights, no_bounds)
        fresh = fresh[np.argsort(-excess[fresh])[:MAX_NEW_ROWS]]
        taken[fresh] = True


class _L1Program:
    """Steps are differences ``p - q`` of vectors that are not negative; the length is the sum of all entries."""

    def __init__(self, problem: NearestProblem, longest: float) -> None:
        dim = self.dim = len(problem.lower)
        # Solvers compare with numbers of about one.
        self.longest = longest
        self.program = LinearProgram(2 * dim)
        low, high = problem.lower / longest, problem.upper / longest
        self.program.set_all_bounds(np.maximum(np.append(low, -high), 0.0), np.maximum(np.append(high, -low), 0.0))

    def add(self, problem: NearestProblem, which: np.ndarray) -> None:
        """Append rows of the problem."""
        slack = problem.slack[which] / self.longest
        below = np.where(which < problem.num_equations, slack, -np.inf)
        rows = problem.rows[which]
        self.program.add_rows(np.concatenate([rows, -rows], axis=1), slack, below)

    def solve(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the step, None if the rows contradict each other, and the multipliers of the rows."""
        found = self.program.maximize(np.full(2 * self.dim, -1.0))
        if found.status is not ProgramStatus.OPTIMAL:
            return None, found.duals
        return self.longest * (found.point[: self.dim] - found.point[self.dim :]), found.duals


class _LinfProgram:
    """Steps are ``r w`` with -1 <= w <= 1: rows ``A w <= s / r`` are linear in w and 1 / r, which is to be large.

    So there are as many rows as the problem has, however many coordinates. Bounds of steps are rows as well, and only
    those that were in the way join.
    """

    def __init__(self, problem: NearestProblem, longest: float) -> None:
        dim = self.dim = len(problem.lower)
        self.longest = longest
        self.lower, self.upper = problem.lower, problem.upper
        self.program = LinearProgram(dim + 1)
        self.bounded = np.stack([self.lower == 0, self.upper == 0])  # as rows, or by bounds of w
        self.program.set_all_bounds(np.append(self.bounded[0] - 1.0, 0.0), np.append(1.0 - self.bounded[1], np.inf))
        self.places: list[int] = []  # of the problem's rows among those of the program

    def add(self, problem: NearestProblem, which: np.ndarray) -> None:
        """Append rows of the problem."""
        self.places.extend(range(self.program.num_rows, self.program.num_rows + len(which)))
        rows = np.column_stack([problem.rows[which], -problem.slack[which] / self.longest])
        below = np.where(which < problem.num_equations, 0.0, -np.inf)
        self.program.add_rows(rows, np.zeros(len(which)), below)

    def solve(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the step, None if the rows contradict each other, and the multipliers of the rows."""
        objective = np.append(np.zeros(self.dim), 1.0)
        while True:
            found = self.program.maximize(objective)
            if found.status is not ProgramStatus.OPTIMAL or not found.value > 0:
                return None, found.duals
            radius = self.longest / found.value
            step = radius * found.point[: self.dim]
            excess = np.stack([self.lower - step, step - self.upper])
            fresh = (excess > VIOLATION * radius) & ~self.bounded
            if not fresh.any():
                return step, found.duals[self.places] * radius / self.longest
            self.bounded |= fresh
            for sign, bounds, chosen in zip((-1.0, 1.0), (self.lower, self.upper), fresh, strict=True):
                axes = np.flatnonzero(chosen)
                rows = np.zeros((len(axes), self.dim + 1))
                rows[np.arange(len(axes)), axes] = sign
                rows[:, self.dim] = -sign * bounds[axes] / self.longest
                self.program.add_rows(rows, np.zeros(len(axes)))


def _weak_bound(problem: NearestProblem, norm: Norm, weights: np.ndarray) -> float:
    """Return ``min |u| + m (A u - s)`` over u within its bounds, for multipliers m: no feasible u is shorter."""
    weights = problem.clipped(weights)
    forms = problem.rows.T @ weights
    low, high = problem.lower, problem.upper
    if not ((low <= 0).all() and (high >= 0).all()):
        return 0.0
    # What rounding leaves of the form may have either sign.
    doubt = (problem.rounding + (len(weights) + 4) * EPSILON) * float(np.abs(weights).sum())
    # How far u can go the way that the form falls; where it can go on and on, the form must not beat the norm.
    reach = np.where(np.abs(forms) <= doubt, np.maximum(-low, high), np.where(forms > 0, -low, high))
    steep = np.abs(forms) + doubt
    endless = steep[np.isinf(reach)]
    most = max(1.0, float(endless.max(initial=0.0) if norm.order == 1 else endless.sum()) * (1 + problem.rounding))
    sums = float(np.abs(weights) @ (np.abs(problem.slack) + problem.doubt))
    value = -float(weights @ problem.slack) - float(np.abs(weights) @ problem.doubt)
    steep, value, sums = steep / most, value / most, sums / most
    ends = np.isfinite(reach)
    if norm.order == 1:
        lost = float(np.maximum(steep[ends] * (1 + 4 * EPSILON) - 1.0, 0.0) @ reach[ends])
    else:
        lengths = np.append(0.0, np.sort(reach[ends]))
        order = np.argsort(reach[ends])
        sorted_steep, sorted_reach = steep[ends][order], reach[ends][order]
        reached = np.append(0.0, np.cumsum(sorted_steep * sorted_reach))
        going = steep.sum() - np.append(0.0, np.cumsum(sorted_steep))
        levels = lengths - reached - lengths * going
        # All three parts are sums, and grow together.
        rounding = 2 * (len(steep) + 4) * EPSILON * (lengths + reached + lengths * steep.sum())
        lost = -float((levels - rounding).min())
    return max(0.0, value - lost - (len(weights) + len(steep) + 8) * EPSILON * (sums + abs(lost)))

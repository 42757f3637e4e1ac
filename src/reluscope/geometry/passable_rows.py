"""Which of many rows of {x : A x <= b, lo <= x <= hi} can be passed if all other rows hold, many programs at once.

Each row asks for the maximum of ``a_k x`` with its own bound taken away, and only on which side of b_k that is. All
programs share their rows, and so one matrix, factorised once, serves every step of all of them in the alternating
direction method of multipliers (Boyd et al., "Distributed optimization and statistical learning via the alternating
direction method of multipliers", Foundations and Trends in Machine Learning 3, 2011; Stellato et al., "OSQP",
Mathematical Programming Computation 12, 2020). Steps are products of matrices in float32; what they lead to is checked
in float64: a point beyond the row that is inside all others, or multipliers y >= 0 that prove there is none, by
``a_k x <= y b + sup (a_k - y A) x`` over the bounds.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.geometry.half_space_stack import HalfSpaceStack

# Penalties in units of the inverse squares of the slacks at the centre, over-relaxation, steps between two checks.
PENALTY, RELAXATION, STEPS = 0.03, 1.6, 25
# Checks at most, and those over which it is seen whether more of them are worth it.
MAX_CHECKS, PATIENCE = 300, 20
# Rows that are asked about together.
BLOCK = 1024
# How far a proof has to be below a row, relative to its distance: rows that nearly touch are not called redundant.
CLEAR = 1e-9
# Cost of one program by interior points, in steps of this method, for each variable.
STEPS_OF_ONE = 8


class Passable(NamedTuple):
    """What is known of some rows.

    Parameters
    ----------
    is_passed : (k,) bool
        A point beyond the row is inside all others.
    is_implied : (k,) bool
        There is none, and none that is near.
    points : (k, n) float64
        These points; NaN where there are none.
    """

    is_passed: Bool[np.ndarray, " k"]
    is_implied: Bool[np.ndarray, " k"]
    points: Float[np.ndarray, "k n"]


def passable_rows(body: HalfSpaceStack, rows: Int[np.ndarray, " k"], slack: Float[np.ndarray, " k"]) -> Passable:
    """Return which of some rows of a body can be passed and which cannot; some may stay undecided.

    Parameters
    ----------
    body : HalfSpaceStack
        One, on the CPU, with the origin strictly inside.
    rows : (k,) int64
        The rows to ask about.
    slack : (k,) float64
        A point has to be beyond its row by more than this.

    Returns
    -------
    Passable

    Notes
    -----
    A step costs 4 h n multiplications for each row; rows that are decided drop out. It ends when one program after the
    other would be faster. Without bounds on all variables nothing can be proved: then only points are found.
    """
    programs = _Programs(body)
    parts = [
        _decide(programs, rows[first : first + BLOCK], slack[first : first + BLOCK])
        for first in range(0, len(rows), BLOCK)
    ]
    nothing = Passable(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), np.zeros((0, body.dim)))
    return Passable(*(np.concatenate(columns) for columns in zip(nothing, *parts, strict=True)))


class _Programs:
    """What all programs share: the body, and the system of equations of all steps."""

    def __init__(self, body: HalfSpaceStack) -> None:
        self.rows, self.offsets = body.rows[0], body.offsets[0]
        self.lower, self.upper = body.lower[0], body.upper[0]
        penalties = PENALTY / self.offsets.square()
        of_bounds = PENALTY * (self.lower.square().reciprocal() + self.upper.square().reciprocal())
        matrix = (self.rows * penalties[:, None]).T @ self.rows
        diagonal = matrix.diagonal()
        diagonal += of_bounds
        diagonal += 1e-9 * diagonal.max()
        self.penalties, self.of_bounds = penalties.float(), of_bounds.float()
        self.inverse = torch.cholesky_inverse(torch.linalg.cholesky(matrix)).float()
        self.single = self.rows.float()

    def check(self, gains: torch.Tensor, offsets: torch.Tensor, points: torch.Tensor, multipliers: torch.Tensor):
        """Return points scaled into the body, the values there, and the bounds that multipliers prove."""
        exact, y = points.double(), multipliers.double()
        reach = ((exact @ self.rows.T) / offsets).amax(dim=1)
        reach = torch.maximum(reach, torch.maximum(exact / self.upper, exact / self.lower).amax(dim=1))
        inside = exact / reach.clamp_min(1e-300)[:, None]
        left = torch.addmm(gains, y, self.rows, alpha=-1.0)
        most = torch.where(left == 0, 0.0, torch.maximum(left * self.lower, left * self.upper))
        bounds = (y * torch.where(torch.isfinite(offsets), offsets, 0.0)).sum(dim=1) + most.sum(dim=1)
        return inside, (inside * gains).sum(dim=1), bounds


def _decide(body: _Programs, rows: np.ndarray, slack: np.ndarray) -> Passable:
    number, dim = len(rows), body.rows.shape[1]
    is_passed, is_implied = np.zeros(number, dtype=bool), np.zeros(number, dtype=bool)
    points = np.full((number, dim), np.nan)
    left = np.arange(number)
    which = torch.from_numpy(rows)
    state = _State(body, which)
    numbers = [number]
    for _ in range(MAX_CHECKS):
        state.step(STEPS)
        own = torch.from_numpy(rows[left])
        depth = body.offsets[own]
        inside, values, bounds = body.check(body.rows[own], state.limits(own), state.x, state.y)
        passed = (values > depth + torch.from_numpy(slack[left])).numpy()
        implied = (bounds <= (1 - CLEAR) * depth).numpy() & ~passed
        is_passed[left[passed]], is_implied[left[implied]] = True, True
        points[left[passed]] = inside.numpy()[passed]
        is_open = ~passed & ~implied
        left = left[is_open]
        numbers.append(len(left))
        recent = numbers[-PATIENCE - 1 :]
        is_worth_it = STEPS_OF_ONE * dim * (recent[0] - len(left)) >= STEPS * sum(recent[:-1])
        if not len(left) or (len(recent) > PATIENCE and not is_worth_it):
            break
        state.keep(torch.from_numpy(np.flatnonzero(is_open)))
    return Passable(is_passed, is_implied, points)


class _State:
    """Iterates of some programs, (k, n) and (k, h) in float32; arrays of the size of y are written in place."""

    def __init__(self, body: _Programs, rows: torch.Tensor) -> None:
        self.body, self.rows, self.steps = body, rows, 0
        number, (height, dim) = len(rows), body.rows.shape
        self.x, self.w, self.v = (torch.zeros(number, dim) for _ in range(3))
        self.y, self.z, self.q = (torch.zeros(number, height) for _ in range(3))

    def limits(self, own: torch.Tensor) -> torch.Tensor:
        """Return the offsets of all rows for each program, its own row moved outwards."""
        offsets = self.body.offsets.repeat(len(own), 1)
        offsets[torch.arange(len(own)), own] *= 2
        return offsets

    def keep(self, which: torch.Tensor) -> None:
        """Go on with some of the programs."""
        self.rows = self.rows[which]
        for name in ("x", "w", "v", "y", "z"):
            setattr(self, name, getattr(self, name)[which])
        self.q = torch.empty_like(self.y)

    def step(self, times: int) -> None:
        """Take some steps: x by the equations, z and w onto their sides, multipliers by what is left."""
        body, one = self.body, torch.arange(len(self.rows))
        gains, own = body.single[self.rows], body.offsets.float()
        lower, upper = body.lower.float(), body.upper.float()
        for _ in range(times):
            torch.mul(self.z, body.penalties, out=self.q)
            self.q -= self.y
            right = torch.addmm(gains, self.q, body.single)
            right += body.of_bounds * self.w - self.v
            torch.mm(right, body.inverse, out=self.x)
            torch.mm(self.x, body.single.T, out=self.q)
            # q = RELAXATION A x + (1 - RELAXATION) z + y / penalties
            self.q.mul_(RELAXATION).add_(self.z, alpha=1 - RELAXATION)
            self.q.addcdiv_(self.y, body.penalties)
            torch.minimum(self.q, own, out=self.z)
            self.z[one, self.rows] = torch.minimum(self.q[one, self.rows], 2 * own[self.rows])
            torch.sub(self.q, self.z, out=self.y)
            self.y *= body.penalties
            q = (
                RELAXATION * self.x
                + (1 - RELAXATION) * self.w
                + torch.where(body.of_bounds > 0, self.v / body.of_bounds, 0.0)
            )
            self.w = torch.minimum(torch.maximum(q, lower), upper)
            self.v = body.of_bounds * (q - self.w)
        self.steps += times

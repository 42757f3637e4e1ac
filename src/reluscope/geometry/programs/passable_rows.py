"""Which of many rows of {x : A x <= b, lo <= x <= hi} can be passed if all other rows hold, many programs at once.

Each row asks for the maximum of ``a_k x`` with its own bound taken away, and only on which side of b_k that is. All
programs share their rows, and so one matrix, factorised once, serves every step of all of them in the alternating
direction method of multipliers (Boyd et al., "Distributed optimization and statistical learning via the alternating
direction method of multipliers", Foundations and Trends in Machine Learning 3, 2011; Stellato et al., "OSQP",
Mathematical Programming Computation 12, 2020). Steps are products of matrices in float32; where they have led, averaged
over the last of them because they circle around the solution, is checked in float64: a point beyond the row that is
inside all others, or multipliers y >= 0 that prove there is none, by ``a_k x <= y b + sup (a_k - y A) x`` over the
bounds.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.geometry.numbers.resolutions import TINY
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.interruption import step_point

# Relative to the largest entry of the diagonal: what is added to it, since equations are solved in single precision.
SHIFT = 1e-9
# Penalties in units of the inverse squares of the slacks at the centre, over-relaxation, steps between two checks.
PENALTY, RELAXATION, STEPS = 0.03, 1.8, 16
# Steps between two that count in the averages, and how much one counts against those before it.
AVERAGED, SHARE = 4, 0.25
# Checks over which it is seen whether more of them are worth it, and most for one row.
PATIENCE, MAX_CHECKS = 30, 500
# Rows that are asked about together; where fewer are, a step reads the table of rows, which takes as long as FEW do.
BLOCK, FEW = 512, 24
# How far a proof has to be below a row, relative to its distance: rows that nearly touch are not called redundant.
CLEAR = 1e-9
# Cost of one program by interior points, in steps of this method, for each variable.
STEPS_OF_ONE = 8


class Passable(NamedTuple):
    """Which of some rows can be passed, with points that do; neither where that is undecided."""

    is_passed: Bool[np.ndarray, " k"]  # a point beyond the row is inside all others
    is_implied: Bool[np.ndarray, " k"]  # there is no such point, and none that is near
    points: Float[np.ndarray, "k n"]  # points beyond rows; NaN where there are none


def passable_rows(body: HalfSpaceStack, rows: Int[np.ndarray, " k"], slack: Float[np.ndarray, " k"]) -> Passable:
    """Return which of some rows of a body can be passed and which cannot; some may stay undecided.

    One body, on the CPU, with the origin strictly inside; points have to be beyond a row by more than its slack.
    Without bounds on all variables only points are found. A step costs 4 h n multiplications per row.
    """
    programs = _Programs(body)
    number = len(rows)
    is_passed, is_implied = np.zeros(number, dtype=bool), np.zeros(number, dtype=bool)
    points = np.full((number, body.dim), np.nan)
    # Those that are worked on: where rows are decided, others take their place, so that steps stay large products.
    at, begun = np.zeros(0, dtype=np.int64), 0
    state = _Iterates(programs)
    work, decided = [0], [0]
    while begun < number or len(at):
        new = np.arange(begun, min(number, begun + BLOCK - len(at)))
        if len(at) <= BLOCK // 2 and len(new):
            state.add(torch.from_numpy(rows[new]))
            at, begun = np.concatenate([at, new]), begun + len(new)
        state.step(STEPS)
        inside, values, bounds = programs.check(state.rows, *state.averages())
        depth = programs.offsets[state.rows]
        passed = (values > depth + torch.from_numpy(slack[at])).numpy()
        implied = (bounds <= (1 - CLEAR) * depth).numpy() & ~passed
        is_passed[at[passed]], is_implied[at[implied]] = True, True
        points[at[passed]] = inside.numpy()[passed]
        work.append(work[-1] + STEPS * max(FEW, len(at)))
        kept = ~passed & ~implied & (state.steps < STEPS * MAX_CHECKS)
        at = at[kept]
        decided.append(begun - len(at))
        if begun == number and len(work) > PATIENCE:
            # One program after the other by interior points may be faster.
            is_worth_it = STEPS_OF_ONE * body.dim * (decided[-1] - decided[-PATIENCE]) >= work[-1] - work[-PATIENCE]
            if not is_worth_it:
                break
        state.keep(torch.from_numpy(np.flatnonzero(kept)))
    return Passable(is_passed, is_implied, points)


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
        diagonal += SHIFT * diagonal.max()
        self.penalties, self.of_bounds = penalties.float(), of_bounds.float()
        self.inverse = torch.cholesky_inverse(torch.linalg.cholesky(matrix)).float()
        self.single = self.rows.float()

    def check(self, own: torch.Tensor, points: torch.Tensor, multipliers: torch.Tensor):
        """Return points scaled into bodies of some rows, how far these get, and the bounds that multipliers prove."""
        one = torch.arange(len(own))
        exact, y = points.double(), multipliers.double()
        shares = (exact @ self.rows.T) / self.offsets
        # A row's own offset is moved outwards.
        shares[one, own] /= 2
        reach = torch.maximum(shares.amax(dim=1), torch.maximum(exact / self.upper, exact / self.lower).amax(dim=1))
        inside = exact / reach.clamp_min(TINY)[:, None]
        gains = self.rows[own]
        left = torch.addmm(gains, y, self.rows, alpha=-1.0)
        most = torch.where(left == 0, 0.0, torch.maximum(left * self.lower, left * self.upper))
        offsets = torch.where(torch.isfinite(self.offsets), self.offsets, 0.0)
        bounds = y @ offsets + y[one, own] * offsets[own] + most.sum(dim=1)
        return inside, (inside * gains).sum(dim=1), bounds


class _Iterates:
    """Iterates of some programs, (k, n) and (k, h) in float32; arrays of the size of y are written in place."""

    def __init__(self, body: _Programs) -> None:
        height, dim = body.rows.shape
        self.body, self.rows, self.steps = body, torch.zeros(0, dtype=torch.int64), np.zeros(0, dtype=np.int64)
        self.x, self.w, self.v, self.mean_x = (torch.zeros(0, dim) for _ in range(4))
        self.y, self.z, self.q, self.mean_y = (torch.zeros(0, height) for _ in range(4))

    def add(self, rows: torch.Tensor) -> None:
        """Begin with some more rows."""
        self.rows = torch.cat([self.rows, rows])
        self.steps = np.concatenate([self.steps, np.zeros(len(rows), dtype=np.int64)])
        for name in ("x", "w", "v", "mean_x", "y", "z", "mean_y"):
            before = getattr(self, name)
            setattr(self, name, torch.cat([before, before.new_zeros(len(rows), before.shape[1])]))
        self.q = torch.empty_like(self.y)

    def keep(self, which: torch.Tensor) -> None:
        """Go on with some of the programs."""
        if len(which) == len(self.rows):
            return
        self.rows, self.steps = self.rows[which], self.steps[which.numpy()]
        for name in ("x", "w", "v", "mean_x", "y", "z", "mean_y"):
            setattr(self, name, getattr(self, name)[which])
        self.q = torch.empty_like(self.y)

    def averages(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return means of points and of multipliers over the last steps, the last ones counting most."""
        return self.mean_x, self.mean_y

    def step(self, times: int) -> None:
        """Take some steps: x by the equations, z and w onto their sides, multipliers by what is left."""
        body, one = self.body, torch.arange(len(self.rows))
        gains, own = body.single[self.rows], body.offsets.float()
        lower, upper = body.lower.float(), body.upper.float()
        for count in range(1, times + 1):
            step_point()
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
            if count % AVERAGED == 0:
                self.steps += AVERAGED
                # The first ones are plain means: what a program begins with does not count.
                share = torch.from_numpy(np.maximum(SHARE, AVERAGED / self.steps).astype(np.float32))[:, None]
                self.mean_x.lerp_(self.x, share)
                self.mean_y.lerp_(self.y, share)

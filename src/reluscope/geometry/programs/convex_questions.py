"""Convex questions over many bodies at once: largest balls, linear maxima, likeliest points, widest margins, centres.

Each answer is a feasible point and the gap to a bound that multipliers prove. What `minimize` leaves open of linear
programs goes to the simplex method, one by one.
"""

import time
from fractions import Fraction
from math import inf
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.geometry.numbers.resolutions import RELATIVE_GAP, TINY
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.geometry.programs.interior_point import IsDone, Local, Minima, Objective, minimize, within
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.proved_programs import ProvedSystem

# Relative to nothing: bodies count as no smaller, so that squares of their sizes are numbers.
LEAST_REACH = 1e-150
# A ball this much larger than the offsets of rows is one of every size.
ENDLESS = 1e9
# Newton steps towards an analytic centre, and the decrement at which it is one.
MAX_CENTERING, CENTERED = 60, 1e-10


class Answers(NamedTuple):
    """Points that answer a question, one for each body."""

    points: Float[np.ndarray, "r n"]  # inside their bodies
    values: Float[np.ndarray, " r"]  # at these points
    gaps: Float[np.ndarray, " r"]  # most that another point can gain; inf if unknown


def largest_balls(bodies: HalfSpaceStack, start: Tensor, *, relative_gap: float = RELATIVE_GAP) -> Answers:
    """Return largest balls: the greatest r with ``a c + |a| r <= b`` for all rows and bounds.

    Radii are least distances from centres to rows and bounds: at most zero for a body without interior (then no largest
    ball), infinite if there are balls of every size. Centres need not be unique.
    """
    ends = torch.cat([bodies.offsets, bodies.lower, bodies.upper], dim=1)
    reach = torch.where(bodies.exists, ends.abs(), 0.0).amax(dim=1)
    reach = torch.maximum(reach, start.abs().amax(dim=1)).clamp_min(LEAST_REACH)
    most = ENDLESS * reach
    raised = bodies.with_margin(most)
    room = bodies.slacks(start).amin(dim=1)
    # Half of what is there, or less than what is missing.
    first = torch.where(room > 0, room / 2, room - reach).clamp_max(most / 2)
    gain = torch.zeros(raised.dim, dtype=start.dtype, device=start.device)
    gain[-1] = -1.0
    found = minimize(raised, _linear(gain), torch.cat([start, first[:, None]], dim=1), within(relative_gap))
    centers = found.points[:, :-1]
    radii = bodies.slacks(centers).amin(dim=1)
    gaps = (-found.values + found.gaps - radii).clamp_min(0.0)
    # Far out, balls grow without end if every row falls away.
    moved = bodies.products(centers)
    is_endless = torch.isinf(bodies.lower).all(dim=1) & torch.isinf(bodies.upper).all(dim=1)
    is_endless &= ((radii > 1e-3 * most) & (moved <= 0).all(dim=1)) | ~bodies.exists.any(dim=1)
    # No farther out on this way than every row is away by as much as rows are from the origin.
    wanted = torch.where(torch.isfinite(bodies.offsets), (reach[:, None] - bodies.offsets) / -moved, 0.0)
    nearer = wanted.nan_to_num(nan=1.0, posinf=1.0).amax(dim=1, keepdim=True).clamp(0.0, 1.0)
    centers = torch.where(is_endless[:, None], nearer * centers, centers)
    radii, gaps = torch.where(is_endless, torch.inf, radii), torch.where(is_endless, 0.0, gaps)
    return Answers(*(part.cpu().numpy() for part in (centers, radii, gaps)))


def linear_maxima(bodies: HalfSpaceStack, start: Tensor, gains: Tensor, is_done: IsDone | None = None) -> Answers:
    """Return where linear functions are largest on bodies.

    Starts have to be strictly inside. ``is_done`` gets minus the functions, as in `minimize`; by default gaps are at
    most 1e-9 times the absolute value, or 1e-9.
    """
    is_done = within(RELATIVE_GAP, 1.0) if is_done is None else is_done
    found = minimize(bodies, _linear(-gains), start, is_done)
    is_open = ~is_done(found.values, found.values - found.gaps)
    return _finished(bodies, gains, _answers(found, -found.values), is_open.cpu().numpy())


def point_beyond(body: HalfSpaceStack, direction: Tensor, distance: float) -> Float[np.ndarray, " n"] | None:
    """Return a point of a body where a linear function passes a value, None if there is none.

    One body, with the origin strictly inside. Stops as soon as either is known.
    """

    def is_known(values: Tensor, bounds: Tensor) -> Tensor:
        return (values < -distance) | (bounds >= -distance)

    found = minimize(body, _linear(-direction), torch.zeros_like(direction), is_known)
    answers = _answers(found, -found.values)
    is_open = ~is_known(found.values, found.values - found.gaps)
    points, values, _ = _finished(body, direction, answers, is_open.cpu().numpy())
    return points[0] if values[0] > distance else None


def likeliest_points(
    bodies: HalfSpaceStack,
    start: Tensor,
    weights: Tensor,
    biases: Tensor,
    classes: Tensor,
    *,
    relative_gap: float = RELATIVE_GAP,
    until: float = inf,
) -> Answers:
    """Return where the logarithm of a class's probability is largest: ``z_t - log sum exp z``, z affine.

    Starts have to be strictly inside; values are logarithms. Gaps aim at ``relative_gap`` times the logarithm (or 1),
    and stay as they are once ``time.perf_counter`` passes ``until`` or where rounding ends them.
    """
    if weights.shape[1] == 1:
        raise ValueError("a probability is one beside those of other classes")
    is_near, softplus = within(relative_gap, 1.0), torch.nn.functional.softplus

    def objective(points: Tensor, which: Tensor) -> Local:
        own, one = weights[which], torch.arange(len(which), device=which.device)
        logits = (own @ points[..., None])[..., 0] + biases[which]
        ahead = logits[one, classes[which]]
        logits[one, classes[which]] = -torch.inf
        shares = torch.softmax(logits, dim=1)
        mean = (own.mT @ shares[..., None])[..., 0]
        curvature = shares.sqrt()[..., None] * (own - mean[:, None])
        return Local(torch.logsumexp(logits, dim=1) - ahead, mean - own[one, classes[which]], curvature)

    # Minus the logarithm is log(1 + exp g), and no less than 0 if nothing is known of g.
    def is_done(values: Tensor, bounds: Tensor) -> Tensor:
        return is_near(softplus(values), softplus(bounds)) | (time.perf_counter() > until)

    found = minimize(bodies, objective, start, is_done)
    values = softplus(found.values)
    gaps = values - softplus(found.values - found.gaps)
    return Answers(*(part.cpu().numpy() for part in (found.points, -values, gaps)))


def widest_margins(
    bodies: HalfSpaceStack,
    start: Tensor,
    weights: Tensor,
    biases: Tensor,
    classes: Tensor,
    *,
    is_sign_enough: bool = False,
    until: float = inf,
) -> Answers:
    """Return where class t leads most: the greatest s with ``z_t - z_j >= s`` for all other classes j.

    A positive value shows that the class occurs, a negative sum of value and gap that it does not. Gaps stay as they
    are once ``time.perf_counter`` passes ``until``.
    """
    count, num_classes, dim = weights.shape
    if num_classes == 1:
        raise ValueError("a margin is one over another class")
    one = torch.arange(count, device=classes.device)
    others = torch.ones(count, num_classes, dtype=torch.bool, device=classes.device)
    others[one, classes] = False
    rivals = (weights - weights[one, classes][:, None])[others].reshape(count, num_classes - 1, dim)
    ahead = (biases[one, classes][:, None] - biases)[others].reshape(count, num_classes - 1)
    # In units of the steepest difference; where all are constant, of the largest one.
    steepest = torch.linalg.vector_norm(rivals, dim=2).amax(dim=1)
    units = torch.where(steepest > 0, steepest, ahead.abs().amax(dim=1)).clamp_min(TINY)
    rivals, ahead = rivals / units[:, None, None], ahead / units[:, None]
    margins = (ahead - (rivals @ start[..., None])[..., 0]).amin(dim=1, keepdim=True)
    room = 1.0 + margins.abs()
    # Bounds that no better point reaches: what rounding leaves of the proof can then not be far off.
    farthest = torch.where(rivals > 0, -bodies.lower[:, None], bodies.upper[:, None])
    most = (ahead + torch.where(rivals == 0, 0.0, rivals.abs() * farthest).sum(dim=2)).amin(dim=1, keepdim=True)
    # Rows may take up much memory: they are copied once.
    height = bodies.rows.shape[1]
    rows = start.new_zeros(count, height + num_classes - 1, dim + 1)
    rows.unflatten(0, (-1, bodies.copies))[:, :, :height, :dim] = bodies.rows[:, None]
    rows[:, height:, :dim], rows[:, height:, dim] = rivals, 1.0
    raised = HalfSpaceStack(
        rows,
        torch.cat([bodies.offsets, ahead], dim=1),
        torch.cat([bodies.lower, margins - 2 * room], dim=1),
        torch.cat([bodies.upper, most + room], dim=1),
    )
    gains = torch.zeros(count, dim + 1, dtype=start.dtype, device=start.device)
    gains[:, -1] = 1.0
    inside = torch.cat([start, margins - room], dim=1)
    precise = within(RELATIVE_GAP, margins.abs()[:, 0].clamp_min(1e-6))

    def is_known(values: Tensor, bounds: Tensor) -> Tensor:
        return (values < 0) | (bounds > 0) | precise(values, bounds)

    is_enough = is_known if is_sign_enough else precise

    def is_done(values: Tensor, bounds: Tensor) -> Tensor:
        return is_enough(values, bounds) | (time.perf_counter() > until)

    found = linear_maxima(raised, inside, gains, is_done)
    scale = units.cpu().numpy()
    return Answers(found.points[:, :-1], scale * found.values, scale * found.gaps)


def analytic_centers(bodies: HalfSpaceStack, start: Tensor) -> Answers:
    """Return where the sum of logarithms of all distances to rows and bounds is largest.

    Bodies have to be bounded, starts strictly inside. The gap is ``-d - log(1 - d)`` for Newton's decrement d < 1 (Boyd
    and Vandenberghe, "Convex optimization", 2004, sections 9.6 and 8.5.3).
    """
    exists = bodies.exists
    points = start
    slacks = torch.where(exists, bodies.slacks(points), 1.0)
    decrement = torch.full_like(points[:, 0], torch.inf)
    for _ in range(MAX_CENTERING):
        inverse = torch.where(exists, 1.0 / slacks, 0.0)
        pull = bodies.pull(inverse)
        factor, info = torch.linalg.cholesky_ex(bodies.gram(inverse**2))
        along = -torch.cholesky_solve(pull[..., None], factor)[..., 0]
        decrement = torch.where(info == 0, (-pull * along).sum(dim=1).clamp_min(0.0).sqrt(), torch.inf)
        if (decrement <= CENTERED).all() or not torch.isfinite(decrement).any():
            break
        # Damped steps never leave the body; full ones are as good near the end.
        length = torch.where(decrement > 0.25, 1.0 / (1.0 + decrement), 1.0)[:, None]
        is_moving = torch.isfinite(decrement)[:, None] & (decrement > CENTERED)[:, None]
        points = torch.where(is_moving, points + length * along, points)
        slacks = torch.where(exists, bodies.slacks(points), 1.0)
    values = torch.where(exists, slacks.log(), 0.0).sum(dim=1)
    near = decrement.clamp_max(0.5)
    gaps = torch.where(decrement < 0.5, -near - torch.log1p(-near), torch.inf)
    return Answers(*(part.cpu().numpy() for part in (points, values, gaps)))


def _linear(gradient: Tensor) -> Objective:
    def objective(points: Tensor, which: Tensor) -> Local:
        own = gradient if gradient.ndim == 1 else gradient[which]
        return Local((points * own).sum(dim=1), own.expand_as(points))

    return objective


def _answers(found: Minima, values: Tensor) -> Answers:
    return Answers(*(part.cpu().numpy() for part in (found.points, values, found.gaps)))


def _finished(bodies: HalfSpaceStack, gains: Tensor, answers: Answers, is_open: np.ndarray) -> Answers:
    """Ask the simplex method about the few bodies whose gaps are too large."""
    points, values, gaps = (part.copy() for part in answers)
    for body in np.flatnonzero(is_open).tolist():
        one, gain = bodies.one(body), gains[body].cpu().numpy()
        program = LinearProgram(bodies.dim)
        program.set_all_bounds(one.lower, one.upper)
        program.add_rows(one.rows, one.offsets)
        solution = program.maximize(gain)
        if solution.status is ProgramStatus.OPTIMAL and solution.value >= values[body]:
            # None of the rows matters if HiGHS gives no multipliers.
            duals = solution.duals if len(solution.duals) else np.zeros(len(one.offsets))
            endless = np.full(len(duals), -np.inf)
            points[body], values[body], gaps[body] = (
                solution.point,
                solution.value,
                upper_bound(gain, one.rows, endless, one.offsets, one.lower, one.upper, duals) - solution.value,
            )
        elif solution.status is ProgramStatus.UNBOUNDED:
            gaps[body] = np.inf
            if _has_no_end(one, gain):
                values[body], gaps[body] = np.inf, 0.0
    return Answers(points, values, np.maximum(gaps, 0.0))


def _has_no_end(body: HalfSpaces, gain: np.ndarray) -> bool:
    """Return whether a linear function grows without end where there are points, proved in fractions."""
    units = np.eye(len(gain))
    directions = np.concatenate([body.rows, units[np.isfinite(body.upper)], -units[np.isfinite(body.lower)]])
    nothing = np.zeros((0, len(gain))), np.zeros(0)
    cone = ProvedSystem(directions, np.zeros(len(directions)), *nothing)
    proved = cone.maximum([Fraction(entry) for entry in gain.tolist()])
    return proved is not None and proved.status is ProgramStatus.UNBOUNDED

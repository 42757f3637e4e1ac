"""Convex questions over many bodies {x : A x <= b, lo <= x <= hi} at once, from a strictly interior point of each.

A primal-dual interior-point method with predictor and corrector (Mehrotra, "On the implementation of a primal-dual
interior point method", SIAM Journal on Optimization 2 (4), 1992) that never leaves the body: slacks are always those of
the point at hand, so that nothing has to be found feasible first. Every answer comes with the gap to a bound that its
multipliers prove. In torch, in float64, on any device: one batched product of matrices decides the time of a step.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from reluscope.geometry.numbers.resolutions import RELATIVE_GAP, TINY
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.newton_equations import NewtonEquations
from reluscope.interruption import step_point
from reluscope.single_threaded import one_thread
from reluscope.time_limits import seconds_left

MAX_STEPS, PATIENCE = 100, 8
# A body's proof is tried where a gap of this share of the products of multipliers and slacks would do.
PROMISING = 0.5
# The share of the way to the nearest side that a step goes.
CLOSE = 0.995
# What is left of an equation, relative to its largest term, when it holds up to rounding.
NEGLIGIBLE = 1e-11
MAX_HALVINGS = 12
# Steps halved this often, this near to the end, come from equations that rounding has blurred.
SHORTEST, BLURRED = 1.5 * 2.0**-MAX_HALVINGS, 1e-8
# Curved functions are to come down no faster than their equations are met.
MIN_AIM = 0.1
# Steps shorter than this are short, and how much of the products the one after keeps at least.
SHORT, CENTERING = 0.5, 0.5
# Shares of the right side of an equation that may be left: of a look ahead, of a step, and of a proof.
FORESEEN, CORRECTED, PROVED = 0.05, 1e-6, 1e-10
# Corrections of a step that are tried at most, how much farther each is to lead, the share of that for which it is
# taken, and how far products may be from what they are to be.
CORRECTORS, FARTHER, WORTH, SPREAD = 3, 0.3, 0.1, 0.1
# Multiplications in a product of matrices from which on threads are worth having.
WORTH_THREADS = 5e7


class Local(NamedTuple):
    """Values and derivatives of a convex function at points.

    The matrix of second derivatives is the sum of the outer products of the rows of ``curvature``.
    """

    value: Tensor  # (r,)
    gradient: Tensor  # (r, n)
    curvature: Tensor | None = None  # (r, k, n), None if second derivatives are zero

    @property
    def is_curved(self) -> bool:
        """Whether there are second derivatives."""
        return self.curvature is not None


Objective = Callable[[Tensor, Tensor], Local]
IsDone = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Minima:
    """Points where functions are least on bodies, with proved gaps.

    No point of the body has a value below ``value - gap``; infinite if nothing is proved.
    """

    points: Tensor  # (r, n), strictly inside
    values: Tensor  # (r,)
    gaps: Tensor  # (r,)
    multipliers: Tensor  # (r, h + 2 n), of rows, lower and upper bounds
    steps: int  # of the whole batch


def within(relative_gap: float, floor: float | Tensor = 0.0) -> IsDone:
    """Return a test whether gaps are at most a share of the absolute value, or of the floor if larger."""

    def is_done(values: Tensor, bounds: Tensor) -> Tensor:
        return values - bounds <= relative_gap * torch.maximum(values.abs(), torch.as_tensor(floor))

    return is_done


def minimize(bodies: HalfSpaceStack, objective: Objective, start: Tensor, is_done: IsDone | None = None) -> Minima:
    """Return the least values of convex functions on bodies, with proved gaps.

    Starts have to be strictly interior. The best points seen are returned even if the search failed: gaps say how good
    they are. 15 to 40 steps of ``h n^2`` multiplications per body, until all of the batch are done.
    """
    are_large = bodies.rows.is_cuda or bodies.rows.numel() * bodies.dim >= WORTH_THREADS
    with nullcontext() if are_large else one_thread():
        return _minimized(bodies, objective, start, within(RELATIVE_GAP) if is_done is None else is_done)


def _minimized(bodies: HalfSpaceStack, objective: Objective, start: Tensor, is_done: IsDone) -> Minima:
    count, device = len(start), start.device
    # Those that are still worked on, and where they are.
    at = torch.arange(count, device=device)
    exists, points, here = bodies.exists, start, objective(start, at)
    best, values = start.clone(), here.value.clone()
    bounds, proofs = torch.full_like(values, -torch.inf), start.new_zeros(exists.shape)
    left_open = torch.full_like(values, torch.inf)
    is_open, is_stuck = torch.ones(count, dtype=torch.bool, device=device), torch.zeros(count, dtype=torch.bool)
    is_stuck = is_stuck.to(device)
    slacks = torch.where(exists, bodies.slacks(points), 1.0)
    multipliers = _first_multipliers(bodies, here, slacks, exists)
    least_aim = torch.full_like(values, MIN_AIM if here.is_curved else 0.0)
    steps = 0
    # What was proved when time is over is an answer, too.
    while steps < MAX_STEPS and not (steps and seconds_left() <= 0):
        step_point()
        steps += 1
        weights = multipliers / slacks
        system = NewtonEquations(bodies, weights, here.curvature)
        is_open[at] &= system.is_sound
        is_better = is_open[at] & (here.value < values[at])
        best[at] = torch.where(is_better[:, None], points, best[at])
        values[at] = torch.where(is_better, here.value, values[at])
        hoped = bounds.clone()
        hoped[at] = torch.maximum(bounds[at], here.value - PROMISING * (slacks * multipliers * exists).sum(dim=1))
        # A proof found for one body says nothing of when another is asked: each ends as if it were alone.
        is_asked = is_open & (is_done(values, hoped) | is_stuck | (steps % PATIENCE == 0) | (steps == MAX_STEPS))
        if is_asked.any():
            proof, bound = _proof(bodies, system, here, points, slacks, multipliers)
            is_tighter = is_asked[at] & (bound > bounds[at])
            proofs[at] = torch.where(is_tighter[:, None], proof, proofs[at])
            bounds[at] = torch.where(is_tighter, bound, bounds[at])
        is_open &= ~is_stuck
        is_open &= ~is_done(values, bounds)
        if steps % PATIENCE == 0:
            # Where the gap has not been halved in so many steps, rounding does not let it become smaller.
            is_open &= ~(values - bounds > left_open / 2)
            left_open = values - bounds
        if not is_open.any():
            break
        # Where a step to products of zero would lead says how far to aim.
        number = exists.sum(dim=1).clamp_min(1)
        along = system.solve(-here.gradient, FORESEEN)
        closer = torch.where(exists, bodies.speeds(along), 0.0)
        heavier = weights * closer - multipliers
        ahead, up = _longest(slacks, -closer), _longest(multipliers, heavier)
        if system.is_large:
            # Corrections will lead farther.
            ahead, up = (ahead + FARTHER).clamp_max(1.0), (up + FARTHER).clamp_max(1.0)
        mean = (slacks * multipliers).sum(dim=1) / number
        left = ((slacks - ahead * closer) * (multipliers + up * heavier)).sum(dim=1) / number
        aim = torch.maximum((left / mean) ** 3, least_aim) * mean
        # The correction is right for whole steps, and worth as much as such a step would have gone.
        wanted = torch.where(exists, aim[:, None] + (ahead * up).clamp_max(1.0) * closer * heavier, 0.0) / slacks
        along = system.solve(-here.gradient - bodies.pull(wanted), CORRECTED)
        closer = torch.where(exists, bodies.speeds(along), 0.0)
        heavier = wanted - multipliers + weights * closer
        now, step = _Iterate(points, slacks, multipliers), _Iterate(along, -closer, heavier)
        if system.is_large:
            step = _centred(system, now, step, aim, exists)
            along, closer, heavier = step.points, -step.slacks, step.multipliers
        ahead, up = CLOSE * _longest(slacks, -closer), CLOSE * _longest(multipliers, heavier)
        ahead, up = ahead.clamp_max(1.0), up.clamp_max(1.0)
        if here.is_curved:
            ahead = up = _shortened(
                torch.minimum(ahead, up),
                lambda moved, at=at: objective(moved, at),
                bodies,
                now,
                step,
                aim,
                here,
            )
        is_blurred = (
            (ahead < SHORTEST)[:, 0] & here.is_curved & (number * mean <= BLURRED * here.value.abs().clamp_min(1.0))
        )
        # After a short step the next one goes to the middle first: else points may go round in circles.
        is_short = torch.minimum(ahead, up)[:, 0] < SHORT
        least_aim = torch.where(is_short, CENTERING, MIN_AIM if here.is_curved else 0.0)
        moved = points + ahead * along
        room = torch.where(exists, bodies.slacks(moved), 1.0)
        heavier = multipliers + up * heavier
        # Where rounding has taken the last of a slack away, a body has come as far as it gets.
        is_sane = (room > 0).all(dim=1) & (heavier >= 0).all(dim=1) & torch.isfinite(moved).all(dim=1)
        is_stuck[at] = ~is_sane | is_blurred
        going = (is_open & ~is_stuck)[at][:, None]
        points, slacks, multipliers = (
            torch.where(going, moved, points),
            torch.where(going, room, slacks),
            torch.where(going, heavier, multipliers),
        )
        left_over = _regular(is_open[at], bodies.copies)
        if len(left_over) < len(at):
            bodies, at, least_aim = bodies.among(left_over), at[left_over], least_aim[left_over]
            exists, points, slacks, multipliers = (part[left_over] for part in (exists, points, slacks, multipliers))
        here = objective(points, at)
    return Minima(best, values, (values - bounds).clamp_min(0.0), proofs, steps)


def _regular(is_open: Tensor, copies: int) -> Tensor:
    """Return those to go on with: of every table as many as of the one with the most that are open."""
    table = is_open.reshape(-1, copies)
    most = max(1, int(table.sum(dim=1).max()))
    order = torch.argsort(~table, dim=1, stable=True)[:, :most]
    first = copies * torch.arange(len(table), device=is_open.device)[:, None]
    return (first + order).reshape(-1)


def _first_multipliers(bodies: HalfSpaceStack, here: Local, slacks: Tensor, exists: Tensor) -> Tensor:
    """Return multipliers of equal products with slacks, so that a first step is about as long as the body is wide."""
    inverse = torch.where(exists, 1.0 / slacks, 0.0)
    system = NewtonEquations(bodies, inverse**2)
    decrement = (here.gradient * system.solve(here.gradient, FORESEEN)).sum(dim=1).clamp_min(TINY).sqrt()
    return decrement[:, None] * inverse


def _proof(
    bodies: HalfSpaceStack, system: NewtonEquations, here: Local, points: Tensor, slacks: Tensor, multipliers: Tensor
) -> tuple[Tensor, Tensor]:
    """Return multipliers, and the bound on all values of the body that they prove."""
    missing = here.gradient + bodies.pull(multipliers)
    if here.is_curved and not (torch.isfinite(bodies.lower) & torch.isfinite(bodies.upper)).all():
        system = NewtonEquations(bodies, system.weights)
    # As in a full step of the dual: without curvature this leaves rounding only, or more than there was.
    exact = multipliers - system.weights * bodies.speeds(system.solve(missing, PROVED))
    exact = torch.where((exact >= 0).all(dim=1, keepdim=True), exact, multipliers)
    (first, bound), (second, other) = (_bound(bodies, here, points, slacks, proof) for proof in (multipliers, exact))
    is_better = other > bound
    return torch.where(is_better[:, None], second, first), torch.where(is_better, other, bound)


def _bound(bodies: HalfSpaceStack, here: Local, points: Tensor, slacks: Tensor, proof: Tensor) -> tuple[Tensor, Tensor]:
    """Return multipliers, whose margin may be made to fit, and the bound that they prove."""
    pulled = bodies.pull(proof)
    lower, upper = bodies.lower, bodies.upper
    if bodies.has_margin:
        # Its equation has terms of one sign only, and can be met exactly.
        share = -here.gradient[:, -1:] / pulled[:, -1:].clamp_min(TINY)
        proof, pulled = share * proof, share * pulled
        # No margin is more than half of the narrowest range, and none that is less than the one at hand counts.
        most = (torch.cat([(upper - lower)[:, :-1], upper[:, -1:]], dim=1) / 2).amin(dim=1, keepdim=True)
        lower = torch.cat([lower[:, :-1], points[:, -1:]], dim=1)
        upper = torch.cat([upper[:, :-1], most], dim=1)
    missing = here.gradient + pulled
    size = here.gradient.abs().amax(dim=1, keepdim=True).clamp_min(TINY)
    farthest = torch.where(missing > 0, points - lower, upper - points)
    is_rounding = torch.isinf(farthest) & (missing.abs() <= NEGLIGIBLE * size)
    lost = torch.where(is_rounding, 0.0, missing.abs() * farthest).nan_to_num(nan=0.0, posinf=torch.inf).sum(dim=1)
    return proof, here.value - (proof * slacks).sum(dim=1) - lost


class _Iterate(NamedTuple):
    """Points with their slacks and multipliers, or by how much a whole step changes them."""

    points: Tensor
    slacks: Tensor
    multipliers: Tensor


def _centred(system: NewtonEquations, now: _Iterate, step: _Iterate, aim: Tensor, exists: Tensor) -> _Iterate:
    """Return a step that goes farther, by evening out the products of slacks and multipliers.

    Corrections are for the same matrix, and go on while each lengthens the step enough (Gondzio, "Multiple centrality
    correctors in a primal-dual method for linear programming", COAP 6, 1996).
    """

    def lengths(step: _Iterate) -> tuple[Tensor, Tensor]:
        ahead, up = _longest(now.slacks, step.slacks), _longest(now.multipliers, step.multipliers)
        return ahead.clamp_max(1.0), up.clamp_max(1.0)

    least, most = SPREAD * aim[:, None], aim[:, None] / SPREAD
    ahead, up = lengths(step)
    for _ in range(CORRECTORS):
        farther, higher = (ahead + FARTHER).clamp_max(1.0), (up + FARTHER).clamp_max(1.0)
        products = (now.slacks + farther * step.slacks) * (now.multipliers + higher * step.multipliers)
        missing = torch.maximum(torch.minimum(torch.maximum(products, least), most) - products, -most)
        wanted = torch.where(exists, missing, 0.0) / now.slacks
        turn = system.solve(-system.bodies.pull(wanted), FORESEEN)
        closer = torch.where(exists, system.bodies.speeds(turn), 0.0)
        tried = _Iterate(step.points + turn, step.slacks - closer, step.multipliers + wanted + system.weights * closer)
        ahead_there, up_there = lengths(tried)
        is_better = torch.minimum(ahead_there, up_there) >= torch.minimum(ahead, up) + WORTH * FARTHER
        if not is_better.any():
            break
        step = _Iterate(*(torch.where(is_better, new, old) for new, old in zip(tried, step, strict=True)))
        ahead, up = torch.where(is_better, ahead_there, ahead), torch.where(is_better, up_there, up)
    return step


def _shortened(
    length: Tensor,
    objective: Callable[[Tensor], Local],
    bodies: HalfSpaceStack,
    now: _Iterate,
    step: _Iterate,
    aim: Tensor,
    here: Local,
) -> Tensor:
    """Return lengths of steps, halved until what is missing from the equations falls as a curved function allows."""
    exists = bodies.exists

    def missing(gradient: Tensor, slacks: Tensor, multipliers: Tensor) -> Tensor:
        products = torch.where(exists, slacks * multipliers - aim[:, None], 0.0)
        return (gradient + bodies.pull(multipliers)).square().sum(dim=1) + products.square().sum(dim=1)

    before = missing(here.gradient, now.slacks, now.multipliers)
    for _ in range(MAX_HALVINGS):
        there = objective(now.points + length * step.points)
        slacks, multipliers = now.slacks + length * step.slacks, now.multipliers + length * step.multipliers
        after = missing(there.gradient, slacks, multipliers)
        is_good = after <= ((1 - 0.01 * length[:, 0]) ** 2) * before
        if is_good.all():
            break
        length = torch.where(is_good[:, None], length, length / 2)
    return length


def _longest(values: Tensor, moves: Tensor) -> Tensor:
    """Return how far positive values can move before one is zero, at most 1 / CLOSE, (r, 1)."""
    ratio = torch.where(moves < 0, -values / moves, torch.inf)
    return ratio.amin(dim=1, keepdim=True).clamp_max(1.0 / CLOSE)

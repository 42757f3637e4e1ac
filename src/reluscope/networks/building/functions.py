"""Piecewise-affine functions of one variable that may jump, with the side on which each breakpoint is counted.

A breakpoint t counts as passed at z either where ``z > t`` (open) or where ``z >= t`` (closed). With both kinds, a
function has any value at a breakpoint: the sign is -1, passes a closed 0 and is 0, passes an open 0 and is 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from reluscope.networks.passes.double_words import two_product, two_sum

_EVENTS = ("points", "is_closed")


@dataclass(frozen=True, eq=False)
class Function:
    """Piecewise-linear functions of one variable, a column for each unit or one for all.

    Slopes and intercepts are of the piece that is reached when so many breakpoints are passed.
    """

    points: Tensor  # (p, c) ascending; of equal ones closed ones first
    is_closed: Tensor  # (p, c)
    slopes: Tensor  # (p + 1, c)
    intercepts: Tensor  # (p + 1, c)
    error: float = 0.0  # what rounding may have made of values; infinite if of breakpoints or slopes

    @classmethod
    def affine(cls, slope: Tensor, intercept: Tensor) -> "Function":
        """Return ``slope z + intercept``, given in one row (c,) each."""
        slope, intercept = torch.broadcast_tensors(slope, intercept)
        nothing = slope.new_zeros((0, len(slope)))
        return cls(nothing, nothing.bool(), slope[None], intercept[None])

    @classmethod
    def of_pieces(cls, points: Tensor, slopes: Tensor, intercepts: Tensor, *, closed: bool = False) -> "Function":
        """Return the function of a gate, or one all of whose breakpoints are closed."""
        width = max(table.shape[1] for table in (points, slopes, intercepts))
        points, slopes, intercepts = (table.expand(-1, width) for table in (points, slopes, intercepts))
        return cls(points, torch.full_like(points, closed, dtype=torch.bool), slopes, intercepts)

    @property
    def is_affine(self) -> bool:
        """Whether there are no breakpoints."""
        return len(self.points) == 0

    @property
    def is_continuous(self) -> bool:
        """Whether pieces meet at all breakpoints."""
        return not bool(self._jumps().any())

    @property
    def opens(self) -> bool:
        """Whether no jump is at a closed breakpoint; where pieces meet, a breakpoint may be either."""
        return not bool((self._jumps() & self.is_closed).any())

    @property
    def closes(self) -> bool:
        """Whether no jump is at an open breakpoint."""
        return not bool((self._jumps() & ~self.is_closed).any())

    @property
    def is_mask(self) -> bool:
        """Whether all values are 0 or 1."""
        return not bool(self.slopes.any()) and bool(((self.intercepts == 0) | (self.intercepts == 1)).all())

    @property
    def is_zero_at_zero(self) -> bool:
        """Whether the value at 0 is 0 in every column."""
        passed = ((self.points < 0) | (self.is_closed & (self.points == 0))).sum(0).expand(self.intercepts.shape[1])
        return not bool(self.intercepts.gather(0, passed[None]).any())

    def of(self, inner: "Function") -> "Function":
        """Return the function of what another function gives.

        On each piece of that one it is a function of a line, between its two breakpoints.
        """
        width = max(self.slopes.shape[1], inner.slopes.shape[1])
        tilts, levels = _wide(width, inner.slopes, inner.intercepts)
        lines = [self._of_line(*line, inner.error) for line in zip(tilts, levels, strict=True)]
        points, is_closed = _wide(width, inner.points, inner.is_closed)
        events, closed, is_inner = [points], [is_closed], [torch.ones_like(is_closed)]
        for place, line in enumerate(lines):
            is_in = torch.isfinite(line.points)
            if place:
                is_in &= ~_is_passed(line.points, line.is_closed, points[place - 1], is_closed[place - 1])
            if place < len(points):
                is_in &= ~_is_passed(points[place], is_closed[place], line.points, line.is_closed)
            events.append(torch.where(is_in, line.points, torch.inf))
            closed.append(line.is_closed)
            is_inner.append(torch.zeros_like(is_in))
        order, event, at = _in_order(torch.cat(events), torch.cat(closed))
        passed = torch.cat([torch.zeros(1, width, dtype=torch.int64), torch.cat(is_inner).gather(0, order).cumsum(0)])
        slopes, intercepts = (torch.zeros(passed.shape, dtype=torch.float64) for _ in range(2))
        for place, line in enumerate(lines):
            here = passed == place
            which = torch.zeros_like(passed)
            if len(event) and len(line.points):
                which[1:] = _is_passed(line.points, line.is_closed, event[:, None], at[:, None]).sum(dim=1)
            slopes, intercepts = (
                torch.where(here, own.gather(0, which), table)
                for own, table in ((line.slopes, slopes), (line.intercepts, intercepts))
            )
        for row in range(len(event)):  # beyond all breakpoints there is nothing new
            is_end = torch.isinf(event[row])
            for table in (slopes, intercepts):
                table[row + 1] = torch.where(is_end, table[row], table[row + 1])
        error = max(line.error for line in lines)
        return Function(event, at, slopes, intercepts, error).simplified()

    def _of_line(self, slope: Tensor, intercept: Tensor, error: float) -> "Function":
        """Return the function of ``slope z + intercept``; where that is constant, breakpoints are infinite.

        The intercept is known up to an error, with which a constant may be at a breakpoint, and breakpoints move.
        """
        width = len(slope)
        points, is_closed, slopes, intercepts = _wide(width, self.points, self.is_closed, self.slopes, self.intercepts)
        is_flat, is_down = slope == 0, slope < 0
        divisor = torch.where(is_flat, 1.0, slope)
        shifted = two_sum(points, -intercept)
        moved = shifted.high / divisor
        back = two_product(moved, divisor.expand_as(moved))
        tilted, lifted = two_product(slopes, slope.expand_as(slopes)), two_product(slopes, intercept.expand_as(slopes))
        total = two_sum(lifted.high, intercepts)
        is_moved = (shifted.low != 0) | (back.high != shifted.high) | (back.low != 0)
        if error > 0:
            is_moved |= ~is_flat | ((points - intercept).abs() <= error)
        is_lost = bool((is_moved & (~is_flat | (error > 0))).any() or (tilted.low != 0).any())
        # From the other side what was passed last is passed first, and an end belongs to the other piece.
        sides = ((moved, moved), (is_closed, ~is_closed), (tilted.high, tilted.high), (total.high, total.high))
        moved, is_closed, tilt, level = (torch.where(is_down, turned.flip(0), table) for table, turned in sides)
        return Function(
            torch.where(is_flat, torch.inf, moved),
            is_closed,
            torch.where(is_flat, 0.0, tilt),
            torch.where(is_flat, self._at(intercept), level),
            math.inf if is_lost else self.error + error * _most(slopes) + _most(lifted.low) + _most(total.low),
        )

    def _at(self, z: Tensor) -> Tensor:
        """Return the values at one number for each column."""
        points, is_closed, slopes, intercepts = _wide(len(z), self.points, self.is_closed, self.slopes, self.intercepts)
        passed = ((points < z) | (is_closed & (points == z))).sum(0, keepdim=True)
        return slopes.gather(0, passed)[0] * z + intercepts.gather(0, passed)[0]

    def then(self, slope: Tensor, intercept: Tensor) -> "Function":
        """Return ``slope f + intercept``."""
        return Function.affine(slope, intercept).of(self)

    def product(self, other: "Function") -> "Function | None":
        """Return the product, None where it is a parabola on some piece."""

        def multiply(one: tuple[Tensor, Tensor], two: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            return one[0] * two[1] + two[0] * one[1], one[1] * two[1]

        points, is_closed, (ours, theirs) = _merged(self, other)
        if bool(((ours[0] != 0) & (theirs[0] != 0)).any()):
            return None
        return Function(points, is_closed, *multiply(ours, theirs)).simplified()

    def chooses(self, above: "Function", below: "Function") -> "Function":
        """Return ``above`` where this mask is 1, and ``below`` where it is 0."""
        return self._with(above, lambda mask, one: torch.where(mask, one, 0.0)).plus(
            self._with(below, lambda mask, one: torch.where(mask, 0.0, one))
        )

    def plus(self, other: "Function") -> "Function":
        """Return the sum."""
        points, is_closed, (ours, theirs) = _merged(self, other)
        slopes, intercepts = (two_sum(one, two) for one, two in zip(ours, theirs, strict=True))
        error = math.inf if bool(slopes.low.any()) else self.error + other.error + _most(intercepts.low)
        return Function(points, is_closed, slopes.high, intercepts.high, error).simplified()

    def part(self, *, closed: bool) -> "Function":
        """Return the part that changes at closed, or at open, breakpoints; what is there from the start is open's."""
        slopes, intercepts = (torch.diff(table, dim=0) for table in (self.slopes, self.intercepts))
        is_mine = self.is_closed == closed
        start = [torch.zeros_like(table[:1]) if closed else table[:1] for table in (self.slopes, self.intercepts)]
        tables = [
            torch.cat([first, first + torch.where(is_mine, steps, 0.0).cumsum(0)])
            for first, steps in zip(start, (slopes, intercepts), strict=True)
        ]
        return Function(self.points, torch.full_like(self.is_closed, closed), tables[0], tables[1]).simplified()

    def simplified(self) -> "Function":
        """Return the function without breakpoints at which nothing changes in any column."""
        points, is_closed, slopes, intercepts = (
            self.points,
            self.is_closed,
            self.slopes.clone(),
            self.intercepts.clone(),
        )
        at = torch.where(torch.isfinite(points), points, 0.0)
        for row in range(len(points) - 2, -1, -1):
            is_same = points[row] == points[row + 1]
            # A piece without points is like the one above; one of a single point like a neighbour with its value.
            is_empty = is_same & (is_closed[row] == is_closed[row + 1])
            value = slopes[row + 1] * at[row] + intercepts[row + 1]
            for near in (row + 2, row):
                meets = is_same & (slopes[near] * at[row] + intercepts[near] == value)
                for table in (slopes, intercepts):
                    table[row + 1] = torch.where(meets | (is_empty & (near > row)), table[near], table[row + 1])
        changes = (slopes.diff(dim=0) != 0) | (intercepts.diff(dim=0) != 0)
        number = int(changes.sum(0).max()) if changes.numel() else 0
        if bool(changes.all()):
            return Function(points, is_closed, slopes, intercepts, self.error)
        # In every column breakpoints of which something hangs come first; the last of them fills up.
        order = torch.argsort((~changes).to(torch.uint8), dim=0, stable=True)[:number]
        count = changes.sum(0)
        order = order.gather(0, torch.arange(number)[:, None].minimum((count - 1).clamp_min(0)))
        above = [torch.cat([table[:1], table[1:].gather(0, order)]) for table in (slopes, intercepts)]
        kept = torch.where(count == 0, 0.0, points.gather(0, order))
        return Function(kept, is_closed.gather(0, order), above[0], above[1], self.error)

    def _jumps(self) -> Tensor:
        """Return at which breakpoints neighbouring pieces differ."""
        at = torch.where(torch.isfinite(self.points), self.points, 0.0)
        return self.slopes[:-1] * at + self.intercepts[:-1] != self.slopes[1:] * at + self.intercepts[1:]

    def _with(self, other: "Function", pick: Callable[[Tensor, Tensor], Tensor]) -> "Function":
        points, is_closed, (ours, theirs) = _merged(self, other)
        mask = ours[1] == 1
        slopes, intercepts = (pick(mask, table) for table in theirs)
        return Function(points, is_closed, slopes, intercepts)


def _most(table: Tensor) -> float:
    return float(table.abs().max()) if table.numel() else 0.0


def _wide(width: int, *tables: Tensor) -> list[Tensor]:
    """Return tables with a column for each unit."""
    return [table.expand(-1, width) for table in tables]


def _is_passed(points: Tensor, is_closed: Tensor, at: Tensor, is_closed_at: Tensor) -> Tensor:
    """Return whether breakpoints are passed once another one is: of equal ones closed ones come first."""
    return (points < at) | ((points == at) & (is_closed | ~is_closed_at))


def _in_order(points: Tensor, is_closed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the order of breakpoints in each column, and both tables in this order."""
    order = torch.argsort((~is_closed).to(torch.uint8), dim=0, stable=True)
    order = order.gather(0, torch.argsort(points.gather(0, order), dim=0, stable=True))
    return order, points.gather(0, order), is_closed.gather(0, order)


def _merged(one: Function, two: Function) -> tuple[Tensor, Tensor, list[tuple[Tensor, Tensor]]]:
    """Return the breakpoints of two functions together, and the pieces of each between them."""
    width = max(one.slopes.shape[1], two.slopes.shape[1])
    together = (torch.cat(_wide(width, getattr(one, name)) + _wide(width, getattr(two, name))) for name in _EVENTS)
    order, points, is_closed = _in_order(*together)
    is_first = order < len(one.points)
    found = []
    for each, mine in ((one, is_first), (two, ~is_first)):
        passed = torch.cat([torch.zeros(1, width, dtype=torch.int64), mine.cumsum(0)])
        found.append(tuple(table.gather(0, passed) for table in _wide(width, each.slopes, each.intercepts)))
    return points, is_closed, found

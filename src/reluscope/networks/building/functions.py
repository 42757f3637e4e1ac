"""Piecewise-affine functions of one variable that may jump, with the side on which each breakpoint is counted.

A breakpoint t counts as passed at z either where ``z > t`` (open) or where ``z >= t`` (closed). With both kinds, a
function has any value at a breakpoint: the sign is -1, passes a closed 0 and is 0, passes an open 0 and is 1.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Function:
    """Piecewise-linear functions of one variable, a column for each unit or one for all.

    Slopes and intercepts are of the piece that is reached when so many breakpoints are passed.
    """

    points: Tensor  # (p, c) ascending; of equal ones closed ones first
    is_closed: Tensor  # (p, c)
    slopes: Tensor  # (p + 1, c)
    intercepts: Tensor  # (p + 1, c)

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
    def is_mask(self) -> bool:
        """Whether all values are 0 or 1."""
        return not bool(self.slopes.any()) and bool(((self.intercepts == 0) | (self.intercepts == 1)).all())

    @property
    def is_zero_at_zero(self) -> bool:
        """Whether the value at 0 is 0 in every column."""
        passed = ((self.points < 0) | (self.is_closed & (self.points == 0))).sum(0).expand(self.intercepts.shape[1])
        return not bool(self.intercepts.gather(0, passed[None]).any())

    def after(self, slope: Tensor, intercept: Tensor) -> "Function":
        """Return the function of ``slope z + intercept``; slopes are not zero, and of one sign."""
        points, slopes = (self.points - intercept) / slope, self.slopes * slope
        slopes, intercepts = torch.broadcast_tensors(slopes, self.intercepts + self.slopes * intercept)
        points = points.expand(-1, slopes.shape[1])
        if bool((slope > 0).all()):
            return Function(points, self.is_closed.expand_as(points), slopes, intercepts)
        # From the other side what was passed last is passed first, and an end belongs to the other piece.
        return Function(points.flip(0), ~self.is_closed.expand_as(points).flip(0), slopes.flip(0), intercepts.flip(0))

    def then(self, slope: Tensor, intercept: Tensor) -> "Function":
        """Return ``slope f + intercept``."""
        slopes, intercepts = slope * self.slopes, slope * self.intercepts + intercept
        width = slopes.shape[1]
        return Function(
            self.points.expand(-1, width), self.is_closed.expand(-1, width), slopes, intercepts.expand_as(slopes)
        )

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
        return Function(points, is_closed, ours[0] + theirs[0], ours[1] + theirs[1]).simplified()

    def part(self, *, closed: bool) -> "Function":
        """Return the part that changes at closed, or at open, breakpoints; what is there from the start is open's."""
        slopes, intercepts = (torch.diff(table, dim=0) for table in (self.slopes, self.intercepts))
        is_mine = self.is_closed == closed
        start = [torch.zeros_like(table[:1]) if closed else table[:1] for table in (self.slopes, self.intercepts)]
        tables = [
            torch.cat([first, first + torch.where(is_mine, steps, 0.0).cumsum(0)])
            for first, steps in zip(start, (slopes, intercepts), strict=True)
        ]
        return Function(self.points, torch.full_like(self.is_closed, closed), *tables).simplified()

    def simplified(self) -> "Function":
        """Return the function without breakpoints at which nothing changes in any column."""
        points, slopes, intercepts = self.points, self.slopes.clone(), self.intercepts.clone()
        for row in range(len(points) - 2, -1, -1):  # a piece without points is like the one above
            is_empty = (points[row] == points[row + 1]) & (self.is_closed[row] == self.is_closed[row + 1])
            for table in (slopes, intercepts):
                table[row + 1] = torch.where(is_empty, table[row + 2], table[row + 1])
        changes = (slopes.diff(dim=0) != 0) | (intercepts.diff(dim=0) != 0)
        number = int(changes.sum(0).max()) if changes.numel() else 0
        if number == len(points):
            return Function(points, self.is_closed, slopes, intercepts)
        # In every column breakpoints of which something hangs come first; the last of them fills up.
        order = torch.argsort((~changes).to(torch.uint8), dim=0, stable=True)[:number]
        count = changes.sum(0)
        order = order.gather(0, torch.arange(number)[:, None].minimum((count - 1).clamp_min(0)))
        above = [torch.cat([table[:1], table[1:].gather(0, order)]) for table in (slopes, intercepts)]
        return Function(points.gather(0, order), self.is_closed.gather(0, order), *above)

    def _with(self, other: "Function", pick: Callable[[Tensor, Tensor], Tensor]) -> "Function":
        points, is_closed, (ours, theirs) = _merged(self, other)
        mask = ours[1] == 1
        return Function(points, is_closed, *(pick(mask, table) for table in theirs))


def _merged(one: Function, two: Function) -> tuple[Tensor, Tensor, list[tuple[Tensor, Tensor]]]:
    """Return the breakpoints of two functions together, and the pieces of each between them."""
    width = max(one.slopes.shape[1], two.slopes.shape[1])
    points, is_closed = (
        torch.cat([getattr(each, name).expand(-1, width) for each in (one, two)]) for name in ("points", "is_closed")
    )
    order = torch.argsort((~is_closed).to(torch.uint8), dim=0, stable=True)
    order = order.gather(0, torch.argsort(points.gather(0, order), dim=0, stable=True))
    is_first = order < len(one.points)
    found = []
    for each, mine in ((one, is_first), (two, ~is_first)):
        passed = torch.cat([torch.zeros(1, width, dtype=torch.int64), mine.cumsum(0)])
        found.append(tuple(table.expand(-1, width).gather(0, passed) for table in (each.slopes, each.intercepts)))
    return points.gather(0, order), is_closed.gather(0, order), found

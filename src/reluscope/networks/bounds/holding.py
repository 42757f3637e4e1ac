"""What units are held to, for many bounds at once: their pieces and ranges, and what lines are chosen for them."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Holding(NamedTuple):
    """The choices for each of k bounds, gate by gate: pieces, slopes, multipliers, ranges; (k, u) or one row for all.

    Of a single set of regions they are rows (u,). Multipliers pull at what a unit sees: positive ones at the upper end
    of its range, negative ones at the lower end.
    """

    first: list[Tensor]  # first piece that each unit may have
    last: list[Tensor]  # last piece that each unit may have
    slopes: list[Tensor]  # of the lines below units
    multipliers: list[Tensor]
    low: list[Tensor]  # lower ends of the pre-activations' ranges
    high: list[Tensor]  # upper ends of the pre-activations' ranges

    @classmethod
    def stacked(cls, sets: Sequence["Holding"]) -> "Holding":
        """Return what single sets hold, together."""
        return cls(*([torch.stack(rows) for rows in zip(*tables, strict=True)] for tables in zip(*sets, strict=True)))

    def picked(self, rows: Tensor) -> "Holding":
        """Return some of the choices; of tables that have one row for all, that one again and again."""
        return Holding(*([one if len(one) == 1 else one[rows] for one in table] for table in self))

    def row(self, place: int) -> "Holding":
        """Return what a single set holds."""
        return Holding(*([one[min(place, len(one) - 1)] for one in table] for table in self))

    def repeated(self, number: int) -> "Holding":
        """Return what is held by one bound for so many."""
        return Holding(*([one.reshape(1, -1).expand(number, -1) for one in table] for table in self))

    def halves(self, gate: int, unit: int, level: int) -> tuple["Holding", "Holding"]:
        """Return the halves of a single set: a unit has a piece up to a level, or a later one."""
        first, last = [*self.first], [*self.last]
        low, high = last[gate].clone(), first[gate].clone()
        low[unit], high[unit] = level, level + 1
        last[gate], first[gate] = low, high
        return self._replace(last=last), self._replace(first=first)

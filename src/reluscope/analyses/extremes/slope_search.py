"""Sets of regions by how steep the network may be on them, split unit by unit, the steepest first.

A set holds units to some of their pieces. Its bound is a norm of intervals around the entries of its local maps. Where
no unit is left to split the set is one region, or none: the ball in it tells, and its centre is evaluated.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.analyses.extremes.operator_norms import largest_norms
from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.best_multipliers import Holding
from reluscope.networks.bounds.slope_intervals import SlopeIntervals, rounding_of, slope_ends
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import BestFirst, Branch

# Sets that are bounded together, and bytes of those that wait.
NUM_TOGETHER, UNIT_BYTES, MOST_BYTES = 32, 48, 3 * 2**30
# Relative to the box: balls that are smaller count as none, those not smaller by as much as undecided.
THIN = 1e-9
# Relative: sets that are no steeper by more are settled.
ENOUGH = 2.0**-22


class _HeldPieces(NamedTuple):
    """A set of regions: what units are held to, gate by gate, and the gate that was split last."""

    first: list[Tensor]
    last: list[Tensor]
    slopes: list[Tensor]
    multipliers: list[Tensor]
    low: list[Tensor]
    high: list[Tensor]
    changed: int = -1


class _Splittable(NamedTuple):
    """A set, and where its unit is split: the gate, the unit, and the last piece of the lower half."""

    what: _HeldPieces
    gate: int
    unit: int
    level: int


class SlopeSearch(BestFirst):
    """Searches a box, or a part of it, for the region on which the network is steepest.

    ``steepest`` is called with a point within a region, and returns what is known of the norm of its map.
    """

    def __init__(
        self, network: Network, lower: np.ndarray, upper: np.ndarray, norm: Norm, known: float,
        steepest: Callable[[np.ndarray], float], beyond: Polyhedron | None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.network, self.norm, self.known = network, norm, known
        self._lower, self._upper, self._steepest, self._beyond = lower, upper, steepest, beyond
        self._noise = rounding_of(network)
        self._passed = -np.inf  # the steepest set of which nobody knows whether it is a region
        numbers = (network.num_inputs + network.num_units) * network.num_outputs * 8
        self._together = max(2, min(NUM_TOGETHER, 2**23 // numbers))

    @property
    def is_full(self) -> bool:
        """Whether the sets that wait take as much memory as they may."""
        return len(self.queue) * self.network.num_units * UNIT_BYTES > MOST_BYTES

    @property
    def most(self) -> float:
        """An upper bound on the norm of every map."""
        if not self.is_begun or self.is_broken:
            return np.inf
        settled = self.known * (1 + ENOUGH)
        return max(settled, self._passed, -self.queue[0].key if self.queue else -np.inf)

    @property
    def share_left(self) -> float:
        """Share of the gap between the bounds, nothing better being known."""
        most = self.most
        return min(1.0, (most - self.known) / most) if 0 < most < np.inf else 1.0

    def is_settled(self, key: float) -> bool:
        """Whether sets that are so steep at most are none that count."""
        return -key <= self.known * (1 + ENOUGH)

    def start(self) -> None:
        """Bound the whole box."""
        self._bounds = BackwardBounds(self.network, self._lower.copy(), self._upper.copy())
        self._bound([_of_row(self._bounds.unheld(1), 0)])

    def split(self, branch: Branch) -> None:
        """Bound the halves of a set, and of those that come next, together."""
        taken = self.with_next(branch, (self._together + 1) // 2)
        self._bound([half for one in taken for half in _halves(one)])

    @torch.no_grad()
    def _bound(self, sets: list[_HeldPieces]) -> None:
        """Put sets into the queue that may be steeper than what is known."""
        self.num_branches += len(sets)
        held = self._narrowed(sets)
        is_empty = torch.stack([(low > high).any(dim=1) for low, high in self._cuts(held)]).any(dim=0)
        intervals = SlopeIntervals(self.network, *self._pieces(held))
        found = intervals.of_outputs(len(sets))
        sizes = largest_norms(found.middle, found.radius + self._noise, self.norm)
        scores = self._scores(intervals, held)
        for place, one in enumerate(sets):
            size = float(sizes[place])
            if bool(is_empty[place]) or self.is_settled(-size):
                continue
            best = int(scores[place].argmax()) if scores.shape[1] else 0
            kept = _of_row(held, place)._replace(changed=one.changed)
            if not scores.shape[1] or not float(scores[place, best]) > 0:
                self._finish(kept, size)
                continue
            gate = int(np.searchsorted(self._starts, best, side="right")) - 1
            unit = best - int(self._starts[gate])
            level = int(self._bounds.middle_piece(gate, _as_batch(kept))[0, unit])
            self.push(-size, _Splittable(kept, gate, unit, level))

    def _narrowed(self, sets: list[_HeldPieces]) -> Holding:
        """Return what sets hold, with ranges behind the gates that were split last."""
        held = Holding(
            *([torch.stack(part) for part in zip(*(one[place] for one in sets), strict=True)] for place in range(6))
        )
        for gate in range(1, len(held.low)):
            rows = torch.tensor([place for place, one in enumerate(sets) if 0 <= one.changed < gate], dtype=torch.int64)
            if len(rows):
                part = self._bounds.tightened(Holding(*([one[rows] for one in table] for table in held)), gate)
                held.low[gate][rows], held.high[gate][rows] = part.low[gate], part.high[gate]
        return held

    def _cuts(self, held: Holding) -> list[tuple[Tensor, Tensor]]:
        return [self._bounds.cut(gate, held) for gate in range(len(held.low))]

    def _pieces(self, held: Holding) -> tuple[list[Tensor], list[Tensor]]:
        """Return the first and the last piece that units have within their ranges."""
        firsts, lasts = [], []
        for gate, (low, high) in enumerate(self._cuts(held)):
            levels = self._bounds.gates[gate].breakpoints.expand(-1, low.shape[1])[:, None]
            first = torch.maximum((levels <= low).sum(dim=0), held.first[gate])
            firsts.append(first)
            lasts.append(torch.maximum(first, torch.minimum((levels < high).sum(dim=0), held.last[gate])))
        return firsts, lasts

    def _scores(self, intervals: SlopeIntervals, held: Holding) -> Tensor:
        """Return for each open unit (k, all units) how much maps may change with its slope."""
        scores, self._starts = [], np.cumsum([0, *(gate.num_units for gate in self._bounds.gates)])
        for gate, behind in enumerate(intervals.behind):
            least, most = slope_ends(self._bounds.gates[gate], intervals.first[gate], intervals.last[gate])
            weight = behind.middle.abs() + behind.radius if behind is not None else torch.zeros_like(least)[:, None]
            reach = self._bounds.size(self.network.stages[gate])
            score = (most - least) * weight.sum(dim=1) * reach
            open_units = self._bounds.is_open(gate, held)
            scores.append(torch.where(open_units, score + np.finfo(float).tiny, 0.0))
        return torch.cat(scores, dim=1)

    def _finish(self, one: _HeldPieces, size: float) -> None:
        """Look whether a set in which no unit can be split is a region."""
        held = _as_batch(one)
        bodies = [Polyhedron(*_sides(self._lower, self._upper))]
        for gate, stage in enumerate(self.network.stages):
            bottom, top = self._bounds.ends(gate, held)
            for end, sign in ((top, 1.0), (-bottom, -1.0)):
                units = torch.nonzero(end[0].isfinite()).flatten()
                rows = torch.zeros(len(units), end.shape[1], dtype=torch.float64, device=end.device)
                rows[torch.arange(len(units)), units] = sign
                weights, constants = self._bounds.forms(
                    rows, Holding(*([part.expand(len(units), -1) for part in table] for table in held)),
                    position=stage.leg.target,
                )  # fmt: skip
                bodies.append(Polyhedron(weights.cpu().numpy(), (end[0, units] - constants).cpu().numpy()))
        if self._beyond is not None:
            bodies.append(self._beyond)
        body = Polyhedron(np.concatenate([each.A for each in bodies]), np.concatenate([each.b for each in bodies]))
        ball = body.insphere()
        thin = THIN * float((self._upper - self._lower).max())
        if ball.radius > thin:
            self.known = max(self.known, self._steepest(ball.center))
        elif ball.radius + ball.gap < -thin:
            return
        if not self.is_settled(-size):
            self._passed = max(self._passed, size)


def _sides(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    every = np.eye(len(lower))
    return np.concatenate([every, -every]), np.concatenate([upper, -lower])


def _of_row(held: Holding, row: int) -> _HeldPieces:
    tables = ([part[min(row, len(part) - 1)] for part in table] for table in held)
    first, last, slopes, multipliers, low, high = tables
    return _HeldPieces(first, last, slopes, multipliers, low, high)


def _as_batch(one: _HeldPieces) -> Holding:
    return Holding(*([part[None] for part in table] for table in one[:6]))


def _halves(one: _Splittable) -> tuple[_HeldPieces, _HeldPieces]:
    """Return the two halves of a set."""
    first, last = [*one.what.first], [*one.what.last]
    low, high = last[one.gate].clone(), first[one.gate].clone()
    low[one.unit], high[one.unit] = one.level, one.level + 1
    last[one.gate], first[one.gate] = low, high
    half = one.what._replace(changed=one.gate)
    return half._replace(last=last), half._replace(first=first)

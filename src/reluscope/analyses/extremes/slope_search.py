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
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.bounds.slope_intervals import SlopeIntervals, rounding_of, slope_ends
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import BestFirst, Branch

# Sets that are bounded together, and bytes of those that wait.
NUM_TOGETHER, UNIT_BYTES, MOST_BYTES = 32, 48, 3 * 2**30
# Relative to the box: balls that are smaller count as none, those not smaller by as much as undecided.
THIN = 1e-9
# Relative: sets that are no steeper by more are settled.
ENOUGH = 2.0**-22


class _Splittable(NamedTuple):
    """A set, and where its unit is split: the gate, the unit, and the last piece of the lower half."""

    held: Holding
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
        self._bound([self._bounds.unheld(1).row(0)], [-1])

    def split(self, branch: Branch) -> None:
        """Bound the halves of a set, and of those that come next, together."""
        taken = self.with_next(branch, (self._together + 1) // 2)
        halves = [half for one in taken for half in one.held.halves(one.gate, one.unit, one.level)]
        self._bound(halves, [one.gate for one in taken for _ in range(2)])

    @torch.no_grad()
    def _bound(self, sets: list[Holding], changed: list[int]) -> None:
        """Put sets into the queue that may be steeper than what is known."""
        self.num_branches += len(sets)
        held = self._bounds.narrowed(Holding.stacked(sets), changed)
        is_empty = torch.stack([(low > high).any(dim=1) for low, high in self._cuts(held)]).any(dim=0)
        intervals = SlopeIntervals(self.network, *self._pieces(held))
        found = intervals.of_outputs(len(sets))
        sizes = largest_norms(found.middle, found.radius + self._noise, self.norm)
        scores = self._scores(intervals, held)
        for place in range(len(sets)):
            size = float(sizes[place])
            if bool(is_empty[place]) or self.is_settled(-size):
                continue
            best = int(scores[place].argmax()) if scores.shape[1] else 0
            kept = held.row(place)
            if not scores.shape[1] or not float(scores[place, best]) > 0:
                self._finish(kept, size)
                continue
            gate = int(np.searchsorted(self._starts, best, side="right")) - 1
            unit = best - int(self._starts[gate])
            level = int(self._bounds.middle_piece(gate, kept.repeated(1))[0, unit])
            self.push(-size, _Splittable(kept, gate, unit, level))

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

    def _finish(self, one: Holding, size: float) -> None:
        """Look whether a set in which no unit can be split is a region."""
        held = one.repeated(1)
        bodies = [Polyhedron(*_sides(self._lower, self._upper))]
        for gate, stage in enumerate(self.network.stages):
            bottom, top = self._bounds.ends(gate, held)
            for end, sign in ((top, 1.0), (-bottom, -1.0)):
                units = torch.nonzero(end[0].isfinite()).flatten()
                rows = torch.zeros(len(units), end.shape[1], dtype=torch.float64, device=end.device)
                rows[torch.arange(len(units)), units] = sign
                weights, constants = self._bounds.forms(rows, one.repeated(len(units)), position=stage.leg.target)
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

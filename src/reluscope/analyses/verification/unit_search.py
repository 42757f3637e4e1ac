"""Sets of regions bounded along lines around units, many sets together: the search of networks of any size.

Bounds of unsafe outputs are carried back to the box of inputs along lines below and above all units that are not held
to a piece (`reluscope.networks.bounds.backward_bounds`). A set begins with the duals of the one that it is half of, so
that its bound is no worse, and improves them. The unit is split whose halves have the better bounds among those that
lose most by their lines, and the input at which the bound is taken is tried as a counterexample.

Reference: De Palma et al., "Improved branch and bound for neural network verification via Lagrangian decomposition"
(2021) for units chosen by bounds of their halves.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.set_search import HeldUnits, SetSearch
from reluscope.analyses.verification.verdict import Counterexample
from reluscope.analyses.verification.violation_attack import descended
from reluscope.checking.proofs import SetNode
from reluscope.geometry.numbers.resolutions import TINY
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.best_multipliers import Bound, maximized, raised
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import Branch

# Sets that are bounded together: so many, and arrays of so many numbers.
NUM_TOGETHER, MAX_NUMBERS = 128, 2**23
# Steps of the gradient at first, and for each set; units whose halves are compared.
FIRST_STEPS, STEPS, NUM_TRIED = 40, 15, 4


class _Open(NamedTuple):
    """A set, and where its unit is split: the gate, the unit, and the last piece of the lower half."""

    what: HeldUnits
    gate: int
    unit: int
    level: int

    @property
    def halves(self) -> tuple[HeldUnits, HeldUnits]:
        return self.what.halves(*self[1:])


class UnitSearch(SetSearch):
    """Searches sets of regions by bounds along lines."""

    def __init__(
        self, network: Network, safe: Property, counterexample: Counterexample | None, *, certify: bool = False
    ) -> None:
        super().__init__(network, safe, counterexample, certify=certify)
        numbers = 4 * (network.num_inputs + network.num_units)
        self._together = max(2, min(NUM_TOGETHER, MAX_NUMBERS // numbers))

    def split(self, branch: Branch) -> None:
        """Bound the halves of a set, and of those that come next, together."""
        case = self._case(branch.what.what)
        taken = self.with_next(branch, (self._together + 1) // 2, lambda one: self._case(one.what) == case)
        self._bound(self._bounds[case], [half for one in taken for half in one.halves])

    def _first(self, bounds: BackwardBounds, sets: list[HeldUnits]) -> None:
        for start in range(0, len(sets), self._together):
            self._bound(bounds, sets[start : start + self._together])

    def _bound(self, bounds: BackwardBounds, sets: list[HeldUnits]) -> None:
        """Put sets of one case into the queue in which something unsafe may be reached."""
        self.num_branches += len(sets)
        sets = self._narrowed(bounds, sets)
        if not sets:
            return
        sets = [self._mixed(bounds, one) for one in sets]
        mixed = self._mixtures(sets)
        held = _kept(bounds, sets, mixed.rows)
        aim = mixed.offsets + mixed.rounding + 1e-6 * (1 + mixed.offsets.abs())
        if sets[0].path:
            found, held = raised(bounds, mixed.rows, held, aim=aim, steps=STEPS)
        else:
            found, held = maximized(bounds, mixed.rows, held, steps=FIRST_STEPS, enough=aim)
        left = torch.nonzero(~self._ruled_out(bounds, sets, mixed, found, held)).flatten()
        if not len(left):
            return
        corners = np.unique(found.corners[left].cpu().numpy(), axis=0)
        self._try(corners)
        if self.counterexample is None:
            self._try(descended(self.network, self.safe.cases[self._case(sets[0])], corners))
        if self.counterexample is None:
            sets = [
                sets[place]._replace(held=held.row(place), duals=[one[place] for one in found.duals])
                for place in left.tolist()
            ]
            self._choose(bounds, sets, found.picked(left))

    def _narrowed(self, bounds: BackwardBounds, sets: list[HeldUnits]) -> list[HeldUnits]:
        """Return sets with ranges behind the gate that was split last; empty ones are left out.

        Ranges of proofs are those of the whole box, cut where units are held: bounds of all others would be kept, too.
        """
        if self._trees is not None or not bounds.gates:
            return sets
        with torch.no_grad():
            held = bounds.narrowed(Holding.stacked([one.held for one in sets]), [one.changed for one in sets])
            empty = torch.stack([(low > high).any(dim=1) for low, high in zip(held.low, held.high, strict=True)]).any(0)
        return [sets[row]._replace(held=held.row(row)) for row in torch.nonzero(~empty).flatten().tolist()]

    def _mixed(self, bounds: BackwardBounds, one: HeldUnits) -> HeldUnits:
        """Return a set with the one of the rows of unsafe outputs, or all of them mixed, that is missed most."""
        number = len(one.mix)
        if number < 2:
            return one
        tried = [one._replace(mix=mix, duals=[]) for mix in torch.eye(number).to(one.mix)] + [one]
        values = self._quickly(bounds, tried)
        return tried[int(values.argmax())]

    def _choose(self, bounds: BackwardBounds, sets: list[HeldUnits], found: Bound) -> None:
        """Choose for each set the unit to split, by bounds of the halves of a few, and put it into the queue."""
        excess = (found.values - self._mixtures(sets).offsets).tolist()
        tried = _candidates(bounds, sets, found)
        gains = self._quickly(bounds, [half for _, one in tried for half in one.halves]).reshape(-1, 2).clamp(max=0)
        gain = (gains.amin(dim=1) + 0.1 * gains.amax(dim=1)).tolist()
        best: dict[int, int] = {}
        for place, (row, _) in enumerate(tried):
            if row not in best or gain[place] > gain[best[row]]:
                best[row] = place
        for row, one in enumerate(sets):
            if row in best:
                self.push(excess[row], tried[best[row]][1])
                split = tried[best[row]][1]
                self._keep(one, SetNode(split.gate, split.unit, split.level))
            else:
                self._finish(bounds, one)

    def _quickly(self, bounds: BackwardBounds, sets: list[HeldUnits]) -> Tensor:
        """Return by how much rows exceed offsets, at least, without a search for slopes."""
        values = [torch.zeros(0, dtype=torch.float64, device=self.network.device)]
        with torch.no_grad():
            for start in range(0, len(sets), 4 * self._together):
                part = sets[start : start + 4 * self._together]
                mixed = self._mixtures(part)
                along = Holding.stacked([one.held for one in part])
                along = along._replace(multipliers=[torch.zeros_like(one) for one in along.multipliers])
                best = bounds.lower_bounds(mixed.rows, along, is_sure=False).values
                kept = bounds.lower_bounds(mixed.rows, _kept(bounds, part, mixed.rows), is_sure=False).values
                values.append(torch.maximum(best, kept) - mixed.offsets)
        return torch.cat(values)


def _candidates(bounds: BackwardBounds, sets: list[HeldUnits], found: Bound) -> list[tuple[int, _Open]]:
    """Return for each set, by its row, a few ways to split it: units that lose most by their lines."""
    held, scores, levels = Holding.stacked([one.held for one in sets]), [], []
    for gate, weights in enumerate(found.weights):
        lines = bounds.lines(gate, held)
        score = weights.clamp(min=0) * lines.below_gap - weights.clamp(max=0) * lines.above_gap
        # Every open unit can be split.
        scores.append(torch.where(bounds.is_open(gate, held), score + TINY, 0.0))
        levels.append(bounds.middle_piece(gate, held))
    if not scores:
        return []
    table, ends = torch.cat(scores, dim=1), np.cumsum([one.shape[1] for one in scores])
    best, units = table.topk(min(NUM_TRIED, table.shape[1]), dim=1)
    tried = []
    for row, one in enumerate(sets):
        for score, unit in zip(best[row].tolist(), units[row].tolist(), strict=True):
            if score > 0:
                gate = int(np.searchsorted(ends, unit, side="right"))
                local = unit - int(ends[gate] - scores[gate].shape[1])
                tried.append((row, _Open(one, gate, local, int(levels[gate][row, local]))))
    return tried


def _kept(bounds: BackwardBounds, sets: list[HeldUnits], rows: Tensor) -> Holding:
    """Return what sets hold with the multipliers under which their bounds have the duals of what they are halves of."""
    held = Holding.stacked([one.held for one in sets])
    held = held._replace(multipliers=[torch.zeros_like(one) for one in held.multipliers])
    which = torch.tensor([place for place, one in enumerate(sets) if one.duals], dtype=torch.int64)
    if len(which):
        duals = [torch.stack(one) for one in zip(*(one.duals for one in sets if one.duals), strict=True)]
        with torch.no_grad():
            part = bounds.keeping(rows[which], held.picked(which), duals)
        for table, kept in zip(held.multipliers, part.multipliers, strict=True):
            table[which] = kept
    return held

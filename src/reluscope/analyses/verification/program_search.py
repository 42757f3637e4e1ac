"""Sets of regions bounded by linear programs where few units are open on the box, one after the other.

The program of a set knows the best lines around all units at once. Of units that it leaves apart from their functions
that one is split whose halves have the best bounds: by programs of the halves, or by what splits of the unit gained
before. Its duals, carried back with rounding counted, rule a set out. Cases with many open units are bounded along
lines (`unit_search`).

References: Achterberg, Koch and Martin, "Branching rules revisited" (Operations Research Letters 33, 2005) for units
chosen by their halves; Katz et al., "The Marabou framework" (CAV 2019), decides networks of this size by programs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.set_search import HeldUnits, Mixtures
from reluscope.analyses.verification.unit_search import UnitSearch
from reluscope.analyses.verification.verdict import Counterexample
from reluscope.analyses.verification.violation_attack import descended
from reluscope.checking.proofs import SetNode
from reluscope.errors import SolverError
from reluscope.interruption import step_point
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.best_multipliers import Bound
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.bounds.set_programs import GivenBack, Relaxed, SetProgram, Split, is_small
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import Branch
from reluscope.tolerance import EPSILON

# Units whose halves are compared, by programs until so many splits of a unit say what one gains.
NUM_TRIED, RELIABLE = 8, 4
# Sets between two attacks from the points of programs.
ATTACK_EVERY = 32


class _Solved(NamedTuple):
    """A set, and what its program says."""

    what: HeldUnits
    relaxed: Relaxed


@dataclass
class _Gain:
    """By how much bounds of halves rose for a unit's gap, added up, and how often it was split."""

    low: float = 0.0
    high: float = 0.0
    number: int = 0

    def learn(self, gap: float, rises: tuple[float, float]) -> None:
        """Take one more split into account."""
        self.low, self.high, self.number = self.low + rises[0] / gap, self.high + rises[1] / gap, self.number + 1

    def expected(self, gap: float) -> tuple[float, float]:
        """Return by how much bounds of halves may rise."""
        return self.low / self.number * gap, self.high / self.number * gap


class ProgramSearch(UnitSearch):
    """Searches sets of regions by linear programs in cases that are small, and else along lines."""

    def __init__(
        self, network: Network, safe: Property, counterexample: Counterexample | None, *, certify: bool = False
    ) -> None:
        super().__init__(network, safe, counterexample, certify=certify)
        self._programs: dict[int, SetProgram] = {}
        self._gains: dict[tuple[int, int], _Gain] = {}

    @property
    def least_key(self) -> float:
        """By how much unsafe outputs are missed at least where the search is not over; -inf where nobody knows."""
        known = super().least_key
        seen = [one.what for one in self.queue if isinstance(one.what, _Solved)]
        for case in {self._case(one.what) for one in seen} if known > -np.inf else ():
            mine = [one for one in seen if self._case(one.what) == case]
            for start in range(0, len(mine), self._together):
                some = mine[start : start + self._together]
                mixed, found = self._proved(self._bounds[case], some)
                missed, weights = (
                    found.values - mixed.offsets - mixed.rounding,
                    torch.stack(self._mixes(some)).sum(dim=1),
                )
                # A solver's weights add up to about 1; without any it says that a set is empty, which is not proved.
                missed = torch.where(weights > 0, missed / weights, -torch.inf)
                known = min(known, float((missed - 4 * EPSILON * missed.abs()).min()))
        return known

    def split(self, branch: Branch) -> None:
        """Bound the halves of a set."""
        one = branch.what
        if not isinstance(one, _Solved):
            super().split(branch)
            return
        bounds = self._bounds[self._case(one.what)]
        if not one.relaxed.splits:
            self._finish(bounds, one.what)
            return
        split, halves = self._best(one)
        self._keep(one.what, SetNode(*split[:3]))
        self._settle(bounds, halves)

    def _first(self, bounds: BackwardBounds, sets: list[HeldUnits]) -> None:
        for one in sets:
            program = self._program(bounds, one) if is_small(bounds) else None
            if program is None:
                super()._first(bounds, [one])
            else:
                self._programs[one.target] = program
                self._settle(bounds, [self._solved(one)])

    def _program(self, bounds: BackwardBounds, one: HeldUnits) -> SetProgram | None:
        """Return the program of a set's rows, None if the solver does not take its numbers."""
        target = self._targets[one.target]
        try:
            return SetProgram(bounds, target.A, target.b)
        except SolverError:
            return None

    def _solved(self, one: HeldUnits) -> _Solved:
        step_point()
        return _Solved(one, self._programs[one.target].least_miss(one.held))

    def _settle(self, bounds: BackwardBounds, seen: list[_Solved]) -> None:
        """Put sets into the queue in which something unsafe may be reached."""
        before = self.num_branches
        self.num_branches += len(seen)
        missed = [one for one in seen if one.relaxed.miss > 0]
        out = self._out(bounds, missed) if missed else []
        left = [one for one in seen if not any(one is other for other in out)]
        if not left:
            return
        points = np.stack([one.relaxed.point for one in left])
        self._try(points)
        if self.counterexample is None and before // ATTACK_EVERY != self.num_branches // ATTACK_EVERY:
            self._try(descended(self.network, self.safe.cases[self._case(left[0].what)], points))
        if self.counterexample is None:
            for one in left:
                self.push(one.relaxed.miss, one)

    def _out(self, bounds: BackwardBounds, seen: list[_Solved]) -> list[_Solved]:
        """Return the sets on which rows are missed with all rounding."""
        mixed, found = self._proved(bounds, seen)
        held = Holding.stacked([one.what.held for one in seen])
        sets = [one.what._replace(mix=mix) for one, mix in zip(seen, self._mixes(seen), strict=True)]
        is_out = self._ruled_out(bounds, sets, mixed, found, held).tolist()
        return [one for one, is_done in zip(seen, is_out, strict=True) if is_done]

    def _mixes(self, seen: list[_Solved]) -> list[torch.Tensor]:
        return [torch.as_tensor(one.relaxed.mix, device=self.network.device) for one in seen]

    def _proved(self, bounds: BackwardBounds, seen: list[_Solved]) -> tuple[Mixtures, Bound]:
        """Return rows of sets of one case, and the bounds that the duals of their programs prove."""
        mixed = self._mixtures([one.what._replace(mix=mix) for one, mix in zip(seen, self._mixes(seen), strict=True)])
        duals = [
            torch.as_tensor(np.stack(tables), device=self.network.device)
            for tables in zip(*(one.relaxed.duals for one in seen), strict=True)
        ]
        with torch.no_grad():
            held = Holding.stacked([one.what.held for one in seen])
            return mixed, bounds.carried_to_box(GivenBack(bounds, held, len(seen), duals), mixed.rows)

    def _best(self, one: _Solved) -> tuple[Split, list[_Solved]]:
        """Return where a set is best split, and its halves."""
        best, most, halves = one.relaxed.splits[0], -np.inf, []
        for split in one.relaxed.splits[:NUM_TRIED]:
            gain = self._gains.setdefault((split.gate, split.unit), _Gain())
            is_known = gain.number >= RELIABLE
            parts = [] if is_known else self._halved(one, split, gain)
            rises = gain.expected(split.gap) if is_known else _rises(one, parts)
            if (value := min(rises) + 0.1 * max(rises)) > most:
                best, most, halves = split, value, parts
        return best, halves or self._halved(one, best, self._gains[best.gate, best.unit])

    def _halved(self, one: _Solved, split: Split, gain: _Gain) -> list[_Solved]:
        """Return the halves of a set, and learn what the split gains."""
        halves = [self._solved(half) for half in one.what.halves(*split[:3])]
        gain.learn(split.gap, _rises(one, halves))
        return halves


def _rises(one: _Solved, halves: list[_Solved]) -> tuple[float, float]:
    """Return by how much the bounds of halves are better, at most so much that nothing is reached."""
    most = max(-one.relaxed.miss, 0.0)
    low, high = (float(np.nan_to_num(min(half.relaxed.miss, 0.0) - one.relaxed.miss)) for half in halves)
    return min(max(low, 0.0), most), min(max(high, 0.0), most)

"""Sets of regions that may violate a property, split unit by unit, those with the worst bounds first: many inputs.

A set holds some units to some of their pieces. Bounds of unsafe outputs are carried back to the box of inputs along
lines below and above all other units (`reluscope.networks.bounds.backward_bounds`); what they rule out is done.
Elsewhere the unit is split whose halves have the better bounds among those that lose most by their lines, and the input
at which the bound is taken is tried as a counterexample. Where no unit is left to split the network is affine, and a
linear program decides.

References: Bunel et al., "Branch and bound for piecewise linear neural network verification" (JMLR 21, 2020); De Palma
et al., "Improved branch and bound for neural network verification via Lagrangian decomposition" (2021) for units chosen
by bounds of their halves.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.analyses.verification.checkable_bounds import CheckableBounds, shortened
from reluscope.analyses.verification.exact_leaves import ExactLeaves, Reached, UnitRanges
from reluscope.analyses.verification.exact_proofs import ExactProofs
from reluscope.analyses.verification.on_scores import property_on_scores
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.unit_leaves import least_on_leaf
from reluscope.analyses.verification.verdict import Counterexample, Replays
from reluscope.analyses.verification.violation_attack import descended
from reluscope.checking.proofs import Proof, SetNode, SetTrees
from reluscope.geometry.numbers.resolutions import TINY
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.bounds.backward_bounds import BackwardBounds, Bound, Holding
from reluscope.networks.bounds.best_multipliers import maximized
from reluscope.networks.network import Network
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.partitions.driver.best_first import BestFirst, Branch

# Sets that are bounded together: so many, and arrays of so many numbers.
NUM_TOGETHER, MAX_NUMBERS = 32, 2**23
# Bytes of a unit in a set, and of all sets that wait.
UNIT_BYTES, MOST_BYTES = 48, 3 * 2**30
# Steps of the gradient at first, and for each set; units whose halves are compared.
FIRST_STEPS, STEPS, NUM_TRIED = 40, 15, 4


class _Target(NamedTuple):
    """Unsafe outputs as rows ``A y <= b`` that hold together, the case they belong to, and their place in it."""

    case: int
    place: int
    A: Tensor
    b: Tensor


class _HeldUnits(NamedTuple):
    """A set of regions: pieces that units are held to, what was chosen for its bound, and the weights of the rows."""

    target: int
    first: list[Tensor]
    last: list[Tensor]
    slopes: list[Tensor]
    multipliers: list[Tensor]
    low: list[Tensor]
    high: list[Tensor]
    mix: Tensor
    changed: int = -1
    path: str = ""


class _Mixtures(NamedTuple):
    """For each set one row, its offset, and what rounding makes of the two."""

    rows: Tensor
    offsets: Tensor
    rounding: Tensor


class _Open(NamedTuple):
    """A set, and where its unit is split: the gate, the unit, and the last piece of the lower half."""

    what: _HeldUnits
    gate: int
    unit: int
    level: int


class UnitSearch(BestFirst):
    """Searches sets of regions for one property by splitting units.

    The network is as `reluscope.networks.bounds.backward_bounds.is_suited` says. A counterexample given at the start
    leaves nothing to do. `certify` keeps short duals and ranges of the whole box, which rule sets out.
    """

    kind = "sets"

    def __init__(
        self, network: Network, safe: Property, counterexample: Counterexample | None, *, certify: bool = False
    ) -> None:
        super().__init__()
        # The sets of each target by their paths, while a proof is made.
        self._trees: list[dict[str, SetNode]] | None = [] if certify else None
        self.network, self.counterexample = network, counterexample
        self._begun, self._replays = 0, Replays(network, safe)
        self.safe = property_on_scores(network, safe).possible
        self._leaves, self._proofs = ExactLeaves(network), ExactProofs(network)
        self._targets: list[_Target] = []
        # Cases with a set that no unit can be split in, and that is not proved.
        self._passed: set[int] = set()
        self._bounds: dict[int, BackwardBounds] = {}
        numbers = 4 * (network.num_inputs + network.num_units)
        self._together = max(2, min(NUM_TOGETHER, MAX_NUMBERS // numbers))

    @property
    def is_full(self) -> bool:
        """Whether the sets that wait take as much memory as they may."""
        return len(self.queue) * self.network.num_units * UNIT_BYTES > MOST_BYTES

    @property
    def is_proved(self) -> bool:
        """Whether all sets were bounded, and nothing unsafe is reached in any."""
        is_done = self._begun == len(self.safe.cases)
        return is_done and not (self.is_broken or self.queue or self._passed or self.counterexample)

    @property
    def has_passed(self) -> bool:
        """Whether something was left undecided that cannot be split."""
        return bool(self._passed)

    @property
    def proof(self) -> Proof | None:
        """Why the property holds, where that was asked for."""
        if self._trees is None or not self.is_proved:
            return None
        trees: list[list[dict[str, SetNode]]] = [[] for _ in self.safe.cases]
        for target, tree in zip(self._targets, self._trees, strict=True):
            trees[target.case].append(tree)
        ranges = [tuple(one.proved) for one in self._bounds.values() if isinstance(one, CheckableBounds)]
        return Proof(
            self.network.fingerprint, tuple(SetTrees(*one) for one in zip(ranges, map(tuple, trees), strict=True))
        )

    @property
    def undecided(self) -> float:
        """Share of the cases that is not decided."""
        if self.is_broken:
            return 1.0
        opened = self._passed | {self._targets[branch.what.what.target].case for branch in self.queue}
        return (len(opened) + len(self.safe.cases) - self._begun) / len(self.safe.cases)

    @property
    def share_left(self) -> float:
        """Share of the sets on which the search is not over: each time one is split, halves are half of it."""
        left = float(len(self.safe.cases) - self._begun)
        for branch in self.queue:
            one = branch.what.what
            left += 0.5 ** len(one.path) / len(self.safe.cases[self._case(one)].unsafe)
        return left / len(self.safe.cases)

    def is_settled(self, key: float) -> bool:
        """Whether there is nothing left to find."""
        return self.counterexample is not None

    def begin(self) -> bool:
        """Bound the next case."""
        if self._begun == len(self.safe.cases) or self.counterexample is not None:
            return False
        case = self.safe.cases[self._begun]
        kind = BackwardBounds if self._trees is None else CheckableBounds
        bounds = kind(self.network, case.lower, case.upper)
        self._bounds = {**self._bounds, self._begun: bounds}
        sets = []
        for place, one in enumerate(case.unsafe):
            table, offsets = (torch.as_tensor(part, device=self.network.device) for part in one.inequalities())
            mix = torch.full((len(table),), 1.0 / max(1, len(table)), dtype=torch.float64, device=table.device)
            blank = _HeldUnits(len(self._targets), [], [], [], [], [], [], mix)
            sets.append(_with(blank, bounds.unheld(1), 0))
            self._targets.append(_Target(self._begun, place, table, offsets))
            if self._trees is not None:
                self._trees.append({})
        if isinstance(bounds, CheckableBounds) and not bounds.is_finite:
            bounds.proved.clear()
            self.num_branches += len(sets)
            for one in sets:
                self._decide(one)
        else:
            for start in range(0, len(sets), self._together):
                self._bound(sets[start : start + self._together], FIRST_STEPS)
        self._begun += 1
        return True

    def split(self, branch: Branch) -> None:
        """Bound the halves of a set, and of those that come next, together."""
        case = self._case(branch.what.what)
        taken = self.with_next(branch, (self._together + 1) // 2, lambda one: self._case(one.what) == case)
        self._bound([half for one in taken for half in _halves(one)], STEPS)

    def _case(self, one: _HeldUnits) -> int:
        return self._targets[one.target].case

    def _bound(self, sets: list[_HeldUnits], steps: int) -> None:
        """Put sets of one case into the queue in which something unsafe may be reached."""
        self.num_branches += len(sets)
        bounds = self._bounds[self._case(sets[0])]
        sets, held = self._narrowed(bounds, sets)
        if not sets:
            return
        sets = self._mixed(bounds, sets, held)
        mixed = self._mixtures(sets)
        aim = mixed.offsets + mixed.rounding + 1e-6 * (1 + mixed.offsets.abs())
        found, held = maximized(bounds, mixed.rows, held, steps=steps, enough=aim)
        left = torch.nonzero(~self._ruled_out(bounds, sets, mixed, found, held)).flatten()
        if not len(left):
            return
        corners = np.unique(found.corners[left].cpu().numpy(), axis=0)
        self._try(corners)
        if self.counterexample is None:
            self._try(descended(self.network, self.safe.cases[self._case(sets[0])], corners))
        if self.counterexample is None:
            sets = [_with(sets[place], held, place) for place in left.tolist()]
            self._choose(bounds, sets, found.picked(left))

    def _ruled_out(
        self, bounds: BackwardBounds, sets: list[_HeldUnits], mixed: _Mixtures, found: Bound, held: Holding
    ) -> Tensor:
        """Return on which sets the rows are missed, and keep why, where that is asked for."""
        if not isinstance(bounds, CheckableBounds):
            return found.values > mixed.offsets + mixed.rounding
        duals = shortened(found.duals)
        with torch.no_grad():
            is_out = bounds.by_duals(mixed.rows, duals, held).values > mixed.offsets + mixed.rounding
        for place in torch.nonzero(is_out).flatten().tolist():
            kept = tuple(one[place, None].cpu().numpy().astype(np.float32) for one in duals)
            self._keep(sets[place], SetNode(multipliers=tuple(sets[place].mix.tolist()), duals=kept))
        return is_out

    def _keep(self, one: _HeldUnits, node: SetNode) -> None:
        if self._trees is not None:
            self._trees[one.target][one.path] = node

    def _narrowed(self, bounds: BackwardBounds, sets: list[_HeldUnits]) -> tuple[list[_HeldUnits], Holding]:
        """Return sets with ranges behind the gate that was split last; empty ones are left out.

        Ranges of proofs are those of the whole box, cut where units are held: bounds of all others would be kept, too.
        """
        held = _stacked(sets)
        if self._trees is not None or not held.low:
            return sets, held
        with torch.no_grad():
            for gate in range(1, len(held.low)):
                early = torch.tensor([0 <= one.changed < gate for one in sets])
                if early.any():
                    rows = torch.nonzero(early).flatten()
                    part = bounds.tightened(_picked(held, rows), gate)
                    held.low[gate][rows], held.high[gate][rows] = part.low[gate], part.high[gate]
            empty = torch.stack([(low > high).any(dim=1) for low, high in zip(held.low, held.high, strict=True)]).any(0)
        rows = torch.nonzero(~empty).flatten()
        held = _picked(held, rows)
        return [_with(sets[int(row)], held, place) for place, row in enumerate(rows)], held

    def _mixed(self, bounds: BackwardBounds, sets: list[_HeldUnits], held: Holding) -> list[_HeldUnits]:
        """Return sets with the one of the rows of unsafe outputs, or all of them mixed, that is missed most."""
        chosen = []
        for place, one in enumerate(sets):
            number = len(one.mix)
            if number > 1:
                mixes = torch.cat([torch.eye(number, dtype=one.mix.dtype, device=one.mix.device), one.mix[None]])
                tried = [one._replace(mix=mix) for mix in mixes]
                mixed = self._mixtures(tried)
                row = _picked(held, torch.full((len(tried),), place, device=one.mix.device))
                with torch.no_grad():
                    values = bounds.lower_bounds(mixed.rows, row, is_sure=False).values - mixed.offsets
                one = tried[int(values.argmax())]
            chosen.append(one)
        return chosen

    def _mixtures(self, sets: list[_HeldUnits]) -> _Mixtures:
        """Return for each set one row that combines those of its target."""
        rows, offsets, noise = [], [], []
        for one in sets:
            target = self._targets[one.target]
            size = self._bounds[target.case].output_size
            rows.append(one.mix @ target.A)
            offsets.append(one.mix @ target.b)
            noise.append(2 * ANY_ORDER * (one.mix @ (target.A.abs() @ size + target.b.abs())))
        return _Mixtures(torch.stack(rows), torch.stack(offsets), torch.stack(noise))

    def _choose(self, bounds: BackwardBounds, sets: list[_HeldUnits], found: Bound) -> None:
        """Choose for each set the unit to split, by bounds of the halves of a few, and put it into the queue."""
        excess = (found.values - self._mixtures(sets).offsets).tolist()
        tried = _candidates(bounds, sets, found)
        gains = self._quickly(bounds, [half for _, one in tried for half in _halves(one)]).reshape(-1, 2).clamp(max=0)
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

    def _quickly(self, bounds: BackwardBounds, sets: list[_HeldUnits]) -> Tensor:
        """Return by how much rows exceed offsets, at least, without a search for slopes."""
        values = [torch.zeros(0, dtype=torch.float64, device=self.network.device)]
        with torch.no_grad():
            for start in range(0, len(sets), 4 * self._together):
                part = sets[start : start + 4 * self._together]
                mixed = self._mixtures(part)
                values.append(bounds.lower_bounds(mixed.rows, _stacked(part), is_sure=False).values - mixed.offsets)
        return torch.cat(values)

    def _finish(self, bounds: BackwardBounds, one: _HeldUnits) -> None:
        """Decide a set in which no unit can be split, by a linear program."""
        held = _stacked([one])
        target = self._targets[one.target]
        leaf = least_on_leaf(bounds, held, target.A, target.b)
        self._try(leaf.point[None])
        if self.counterexample is not None:
            self._passed.add(self._case(one))
            return
        if leaf.mix is not None:
            tried = one._replace(mix=leaf.mix)
            mixed = self._mixtures([tried])
            with torch.no_grad():
                found = bounds.lower_bounds(mixed.rows, held._replace(multipliers=leaf.multipliers))
            if self._ruled_out(bounds, [tried], mixed, found, held)[0]:
                return
        low, high = ([ends[k].cpu().numpy() for ends in bounds.ranges] for k in (0, 1))
        first, last = ([piece.cpu().numpy() for piece in pieces] for pieces in (one.first, one.last))
        self._decide(one, UnitRanges(low, high, first, last))

    def _decide(self, one: _HeldUnits, ranges: UnitRanges | None = None) -> None:
        """Decide a set that rounding leaves open in rational arithmetic; without ranges it is proved without them."""
        target = self._targets[one.target]
        case = self.safe.cases[target.case]
        rows = Polyhedron(target.A.cpu().numpy(), target.b.cpu().numpy())
        if self._trees is None and ranges is not None:
            found = self._leaves.decide(case.lower, case.upper, ranges, [rows], is_last=True)
        else:
            found = self._proofs.prove(case.lower, case.upper, [rows], ranges, is_last=True)
        if isinstance(found, Reached):
            self.counterexample = self._replays.exactly(found.point, found.outputs, target.case, target.place)
        elif found and self._trees is not None:
            self._trees[one.target].update({one.path + path: node for path, node in found[0].items()})
        if found is None or (isinstance(found, Reached) and self.counterexample is None):
            self._passed.add(target.case)

    def _try(self, points: np.ndarray) -> None:
        """Look for a counterexample among inputs."""
        self.counterexample = self.counterexample or self._replays.likely(points)


def _candidates(bounds: BackwardBounds, sets: list[_HeldUnits], found: Bound) -> list[tuple[int, _Open]]:
    """Return for each set, by its row, a few ways to split it: units that lose most by their lines."""
    held, scores, levels = _stacked(sets), [], []
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


def _halves(one: _Open) -> tuple[_HeldUnits, _HeldUnits]:
    """Return the two halves of a set."""
    first, last = [*one.what.first], [*one.what.last]
    low, high = last[one.gate].clone(), first[one.gate].clone()
    low[one.unit], high[one.unit] = one.level, one.level + 1
    lasts, firsts = [*last[: one.gate], low, *last[one.gate + 1 :]], [*first[: one.gate], high, *first[one.gate + 1 :]]
    path, half = one.what.path, one.what._replace(changed=one.gate)
    return half._replace(last=lasts, path=path + "0"), half._replace(first=firsts, path=path + "1")


def _stacked(sets: list[_HeldUnits]) -> Holding:
    """Return what sets hold, together."""
    return Holding(
        *(
            [torch.stack(tables) for tables in zip(*(getattr(one, name) for one in sets), strict=True)]
            for name in Holding._fields
        )
    )


def _picked(held: Holding, rows: Tensor) -> Holding:
    return Holding(*([one[rows] for one in table] for table in held))


def _with(one: _HeldUnits, held: Holding, row: int) -> _HeldUnits:
    """Return a set with what a row holds."""
    return one._replace(**{name: [part[row] for part in getattr(held, name)] for name in Holding._fields})

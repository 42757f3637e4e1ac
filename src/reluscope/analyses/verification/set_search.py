"""Sets of regions that may violate a property, split unit by unit, those with the worst bounds first: many inputs.

A set holds some units to some of their pieces. What a bound of the unsafe outputs rules out is done, and elsewhere a
unit is split. Where no unit is left to split the network is affine, and a linear program decides.

Reference: Bunel et al., "Branch and bound for piecewise linear neural network verification" (JMLR 21, 2020).
"""

from abc import abstractmethod
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
from reluscope.checking.proofs import Proof, SetNode, SetTrees
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.best_multipliers import Bound
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.network import Network
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.partitions.driver.best_first import BestFirst

# Bytes of a unit in a set, and of all sets that wait.
UNIT_BYTES, MOST_BYTES = 48, 3 * 2**30


class Target(NamedTuple):
    """Unsafe outputs as rows ``A y <= b`` that hold together, the case they belong to, and their place in it."""

    case: int
    place: int
    A: Tensor
    b: Tensor


class HeldUnits(NamedTuple):
    """A set of regions: what units are held to, the weights of the rows, and the duals behind its bound, if any."""

    target: int
    held: Holding
    mix: Tensor
    duals: list[Tensor]
    changed: int = -1  # the gate that was split last
    path: str = ""

    def halves(self, gate: int, unit: int, level: int) -> tuple["HeldUnits", "HeldUnits"]:
        """Return the halves in which a unit has a piece up to a level, or a later one."""
        low, high = self.held.halves(gate, unit, level)
        return (
            self._replace(held=low, changed=gate, path=self.path + "0"),
            self._replace(held=high, changed=gate, path=self.path + "1"),
        )


class Mixtures(NamedTuple):
    """For each set one row, its offset, and what rounding makes of the two."""

    rows: Tensor
    offsets: Tensor
    rounding: Tensor


class SetSearch(BestFirst):
    """Searches sets of regions for one property by splitting units; a branch is what has a set as ``what``.

    The network is as `reluscope.networks.bounds.backward_bounds.is_suited` says. A counterexample given at the start
    leaves nothing to do. `certify` keeps short duals and ranges of the whole box, which rule sets out.
    """

    kind, method = "sets", "units held to pieces, with linear bounds"

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
        self._targets: list[Target] = []
        # Cases with a set that no unit can be split in, and that is not proved.
        self._passed: set[int] = set()
        self._bounds: dict[int, BackwardBounds] = {}

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
        opened = self._passed | {self._case(branch.what.what) for branch in self.queue}
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
            sets.append(HeldUnits(len(self._targets), bounds.unheld(1).row(0), mix, []))
            self._targets.append(Target(self._begun, place, table, offsets))
            if self._trees is not None:
                self._trees.append({})
        if isinstance(bounds, CheckableBounds) and not bounds.is_finite:
            bounds.proved.clear()
            self.num_branches += len(sets)
            for one in sets:
                self._decide(one)
        else:
            self._first(bounds, sets)
        self._begun += 1
        self.is_begun = self._begun == len(self.safe.cases)
        return True

    @abstractmethod
    def _first(self, bounds: BackwardBounds, sets: list[HeldUnits]) -> None:
        """Bound the whole of a case, for each of its unsafe polyhedra."""

    def _case(self, one: HeldUnits) -> int:
        return self._targets[one.target].case

    def _mixtures(self, sets: list[HeldUnits]) -> Mixtures:
        """Return for each set one row that combines those of its target."""
        rows, offsets, noise = [], [], []
        for one in sets:
            target = self._targets[one.target]
            size = self._bounds[target.case].output_size
            rows.append(one.mix @ target.A)
            offsets.append(one.mix @ target.b)
            noise.append(2 * ANY_ORDER * (one.mix @ (target.A.abs() @ size + target.b.abs())))
        return Mixtures(torch.stack(rows), torch.stack(offsets), torch.stack(noise))

    def _ruled_out(
        self, bounds: BackwardBounds, sets: list[HeldUnits], mixed: Mixtures, found: Bound, held: Holding
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

    def _keep(self, one: HeldUnits, node: SetNode) -> None:
        if self._trees is not None:
            self._trees[one.target][one.path] = node

    def _finish(self, bounds: BackwardBounds, one: HeldUnits) -> None:
        """Decide a set in which no unit can be split, by a linear program."""
        held = one.held.repeated(1)
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
        first, last = ([piece.cpu().numpy() for piece in pieces] for pieces in one.held[:2])
        self._decide(one, UnitRanges(low, high, first, last))

    def _decide(self, one: HeldUnits, ranges: UnitRanges | None = None) -> None:
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

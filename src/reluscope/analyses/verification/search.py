"""Boxes of inputs that may violate a property, halved again and again, those with the worst bounds first."""

from typing import NamedTuple

import numpy as np

from reluscope.analyses.preimages.box_search import OutputBox, halved, output_box
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.verdict import Counterexample, replay
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.best_first import BestFirst, Branch


class _Open(NamedTuple):
    """A box on which some polyhedra of a case may be reached, and its share of the inputs."""

    case: int
    box: OutputBox
    unsafe: tuple[Polyhedron, ...]
    share: float


class BoxSearch(BestFirst):
    """The search for one property.

    Parameters
    ----------
    network : Network
    safe : Property
    counterexample : Counterexample, optional
        Where one is known, there is nothing to do.

    Attributes
    ----------
    counterexample : Counterexample, optional
        What was found.
    """

    def __init__(self, network: Network, safe: Property, counterexample: Counterexample | None) -> None:
        super().__init__()
        self.network, self.safe, self.counterexample = network, safe, counterexample
        self._is_begun = False
        # Shares of boxes that are too small to be halved.
        self._passed: list[float] = []

    @property
    def is_proved(self) -> bool:
        """Whether all boxes were bounded, and nothing unsafe is reached from any."""
        return self._is_begun and not (self.is_broken or self.queue or self._passed or self.counterexample)

    @property
    def undecided(self) -> float:
        """Share of the inputs that is not decided."""
        if not self._is_begun or self.is_broken:
            return 1.0
        return min(1.0, sum(self._passed) + sum(branch.what.share for branch in self.queue))

    def is_settled(self, key: float) -> bool:
        """Whether there is nothing left to find."""
        return self.counterexample is not None

    def begin(self) -> bool:
        """Bound the boxes of all cases."""
        if self._is_begun or self.counterexample is not None:
            return False
        self._is_begun = True
        share = 1.0 / len(self.safe.cases)
        for index, case in enumerate(self.safe.cases):
            self._bound(index, case.lower, case.upper, tuple(case.unsafe), share)
        return True

    def split(self, branch: Branch) -> None:
        """Bound the halves of a box."""
        what: _Open = branch.what
        A = np.concatenate([one.A for one in what.unsafe] + [one.C for one in what.unsafe])
        halves = [half for half in halved(what.box, A) if not np.array_equal(half, (what.box.lower, what.box.upper))]
        if len(halves) < 2:
            self._passed.append(what.share)
        else:
            for lower, upper in halves:
                self._bound(what.case, lower, upper, what.unsafe, what.share / 2)

    def _bound(
        self, case: int, lower: np.ndarray, upper: np.ndarray, unsafe: tuple[Polyhedron, ...], share: float
    ) -> None:
        """Put a box into the queue unless nothing unsafe is reached from it."""
        self.num_branches += 1
        box = output_box(self.network, lower, upper)
        left, corners, key = [], [box.center], np.inf
        for one in unsafe:
            slopes, middle, rest = box.rows(np.concatenate([one.A, one.C, -one.C]))
            least = middle - np.abs(slopes) @ box.half - rest - np.concatenate([one.b, one.d, -one.d])
            if (least > 0).any():
                continue
            left.append(one)
            key = min(key, float(least.max(initial=-np.inf)))
            if len(least):
                corners.append(np.where(slopes[least.argmax()] > 0, lower, upper))
        if left:
            self.counterexample = self.counterexample or replay(self.network, self.safe, np.array(corners))
            self.push(key, _Open(case, box, tuple(left), share))

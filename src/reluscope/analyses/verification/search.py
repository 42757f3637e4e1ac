"""Boxes of inputs that may violate a property, halved again and again, those with the worst bounds first."""

from heapq import heappop
from typing import NamedTuple

import numpy as np

from reluscope.analyses.preimages.box_search import halved, output_boxes
from reluscope.analyses.verification.attack import outputs_at
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.ruling_out import reach
from reluscope.analyses.verification.verdict import Counterexample, replay
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.best_first import BestFirst, Branch

# Boxes that are bounded together: so many, and arrays of so many numbers.
NUM_TOGETHER, MAX_NUMBERS = 64, 2**22


class _Box(NamedTuple):
    """A box of a case, the polyhedra to rule out on it, and its share of the inputs."""

    case: int
    lower: np.ndarray
    upper: np.ndarray
    unsafe: tuple[Polyhedron, ...]
    share: float


class _Open(NamedTuple):
    """The halves of a box on which some polyhedra of a case may be reached, and its share of the inputs."""

    case: int
    halves: list[tuple[np.ndarray, np.ndarray]]
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

    kind = "boxes"

    def __init__(self, network: Network, safe: Property, counterexample: Counterexample | None) -> None:
        super().__init__()
        self.network, self.safe, self.counterexample = network, safe, counterexample
        self._is_begun = False
        # Shares of boxes that are too small to be halved.
        self._passed: list[float] = []
        widest = max([network.num_inputs, *(gate.num_units for gate in network.gates)])
        numbers = (network.num_inputs + network.num_units) * widest
        self._together = max(2, min(NUM_TOGETHER, MAX_NUMBERS // numbers))

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
        boxes = [
            _Box(index, case.lower, case.upper, tuple(case.unsafe), share) for index, case in enumerate(self.safe.cases)
        ]
        for start in range(0, len(boxes), self._together):
            self._bound(boxes[start : start + self._together])
        return True

    def split(self, branch: Branch) -> None:
        """Bound the halves of a box, and of those that come next, together."""
        taken = [branch.what]
        while self.queue and 2 * len(taken) < self._together:
            taken.append(heappop(self.queue).what)
        self._bound(
            [
                _Box(what.case, lower, upper, what.unsafe, what.share / 2)
                for what in taken
                for lower, upper in what.halves
            ]
        )

    def _bound(self, parts: list[_Box]) -> None:
        """Put boxes into the queue from which something unsafe may be reached."""
        self.num_branches += len(parts)
        lower, upper = np.stack([part.lower for part in parts]), np.stack([part.upper for part in parts])
        boxes = output_boxes(self.network, lower, upper)
        tried: list[np.ndarray] = []
        for part, box in zip(parts, boxes, strict=True):
            reached = [(one, reach(box, one)) for one in part.unsafe]
            reached = [(one, way) for one, way in reached if not way.excess > 0]
            if reached:
                tried += [box.center, *(way.point for _, way in reached)]
                halves = halved(box, np.concatenate([table for one, _ in reached for table in (one.A, one.C)]))
                if any(np.array_equal(half, (box.lower, box.upper)) for half in halves):
                    self._passed.append(part.share)
                else:
                    key = min(way.excess for _, way in reached)
                    self.push(key, _Open(part.case, halves, tuple(one for one, _ in reached), part.share))
        if tried:
            self._try(np.array(tried))

    def _try(self, points: np.ndarray) -> None:
        """Look for a counterexample among points."""
        outputs = outputs_at(self.network, points)
        likely = np.zeros(len(points), dtype=bool)
        for case in self.safe.cases:
            for one in case.unsafe:
                likely |= (outputs @ one.A.T <= one.b).all(axis=1)
        if likely.any():
            self.counterexample = self.counterexample or replay(self.network, self.safe, points[likely])

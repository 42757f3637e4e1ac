"""The search that answers questions about all inputs of a box: boxes, bounded many at once, and halved where open.

A *node* is a box of inputs with what is still asked on it. Its *bound* comes from affine functions below the outputs
(`box_bounds`): it says that nothing asked for is on the box, or how near it can be. A *leaf* is a box on which bounds
are no longer needed, because few units may change their piece: its regions are taken exactly. What is asked differs:
whether unsafe outputs are reached (`verification`), or how near a point the class changes (`robustness`).
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.boxes.output_boxes import halves, middle
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import BestFirst, Branch

# Boxes that are bounded together: so many, and arrays of so many numbers.
NUM_TOGETHER, MAX_NUMBERS = 64, 2**22


class Part(NamedTuple):
    """A box of inputs."""

    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    key: float  # a bound known before the box's own
    share: float  # of all inputs asked about
    what: Any  # what is still asked
    axis: int = -1  # along which it is halved; negative if not yet known
    path: str = ""  # lower and upper halves that were taken, as 0 and 1

    @property
    def middle(self) -> float:
        """Where it is halved."""
        return middle(self.lower, self.upper, self.axis)

    def halves(self) -> "tuple[Part, Part]":
        """Return both halves."""
        ends = halves(self.lower, self.upper, self.axis)
        lower, upper = (
            Part(*half, self.key, self.share / 2, self.what, path=self.path + digit)
            for half, digit in zip(ends, "01", strict=True)
        )
        return lower, upper


class HalvedBoxes(BestFirst):
    """A search over boxes; subclasses say how it begins, and what bounds of boxes mean.

    At most ``together`` boxes are bounded together.
    """

    def __init__(self, network: Network, together: int = NUM_TOGETHER) -> None:
        super().__init__()
        self.network = network
        widest = max([network.num_inputs, *(gate.num_units for gate in network.gates)])
        numbers = (network.num_inputs + network.num_units) * widest
        self._together = max(2, min(together, MAX_NUMBERS // numbers))

    @abstractmethod
    def bound(self, parts: list[Part]) -> None:
        """Bound boxes, and `halve` those that are open."""

    def bound_all(self, parts: list[Part]) -> None:
        """Bound boxes, as many together as go."""
        for start in range(0, len(parts), self._together):
            self.bound(parts[start : start + self._together])

    def split(self, branch: Branch) -> None:
        """Bound the halves of a box, and of those that come next, together; those without an axis as they are."""
        taken: list[Part] = self.with_next(branch, (self._together + 1) // 2)
        self.bound([half for part in taken for half in (part.halves() if part.axis >= 0 else (part,))])

    def halve(self, part: Part, key: float, axis: int) -> bool:
        """Put a box into the queue, to be halved along an axis; False if it is too small for that."""
        if not part.lower[axis] < middle(part.lower, part.upper, axis) < part.upper[axis]:
            return False
        self.push(key, part._replace(key=key, axis=axis))
        return True

"""Classes that could win on a region, by how much they trail."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Rival:
    """Another class j as a half-space: j is not below the point's class where ``row u <= slack``.

    The row is zero on a set where j is nowhere below, or may be so within rounding. The slack has in it what ``noise``
    can make of it. At steps shorter than ``least`` j is below.
    """

    label: int
    row: Float[np.ndarray, " n"]
    slack: float
    noise: Float[np.ndarray, " e"]
    error: float  # bound on the rounding of the slack
    length: float  # dual norm of the row
    entries: float = 0.0  # bound on the rounding of the row's entries
    least: float = 0.0
    is_equal: bool = False  # outputs are one without any rounding
    is_sure: bool = True  # unless rounding decides whether j wins anywhere

    @property
    def distance(self) -> float:
        """Distance to the half-space alone."""
        return max(0.0, -self.slack / self.length) if self.length > 0 else self.least

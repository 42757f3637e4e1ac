"""Facets of regions whose slopes rounding hides, in rational arithmetic: one row of one unit at a time.

With every unit held to its piece, what a gate sees is affine in the input, with rational coefficients that one backward
pass finds. The distance to the row's hyperplane is then known but for its last digits.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import isinf
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.networks.fractions.rational import PulledBack, RationalNetwork, multiplications
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.network import Network
from reluscope.regions.exact_half_spaces import pulled_side
from reluscope.tolerance import EPSILON

# Multiplications for all doubtful rows of one point: about a second.
MULTIPLICATIONS = 1_000_000
# The smallest positive number of float64.
SMALLEST = 2.0**-1074


class Facet(NamedTuple):
    """Where a unit changes its piece: distance from a point, its lower and upper bounds, and an outward normal.

    If the point is beyond the hyperplane, its piece in floats is not the true one, and nothing bounds the distance.
    """

    distance: float
    lower: float
    upper: float
    normal: Float[np.ndarray, " n"]

    @property
    def is_crossed(self) -> bool:
        """Whether the point is beyond the hyperplane."""
        return self.distance == 0 and isinf(self.upper)


class ExactFacets:
    """Decides rows of regions in rational arithmetic.

    ``norm`` is that of distances.
    """

    def __init__(self, network: Network, norm: Norm) -> None:
        self._network = network
        self._norm: Norm = norm

    @cached_property
    def is_small(self) -> bool:
        """Whether one row of the network takes at most about a second."""
        return multiplications(self._network) <= MULTIPLICATIONS

    def decide(
        self, code: Sequence[Sequence[int]], x: Float[np.ndarray, " n"], source: Sequence[int], most: int
    ) -> tuple[Facet | None, int] | None:
        """Return the facet of a row, None if the unit is constant, with the multiplications made.

        Returns None where more than ``most`` multiplications would be made.
        """
        try:
            return self._facet(pulled_side(self._exact, code, source, most=most), x)
        except TooManyMultiplicationsError:
            return None

    def lead(
        self, code: Sequence[Sequence[int]], x: Float[np.ndarray, " n"], weights: Mapping[int, Fraction], most: int
    ) -> tuple[Facet | None, int] | None:
        """Return where a weighted sum of outputs falls to 0 on the region of a code, as `decide` does for rows."""
        try:
            return self._facet(self._exact.pull_back(code, weights, most=most), x)
        except TooManyMultiplicationsError:
            return None

    def _facet(self, row: PulledBack, x: Float[np.ndarray, " n"]) -> tuple[Facet | None, int]:
        slopes, constant, cost = row
        slack = constant + sum((slope * Fraction(float(x[axis])) for axis, slope in slopes.items()), Fraction(0))
        normal = np.zeros(len(x))
        if slack < 0:
            return Facet(0.0, 0.0, np.inf, normal), cost
        if not slopes:
            return None, cost
        scale = max(map(abs, slopes.values()))
        for axis, slope in slopes.items():
            normal[axis] = nearest(-slope / scale)
        # The slack in units of the largest slope may be beyond all floats where the distance is not, or below them.
        away, size, most = nearest(slack / scale), float(self._norm.dual.size(normal)), float(np.finfo(float).max)
        with np.errstate(over="ignore"):
            distance, least = away / size, min(min(away, most) / size, most)
        error = (len(x) + 4) * EPSILON * least + (SMALLEST * (1 + 1 / size) if slack else 0.0)
        return Facet(distance, least - error, distance + error, normal), cost

    @cached_property
    def _exact(self) -> RationalNetwork:
        return RationalNetwork(self._network)

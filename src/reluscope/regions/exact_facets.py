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
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError, Weights
from reluscope.networks.graph.piece_conditions import piece_condition
from reluscope.networks.network import Network
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
        stage, unit, beyond = source
        gate = self._network.stages[stage].gate
        first, second, side, level = piece_condition(gate, unit, code[stage][unit], beyond)
        weights = {first: Fraction(side)}
        if second >= 0:
            weights[second] = weights.get(second, Fraction(0)) - side
        return self._decided(code, x, weights, side * Fraction(level), stage, most)

    def lead(
        self, code: Sequence[Sequence[int]], x: Float[np.ndarray, " n"], weights: Mapping[int, Fraction], most: int
    ) -> tuple[Facet | None, int] | None:
        """Return where a weighted sum of outputs falls to 0 on the region of a code, as `decide` does for rows."""
        return self._decided(code, x, weights, Fraction(0), None, most)

    def _decided(
        self,
        code: Sequence[Sequence[int]],
        x: Float[np.ndarray, " n"],
        weights: Mapping[int, Fraction],
        level: Fraction,
        stage: int | None,
        most: int,
    ) -> tuple[Facet | None, int] | None:
        try:
            slopes, constant, cost = self._exact.pull_back(code, weights, stage=stage, most=most)
        except TooManyMultiplicationsError:
            return None
        slack = constant - level
        slack += sum((slope * Fraction(float(x[axis])) for axis, slope in slopes.items()), Fraction(0))
        return self._facet(slopes, slack, len(x)), cost

    def _facet(self, slopes: Weights, slack: Fraction, dim: int) -> Facet | None:
        normal = np.zeros(dim)
        if slack < 0:
            return Facet(0.0, 0.0, np.inf, normal)
        if not slopes:
            return None
        scale = max(map(abs, slopes.values()))
        for axis, slope in slopes.items():
            normal[axis] = nearest(-slope / scale)
        distance = nearest(slack / scale) / float(self._norm.dual.size(normal))
        error = (dim + 4) * EPSILON * min(distance, np.finfo(float).max) + (SMALLEST if slack else 0.0)
        return Facet(distance, min(distance, np.finfo(float).max) - error, distance + error, normal)

    @cached_property
    def _exact(self) -> RationalNetwork:
        return RationalNetwork(self._network)

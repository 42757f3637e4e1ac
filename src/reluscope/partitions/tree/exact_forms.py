"""Forms in rational arithmetic where rounding hides whether they are constant.

What cancels in floats, a copy of a unit taken from it, say, leaves a form whose slopes are unknown: zero, mostly, but
they may be anything below the rounding of what went in. On the cell of a code a unit is an affine function with
rational coefficients, and these decide. As long as that is cheap: what is left in doubt is counted.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.fractions.rational_maps import RationalMaps, rational_maps
from reluscope.networks.network import Network

# Multiplications that one search may spend, of some tenths of a microsecond each.
MULTIPLICATIONS = 20_000_000


class ExactForms:
    """Gates' inputs as rational functions of the network's input, per cell, until a budget is spent."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._cost = (network.num_inputs + 1) * multiplications(network)
        self._left = MULTIPLICATIONS

    def maps(self, pieces: Sequence[np.ndarray]) -> RationalMaps | None:
        """Return what the gates see where the first ones have these pieces; None if it would take too long."""
        if self._left < self._cost:
            return None
        self._left -= self._cost
        return rational_maps(self._exact, [piece.tolist() for piece in pieces])

    @cached_property
    def _exact(self) -> RationalNetwork:
        return RationalNetwork(self._network)

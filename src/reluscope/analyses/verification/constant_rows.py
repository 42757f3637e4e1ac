"""Rows of unsafe outputs that are constant on a region up to rounding: fractions say on which side of their ends."""

from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.analyses.preimages.pullback import CONSTANT, RESOLUTION, nowhere
from reluscope.codes.packed import Codes
from reluscope.geometry.domains import Box
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.maps_of_codes import pieces_of
from reluscope.networks.network import Network
from reluscope.networks.rational import RationalNetwork
from reluscope.networks.rational_weights import TooManyMultiplicationsError

# Multiplications of fractions in one box: about a second.
MOST_MULTIPLICATIONS = 1_000_000


class ConstantRows:
    """Which rows hold everywhere on a region, and which nowhere.

    Parameters
    ----------
    network : Network
    box : Box
        That the regions are in.
    """

    def __init__(self, network: Network, box: Box) -> None:
        self.network = network
        self._middle, self._half = (box.lo + box.hi) / 2, (box.hi - box.lo) / 2
        self._ends = [[Fraction(float(one)) for one in ends] for ends in (box.lo, box.hi)]
        self._rational: RationalNetwork | None = None
        self._left = MOST_MULTIPLICATIONS

    def without(
        self, outputs: Polyhedron, weight: Float[np.ndarray, "m n"], bias: Float[np.ndarray, " m"], code: Codes
    ) -> Polyhedron | None:
        """Return what is left of unsafe outputs on a region when rows are left out that hold on all of it.

        Parameters
        ----------
        outputs : Polyhedron
        weight, bias : (m, n), (m,) float64
            The network on the region.
        code : Codes
            Of the region.

        Returns
        -------
        Polyhedron or None
            An empty one where some row does not hold anywhere; None if that is not decided.
        """
        near, near_equations = (
            self._are_near(rows, ends, weight, bias) for rows, ends in ((outputs.A, outputs.b), (outputs.C, outputs.d))
        )
        if not near.any() and not near_equations.any():
            return outputs
        is_decided = True
        for row, end in zip(outputs.A[near], outputs.b[near], strict=True):
            ends = self._exact_ends(row, end, code)
            if ends is not None and ends[0] > 0:
                return nowhere(outputs.dim)
            is_decided &= ends is not None and ends[1] <= 0
        for row, end in zip(outputs.C[near_equations], outputs.d[near_equations], strict=True):
            ends = self._exact_ends(row, end, code)
            if ends is not None and ends != (0, 0):
                return nowhere(outputs.dim)
            is_decided &= ends is not None
        if not is_decided:
            return None
        return Polyhedron(outputs.A[~near], outputs.b[~near], outputs.C[~near_equations], outputs.d[~near_equations])

    def _are_near(self, rows: np.ndarray, ends: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Return which rows stay at their ends on all of the box, up to what is taken for rounding."""
        away = np.abs(rows @ (weight @ self._middle + bias) - ends) + np.abs(rows @ weight) @ self._half
        size = np.abs(rows) @ (np.abs(weight) @ (np.abs(self._middle) + self._half) + np.abs(bias)) + np.abs(ends)
        # Of rows that the region makes constant `pulled_back` takes so much for rounding, however small outputs are.
        slopes, terms = np.abs(rows @ weight), np.abs(rows) @ np.abs(weight)
        is_constant = (slopes <= CONSTANT * terms.max(axis=1, keepdims=True, initial=0.0)).all(axis=1)
        return away <= RESOLUTION * np.where(is_constant, 2 * np.maximum(1.0, size), size)

    def _exact_ends(self, row: np.ndarray, end: float, code: Codes) -> tuple[Fraction, Fraction] | None:
        """Return the ends of ``row . y - end`` on the box by the region's map, None if that is too much."""
        if self._rational is None:
            self._rational = RationalNetwork(self.network)
        weights = {place: Fraction(float(entry)) for place, entry in enumerate(row) if entry}
        pieces = [table[0].tolist() for table in pieces_of(code)]
        try:
            found = self._rational.pull_back(pieces, weights, most=self._left)
        except TooManyMultiplicationsError:
            self._left = 0
            return None
        self._left -= found.cost
        least = most = found.constant - Fraction(float(end))
        for place, slope in found.coefficients.items():
            sides = [slope * corner[place] for corner in self._ends]
            least, most = least + min(sides), most + max(sides)
        return least, most

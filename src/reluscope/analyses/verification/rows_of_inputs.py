"""Unsafe outputs as rows of the input, region by region; fractions make those that rounding would move too far.

On a region a row ``a y <= e`` of the outputs ``y = W z + c`` is a row ``a W z <= e - a c`` of the input. Where bounds
on the rounding of W and c say that it holds on all of the box, or nowhere, that is all. Else rounding may turn and
shift it: by nothing that counts, or the row is made again in fractions. So rows that are constant, and rows behind
sums that cancel, are as exact as all others.
"""

from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.analyses.preimages.pullback import RESOLUTION
from reluscope.codes.packed import Codes
from reluscope.geometry.domains import Box
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.evaluation import Evaluation
from reluscope.networks.maps_of_codes import pieces_of
from reluscope.networks.network import Network
from reluscope.networks.rational import PulledBack, RationalNetwork
from reluscope.networks.rational_weights import TooManyMultiplicationsError

# Multiplications of fractions in one box: about a second.
MOST_MULTIPLICATIONS = 1_000_000
# Rounding of the products of rows with maps, relative to the sums of their absolute terms.
ROUNDING = 64 * np.finfo(float).eps


class RowsOfInputs:
    """Unsafe outputs on the linear regions of a network in a box, as polyhedra of inputs.

    Parameters
    ----------
    network : Network
    box : Box
        That the regions are in.
    """

    def __init__(self, network: Network, box: Box) -> None:
        self.network = network
        self._middle, self._half = (box.lo + box.hi) / 2, (box.hi - box.lo) / 2
        self._largest = np.abs(self._middle) + self._half
        self._ends = [[Fraction(float(one)) for one in ends] for ends in (box.lo, box.hi)]
        self._rational: RationalNetwork | None = None
        self._left = MOST_MULTIPLICATIONS

    def errors(self, at: Evaluation) -> Float[np.ndarray, "k m"]:
        """Return by how much outputs of the maps at k points are off on the box, at most."""
        return at.map_errors * self._largest.max() + at.constant_errors

    def of(
        self,
        unsafe: Polyhedron,
        weight: Float[np.ndarray, "m n"],
        bias: Float[np.ndarray, " m"],
        errors: Float[np.ndarray, " m"],
        code: Codes,
    ) -> Polyhedron | None:
        """Return the inputs of a region whose outputs are unsafe, by half-spaces; what is flat is left out.

        Parameters
        ----------
        unsafe : Polyhedron
            Of outputs.
        weight, bias : (m, n), (m,) float64
            The network on the region.
        errors : (m,) float64
            As `errors` returns them.
        code : Codes
            Of the region.

        Returns
        -------
        Polyhedron or None
            Without the rows that hold on all of the box; None where nothing is unsafe.

        Raises
        ------
        TooManyMultiplicationsError
            If more fractions are needed than are left.
        """
        rows, ends = np.concatenate([unsafe.A, unsafe.C]), np.concatenate([unsafe.b, unsafe.d])
        is_equation = np.arange(len(ends)) >= len(unsafe.b)
        normals, offsets = rows @ weight, ends - rows @ bias
        middle, half = normals @ self._middle - offsets, np.abs(normals) @ self._half
        sizes = np.abs(rows) @ (np.abs(weight) @ self._largest + np.abs(bias)) + np.abs(ends)
        noise = np.abs(rows) @ errors * (1 + ROUNDING) + ROUNDING * sizes
        is_missed = np.where(is_equation, np.abs(middle), middle) > half + noise
        is_clear = noise < RESOLUTION * half
        if is_missed.any() or (is_equation & is_clear).any():  # equations of inputs are flat
            return None
        is_open = is_equation | (middle + half > -noise)
        kept = is_open & is_clear
        normals, offsets = [*normals[kept]], [*offsets[kept]]
        wrong: TooManyMultiplicationsError | None = None
        for place in np.flatnonzero(is_open & ~is_clear).tolist():
            try:
                found = self._exactly(rows[place], float(ends[place]), code)
            except TooManyMultiplicationsError as error:  # others may say that nothing is unsafe
                wrong = error
                continue
            least, most = self._range(found)
            if least > 0 or (is_equation[place] and (least, most) != (0, 0)):
                return None
            if most > 0:
                largest = max(map(abs, found.coefficients.values()))
                row = [found.coefficients.get(axis, Fraction(0)) / largest for axis in range(len(self._middle))]
                normals.append(np.array(row, dtype=float))
                offsets.append(float(-found.constant / largest))
        if wrong is not None:
            raise wrong
        return Polyhedron(np.reshape(normals, (-1, len(self._middle))), np.array(offsets))

    def _exactly(self, row: np.ndarray, end: float, code: Codes) -> PulledBack:
        """Return ``row . y - end`` on a region as a function of the input."""
        if self._rational is None:
            self._rational = RationalNetwork(self.network)
        weights = {place: Fraction(entry) for place, entry in enumerate(row.tolist()) if entry}
        pieces = [table[0].tolist() for table in pieces_of(code)]
        try:
            found = self._rational.pull_back(pieces, weights, most=self._left)
        except TooManyMultiplicationsError:
            self._left = 0
            raise
        self._left -= found.cost
        return found._replace(constant=found.constant - Fraction(end))

    def _range(self, found: PulledBack) -> tuple[Fraction, Fraction]:
        """Return the least and the largest value of a function on the box."""
        least = most = found.constant
        for place, slope in found.coefficients.items():
            sides = [slope * corner[place] for corner in self._ends]
            least, most = least + min(sides), most + max(sides)
        return least, most

"""Rows of the outputs as rows of the input, region by region; fractions make those that rounding would move too far.

On a region a row ``a y <= e`` of the outputs ``y = W z + c`` is a row ``a W z <= e - a c`` of the input. Where bounds
on the rounding of W and c say that it holds on all of the box, or nowhere, that is all. Else rounding may turn and
shift it: by nothing that counts, or the row is made again in fractions. So rows that are constant, and rows behind
sums that cancel, are as exact as all others: a constant output lies in a target or misses it, and no tolerance decides.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import PulledBack, RationalNetwork
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.network import Network
from reluscope.networks.point_evaluation import Evaluation

# Multiplications of fractions in one box: about a second.
MOST_MULTIPLICATIONS = 1_000_000
# Rounding of the products of rows with maps, relative to the sums of their absolute terms.
ROUNDING = 64 * np.finfo(float).eps
# Rows that rounding may shift by a larger share of how far they go on the box are made again in fractions.
CLEAR = 1e-10


class CutBox(NamedTuple):
    """Inputs by half-spaces, in coordinates in which the box is the unit cube.

    ``shift`` is by how much rounding may have moved its rows, in shares of how far each goes on the box, in all.
    """

    polyhedron: Polyhedron
    shift: float


class _Rows(NamedTuple):
    """Rows of the input that hold neither nowhere nor everywhere on the box, in floats and in fractions.

    ``shifts`` are by how much rounding may have moved each row, in shares of how far it goes on the box.
    """

    normals: Float[np.ndarray, "k n"]
    offsets: Float[np.ndarray, " k"]
    is_equation: Bool[np.ndarray, " k"]
    shifts: Float[np.ndarray, " k"]
    exact: list[tuple[PulledBack, bool]]  # functions that are at most 0, or equal to 0 if True


class RowsOfInputs:
    """Targets of outputs on the linear regions of a network in a box, as polyhedra of inputs.

    Where inputs go on beyond the box, it is what rounding is compared with, and no row holds everywhere or nowhere
    but one that is constant.
    """

    def __init__(
        self, network: Network, low: Float[np.ndarray, " n"], high: Float[np.ndarray, " n"], *, goes_on: bool = False
    ) -> None:
        self.network, self._goes_on = network, goes_on
        self._low, self._width = low, high - low
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        self._largest = np.abs(self._middle) + self._half
        self._ends = [[Fraction(float(one)) for one in ends] for ends in (low, high)]
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
    ) -> CutBox | None:
        """Return the inputs of a region whose outputs are unsafe; what is flat is left out.

        Without the rows that hold on all of the box; None where nothing is unsafe. TooManyMultiplicationsError if more
        fractions are needed than are left. Weight, bias, errors and code are those of the region.
        """
        found = self._rows(unsafe, weight, bias, errors, code)
        if found is None or found.is_equation.any() or any(is_equation for _, is_equation in found.exact):
            return None  # equations of inputs are flat
        # The noise of floats has room for the rounding of the way into the cube.
        normals = [*(found.normals * self._width)]
        offsets = [*(found.offsets - found.normals @ self._low)]
        shift = float(found.shifts.sum())
        for function, _ in found.exact:
            if self._range(function)[1] > 0:
                normal, offset = self._in_cube(function)
                normals.append(normal)
                offsets.append(offset)
                shift += ROUNDING * len(normal)
        return CutBox(Polyhedron(np.reshape(normals, (-1, len(self._middle))), np.array(offsets)), shift)

    def pulled_back(
        self,
        target: Polyhedron,
        weight: Float[np.ndarray, "m n"],
        bias: Float[np.ndarray, " m"],
        errors: Float[np.ndarray, " m"],
        code: Codes,
    ) -> CutBox | None:
        """Return the inputs of a region with outputs in a target, flat ones too, in their own coordinates.

        The arguments are those of `of`. Without the rows that hold on all of the box; None where some row holds
        nowhere. TooManyMultiplicationsError if more fractions are needed than are left.
        """
        found = self._rows(target, weight, bias, errors, code)
        if found is None:
            return None
        normals, offsets, sides = [*found.normals], [*found.offsets], [*found.is_equation]
        shift = float(found.shifts.sum())
        for function, is_equation in found.exact:
            normal, offset = self._row(function)
            normals.append(normal)
            offsets.append(offset)
            sides.append(np.bool_(is_equation))
            size = np.abs(normals[-1]) @ self._largest + abs(offsets[-1])
            shift += float(ROUNDING * size / max(np.abs(normals[-1]) @ self._half, np.finfo(float).tiny))
        table, ends = np.reshape(normals, (-1, len(self._middle))), np.array(offsets, dtype=float)
        equal = np.array(sides, dtype=bool)
        return CutBox(Polyhedron(table[~equal], ends[~equal], table[equal], ends[equal]), shift)

    def _rows(
        self, target: Polyhedron, weight: np.ndarray, bias: np.ndarray, errors: np.ndarray, code: Codes
    ) -> _Rows | None:
        """Return the rows of a target that hold on parts of the box, None where some row holds nowhere."""
        rows, ends = np.concatenate([target.A, target.C]), np.concatenate([target.b, target.d])
        is_equation = np.arange(len(ends)) >= len(target.b)
        normals, offsets = rows @ weight, ends - rows @ bias
        middle, half = normals @ self._middle - offsets, np.abs(normals) @ self._half
        sizes = np.abs(rows) @ (np.abs(weight) @ self._largest + np.abs(bias)) + np.abs(ends)
        noise = np.abs(rows) @ errors * (1 + ROUNDING) + ROUNDING * sizes
        if not self._goes_on and (np.where(is_equation, np.abs(middle), middle) > half + noise).any():
            return None
        is_clear = noise < CLEAR * half
        is_open = is_equation | (middle + half > -noise) | self._goes_on
        kept = is_open & is_clear
        exact: list[tuple[PulledBack, bool]] = []
        wrong: TooManyMultiplicationsError | None = None
        for place in np.flatnonzero(is_open & ~is_clear).tolist():
            try:
                found = self._exactly(rows[place], float(ends[place]), code)
            except TooManyMultiplicationsError as error:  # others may hold nowhere
                wrong = error
                continue
            least, most = self._range(found)
            if least > 0 or (is_equation[place] and most < 0):
                return None
            if (least, most) != (0, 0) and (is_equation[place] or found.coefficients):
                exact.append((found, bool(is_equation[place])))
        if wrong is not None:
            raise wrong
        return _Rows(normals[kept], offsets[kept], is_equation[kept], noise[kept] / half[kept], exact)

    def _in_cube(self, found: PulledBack) -> tuple[np.ndarray, float]:
        """Return the row on which a function is at most 0, in coordinates in which the box is the unit cube."""
        lows, highs = self._ends
        slopes = {axis: slope * (highs[axis] - lows[axis]) for axis, slope in found.coefficients.items()}
        at_low = found.constant + sum(slope * lows[axis] for axis, slope in found.coefficients.items())
        return self._row(found._replace(coefficients=slopes, constant=at_low))

    def _row(self, found: PulledBack) -> tuple[np.ndarray, float]:
        """Return the row on which a function is at most 0; its largest entry is 1."""
        largest = max(map(abs, found.coefficients.values()))
        row = [found.coefficients.get(axis, Fraction(0)) / largest for axis in range(len(self._middle))]
        return np.array(row, dtype=float), float(-found.constant / largest)

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

    def _range(self, found: PulledBack) -> tuple[Fraction | float, Fraction | float]:
        """Return the least and the largest value of a function on the box, or beyond."""
        if self._goes_on and found.coefficients:
            return -np.inf, np.inf
        least = most = found.constant
        for place, slope in found.coefficients.items():
            sides = [slope * corner[place] for corner in self._ends]
            least, most = least + min(sides), most + max(sides)
        return least, most

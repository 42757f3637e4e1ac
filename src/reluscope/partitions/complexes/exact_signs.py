"""Signs of cut functions at corners, decided in fractions where floats leave them in doubt."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import unpack_pieces
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.fractions.rational import RationalNetwork, RationalVector, multiplications
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.graph.nodes import GateNode, Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.complexes.certification import MIN_SHARE, Certifier, CutFunction, Point

# What may be spent on the exact signs of one walk: about a second.
MULTIPLICATIONS = 1_000_000


# Pieces of units that are unpacked together.
MAX_PIECES = 10_000_000


class ExactSigns:
    """Decides in rational arithmetic the signs of functions that floats call zero on a whole cell.

    An answer costs a multiplication for each weight that the function depends on. At most ``MULTIPLICATIONS`` are spent
    in all, so that there may be no answers for a large network.
    """

    def __init__(self, network: Network, domains: Sequence[Domain]) -> None:
        self._network = network
        self._domains = domains
        self._certifiers: dict[int, Certifier] = {}
        self._rational: RationalNetwork | None = None
        self._cost = multiplications(network)
        # Of larger networks even the weights would take too long to be made integers.
        self._left = MULTIPLICATIONS if self._cost <= MULTIPLICATIONS else 0
        gates = network.layout.gates
        self._layouts = [CodeLayout(gates[:number]) for number in range(len(gates))]
        self._gates = [stage.gate for stage in network.stages]
        self._read: dict[CutFunction, dict[int, list[int]] | None] = {}
        self._forms: dict[tuple[int, CutFunction, bytes], tuple[list[Fraction], Fraction]] = {}

    def is_able(self, points: int) -> bool:
        """Whether so many exact evaluations can be afforded."""
        return points * self._cost <= self._left

    def preactivations(self, root: int, stage: int, points: list[Point]) -> list[RationalVector]:
        """Return what the gate of a stage sees at points of one domain."""
        self._left -= len(points) * self._cost
        return [self._certifier(root).preactivations(stage, point) for point in points]

    def signs(
        self, root: int, vertices: np.ndarray, words: np.ndarray, cuts: "list[CutFunction]"
    ) -> list[int | None] | None:
        """Return the sign of each cut function of one stage inside a cell; None if nothing is left to spend.

        A sign is 0 for the zero function, None where both signs occur. ``vertices`` are homogeneous: points, and
        directions in which the cell is unbounded; ``words`` is its code of the gates before the stage.
        """
        if self._left <= 0:
            return None
        points: list[list[Fraction]] | None = None
        directions: list[list[Fraction]] = []
        found: list[int | None] = []
        code = _HeldCode(words, self._layouts[cuts[0].stage])
        for cut in cuts:
            try:
                slopes, constant = self._form(root, code, cut)
            except TooManyMultiplicationsError:
                self._left = 0
                return None
            if not any(slopes):
                found.append((constant > 0) - (constant < 0))
                continue
            if points is None:
                rows = [[Fraction(entry) for entry in row] for row in vertices.tolist()]
                points = [[entry / row[-1] for entry in row] for row in rows if row[-1]]
                directions = [row for row in rows if not row[-1]]
            form = [*slopes, constant]
            found.append(_sign([_dot(form, at) for at in points], [_dot(form, at) for at in directions]))
        return found

    def vanish(self, words: np.ndarray, cuts: "list[CutFunction]") -> np.ndarray:
        """Return (r, k) which cut functions of one stage are zero because all units they read are.

        True only where those units are constantly zero on the cell; False says nothing. ``words`` are the cells' codes
        of the gates before the stage.
        """
        found = np.zeros((len(words), len(cuts)), dtype=bool)
        reads = [self._units_read(cut) for cut in cuts]
        if not any(reads):
            return found
        layout = self._layouts[cuts[0].stage]
        block = max(1, MAX_PIECES // max(1, layout.num_units))
        for start in range(0, len(words), block):
            pieces = unpack_pieces(words[start : start + block], layout)
            is_zero = [
                _always_zero(gate)[pieces[:, layout.units(index)], np.arange(gate.num_units)]
                for index, gate in enumerate(self._gates[: len(layout)])
            ]
            for column, units in enumerate(reads):
                if units is not None:
                    parts = [is_zero[gate][:, which].all(axis=1) for gate, which in units.items()]
                    found[start : start + block, column] = np.logical_and.reduce(parts) if parts else True
        return found

    def _units_read(self, cut: CutFunction) -> dict[int, list[int]] | None:
        """Return the units that a cut function is a sum of; None where it is more than that, or there is no knowing."""
        if cut not in self._read:
            self._read[cut] = None
            if self._left > 0 and not cut.breakpoint:
                try:
                    read = self._opened().units_read(_weights(cut), stage=cut.stage, most=self._left)
                except TooManyMultiplicationsError:
                    return None
                if read is not None:
                    self._left -= read.cost
                    self._read[cut] = read.units
        return self._read[cut]

    def _form(self, root: int, code: "_HeldCode", cut: CutFunction) -> tuple[list[Fraction], Fraction]:
        """Return a cut function on a cell by its code: slopes in the domain's coordinates, and the constant."""
        key = root, cut, code.key
        if key not in self._forms:
            certifier = self._certifier(root)
            pulled = self._opened().pull_back(code.pieces, _weights(cut), stage=cut.stage, most=self._left)
            self._left -= pulled.cost
            slopes, constant = certifier.in_domain(pulled.coefficients)
            constant += pulled.constant
            self._forms[key] = slopes, constant - Fraction(cut.breakpoint) if cut.breakpoint else constant
        return self._forms[key]

    def _opened(self) -> RationalNetwork:
        if self._rational is None:
            self._rational = RationalNetwork(self._network)
        return self._rational

    def _certifier(self, root: int) -> Certifier:
        if root not in self._certifiers:
            self._certifiers[root] = Certifier(self._opened(), self._domains[root])
        return self._certifiers[root]


class _HeldCode:
    """The pieces of the first gates on a cell, unpacked when they are asked for."""

    def __init__(self, words: np.ndarray, layout: CodeLayout) -> None:
        self._words, self._layout, self.key = words, layout, words.tobytes()

    @cached_property
    def pieces(self) -> list[list[int]]:
        pieces = unpack_pieces(self._words[None], self._layout)[0]
        return [pieces[self._layout.units(gate)].tolist() for gate in range(len(self._layout.gates))]


def _weights(cut: CutFunction) -> dict[int, Fraction]:
    """Return the weights of entries in a cut function."""
    return {cut.first: Fraction(1), cut.second: -Fraction(1)} if cut.second >= 0 else {cut.first: Fraction(1)}


def _always_zero(gate: GateNode) -> np.ndarray:
    """Return for each piece and unit of a gate whether the unit is zero on it, whatever it sees."""
    if not isinstance(gate, Pointwise):
        return np.zeros((gate.num_pieces, gate.num_units), dtype=bool)
    still = ((gate.slopes == 0) & (gate.intercepts == 0)).cpu().numpy()
    return np.broadcast_to(still, (gate.num_pieces, gate.num_units))


def _dot(slopes: Sequence[Fraction], point: Sequence[Fraction]) -> Fraction:
    return sum((a * x for a, x in zip(slopes, point, strict=True)), Fraction(0))


def _sign(at_points: Sequence[Fraction], at_directions: Sequence[Fraction]) -> int | None:
    """Return the sign of a function inside a cell, given its values at vertices; None if it has both."""
    middle = sum(at_points, Fraction(0)) / max(1, len(at_points))
    above = below = False
    for values, center in ((at_points, middle), (at_directions, 0)):
        size = max((max(abs(center), abs(value - center)) for value in values), default=Fraction(0))
        # Vertices are floats: what is zero there in truth is not quite.
        above |= any(value > MIN_SHARE * size for value in values)
        below |= any(value < -MIN_SHARE * size for value in values)
    return None if above == below else 1 if above else -1

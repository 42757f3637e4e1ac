"""Weights of values in a function of the output as integers over one denominator, carried back by `carry_back`.

Denominators of floats are powers of two: no greatest common divisor is looked for, which takes long for numbers of deep
networks. What a step costs counts by the length of its numbers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from reluscope.networks.fractions.rational_matrices import MatrixTable
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.stages import Stage

Weights = Mapping[int, Fraction]


def words_of(bits: int) -> int:
    """Return how many times as long as a product of small integers one with an integer of so many bits takes."""
    return 1 + bits // 640


class TooManyMultiplicationsError(Exception):
    """An exact answer would take more multiplications than it may."""


class Scaled(NamedTuple):
    """Weights of entries, without those that are 0, as integers over one denominator."""

    numerators: Mapping[int, int]
    denominator: int

    @classmethod
    def of(cls, weights: Weights) -> "Scaled":
        """Bring fractions to a common denominator."""
        common = lcm(1, *(weight.denominator for weight in weights.values()))
        scaled = {entry: weight.numerator * (common // weight.denominator) for entry, weight in weights.items()}
        return cls(_without_zeros(scaled), common)

    def fractions(self) -> Weights:
        """Return the weights as they are."""
        return {entry: Fraction(weight, self.denominator) for entry, weight in self.numerators.items()}


class RationalWeights:
    """Weights of entries, without those that are 0, and the sum of what constants add."""

    def __init__(self, matrices: MatrixTable, pieces: Sequence[Sequence[int]], most: float) -> None:
        self._matrices, self._pieces, self._most = matrices, pieces, most
        self.constant, self.cost = Fraction(0), 0

    def affine_back(self, node: Affine, weights: Scaled) -> list[Scaled]:
        """Return the weights of each value that the node reads."""
        if not weights.numerators:
            return [weights] * len(node.inputs)
        matrices, shift = self._matrices.of(node)
        number = sum(len(matrix.rows[entry]) for matrix in matrices for entry in weights.numerators)
        self.cost += number * words_of(weights.denominator.bit_length())
        if self.cost > self._most:
            raise TooManyMultiplicationsError
        if shift is not None:
            total = sum(weight * shift[0][entry] for entry, weight in weights.numerators.items())
            self.constant += Fraction(total, shift[1] * weights.denominator)
        found = []
        for matrix in matrices:
            before: dict[int, int] = {}
            for entry, weight in weights.numerators.items():
                for column, factor in matrix.rows[entry]:
                    before[column] = before.get(column, 0) + weight * factor
            found.append(Scaled(_without_zeros(before), weights.denominator * matrix.scale))
        return found

    def gate_back(self, stage: Stage, weights: Scaled) -> Scaled:
        """Return the weights of the gate's input."""
        gate, pieces = stage.gate, self._pieces[stage.index]
        if isinstance(gate, Max):
            entries, _ = self._matrices.of_gate(gate)
            chosen: dict[int, int] = {}
            for unit, weight in weights.numerators.items():
                entry = entries[unit][pieces[unit]]
                chosen[entry] = chosen.get(entry, 0) + weight
            return Scaled(_without_zeros(chosen), weights.denominator)
        slopes, intercepts = self._matrices.of_gate(gate)
        slopes_held = {}
        for unit, weight in weights.numerators.items():
            slopes_held[unit] = slopes[pieces[unit]][unit].as_integer_ratio()
            if intercept := intercepts[pieces[unit]][unit]:
                self.constant += Fraction(weight, weights.denominator) * Fraction(intercept)
        # Denominators of floats are powers of two, of which the largest is the common one.
        common = max((under for _, under in slopes_held.values()), default=1)
        before = {
            unit: weights.numerators[unit] * over * (common // under) for unit, (over, under) in slopes_held.items()
        }
        return Scaled(_without_zeros(before), weights.denominator * common)

    def add(self, first: Scaled, second: Scaled) -> Scaled:
        """Return the sum of the weights of one value."""
        common = lcm(first.denominator, second.denominator)
        total: dict[int, int] = {}
        for part in (first, second):
            factor = common // part.denominator
            for entry, weight in part.numerators.items():
                total[entry] = total.get(entry, 0) + factor * weight
        return Scaled(_without_zeros(total), common)


class WeightsOfUnits(RationalWeights):
    """The same up to the gates before, whose units are written down."""

    def __init__(self, matrices: MatrixTable, pieces: Sequence[Sequence[int]], most: float) -> None:
        super().__init__(matrices, pieces, most)
        self.units: dict[int, list[int]] = {}

    def gate_back(self, stage: Stage, weights: Scaled) -> Scaled:
        """Return no weights: what units are computed from does not matter."""
        if weights.numerators:
            self.units[stage.index] = list(weights.numerators)
        return Scaled({}, 1)


class WeightsOfGates(RationalWeights):
    """The same with weights that are added to those of gates' inputs; the sums are written down, gate by gate."""

    def __init__(
        self, matrices: MatrixTable, pieces: Sequence[Sequence[int]], most: float, added: Sequence[Weights]
    ) -> None:
        super().__init__(matrices, pieces, most)
        self._added = added
        self.found: list[Weights] = [{} for _ in added]

    def gate_back(self, stage: Stage, weights: Scaled) -> Scaled:
        """Return the weights of the gate's input."""
        total = self.add(super().gate_back(stage, weights), Scaled.of(self._added[stage.index]))
        self.found[stage.index] = total.fractions()
        return total


def _without_zeros(weights: Mapping[int, int]) -> Mapping[int, int]:
    return {entry: weight for entry, weight in weights.items() if weight}

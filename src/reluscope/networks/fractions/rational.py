"""A network in rational arithmetic: the same graph, with its float64 constants taken as the numbers they are.

Values are vectors of integers over one common denominator. Every float64 is an integer times a power of two, so that
denominators grow by powers of two and no greatest common divisors are needed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import inf, lcm
from typing import Any, NamedTuple

from reluscope.networks.evaluation.linearize import gate_values
from reluscope.networks.fractions.rational_matrices import MatrixTable
from reluscope.networks.fractions.rational_weights import (
    RationalWeights,
    Scaled,
    Weights,
    WeightsOfGates,
    WeightsOfUnits,
    words_of,
)
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Affine, GateNode, Pointwise
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.carry_back import carry_back
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.stages import Stage

# By how much an affine map makes numbers longer: the bits of float64 weights, and of the powers of two between them.
BITS = 60


@dataclass(frozen=True)
class RationalVector:
    """The vector ``numerators / denominator``, with a positive denominator."""

    numerators: tuple[int, ...]
    denominator: int

    @classmethod
    def of(cls, entries: Sequence[Fraction]) -> "RationalVector":
        """Bring fractions to a common denominator."""
        denominator = lcm(1, *(entry.denominator for entry in entries))
        return cls(tuple(entry.numerator * (denominator // entry.denominator) for entry in entries), denominator)

    def __getitem__(self, index: int) -> Fraction:
        return Fraction(self.numerators[index], self.denominator)


class PulledBack(NamedTuple):
    """A function of the input: coefficients of entries, without those that are 0, the constant, and what it cost."""

    coefficients: Weights
    constant: Fraction
    cost: int


class Duals(NamedTuple):
    """Weights of what each gate sees in a function of the input, without those that are 0, and what they cost."""

    weights: list[Weights]
    cost: int


class UnitsRead(NamedTuple):
    """Units of each gate, and what it cost to find them."""

    units: dict[int, list[int]]
    cost: int


class Rationals:
    """Vectors of fractions: values without any rounding, of points or with every unit held to a piece.

    Without ``pieces``, units use those that the values have.
    """

    def __init__(self, matrices: MatrixTable, pieces: Sequence[Sequence[int]] | None = None) -> None:
        self._matrices, self.pieces = matrices, pieces

    def affine(self, node: Affine, inputs: Sequence[RationalVector]) -> RationalVector:
        """Return the node's value."""
        matrices, constant = self._matrices.of(node)
        denominators = [vector.denominator * matrix.scale for vector, matrix in zip(inputs, matrices, strict=True)]
        if constant is not None:
            denominators.append(constant[1])
        common = lcm(*denominators)
        total = [0] * node.size
        for vector, matrix, denominator in zip(inputs, matrices, denominators, strict=False):
            factor, entries = common // denominator, vector.numerators
            for row, terms in enumerate(matrix.rows):
                total[row] += factor * sum(weight * entries[column] for column, weight in terms)
        if constant is not None:
            factor = common // constant[1]
            total = [entry + factor * start for entry, start in zip(total, constant[0], strict=True)]
        return RationalVector(tuple(total), common)

    def arrive(self, stage: Stage, value: RationalVector) -> RationalVector:
        """Return the flattened value of the gate's input; candidates of max gates are found by their index."""
        del stage
        return value

    def leave(self, stage: Stage, arrived: RationalVector) -> RationalVector:
        """Return the gate's output."""
        pieces = _pieces_of(stage.gate, arrived) if self.pieces is None else self.pieces[stage.index]
        return _gate_held(stage.gate, arrived, pieces)


class RationalNetwork:
    """Evaluates a network exactly at rational points.

    One multiplication of integers of a few hundred bits per non-zero weight, some 10^6 per second.
    """

    def __init__(self, network: NetworkGraph) -> None:
        self.network = network
        self._matrices = MatrixTable()
        self._free = Rationals(self._matrices)
        # By point: pieces before each stage, what its gate sees, and the values known there.
        self._traces: dict[tuple[Fraction, ...], list[tuple[list, RationalVector, dict[int, RationalVector]]]] = {}

    def preactivations(self, stage: int, point: Sequence[Fraction]) -> RationalVector:
        """Return what the gate of a stage sees at a point: the flattened value of its input node.

        ``u`` entries for pointwise gates; for max gates the entries that the gate's index refers to.
        """
        return next(islice(carry(self.network, self._free, RationalVector.of(point)), stage, None))

    def all_preactivations(self, point: Sequence[Fraction]) -> list[RationalVector]:
        """Return what every gate sees at a point, in order of evaluation, in one pass."""
        return gate_values(self.network, self._free, RationalVector.of(point))

    def output(self, point: Sequence[Fraction]) -> RationalVector:
        """Return the flattened output at a point."""
        return carry_to_output(self.network, self._free, RationalVector.of(point))

    def pieces(self, point: Sequence[Fraction]) -> list[list[int]]:
        """Return the piece of every unit at a point, gate by gate: its code there, ties decided exactly."""
        seen = zip(self.network.stages, self.all_preactivations(point), strict=True)
        return [_pieces_of(stage.gate, value) for stage, value in seen]

    def pieces_beside(self, point: Sequence[Fraction], direction: Sequence[Fraction]) -> list[list[int]]:
        """Return the code at the points ``point + t direction`` for all small enough t > 0.

        There a gate sees ``a + t (b - a)`` with its values a at the point and b at ``point + direction``, earlier units
        held to their pieces: pairs ``(a, b)`` are compared in order.
        """
        found: list[list[int]] = []
        held = Rationals(self._matrices, found)
        stop = RationalVector.of([a + b for a, b in zip(point, direction, strict=True)])
        both = (carry(self.network, held, end) for end in (RationalVector.of(point), stop))
        for stage, (here, there) in zip(self.network.stages, zip(*both, strict=True), strict=False):
            found.append(_pieces_of_pairs(stage.gate, here, there))
        return found

    def held(self, pieces: Sequence[Sequence[int]], point: Sequence[Fraction]) -> list[RationalVector]:
        """Return what gates see, then the output, if every unit uses the given piece whatever its input.

        Affine in the point. Pieces of the first gates only give what the gate after them sees in place of the output.
        What is shared with the last code is kept for each point.
        """
        carrier = Rationals(self._matrices, pieces)
        values = {0: RationalVector.of(point)}
        seen = []
        trace = self._traces.setdefault(tuple(point), [])
        stages = self.network.stages
        for number, stage in enumerate(stages[: len(pieces)]):
            before = [list(earlier) for earlier in pieces[:number]]
            if number < len(trace) and trace[number][0] == before:
                value, values = trace[number][1], trace[number][2]
            else:
                value, values = stage.advance(values, carrier)
                trace[number:] = [(before, value, values)]
            values = stage.close(values, value, carrier)
            seen.append(value)
        if len(pieces) == len(stages):
            return [*seen, self.network.finish(values, carrier)]
        return [*seen, stages[len(pieces)].advance(values, carrier)[0]]

    def pull_back(
        self,
        pieces: Sequence[Sequence[int]],
        weights: Mapping[int, Fraction],
        *,
        stage: int | None = None,
        most: float = inf,
    ) -> PulledBack:
        """Return a weighted sum of outputs as a function of the input, if every unit uses the given piece.

        With ``stage`` the sum is of what its gate sees. Coefficients that are 0 are left out. Raises
        TooManyMultiplicationsError if ``most`` does not suffice. One backward pass.
        """
        carrier = RationalWeights(self._matrices, pieces, most)
        position = None if stage is None else self.network.stages[stage].leg.target
        found = carry_back(self.network, carrier, Scaled.of(weights), position)
        return PulledBack({} if found is None else found.fractions(), carrier.constant, carrier.cost)

    def duals(
        self, pieces: Sequence[Sequence[int]], weights: Weights, added: Sequence[Weights], *, most: float = inf
    ) -> Duals:
        """Return the weights of what gates see in a sum of outputs and of what gates see, for given pieces.

        ``added`` has the weights of what each gate sees. Raises TooManyMultiplicationsError if ``most`` does not
        suffice.
        """
        carrier = WeightsOfGates(self._matrices, pieces, most, added)
        carry_back(self.network, carrier, Scaled.of(weights))
        return Duals(carrier.found, carrier.cost)

    def units_read(self, weights: Mapping[int, Fraction], *, stage: int, most: float = inf) -> UnitsRead | None:
        """Return which units a weighted sum of a gate's inputs is computed from, whatever their pieces are.

        None if there is a constant in the sum, or the network's input itself. Raises TooManyMultiplicationsError if
        ``most`` does not suffice.
        """
        carrier = WeightsOfUnits(self._matrices, (), most)
        left = carry_back(self.network, carrier, Scaled.of(weights), self.network.stages[stage].leg.target)
        reads_more = (left is not None and left.numerators) or carrier.constant
        return None if reads_more else UnitsRead(carrier.units, carrier.cost)


def multiplications(network: NetworkGraph) -> int:
    """Return about how many multiplications one evaluation of a network takes, each as long as one of a few words.

    Every affine map that rounds makes numerators and denominators longer, by the bits of its weights.
    """
    total, depths = network.nodes[0].size, [0]
    for node in network.nodes[1:]:
        depth = max((depths[source] for source in node.inputs), default=0)
        total += node.products * words_of(BITS * depth)
        depths.append(depth + ("weight" in node.tensors()))
    return total


def _pieces(node: GateNode, rank: Callable[[int], Any], is_beyond: Callable[[int, float], bool]) -> list[int]:
    """Return the number of breakpoints strictly below each entry, or the lowest of the largest candidates.

    ``rank`` orders entries, and ``is_beyond`` compares one with a breakpoint.
    """
    if isinstance(node, Max):
        ranked = (
            ((rank(entry), -place) for place, entry in enumerate(row) if entry >= 0) for row in node.index.tolist()
        )
        return [-max(candidates)[1] for candidates in ranked]
    assert isinstance(node, Pointwise)
    if isinstance(node, TopK):
        # Of equal members the lowest come first.
        pieces = [0] * node.num_units
        for group in node.groups.tolist():
            for unit in sorted(group, key=rank, reverse=True)[: node.k]:
                pieces[unit] = 1
        return pieces
    levels = node.breakpoints.expand(-1, node.num_units).T.tolist()
    return [sum(is_beyond(unit, level) for level in row) for unit, row in enumerate(levels)]


def _pieces_of(node: GateNode, value: RationalVector) -> list[int]:
    """Return the pieces of the entries of a value."""
    return _pieces(node, value.numerators.__getitem__, lambda unit, level: _beyond(value, unit, level) > 0)


def _pieces_of_pairs(node: GateNode, start: RationalVector, stop: RationalVector) -> list[int]:
    """Return the pieces of entries that go from ``start`` towards ``stop``, just after the start."""
    return _pieces(
        node,
        lambda entry: (start.numerators[entry], stop.numerators[entry]),
        lambda unit, level: (_beyond(start, unit, level), _beyond(stop, unit, level)) > (0, 0),
    )


def _beyond(value: RationalVector, unit: int, level: float) -> int:
    """Return a number with the sign of an entry minus a float: fractions would look for a common divisor."""
    over, under = level.as_integer_ratio()
    return value.numerators[unit] * under - over * value.denominator


def _gate_held(node: GateNode, value: RationalVector, pieces: Sequence[int]) -> RationalVector:
    if isinstance(node, Max):
        table = node.index.tolist()
        chosen = tuple(value.numerators[row[piece]] for row, piece in zip(table, pieces, strict=True))
        return RationalVector(chosen, value.denominator)
    assert isinstance(node, Pointwise)
    slopes, intercepts = (table.expand(-1, node.num_units).T.tolist() for table in (node.slopes, node.intercepts))
    if all(row[piece] in (0.0, 1.0) for row, piece in zip(slopes, pieces, strict=True)) and not node.intercepts.any():
        # ReLU and its like need no new denominator.
        kept = (n if row[piece] else 0 for n, row, piece in zip(value.numerators, slopes, pieces, strict=True))
        return RationalVector(tuple(kept), value.denominator)
    return RationalVector.of(
        [
            Fraction(slopes[unit][piece]) * value[unit] + Fraction(intercepts[unit][piece])
            for unit, piece in enumerate(pieces)
        ]
    )

"""A network in rational arithmetic: the same graph, with its float64 constants taken as the numbers they are.

Values are vectors of integers over one common denominator. Every float64 is an integer times a power of two, so that
denominators grow by powers of two and no greatest common divisors are needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from reluscope.networks.graph import Affine, GateNode, Max, Pointwise
from reluscope.networks.network import Network


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


@dataclass(frozen=True)
class _Matrix:
    """A sparse matrix of floats as integers over a power of two, row by row."""

    rows: tuple[tuple[tuple[int, int], ...], ...]
    scale: int


class RationalNetwork:
    """Evaluates a network exactly at rational points.

    Parameters
    ----------
    network : Network

    Notes
    -----
    Cost: one multiplication of integers of a few hundred bits per non-zero weight, some 10^6 per second.

    Examples
    --------
    >>> import numpy as np
    >>> from reluscope.networks.from_arrays import from_arrays
    >>> net = RationalNetwork(from_arrays([(np.array([[3.0]]), np.array([0.5])), (np.ones((1, 1)), np.zeros(1))]))
    >>> net.preactivations(0, [Fraction(1, 3)])[0]
    Fraction(3, 2)
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._matrices: dict[int, list[_Matrix]] = {}
        self._constants: dict[int, tuple[tuple[int, ...], int] | None] = {}
        # By point: pieces before each stage, what its gate sees, and the values known there.
        self._traces: dict[tuple[Fraction, ...], list[tuple[list, RationalVector, dict[int, RationalVector]]]] = {}

    def preactivations(self, stage: int, point: Sequence[Fraction]) -> RationalVector:
        """Return what the gate of a stage sees at a point: the flattened value of its input node.

        Parameters
        ----------
        stage : int
            Position of the gate.
        point : n fractions

        Returns
        -------
        RationalVector
            ``u`` entries for pointwise gates; for max gates the entries that the gate's index refers to.
        """
        gate = self.network.stages[stage].gate
        values = {0: RationalVector.of(point)}
        return self._value(gate.inputs[0], values)

    def all_preactivations(self, point: Sequence[Fraction]) -> list[RationalVector]:
        """Return what every gate sees at a point, in order of evaluation, in one pass."""
        values = {0: RationalVector.of(point)}
        return [self._value(stage.gate.inputs[0], values) for stage in self.network.stages]

    def output(self, point: Sequence[Fraction]) -> RationalVector:
        """Return the flattened output at a point."""
        return self._value(self.network.output, {0: RationalVector.of(point)})

    def pieces(self, point: Sequence[Fraction]) -> list[list[int]]:
        """Return the piece of every unit at a point, gate by gate: its code there, ties decided exactly."""
        seen = zip(self.network.stages, self.all_preactivations(point), strict=True)
        return [_pieces(stage.gate, value) for stage, value in seen]

    def pieces_beside(self, point: Sequence[Fraction], direction: Sequence[Fraction]) -> list[list[int]]:
        """Return the code at the points ``point + t direction`` for all small enough t > 0.

        Parameters
        ----------
        point, direction : n fractions

        Notes
        -----
        What a gate sees there is ``a + t (b - a)`` with its values a at the point and b at ``point + direction``, every
        earlier unit held to its piece: the order of two such numbers is that of their pairs ``(a, b)``.
        """
        starts = {0: RationalVector.of(point)}
        stops = {0: RationalVector.of([a + b for a, b in zip(point, direction, strict=True)])}
        found = []
        for stage in self.network.stages:
            start, stop = (self._value(stage.gate.inputs[0], values) for values in (starts, stops))
            pieces = _pieces_of_pairs(stage.gate, start, stop)
            for values, seen in ((starts, start), (stops, stop)):
                values[stage.position] = _gate_held(stage.gate, seen, pieces)
            found.append(pieces)
        return found

    def held(self, pieces: Sequence[Sequence[int]], point: Sequence[Fraction]) -> list[RationalVector]:
        """Return what gates see, then the output, if every unit uses the given piece whatever its input.

        Parameters
        ----------
        pieces : one sequence of u integers per gate
            Of the first gates at least.
        point : n fractions

        Returns
        -------
        list of RationalVector
            What each of these gates sees, then the output; of the first gates only, what the gate after them sees.
            Affine in the point.

        Notes
        -----
        For few points and many codes: what the last code had in common with this one, from the first gate on, is kept
        for each point.
        """
        values = {0: RationalVector.of(point)}
        seen = []
        trace = self._traces.setdefault(tuple(point), [])
        stages = self.network.stages
        for number, (stage, held) in enumerate(zip(stages, pieces, strict=False)):
            before = [list(earlier) for earlier in pieces[:number]]
            if number < len(trace) and trace[number][0] == before:
                value, values = trace[number][1], dict(trace[number][2])
            else:
                value = self._value(stage.gate.inputs[0], values)
                trace[number:] = [(before, value, dict(values))]
            values[stage.position] = _gate_held(stage.gate, value, held)
            seen.append(value)
        is_whole = len(pieces) == len(stages)
        target = self.network.output if is_whole else stages[len(pieces)].gate.inputs[0]
        return [*seen, self._value(target, values)]

    def pull_back(
        self, pieces: Sequence[Sequence[int]], weights: Mapping[int, Fraction]
    ) -> tuple[dict[int, Fraction], Fraction]:
        """Return a weighted sum of outputs as a function of the input, if every unit uses the given piece.

        Parameters
        ----------
        pieces : one sequence of u integers per gate
        weights : mapping of entries of the flattened output to fractions

        Returns
        -------
        coefficients : mapping of entries of the input to fractions
            Without those that are 0.
        constant : Fraction

        Notes
        -----
        One pass backwards, over what the sum depends on: of two outputs with the same weights nothing is left at once.
        """
        held = {stage.position: part for stage, part in zip(self.network.stages, pieces, strict=True)}
        found: dict[int, dict[int, Fraction]] = {self.network.output: dict(weights)}
        constant = Fraction(0)
        for position in range(self.network.output, 0, -1):
            row = {entry: weight for entry, weight in found.pop(position, {}).items() if weight}
            if not row:
                continue
            node = self.network.nodes[position]
            if isinstance(node, Affine):
                matrices, shift = self._coefficients(position, node)
                if shift is not None:
                    constant += sum((weight * shift[0][entry] for entry, weight in row.items()), Fraction(0)) / shift[1]
                for source, matrix in zip(node.inputs, matrices, strict=True):
                    below = found.setdefault(source, {})
                    for entry, weight in row.items():
                        for column, factor in matrix.rows[entry]:
                            below[column] = below.get(column, Fraction(0)) + weight * Fraction(factor, matrix.scale)
                continue
            assert isinstance(node, GateNode)
            below = found.setdefault(node.inputs[0], {})
            for unit, weight in row.items():
                piece = held[position][unit]
                if isinstance(node, Max):
                    entry, slope = int(node.index[unit, piece]), Fraction(1)
                else:
                    assert isinstance(node, Pointwise)
                    slopes, intercepts = (table.expand(-1, node.num_units) for table in (node.slopes, node.intercepts))
                    entry, slope = unit, Fraction(float(slopes[piece, unit]))
                    constant += weight * Fraction(float(intercepts[piece, unit]))
                below[entry] = below.get(entry, Fraction(0)) + weight * slope
        return {entry: weight for entry, weight in found.get(0, {}).items() if weight}, constant

    def _value(self, target: int, values: dict[int, RationalVector]) -> RationalVector:
        # An explicit stack: graphs may be deeper than Python's recursion.
        stack = [target]
        while stack:
            position = stack[-1]
            if position in values:
                stack.pop()
                continue
            node = self.network.nodes[position]
            missing = [source for source in node.inputs if source not in values]
            if missing:
                stack.extend(missing)
                continue
            inputs = [values[source] for source in node.inputs]
            if isinstance(node, Affine):
                values[position] = self._affine(position, node, inputs)
            else:
                assert isinstance(node, GateNode)
                values[position] = _gate(node, inputs[0])
        return values[target]

    def _coefficients(self, position: int, node: Affine) -> tuple[list[_Matrix], tuple[tuple[int, ...], int] | None]:
        if position not in self._matrices:
            self._matrices[position] = [_integer_matrix(matrix) for matrix in node.matrix()]
            constant = node.constant
            full = None if constant is None else np.broadcast_to(constant.cpu().numpy(), node.shape).reshape(-1)
            self._constants[position] = None if full is None else _integers(full)
        return self._matrices[position], self._constants[position]

    def _affine(self, position: int, node: Affine, inputs: list[RationalVector]) -> RationalVector:
        matrices, constant = self._coefficients(position, node)
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


def _integers(floats: np.ndarray) -> tuple[tuple[int, ...], int]:
    """Return floats as integers over one power of two."""
    ratios = [float(entry).as_integer_ratio() for entry in floats]
    scale = max((denominator for _, denominator in ratios), default=1)
    return tuple(numerator * (scale // denominator) for numerator, denominator in ratios), scale


def _integer_matrix(matrix) -> _Matrix:
    entries, scale = _integers(matrix.data)
    rows = []
    for row in range(matrix.shape[0]):
        first, last = int(matrix.indptr[row]), int(matrix.indptr[row + 1])
        rows.append(tuple(zip(matrix.indices[first:last].tolist(), entries[first:last], strict=True)))
    return _Matrix(tuple(rows), scale)


def _gate(node: GateNode, value: RationalVector) -> RationalVector:
    return _gate_held(node, value, _pieces(node, value))


def _pieces(node: GateNode, value: RationalVector) -> list[int]:
    """Return the number of breakpoints strictly below each entry, or the lowest of the largest candidates."""
    if isinstance(node, Max):
        pieces = []
        for row in node.index.tolist():
            candidates = [(value.numerators[entry], -place) for place, entry in enumerate(row) if entry >= 0]
            pieces.append(-max(candidates)[1])
        return pieces
    assert isinstance(node, Pointwise)
    levels = node.breakpoints.expand(-1, node.num_units).T.tolist()
    return [sum(Fraction(level) < value[unit] for level in row) for unit, row in enumerate(levels)]


def _pieces_of_pairs(node: GateNode, start: RationalVector, stop: RationalVector) -> list[int]:
    """Return the pieces of entries that go from ``start`` towards ``stop``, just after the start."""
    if isinstance(node, Max):
        pieces = []
        for row in node.index.tolist():
            candidates = [
                ((start.numerators[entry], stop.numerators[entry]), -place)
                for place, entry in enumerate(row)
                if entry >= 0
            ]
            pieces.append(-max(candidates)[1])
        return pieces
    assert isinstance(node, Pointwise)
    levels = node.breakpoints.expand(-1, node.num_units).T.tolist()
    pairs = [(start[unit], stop[unit]) for unit in range(node.num_units)]
    return [sum((level, level) < pair for level in row) for pair, row in zip(pairs, levels, strict=True)]


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

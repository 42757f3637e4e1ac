"""A network in whole numbers, with every unit held to a piece: what must hold where a code is right.

Every float64 is a whole number over a power of two, so the affine functions on a region are kept as whole numbers over
one common number: a value is ``(functions, scale)``, for each entry d coefficients and a constant. For the checker of
certificates alone, which shares no code with what makes them.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, Pointwise

if TYPE_CHECKING:
    from reluscope.networks.network import Network

Code = tuple[tuple[int, ...], ...]
Rows = tuple[list[list[tuple[int, int]]], int]
Value = tuple[list[list[int]], int]


class UnitConditions:
    """The conditions that a network's units must satisfy where they use given pieces.

    `lift` is the origin and basis of a slice as points of n fractions; empty for a domain in input space.
    """

    def __init__(self, network: "Network", lift: tuple[tuple[Fraction, ...], ...], dim: int) -> None:
        self._nodes, self._dim = network.nodes, dim
        affine = [(position, node) for position, node in enumerate(network.nodes) if isinstance(node, Affine)]
        self._matrices = {position: [_whole_rows(_rows(m)) for m in node.matrix()] for position, node in affine}
        self._tables = {
            position: _pieces(n) for position, n in enumerate(network.nodes) if isinstance(n, Max | Pointwise)
        }
        start: Value = [[int(row == column) for column in range(dim + 1)] for row in range(dim)], 1
        if lift:
            rows = [list(enumerate(column)) for column in zip(*lift[1:], strict=True)]
            start = self._run([_whole_rows(rows)], [start], lift[0])
        self._fixed = {0: start}
        for position, node in affine:
            if self._fixed.keys() >= {*node.inputs}:
                self._fixed[position] = self._affine(position, node, self._fixed)

    def fit(self, code: Code) -> bool:
        """Whether a code has a piece for every unit."""
        return [*map(len, code)] == [*map(len, self._tables.values())] and all(
            piece in range(len(row)) and row[piece] != -1
            for pieces, table in zip(code, self._tables.values(), strict=True)
            for piece, row in zip(pieces, table, strict=True)
        )

    def conditions(self, code: Code) -> Iterator[tuple[str, list[int], bool]]:
        """Yield a name, a function that must not be negative, and whether it must not be zero throughout either."""
        values, gates = {**self._fixed}, iter(code)
        for position, node in enumerate(self._nodes[1:], start=1):
            if isinstance(node, Affine):
                values[position] = self._fixed.get(position) or self._affine(position, node, values)
                continue
            (functions, scale), rows, constant = values[node.inputs[0]], [], []
            for unit, (piece, table) in enumerate(zip(next(gates), self._tables[position], strict=True)):
                name = f"unit {unit} of {node.name}"
                if isinstance(node, Max):
                    for place, entry in enumerate(table):
                        if entry >= 0 and place != piece:
                            pair = zip(functions[table[piece]], functions[entry], strict=True)
                            yield name, [best - other for best, other in pair], place < piece
                    rows.append([(table[piece], 1)])
                    constant.append(0)
                else:
                    low, high, slope, intercept = table[piece]
                    if low is not None:
                        yield name, _minus(functions[unit], scale, low), True
                    if high is not None:
                        yield name, [-entry for entry in _minus(functions[unit], scale, high)], False
                    rows.append([(unit, slope)])
                    constant.append(intercept)
            values[position] = self._run([_whole_rows(rows)], [(functions, scale)], constant)

    def _affine(self, position: int, node: Affine, values: dict[int, Value]) -> Value:
        constant = node.constant.broadcast_to(node.shape).flatten().tolist() if node.constant is not None else None
        inputs = [values[source] for source in node.inputs]
        return self._run(self._matrices[position], inputs, constant or [0] * node.size)

    def _run(self, matrices: list[Rows], inputs: list[Value], constant: Iterable[Any]) -> Value:
        """Return the sum of matrices times values and a constant."""
        shift, below = whole(constant)
        pairs = list(zip(matrices, inputs, strict=True))
        scale = lcm(below, *(one * other for (_, one), (_, other) in pairs))
        total = [[0] * self._dim + [entry * (scale // below)] for entry in shift]
        for (rows, one), (functions, other) in pairs:
            for sums, row in zip(total, rows, strict=True):
                for column, weight in row:
                    factor = weight * (scale // (one * other))
                    for place, entry in enumerate(functions[column]):
                        sums[place] += factor * entry
        return total, scale


def whole(entries: Iterable[Any]) -> tuple[list[int], int]:
    """Return exact numbers as whole numbers over one positive number."""
    exact = [Fraction(entry) for entry in entries]
    scale = lcm(1, *(entry.denominator for entry in exact))
    return [entry.numerator * (scale // entry.denominator) for entry in exact], scale


def _pieces(node: Any) -> list[list[Any]]:
    """Return for every unit of a gate its candidates, or the bounds, slope and intercept of its pieces."""
    if isinstance(node, Max):
        return node.index.tolist()
    assert isinstance(node, Pointwise)
    levels, *lines = (t.expand(-1, node.size).T.tolist() for t in (node.breakpoints, node.slopes, node.intercepts))
    return [
        list(zip([None, *steps], [*steps, None], *line, strict=True))
        for steps, *line in zip(levels, *lines, strict=True)
    ]


def _minus(function: list[int], scale: int, level: float) -> list[int]:
    """Return a positive multiple of a function less a number."""
    numerator, denominator = level.as_integer_ratio()
    *slope, constant = (denominator * entry for entry in function)
    return [*slope, constant - numerator * scale]


def _rows(matrix: Any) -> list[list[tuple[int, float]]]:
    """Return the rows of a sparse matrix as columns with entries."""
    bounds = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [list(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True)) for a, b in bounds]


def _whole_rows(rows: list[list[tuple[int, Any]]]) -> Rows:
    """Return rows with whole numbers for entries, and the number that these are over."""
    entries, scale = whole(entry for row in rows for _, entry in row)
    numbers = iter(entries)
    return [[(column, next(numbers)) for column, _ in row] for row in rows], scale

"""Matrices and constants of affine nodes as integers over powers of two, which every float64 is."""

from dataclasses import dataclass

import numpy as np

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, GateNode, Pointwise


@dataclass(frozen=True)
class IntegerMatrix:
    """A sparse matrix of floats as integers over a power of two, row by row."""

    rows: tuple[tuple[tuple[int, int], ...], ...]
    scale: int


class MatrixTable:
    """Matrices and constants of affine nodes as integers, made once for each node."""

    def __init__(self) -> None:
        self._tables: dict[GateNode, tuple[list, list]] = {}
        self._known: dict[Affine, tuple[list[IntegerMatrix], tuple[tuple[int, ...], int] | None]] = {}

    def of(self, node: Affine) -> tuple[list[IntegerMatrix], tuple[tuple[int, ...], int] | None]:
        """Return one matrix for each input of a node, and its constant as numerators over one denominator."""
        if node not in self._known:
            constant = node.constant
            full = None if constant is None else np.broadcast_to(constant.cpu().numpy(), node.shape).reshape(-1)
            matrices = [_integer_matrix(matrix) for matrix in node.matrix()]
            self._known[node] = matrices, None if full is None else _integers(full)
        return self._known[node]

    def of_gate(self, gate: Max | Pointwise) -> tuple[list, list]:
        """Return slopes and intercepts by piece and unit; of a max gate the entries by unit and piece, and nothing."""
        if gate not in self._tables:
            if isinstance(gate, Max):
                self._tables[gate] = gate.index.tolist(), []
            else:
                slopes, intercepts = (table.expand(-1, gate.num_units) for table in (gate.slopes, gate.intercepts))
                self._tables[gate] = slopes.tolist(), intercepts.tolist()
        return self._tables[gate]


def _integers(floats: np.ndarray) -> tuple[tuple[int, ...], int]:
    """Return floats as integers over one power of two."""
    ratios = [float(entry).as_integer_ratio() for entry in floats]
    scale = max((denominator for _, denominator in ratios), default=1)
    return tuple(numerator * (scale // denominator) for numerator, denominator in ratios), scale


def _integer_matrix(matrix) -> IntegerMatrix:
    entries, scale = _integers(matrix.data)
    rows = []
    for row in range(matrix.shape[0]):
        first, last = int(matrix.indptr[row]), int(matrix.indptr[row + 1])
        rows.append(tuple(zip(matrix.indices[first:last].tolist(), entries[first:last], strict=True)))
    return IntegerMatrix(tuple(rows), scale)

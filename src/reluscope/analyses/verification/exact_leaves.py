"""Small sets of regions, decided in rational arithmetic: unsafe outputs are reached at an input of one, or of none.

What bounds leave open where outputs come within rounding of a row, or meet it with equality alone, is decided here. On
a box few units may change their piece; each of them cuts it into parts, and on a part where all have one the network
is affine, so that unsafe outputs are rows of the input. That a part with them has no point is proved by the simplex
method in whole numbers.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Integer

from reluscope.analyses.verification.verdict import holds_at
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_cell import RationalCell
from reluscope.geometry.programs.rational_program import Form, Point, negative, whole_form
from reluscope.networks.fractions.rational import PulledBack, RationalNetwork, multiplications
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network

# A leaf has so many codes at most, and takes so many multiplications.
MAX_CODES, MAX_MULTIPLICATIONS = 64, 300_000
# A range that comes as near to a breakpoint as this share of its ends counts as beyond it, or as near as this.
NEAR, NEAREST = 1e-9, 1e-200


class UnitRanges(NamedTuple):
    """What units see on a box, rounding included, gate by gate, and the pieces that they are held to."""

    low: list[Float[np.ndarray, " _"]]
    high: list[Float[np.ndarray, " _"]]
    first: list[Integer[np.ndarray, " _"]] | None = None
    last: list[Integer[np.ndarray, " _"]] | None = None


class Reached(NamedTuple):
    """An input whose outputs are unsafe: which of the polyhedra they are in, and the outputs."""

    number: int
    point: Point
    outputs: tuple[Fraction, ...]


class ExactLeaves:
    """Decides in rational arithmetic whether inputs of boxes reach unsafe outputs of one network.

    The network has pointwise gates without jumps; of other networks only single points are decided. Before each call
    the caller sets ``allowed``, how many multiplications may be made.
    """

    def __init__(self, network: Network) -> None:
        self._network, self.allowed = network, 0
        gates = [stage.gate for stage in network.stages]
        self._is_suited = all(isinstance(gate, Pointwise) and gate.is_continuous for gate in gates)
        self._pass = multiplications(network)
        self._levels = [
            gate.breakpoints.expand(-1, gate.num_units).cpu().numpy() for gate in gates if isinstance(gate, Pointwise)
        ]

    @cached_property
    def _rational(self) -> RationalNetwork:
        return RationalNetwork(self._network)

    def decide(
        self,
        lower: Float[np.ndarray, " n"],
        upper: Float[np.ndarray, " n"],
        ranges: UnitRanges,
        unsafe: Sequence[Polyhedron],
        *,
        is_last: bool = False,
    ) -> Reached | tuple[()] | None:
        """Return an input of a box that reaches unsafe outputs, () if provably none does, None if undecided.

        Undecided are leaves with too many codes, or that take more multiplications than are left. With `is_last` it
        makes as many as a leaf may take. Each part costs a row carried back and a small linear program.
        """
        before = self.allowed
        given = MAX_MULTIPLICATIONS if is_last else min(before, MAX_MULTIPLICATIONS)
        if (lower == upper).all() and self._pass <= given:
            self.allowed -= self._pass
            return self._at_point(lower, unsafe)
        if not self._is_suited:
            return None
        pieces, opened = self._opened(ranges)
        number = np.prod([float(last - first + 1) for _, _, first, last in opened])
        dim = len(lower)
        least = (len(opened) + len(unsafe)) * (self._pass + cost_of_cut(2 * dim + len(opened), dim))
        if number > MAX_CODES or least > given:
            return None
        self.allowed = given
        try:
            for cell, code in self._parts(box_cell(lower, upper), pieces, opened):
                for place, one in enumerate(unsafe):
                    if (inside := self._within(cell, code, one)) is not None:
                        outputs = self._rational.output(inside.point)
                        values = tuple(outputs[entry] for entry in range(self._network.num_outputs))
                        # Pieces whose constants are rounded may meet in float64 and not in fractions.
                        if not holds_at(one, values):
                            return None
                        return Reached(place, inside.point, values)
        except TooManyMultiplicationsError:
            return None
        finally:
            self.allowed += before - given
        return ()

    def _at_point(self, point: np.ndarray, unsafe: Sequence[Polyhedron]) -> Reached | tuple[()]:
        exact = tuple(Fraction(entry) for entry in point.tolist())
        outputs = self._rational.output(exact)
        values = tuple(outputs[entry] for entry in range(self._network.num_outputs))
        found = (Reached(place, exact, values) for place, one in enumerate(unsafe) if holds_at(one, values))
        return next(found, ())

    def _opened(self, ranges: UnitRanges) -> tuple[list[list[int]], list[tuple[int, int, int, int]]]:
        """Return the first piece of every unit, and the units on whose breakpoints ranges lie: their pieces."""
        pieces, opened = [], []
        for gate, (levels, low, high) in enumerate(zip(self._levels, ranges.low, ranges.high, strict=True)):
            away = NEAR * np.maximum(np.abs(low), np.abs(high)) + NEAREST
            first, last = (levels < low - away).sum(axis=0), (levels <= high + away).sum(axis=0)
            crossing = np.flatnonzero(last > first)
            if ranges.first is not None and ranges.last is not None:
                first, last = np.maximum(first, ranges.first[gate]), np.minimum(last, ranges.last[gate])
            pieces.append(first.tolist())
            opened += [(gate, unit, int(first[unit]), int(last[unit])) for unit in crossing.tolist()]
        return pieces, opened

    def _parts(
        self, whole: RationalCell, pieces: list[list[int]], opened: list[tuple[int, int, int, int]]
    ) -> Iterator[tuple[RationalCell, list[list[int]]]]:
        """Yield the parts of a box on which every unit has one piece, with the pieces."""
        waiting: list[tuple[RationalCell, tuple[int, ...]]] = [(whole, ())]
        while waiting:
            cell, chosen = waiting.pop()
            code = [list(row) for row in pieces]
            for (gate, unit, _, _), piece in zip(opened, chosen, strict=False):
                code[gate][unit] = piece
            if len(chosen) == len(opened):
                yield cell, code
                continue
            gate, unit, first, last = opened[len(chosen)]
            levels = [Fraction(level) for level in self._levels[gate][:, unit].tolist()]
            seen = self._pulled(code, {unit: Fraction(1)}, stage=gate)
            for piece in range(first, last + 1):
                part: RationalCell | None = cell
                if piece > 0:
                    part = self._cut(part, seen, -levels[piece - 1])
                if part is not None and piece < len(levels):
                    part = self._cut(part, _minus(seen), levels[piece])
                if part is not None:
                    waiting.append((part, (*chosen, piece)))

    def _within(self, cell: RationalCell, code: list[list[int]], unsafe: Polyhedron) -> RationalCell | None:
        """Return where outputs are unsafe, None if nowhere."""
        sides = [*zip(unsafe.A, unsafe.b, strict=True), *zip(unsafe.C, unsafe.d, strict=True)]
        sides += [(-row, -end) for row, end in zip(unsafe.C, unsafe.d, strict=True)]
        part: RationalCell | None = cell
        for row, end in sides:
            weights = {place: Fraction(entry) for place, entry in enumerate(row.tolist()) if entry}
            part = self._cut(part, _minus(self._pulled(code, weights)), Fraction(float(end)))
            if part is None:
                return None
        return part

    def _pulled(self, code: list[list[int]], weights: dict[int, Fraction], stage: int | None = None) -> PulledBack:
        """Return a function of outputs, or of what a gate sees, as one of the input."""
        if self.allowed <= 0:
            raise TooManyMultiplicationsError
        found = self._rational.pull_back(code, weights, stage=stage, most=self.allowed)
        self.allowed -= found.cost
        return found

    def _cut(self, cell: RationalCell, seen: PulledBack, shift: Fraction) -> RationalCell | None:
        """Return where a function plus a constant is not negative, None if nowhere."""
        entries = [seen.coefficients.get(axis, Fraction(0)) for axis in range(cell.dim)]
        form = whole_form([*entries, seen.constant + shift])
        self.allowed -= cost_of_cut(len(cell.weak), cell.dim)
        return cell.where_weak(form)


def cost_of_cut(num_rows: int, dim: int) -> int:
    """Return what a few steps of the simplex method take."""
    return 4 * num_rows * (dim + 1)


def box_cell(lower: np.ndarray, upper: np.ndarray) -> RationalCell:
    """Return a box, whose sides come first among its conditions."""
    rows: list[Form] = []
    for axis, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        blank = [Fraction(0)] * len(lower)
        blank[axis] = Fraction(1)
        rows.append(whole_form([*blank, -Fraction(low)]))
        rows.append(negative(whole_form([*blank, -Fraction(high)])))
    middle = [(Fraction(low) + Fraction(high)) / 2 for low, high in zip(lower.tolist(), upper.tolist(), strict=True)]
    return RationalCell(tuple(rows), (), tuple(middle))


def _minus(seen: PulledBack) -> PulledBack:
    return PulledBack({axis: -entry for axis, entry in seen.coefficients.items()}, -seen.constant, seen.cost)

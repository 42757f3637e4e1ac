"""Exact proofs of small sets of regions: each half of a split set is entered, or is empty by Farkas' lemma.

Where outputs miss unsafe ones by less than rounding no bound in float64 proves it. On a set in which every unit is held
to a piece, what units see is an affine function of the input, and so are outputs. If no input fulfils all conditions,
some nonnegative multipliers add them up to a negative constant. Those multipliers, as whole numbers, carried back
through the network, are duals that `reluscope.checking.dual_bounds` takes.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.exact_leaves import (
    MAX_CODES,
    MAX_MULTIPLICATIONS,
    ExactLeaves,
    Reached,
    UnitRanges,
    box_cell,
    cost_of_cut,
)
from reluscope.analyses.verification.verdict import holds_at
from reluscope.checking.proofs import SetNode
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_cell import RationalCell
from reluscope.geometry.programs.rational_program import CONSTANT, contradiction, whole_form
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError

Tree = dict[str, SetNode]
# The place of outputs among gates.
OUTPUTS = -1
NO_ROWS = np.zeros((0, 0))


class _Row(NamedTuple):
    """A condition ``sign * value + constant >= 0``, for a unit of a gate or a row of unsafe outputs."""

    gate: int
    unit: int
    sign: int
    entries: list[Fraction]  # coefficients and constant, as a function of the input


class _Set(NamedTuple):
    """Regions of a box: their path, the inputs, the conditions that cut them out, and the pieces of units."""

    path: str
    cell: RationalCell
    rows: tuple[_Row, ...]
    code: list[list[int]]


class _Unit(NamedTuple):
    """A unit, the pieces that it may have, and whether conditions below and above hold it to them."""

    gate: int
    unit: int
    first: int
    last: int
    is_cut_below: bool
    is_cut_above: bool


class ExactProofs(ExactLeaves):
    """Proves that no input of a box has unsafe outputs, or finds one, in rational arithmetic.

    The network has pointwise gates without jumps.
    """

    def prove(
        self,
        lower: Float[np.ndarray, " n"],
        upper: Float[np.ndarray, " n"],
        unsafe: Sequence[Polyhedron],
        ranges: UnitRanges | None = None,
        *,
        is_last: bool = False,
    ) -> tuple[Tree, ...] | Reached | None:
        """Return for each unsafe polyhedron a tree of sets that rules it out, or an input that reaches one.

        None if there are too many codes, or more multiplications than are left. `ranges` are the units' bounds that the
        same proof shows, with the pieces they are held to; `is_last` allows all multiplications of a leaf.
        """
        before = self.allowed
        given = MAX_MULTIPLICATIONS if is_last else min(before, MAX_MULTIPLICATIONS)
        units = self._units(ranges)
        if (len(units) + len(unsafe)) * self._pass > given:
            return None
        self.allowed = given
        try:
            return self._proved(lower, upper, unsafe, units)
        except TooManyMultiplicationsError:
            return None
        finally:
            self.allowed += before - given

    def _units(self, ranges: UnitRanges | None) -> list[_Unit]:
        """Return the units whose pieces are not known, in the order in which values pass them."""
        units = []
        for gate, levels in enumerate(self._levels):
            first = np.zeros(levels.shape[1], dtype=np.int64)
            last = first + len(levels)
            if ranges is not None:
                first, last = (levels <= ranges.low[gate]).sum(axis=0), (levels < ranges.high[gate]).sum(axis=0)
                last = np.maximum(first, last)
            low, high = first, last
            if ranges is not None and ranges.first is not None and ranges.last is not None:
                first, last = np.maximum(first, ranges.first[gate]), np.minimum(last, ranges.last[gate])
            units += [
                _Unit(
                    gate,
                    unit,
                    int(first[unit]),
                    int(last[unit]),
                    bool(first[unit] > low[unit]),
                    bool(last[unit] < high[unit]),
                )
                for unit in range(len(first))
            ]
        return units

    def _proved(
        self, lower: np.ndarray, upper: np.ndarray, unsafe: Sequence[Polyhedron], units: list[_Unit]
    ) -> tuple[Tree, ...] | Reached | None:
        self._ends = [(Fraction(low), Fraction(high)) for low, high in zip(lower.tolist(), upper.tolist(), strict=True)]
        code = [[0] * levels.shape[1] for levels in self._levels]
        for one in units:
            code[one.gate][one.unit] = one.first
        common: Tree = {}
        trees: list[Tree] = [{} for _ in unsafe]
        waiting, number = [(_Set("", box_cell(lower, upper), (), code), 0)], 0
        while waiting:
            part, place = waiting.pop()
            if place < len(units):
                waiting += [(half, place + 1) for half in self._halves(part, units[place], common)]
                continue
            number += 1
            if number > MAX_CODES:
                return None
            for which, (one, tree) in enumerate(zip(unsafe, trees, strict=True)):
                found = self._ruled_out(part, one)
                if not isinstance(found, SetNode):
                    return self._reached(which, found, one)
                tree[part.path] = found
        return tuple(
            {**{path: _with_rows(node, one) for path, node in common.items()}, **tree}
            for one, tree in zip(unsafe, trees, strict=True)
        )

    def _reached(self, number: int, cell: RationalCell, unsafe: Polyhedron) -> Reached | None:
        outputs = self._rational.output(cell.point)
        values = tuple(outputs[entry] for entry in range(self._network.num_outputs))
        # Pieces whose constants are rounded may meet in float64 and not in fractions.
        return Reached(number, cell.point, values) if holds_at(unsafe, values) else None

    def _halves(self, part: _Set, unit: _Unit, tree: Tree) -> list[_Set]:
        """Return the parts of a set in which a unit has one piece, and write down how it was split."""
        gate, place, first, last, is_cut_below, is_cut_above = unit
        if first == last and not (is_cut_below or is_cut_above):
            return [part]
        levels = [Fraction(level) for level in self._levels[gate][:, place].tolist()]
        seen = self._pulled(part.code, {place: Fraction(1)}, stage=gate)
        entries = [seen.coefficients.get(axis, Fraction(0)) for axis in range(part.cell.dim)]

        def beyond(level: Fraction, sign: int) -> _Row:
            return _Row(gate, place, sign, [sign * entry for entry in [*entries, seen.constant - level]])

        held = [beyond(levels[first - 1], 1)] if is_cut_below else []
        if is_cut_above:
            held.append(beyond(levels[last], -1))
        for row in held:
            cut = self._where(part, row)
            if isinstance(cut, SetNode):
                tree[part.path] = cut
                return []
            part = cut
        halves = []
        for piece in range(first, last):
            path = part.path
            tree[path] = SetNode(gate, place, piece)
            below, above = (self._where(part, beyond(levels[piece], sign)) for sign in (-1, 1))
            # Of a half that is all of the set the condition says nothing.
            if isinstance(above, SetNode):
                tree[path + "1"] = above
                return [*halves, _held(part, path + "0", gate, place, piece)]
            if isinstance(below, SetNode):
                tree[path + "0"] = below
                above = part
            else:
                halves.append(_held(below, path + "0", gate, place, piece))
            part = above._replace(path=path + "1")
        return [*halves, _held(part, part.path, gate, place, last)]

    def _ruled_out(self, part: _Set, unsafe: Polyhedron) -> SetNode | RationalCell:
        """Return what rules unsafe outputs out in a set, or where they are reached."""
        A, b = unsafe.inequalities()
        for place, (row, end) in enumerate(zip(A, b.tolist(), strict=True)):
            weights = {entry: Fraction(factor) for entry, factor in enumerate(row.tolist()) if factor}
            seen = self._pulled(part.code, weights)
            entries = [-seen.coefficients.get(axis, Fraction(0)) for axis in range(part.cell.dim)]
            cut = self._where(part, _Row(OUTPUTS, place, 1, [*entries, Fraction(end) - seen.constant]), A)
            if isinstance(cut, SetNode):
                return cut
            part = cut
        return part.cell

    def _where(self, part: _Set, row: _Row, A: np.ndarray = NO_ROWS) -> _Set | SetNode:
        """Return where one more condition is fulfilled, or why that is nowhere."""
        self.allowed -= part.cell.dim
        products = (max(entry * low, entry * high) for entry, (low, high) in zip(row.entries, self._ends, strict=False))
        if sum(products, row.entries[-1]) < 0:
            return self._node(part.code, [(row, Fraction(1))], A)
        form = whole_form(row.entries)
        self.allowed -= cost_of_cut(len(part.cell.weak), part.cell.dim)
        cell = part.cell.where_weak(form)
        if cell is not None:
            return part._replace(cell=cell, rows=(*part.rows, row))
        num_sides = len(part.cell.weak) - len(part.rows)
        scales = [_scale(form, row), *(_scale(*one) for one in zip(part.cell.weak[num_sides:], part.rows, strict=True))]
        found = contradiction(form, part.cell.weak, part.cell.point)
        used = [(row, scales[0])]
        used += [
            (part.rows[one - num_sides], factor * scales[1 + one - num_sides])
            for one, factor in found.items()
            if one >= num_sides
        ]
        return self._node(part.code, used, A)

    def _node(self, code: list[list[int]], used: list[tuple[_Row, Fraction]], A: np.ndarray) -> SetNode:
        """Return the duals of conditions that contradict each other on the box, times these factors."""
        if self.allowed <= 0:
            raise TooManyMultiplicationsError
        mix: dict[int, Fraction] = {}
        added: list[dict[int, Fraction]] = [{} for _ in self._levels]
        for row, factor in used:
            own = mix if row.gate == OUTPUTS else added[row.gate]
            own[row.unit] = own.get(row.unit, Fraction(0)) + (factor if row.gate == OUTPUTS else -row.sign * factor)
        weights: dict[int, Fraction] = {}
        for place, factor in mix.items():
            for entry, number in enumerate(A[place].tolist()):
                weights[entry] = weights.get(entry, Fraction(0)) + factor * Fraction(number)
        duals, cost = self._rational.duals(code, weights, added, most=self.allowed)
        self.allowed -= cost
        scale = lcm(
            *(one.denominator for one in mix.values()),
            *(one.denominator for table in duals for one in table.values()),
        )
        multipliers = tuple(int(scale * mix.get(place, Fraction(0))) for place in range(len(A)))
        tables = zip(duals, self._levels, strict=True)
        return SetNode(
            multipliers=multipliers,
            duals=tuple(
                tuple(int(scale * table.get(unit, Fraction(0))) for unit in range(levels.shape[1]))
                for table, levels in tables
            ),
        )


def _scale(form: Mapping[int, int], row: _Row) -> Fraction:
    """Return how many times a condition its form in whole numbers is."""
    axis, number = next(iter(form.items()), (CONSTANT, 0))
    return number / row.entries[axis] if number else Fraction(1)


def _held(part: _Set, path: str, gate: int, unit: int, piece: int) -> _Set:
    """Return a set with a unit held to a piece."""
    own = part.code[gate].copy()
    own[unit] = piece
    return part._replace(path=path, code=[*part.code[:gate], own, *part.code[gate + 1 :]])


def _with_rows(node: SetNode, unsafe: Polyhedron) -> SetNode:
    """Return what shows that a set is empty, in the tree of unsafe outputs: none of their rows is needed."""
    return node._replace(multipliers=(0,) * (len(unsafe.b) + 2 * len(unsafe.d))) if node.duals else node

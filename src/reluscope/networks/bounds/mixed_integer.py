"""A network as rows of a mixed-integer program, whose solutions are the points of a bounded domain with their codes.

A unit with pre-activation g and breakpoint t gets ``g - t = h - hbar`` with ``0 <= h <= H z``, ``0 <= hbar <= Hbar (1 -
z)`` and z in {0, 1}, where ``-Hbar <= g - t <= H`` on the domain: z says on which side of t it is, and its output is a
linear function of the h. A unit that takes the largest of candidates g_c gets ``v = g_c + s_c`` with ``0 <= s_c <= S_c
(1 - z_c)``, where one z_c is 1. At ties several z fit. A margin f of at most every h with z = 1, and of at most every
s_c before the chosen candidate, is positive only where the z are the code: pieces change strictly above a breakpoint.

After Serra, Tjandraatmadja and Ramalingam (``serra2018``), who give this for ReLU.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int

from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.mixed_integer_program import MixedIntegerProgram
from reluscope.networks.bounds.program_bounds import (
    _Bounds,
    _by_entry,
    _contenders,
    _corners,
    _is_open,
    _meet,
    _Values,
    padded,
)
from reluscope.networks.bounds.ranges import unit_ranges
from reluscope.networks.evaluation.linearize import gate_values
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage
from reluscope.time_limits import if_in_time, is_overdue

# More than the rounding of a few operations.
RAISED = 1 + 2.0**-48


class _Choice(NamedTuple):
    """The pieces of one gate: ``base``, and ``step`` more at ``units`` where the binary ``columns`` are 1."""

    base: np.ndarray
    units: np.ndarray
    columns: np.ndarray
    steps: np.ndarray


@dataclass(frozen=True, eq=False)
class CodeProgram:
    """A mixed-integer program of the points of a domain and their codes.

    Different codes differ in the binaries; units that stay on one piece on the whole domain have none. Rows may be
    added to ``program``, such as cuts that forbid a code.
    """

    program: MixedIntegerProgram
    margin: int  # the column of f
    binaries: Int[np.ndarray, " z"]  # columns of all z
    corners: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]  # ends of a box around the domain
    _choices: tuple[_Choice, ...]

    def pieces(self, solution: Float[np.ndarray, " k"]) -> list[np.ndarray]:
        """Return the pieces (u,) of every gate in a solution."""
        found = []
        for choice in self._choices:
            pieces = choice.base.copy()
            np.add.at(pieces, choice.units, choice.steps * (solution[choice.columns] > 0.5))
            found.append(pieces)
        return found

    def forbid(self, solution: Float[np.ndarray, " k"]) -> None:
        """Add the cut that no code equals that of a solution: some z differs."""
        taken = solution[self.binaries] > 0.5
        self.program.add_row(self.binaries, np.where(taken, -1.0, 1.0), lower=1.0 - int(taken.sum()))


def encode(network: NetworkGraph, domain: Box | Polyhedron, *, least_margin: float = 1e-6) -> CodeProgram:
    """Return a network on a bounded domain as a mixed-integer program.

    With ``least_margin`` 0 bounds hold in real arithmetic for all points. One binary per breakpoint or candidate that
    intervals and the relaxation leave open, and two linear programs per unit that intervals leave open.
    """
    encoder = ProgramEncoder(network, domain, least_margin)
    gate_values(network, encoder, encoder.start)
    columns = [choice.columns for choice in encoder.choices]
    binaries = np.concatenate([*columns, np.empty(0, dtype=np.int64)])
    return CodeProgram(encoder.program, encoder.margin, binaries, encoder.corners, tuple(encoder.choices))


class ProgramEncoder:
    """Values of nodes as functions of the columns of a program that grows at every gate."""

    def __init__(self, network: NetworkGraph, domain: Box | Polyhedron, least_margin: float) -> None:
        self.program = MixedIntegerProgram()
        self.choices: list[_Choice] = []
        self.corners = _corners(domain)
        self.lower, self.upper = np.empty(0), np.empty(0)
        # The rows of the program, and their ends with what rounding may move them.
        self.tables: list[scipy.sparse.csr_array] = []
        self.sides: list[tuple[np.ndarray, np.ndarray]] = []
        # Rows that keep a column at 0 where a binary is 0 or 1: the row, the column, the binary, and which of the two.
        self.switches = np.empty((0, 4), dtype=np.int64)
        center, half = (self.corners[0] + self.corners[1]) / 2, (self.corners[1] - self.corners[0]) / 2
        size = len(center)
        self._columns(-np.ones(size), np.ones(size))
        error = ANY_ORDER * (np.abs(center) + half)
        self.start = _Values(scipy.sparse.csr_array(scipy.sparse.diags_array(half)), center, error)
        self._ranges = unit_ranges(network, *self.corners)
        self.margin = self._columns(np.array([least_margin]), np.ones(1))
        # Intervals are the whole truth about values that read the corners of a box only.
        self._is_box = isinstance(domain, Box)
        if isinstance(domain, Polyhedron):
            rows, offsets = domain.A * half, domain.b - domain.A @ center
            scale = np.abs(rows).sum(axis=1) + np.abs(offsets)
            scale += np.abs(domain.A) @ (np.abs(center) + half)
            scale[scale == 0] = 1.0
            self._rows(
                [], matrix=scipy.sparse.csr_array(rows / scale[:, None]), upper=offsets / scale, doubt=3 * ANY_ORDER
            )

    def affine(self, node: Affine, inputs: Sequence[_Values]) -> _Values:
        """Return the node's values, of matrices that are multiplied out."""
        matrices = node.matrix()
        constant = np.zeros(node.size)
        if node.constant is not None:
            constant = np.broadcast_to(node.constant.cpu().numpy(), node.shape).reshape(-1).astype(float)
        terms, error = np.abs(constant), np.zeros(node.size)
        for matrix, part in zip(matrices, inputs, strict=True):
            constant = constant + matrix @ part.constant
            terms = terms + abs(matrix) @ self._terms(part)
            error = error + abs(matrix) @ part.error
        total = sum(matrix @ self._widened(part) for matrix, part in zip(matrices, inputs, strict=True))
        return _Values(scipy.sparse.csr_array(total), constant, error + ANY_ORDER * terms)

    def arrive(self, stage: Stage, value: _Values) -> _Values:
        """Add the gate's rows and columns to the program, and return its output."""
        before = value._replace(matrix=self._widened(value))
        bounds, ranges = self.bounds(before), self._ranges[stage.index]
        if isinstance(stage.gate, Max):
            bounds = _meet(bounds, *_by_entry(stage.gate, ranges, len(before.constant)))
            return self._add_max(stage.gate, before, bounds)
        bounds = _meet(bounds, ranges.lower, ranges.upper)
        return self._add_pointwise(stage.gate, before, bounds)

    def leave(self, stage: Stage, arrived: _Values) -> _Values:
        """Return the gate's output, with which all of the gate is in the program."""
        del stage
        return arrived

    def _add_pointwise(self, gate: Pointwise, before: _Values, bounds: _Bounds) -> _Values:
        size = gate.num_units
        levels, slopes, intercepts = (
            np.array(np.broadcast_to(table.cpu().numpy(), (len(table), size)), dtype=float)
            for table in (gate.breakpoints, gate.slopes, gate.intercepts)
        )
        bounds = self._tightened(before, bounds, np.asarray(_is_open(levels, bounds).any(axis=0)))
        unit, which = np.nonzero(_is_open(levels, bounds).T)
        base = (bounds.lower > levels).sum(axis=0)
        level = levels[which, unit]
        scale = bounds.terms[unit] + np.abs(level)
        above, below = (bounds.upper[unit] - level) / scale * RAISED, (level - bounds.lower[unit]) / scale * RAISED
        doubt = ANY_ORDER + before.error[unit] / scale
        count = len(unit)
        h = self._columns(np.zeros(count), above) + np.arange(count)
        hbar = self._columns(np.zeros(count), below) + np.arange(count)
        z = self._columns(np.zeros(count), np.ones(count), is_integer=True) + np.arange(count)
        self.choices.append(_Choice(base, unit, z, np.ones(count, dtype=base.dtype)))

        matrix = before.matrix[unit] / scale[:, None]
        sides = (level - before.constant[unit]) / scale
        self._rows([(h, -1.0), (hbar, 1.0)], matrix=matrix, lower=sides, upper=sides, doubt=doubt)
        self._switch(h, z, above, off_at=0)
        self._switch(hbar, z, below, off_at=1)
        self._rows([(self.margin, 1.0), (h, -1.0), (z, 1.0)], upper=np.ones(count))
        same = np.flatnonzero(unit[1:] == unit[:-1])
        self._rows([(z[same + 1], 1.0), (z[same], -1.0)], upper=np.zeros(len(same)))

        # slope[base] g + intercept[base], and a change of slope at every open breakpoint.
        units = np.arange(size)
        slope, intercept = slopes[base, units], intercepts[base, units]
        is_first = np.append(True, unit[1:] != unit[:-1])[:count]
        first = np.flatnonzero(is_first)
        change = (slopes[which + 1, unit] - slopes[which, unit]) * scale
        open_slope = np.where(is_first, slope[unit] * scale, 0.0)
        constant = slope * before.constant + intercept
        constant[unit[first]] = slope[unit[first]] * level[first] + intercept[unit[first]]
        kept = slope.copy()
        kept[unit] = 0.0
        width = self.program.num_columns
        entries = scipy.sparse.coo_array(
            (
                np.concatenate([change + open_slope, -open_slope]),
                (np.concatenate([unit, unit]), np.concatenate([h, hbar])),
            ),
            shape=(size, width),
        )
        passed = scipy.sparse.diags_array(kept) @ padded(before.matrix, width)
        # Neighbouring pieces meet at their breakpoint but for the rounding of intercepts.
        reach = bounds.terms + np.abs(levels).max(axis=0, initial=0.0)
        rounding = ANY_ORDER * (np.abs(slopes).sum(axis=0) * reach + np.abs(intercepts).sum(axis=0))
        return _Values(scipy.sparse.csr_array(passed + entries), constant, np.abs(kept) * before.error + rounding)

    def _add_max(self, gate: Max, before: _Values, bounds: _Bounds) -> _Values:
        table = gate.index.cpu().numpy()
        contested = np.zeros(len(before.constant), dtype=bool)
        for row in table:
            entries = row[_contenders(row, bounds)]
            contested[entries] |= len(entries) > 1
        bounds = self._tightened(before, bounds, contested)
        base = np.zeros(len(table), dtype=np.int64)
        constant = np.zeros(len(table))
        taken, units, columns, steps, values = np.full(len(table), -1), [], [], [], []
        for unit, row in enumerate(table):
            places = _contenders(row, bounds)
            if len(places) == 1:
                base[unit], taken[unit] = places[0], row[places[0]]
                constant[unit] = before.constant[taken[unit]]
                continue
            z, v, scale = self._add_largest(before, bounds, row[places])
            units += [unit] * len(z)
            columns += z.tolist()
            steps += places.tolist()
            values.append((unit, v, scale))
        self.choices.append(_Choice(base, *(np.array(part, dtype=np.int64) for part in (units, columns, steps))))
        width = self.program.num_columns
        passing = np.flatnonzero(taken >= 0)
        choose = scipy.sparse.coo_array(
            (np.ones(len(passing)), (passing, taken[passing])), shape=(len(table), len(before.constant))
        )
        rows, places, scales = (np.array([entry[part] for entry in values]) for part in range(3))
        entries = scipy.sparse.coo_array(
            (scales.astype(float), (rows.astype(int), places.astype(int))), shape=(len(table), width)
        )
        error = np.where(taken >= 0, before.error[taken], 0.0)
        np.add.at(error, rows.astype(int), ANY_ORDER * scales.astype(float))
        return _Values(scipy.sparse.csr_array(choose @ padded(before.matrix, width) + entries), constant, error)

    def _add_largest(self, before: _Values, bounds: _Bounds, entries: np.ndarray) -> tuple[np.ndarray, int, float]:
        """Add the largest of some entries, and return its binaries, its column and the scale of that column."""
        count = len(entries)
        low, high = bounds.lower[entries].max(), bounds.upper[entries].max()
        size = max(abs(low), abs(high))
        scale = bounds.terms[entries] + size
        most = (high - bounds.lower[entries]) / scale * RAISED
        s = self._columns(np.zeros(count), most) + np.arange(count)
        z = self._columns(np.zeros(count), np.ones(count), is_integer=True) + np.arange(count)
        v = self._columns(np.array([low / size - ANY_ORDER]), np.array([high / size + ANY_ORDER]))
        sides = -before.constant[entries] / scale
        matrix = before.matrix[entries] / scale[:, None]
        doubt = ANY_ORDER + before.error[entries] / scale
        diagonals = [(s, 1.0), (np.full(count, v), -size / scale)]
        self._rows(diagonals, matrix=matrix, lower=sides, upper=sides, doubt=doubt)
        self._switch(s, z, most, off_at=1)
        one = np.ones(1)
        self._rows([(int(place), 1.0) for place in z], lower=one, upper=one)
        for place in range(count - 1):
            self._rows(
                [(self.margin, 1.0), (int(s[place]), -1.0), *((int(later), 1.0) for later in z[place + 1 :])], upper=one
            )
        return z, v, size

    def _tightened(self, values: _Values, bounds: _Bounds, chosen: np.ndarray) -> _Bounds:
        """Return bounds, those of the chosen values tightened by linear programs."""
        if not len(self.choices) and self._is_box:  # intervals are exact in the corners of a box
            return bounds
        lower, upper = bounds.lower.copy(), bounds.upper.copy()
        for row in np.flatnonzero(chosen):
            if is_overdue():  # intervals hold, too
                break
            scale, doubt = bounds.terms[row], values.error[row]
            first, last = values.matrix.indptr[row : row + 2]
            columns, weights = values.matrix.indices[first:last], values.matrix.data[first:last] / scale
            ends = if_in_time(partial(self._ends, columns, weights), [np.inf, np.inf])
            lower[row] = max(lower[row], values.constant[row] - scale * ends[0] - doubt)
            upper[row] = min(upper[row], values.constant[row] + scale * ends[1] + doubt)
        return _Bounds(lower, upper, bounds.terms)

    def _ends(self, columns: np.ndarray, weights: np.ndarray) -> list[float]:
        return [self._largest(columns, side * weights) + ANY_ORDER for side in (-1.0, 1.0)]

    def _largest(self, columns: np.ndarray, weights: np.ndarray) -> float:
        """Return an upper bound of a function on the relaxation, proved by multipliers."""
        duals = self.program.maximize(columns, weights, is_relaxed=True).duals
        if duals is None or len(duals) != self.program.num_rows:
            duals = np.zeros(self.program.num_rows)
        width = self.program.num_columns
        gain = np.zeros(width)
        gain[columns] = weights
        if not self.tables:
            nothing = np.empty(0)
            return upper_bound(gain, np.empty((0, width)), nothing, nothing, self.lower, self.upper, duals)
        rows = scipy.sparse.csr_array(scipy.sparse.vstack([padded(part, width) for part in self.tables]))
        low, high = (np.concatenate(part) for part in zip(*self.sides, strict=True))
        return upper_bound(gain, rows, low, high, self.lower, self.upper, duals)

    def bounds(self, values: _Values) -> _Bounds:
        """Return bounds of values from those of the columns, with the rounding of sums."""
        middle, reach = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        size = abs(values.matrix)
        terms = self._terms(values)
        center, radius = values.matrix @ middle + values.constant, size @ reach + ANY_ORDER * terms + values.error
        return _Bounds(center - radius, center + radius, terms)

    def _columns(self, lower: np.ndarray, upper: np.ndarray, *, is_integer: bool = False) -> int:
        self.lower, self.upper = np.append(self.lower, lower), np.append(self.upper, upper)
        return self.program.add_columns(lower, upper, is_integer=is_integer)

    def _switch(self, columns: np.ndarray, binaries: np.ndarray, most: np.ndarray, *, off_at: int) -> None:
        """Keep columns from 0 to ``most``, and at 0 where their binaries are ``off_at``."""
        rows = self.program.num_rows + np.arange(len(columns))
        added = np.stack([rows, columns, binaries, np.full(len(columns), off_at)], axis=1)
        self.switches = np.concatenate([self.switches, added])
        end = most if off_at else np.zeros(len(columns))
        self._rows([(columns, 1.0), (binaries, most if off_at else -most)], upper=end)

    def _rows(
        self,
        diagonals: Sequence[tuple[np.ndarray | int, np.ndarray | float]],
        *,
        matrix: scipy.sparse.sparray | None = None,
        lower: np.ndarray | None = None,
        upper: np.ndarray,
        doubt: np.ndarray | float = 0.0,
    ) -> None:
        """Add one row per entry of ``upper``, with one more coefficient per row for each (column, coefficient).

        The true values of the columns keep them up to the doubt.
        """
        count, width = len(upper), self.program.num_columns
        none = np.empty(0)
        places = np.concatenate([none, *(np.broadcast_to(column, count) for column, _ in diagonals)]).astype(np.int64)
        entries = np.concatenate([none, *(np.broadcast_to(coefficient, count) for _, coefficient in diagonals)])
        rows = scipy.sparse.coo_array((entries, (np.tile(np.arange(count), len(diagonals)), places)), (count, width))
        total = scipy.sparse.csr_array(rows if matrix is None else rows + padded(matrix, width))
        self.program.add_rows(total, lower=lower, upper=upper)
        low = np.full(count, -np.inf) if lower is None else np.nextafter(lower - doubt, -np.inf)
        self.tables.append(total)
        self.sides.append((low, np.nextafter(upper + doubt, np.inf)))

    def _terms(self, values: _Values) -> np.ndarray:
        """Return bounds on the sums of the absolute terms of values."""
        largest = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return abs(self._widened(values)) @ largest + np.abs(values.constant) + values.error

    def _widened(self, values: _Values) -> scipy.sparse.csr_array:
        return padded(values.matrix, self.program.num_columns)

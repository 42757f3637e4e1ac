"""Sets of regions of a small network relaxed to one linear program, solved again and again with other bounds.

Every unit that may change its piece on the box has a column for what it sees and one for what it gives. Between the
two are rows ``low <= give - s see <= high`` for the slopes s of its pieces and of its chord: bounds of these follow
from the pieces that the unit is held to, so that one program serves all sets. Its duals are those of bounds that are
carried back (`lines_back`), which count rounding; what the program says itself is no proof.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.errors import SolverError
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.gate_lines import Bends
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.bounds.lines_back import LinesBack
from reluscope.networks.bounds.program_bounds import padded
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.stages import Stage

# Relative to the range of what a unit sees: what it gives is apart from its function by more.
APART = 1e-7
# Units that may change their pieces, rows between their columns, and entries of all rows: more are too slow.
MAX_OPEN, MAX_ROWS, MAX_ENTRIES = 256, 1024, 2**18


class Split(NamedTuple):
    """Where a set is split, and how far what the unit gives is from its function; of others their range."""

    gate: int
    unit: int
    level: int  # the last piece of the lower half
    gap: float


class Relaxed(NamedTuple):
    """The least by which rows can be missed on a set of regions, and where; up to the solver's tolerance."""

    miss: float  # negative if they can be kept; inf if the set is empty, -inf if the solver has no answer
    mix: Float[np.ndarray, " t"]  # weights of the rows
    duals: list[Float[np.ndarray, " u"]]  # of what each gate sees; NaN where a unit has one piece on the box
    point: Float[np.ndarray, " n"]
    splits: list[Split]  # where the set can be split: of units apart from their functions, widest first, or of others


class _OnColumns(NamedTuple):
    """Values as affine functions of columns."""

    matrix: scipy.sparse.csr_array
    constant: np.ndarray


class _Units(NamedTuple):
    """Units of all gates that may change their pieces: where they are, their functions, and their columns."""

    gate: np.ndarray
    unit: np.ndarray
    low: np.ndarray
    high: np.ndarray
    levels: np.ndarray  # (p, k)
    slopes: np.ndarray  # (p + 1, k)
    intercepts: np.ndarray  # (p + 1, k)
    sees: np.ndarray
    gives: np.ndarray


class SetProgram:
    """The linear program of the sets of regions of a box on which rows ``A y <= b`` of the outputs are missed least."""

    def __init__(self, bounds: BackwardBounds, A: Float[Tensor, "t m"], b: Float[Tensor, " t"]) -> None:
        self._bounds, network = bounds, bounds.network
        middle, half = (bounds.lower + bounds.upper) / 2, (bounds.upper - bounds.lower) / 2
        self._middle, self._half = middle.cpu().numpy(), half.cpu().numpy()
        carrier = _Columns(bounds)
        start = _OnColumns(scipy.sparse.csr_array(scipy.sparse.diags_array(self._half)), self._middle)
        outputs = carry_to_output(network, carrier, start)
        self._units, self._num_targets = carrier.units, len(A)
        width = carrier.width + 1
        rows = A.cpu().numpy() @ _wide(outputs.matrix, width)
        rows[:, -1] = -1.0
        self._program = LinearProgram(width)
        ends = np.full(width, np.inf)
        ends[: len(self._middle)] = 1.0
        self._program.set_all_bounds(-ends, ends)
        self._program.add_rows(rows, b.cpu().numpy() - A.cpu().numpy() @ outputs.constant)
        for matrix, constant in carrier.sums:
            self._program.add_rows(_wide(matrix, width), -constant, -constant)
        units = self._units
        self._slopes = _between(units)
        self._rows = [np.full(len(units.unit), -1) for _ in self._slopes]
        for slopes, places in zip(self._slopes, self._rows, strict=True):
            which = np.flatnonzero(np.isfinite(slopes))
            table = np.zeros((len(which), width))
            table[np.arange(len(which)), units.gives[which]] = 1.0
            table[np.arange(len(which)), units.sees[which]] = -slopes[which]
            places[which] = self._program.num_rows + np.arange(len(which))
            self._program.add_rows(table, np.full(len(which), np.inf))
        self._objective = np.append(np.zeros(width - 1), -1.0)
        self._known_rows: dict[int, tuple[float, float]] = {}
        self._known_columns: dict[int, tuple[float, float]] = {}

    def least_miss(self, held: Holding) -> Relaxed:
        """Return by how much rows are missed at least on a single set, with duals that prove it."""
        ends = self._held_ends(held)
        if ends is None:
            return self._nothing(np.inf, [])
        low, high = ends
        units = self._units
        places = np.concatenate([low[None], high[None], units.levels.clip(low, high)])
        values = self._applied(places)
        self._bound_columns(low, high, values.min(axis=0), values.max(axis=0))
        for slopes, rows in zip(self._slopes, self._rows, strict=True):
            with np.errstate(invalid="ignore"):
                left = values - slopes * places
            for row, least, most in zip(
                rows.tolist(), left.min(axis=0).tolist(), left.max(axis=0).tolist(), strict=True
            ):
                if row >= 0 and self._known_rows.get(row) != (least, most):
                    self._known_rows[row] = least, most
                    self._program.set_row(row, least, most)
        try:
            found = self._program.maximize(self._objective)
        except SolverError:
            return self._nothing(-np.inf, self._splits(low, high, high - low))
        if found.status is not ProgramStatus.OPTIMAL or len(found.duals) != self._program.num_rows:
            is_empty = found.status is ProgramStatus.INFEASIBLE
            duals = self._program.infeasibility() if is_empty else None
            return self._nothing(np.inf if is_empty else -np.inf, self._splits(low, high, high - low), duals)
        sees, gives = found.point[units.sees], found.point[units.gives]
        gaps = np.abs(gives - self._applied(sees[None])[0])
        is_apart = gaps > APART * (high - low)
        splits = self._splits(low, high, np.where(is_apart, gaps, 0.0)) or self._splits(low, high, high - low)
        return Relaxed(
            -found.value,
            np.maximum(found.duals[: self._num_targets], 0.0),
            self._by_gate(found.duals),
            self._middle + self._half * found.point[: len(self._middle)].clip(-1, 1),
            splits,
        )

    def _splits(self, low: np.ndarray, high: np.ndarray, gaps: np.ndarray) -> list[Split]:
        """Return where units with a gap can be split between the ends of what they see, the widest first."""
        units = self._units
        begin = (units.levels <= low).sum(axis=0)
        inside = ((units.levels > low) & (units.levels < high)).sum(axis=0)
        which = np.flatnonzero((inside > 0) & (gaps > 0))
        levels = begin + (inside - 1).clip(0) // 2
        order = which[np.argsort(-gaps[which], kind="stable")]
        return [
            Split(*one)
            for one in zip(*(t[order].tolist() for t in (units.gate, units.unit, levels, gaps)), strict=True)
        ]

    def _held_ends(self, held: Holding) -> tuple[np.ndarray, np.ndarray] | None:
        """Return between what units see their pieces; None where one sees nothing."""
        units = self._units
        below = np.concatenate([np.full((1, len(units.unit)), -np.inf), units.levels])
        above = np.concatenate([units.levels, np.full((1, len(units.unit)), np.inf)])
        first, last = (
            np.concatenate([np.zeros(0, dtype=np.int64), *(one.cpu().numpy() for one in table)])[self._places]
            for table in (held.first, held.last)
        )
        every = np.arange(len(units.unit))
        low, high = np.maximum(units.low, below[first, every]), np.minimum(units.high, above[last, every])
        return None if (low > high).any() else (low, high)

    @cached_property
    def _places(self) -> np.ndarray:
        """Where the units are among those of all gates."""
        starts = np.cumsum([0, *(gate.num_units for gate in self._bounds.gates)])
        return starts[self._units.gate] + self._units.unit

    def _applied(self, sees: np.ndarray) -> np.ndarray:
        """Return what units give (s, k)."""
        units, every = self._units, np.arange(len(self._units.unit))
        pieces = (sees[:, None] > units.levels[None]).sum(axis=1)
        return units.slopes[pieces, every] * sees + units.intercepts[pieces, every]

    def _bound_columns(self, low: np.ndarray, high: np.ndarray, least: np.ndarray, most: np.ndarray) -> None:
        for columns, ends in ((self._units.sees, (low, high)), (self._units.gives, (least, most))):
            for column, bottom, top in zip(columns.tolist(), *(one.tolist() for one in ends), strict=True):
                if self._known_columns.get(column) != (bottom, top):
                    self._known_columns[column] = bottom, top
                    self._program.set_bounds(column, bottom, top)

    def _by_gate(self, duals: np.ndarray) -> list[np.ndarray]:
        """Return the duals of what units see in tables of their gates, from those of all rows."""
        own = duals[self._num_targets : self._num_targets + len(self._units.unit)]
        tables = np.full(sum(gate.num_units for gate in self._bounds.gates), np.nan)
        tables[self._places] = own
        return np.split(tables, np.cumsum([gate.num_units for gate in self._bounds.gates])[:-1])

    def _nothing(self, miss: float, splits: list[Split], duals: np.ndarray | None = None) -> Relaxed:
        """Return what is known of a set without a solution: that it is empty, or nothing."""
        if duals is None:
            duals = np.zeros(self._program.num_rows)
        return Relaxed(miss, np.zeros(self._num_targets), self._by_gate(duals), self._middle, splits)


class GivenBack(LinesBack):
    """Weights carried back as given duals, along lines where these are NaN."""

    def __init__(self, bounds: BackwardBounds, held: Holding, number: int, duals: list[Tensor]) -> None:
        super().__init__(bounds, held, number, is_sure=True)
        self._given = duals

    def dual(self, place: int, weights: Tensor, corners: Bends) -> Tensor:
        """Return the weights that were given, or those along lines."""
        given = self._given[place]
        return torch.where(given.isnan(), super().dual(place, weights, corners), given)


class _Columns:
    """Values of nodes as functions of the columns of a program that grows at every gate."""

    def __init__(self, bounds: BackwardBounds) -> None:
        self._bounds, self.width = bounds, len(bounds.lower)
        self.sums: list[tuple[scipy.sparse.csr_array, np.ndarray]] = []  # what units see, less their column
        self._units: list[_Units] = []

    @property
    def units(self) -> _Units:
        """All units that may change their pieces."""
        height = max((len(one.levels) for one in self._units), default=0)
        tables = zip(*(_of_height(one, height) for one in self._units), strict=True)
        return _Units(*(np.concatenate(table, axis=-1) for table in tables))

    def affine(self, node: Affine, inputs: Sequence[_OnColumns]) -> _OnColumns:
        """Return the node's values, of matrices that are multiplied out."""
        constant = np.zeros(node.size)
        if node.constant is not None:
            constant = np.broadcast_to(node.constant.cpu().numpy(), node.shape).reshape(-1).astype(float)
        total = scipy.sparse.csr_array((node.size, self.width))
        for matrix, part in zip(node.matrix(), inputs, strict=True):
            total = total + matrix @ padded(part.matrix, self.width)
            constant = constant + matrix @ part.constant
        return _OnColumns(scipy.sparse.csr_array(total), constant)

    def arrive(self, stage: Stage, value: _OnColumns) -> _OnColumns:
        """Add columns for what units see and give, and return what they give."""
        gate = self._bounds.gates[stage.index]
        low, high = (one.cpu().numpy() for one in self._bounds.ranges[stage.index])
        levels, slopes, intercepts = (
            np.array(np.broadcast_to(table.cpu().numpy(), (len(table), gate.num_units)), dtype=float)
            for table in (gate.breakpoints, gate.slopes, gate.intercepts)
        )
        unit = np.flatnonzero(((levels > low) & (levels < high)).any(axis=0))
        sees, gives = self.width + np.arange(len(unit)), self.width + len(unit) + np.arange(len(unit))
        every, passed = np.arange(gate.num_units), ((low + high) / 2 > levels).sum(axis=0)
        slope, intercept = slopes[passed, every], intercepts[passed, every]
        slope[unit] = intercept[unit] = 0.0
        self.width += 2 * len(unit)
        before = padded(value.matrix, self.width)
        ones = np.ones(len(unit))
        own = scipy.sparse.coo_array((ones, (np.arange(len(unit)), sees)), (len(unit), self.width))
        self.sums.append((scipy.sparse.csr_array(before[unit] - own), value.constant[unit]))
        given = scipy.sparse.coo_array((ones, (unit, gives)), (gate.num_units, self.width))
        matrix = scipy.sparse.diags_array(slope) @ before + given
        self._units.append(
            _Units(
                np.full(len(unit), stage.index),
                unit,
                low[unit],
                high[unit],
                levels[:, unit],
                slopes[:, unit],
                intercepts[:, unit],
                sees,
                gives,
            )
        )
        return _OnColumns(scipy.sparse.csr_array(matrix), slope * value.constant + intercept)

    def leave(self, stage: Stage, arrived: _OnColumns) -> _OnColumns:
        """Return what a gate gives, with which all of it is in the program."""
        del stage
        return arrived


def is_small(bounds: BackwardBounds, most: int = MAX_OPEN) -> bool:
    """Return whether linear programs of the network on its box are small: of so many open units, at most."""
    opened = [int(bounds.is_open(gate, bounds.unheld(1)).sum()) for gate in range(len(bounds.gates))]
    units = sum(opened)
    rows = sum(number * gate.num_pieces for number, gate in zip(opened, bounds.gates, strict=True))
    entries = (units + bounds.network.num_outputs) * (len(bounds.lower) + 2 * units)
    return 0 < units <= most and rows <= MAX_ROWS and entries <= MAX_ENTRIES


def _between(units: _Units) -> list[np.ndarray]:
    """Return slopes (k,) of rows between what units see and give: of pieces and of the chord; NaN for no row.

    The columns have bounds, and there is no row for slope 0.
    """
    with np.errstate(invalid="ignore"):
        is_in = np.concatenate([np.ones((1, len(units.unit)), dtype=bool), units.levels > units.low])
        is_in[1:] &= units.levels < units.high
    is_in[0] = True
    pieces = [np.where(within & (slope != 0), slope, np.nan) for within, slope in zip(is_in, units.slopes, strict=True)]
    ends = []
    for at in (units.low, units.high):
        passed, every = (at > units.levels).sum(axis=0), np.arange(len(at))
        ends.append(units.slopes[passed, every] * at + units.intercepts[passed, every])
    chord = (ends[1] - ends[0]) / (units.high - units.low)
    return [*pieces, np.where(chord != 0, chord, np.nan)]


def _of_height(units: _Units, height: int) -> _Units:
    """Return units with tables for so many breakpoints, infinite where there are fewer."""
    more = height - len(units.levels)
    if not more:
        return units
    levels = np.concatenate([units.levels, np.full((more, len(units.unit)), np.inf)])
    slopes, intercepts = (
        np.concatenate([table, np.repeat(table[-1:], more, axis=0)]) for table in (units.slopes, units.intercepts)
    )
    return units._replace(levels=levels, slopes=slopes, intercepts=intercepts)


def _wide(matrix: scipy.sparse.csr_array, width: int) -> np.ndarray:
    return padded(matrix, width).toarray()

"""What waits on the stack of a tree search: cells before a gate, cells within a gate, and searches under way.

A gate with many forms is searched in two parts, so that the cells of the first one are independent tasks.
"""

import itertools
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import torch

from reluscope.geometry.cutting.framed_cells import FramedCell, LinearForms
from reluscope.geometry.cutting.max_tree import MaxBatch, MaxTree
from reluscope.geometry.cutting.sign_tree import CutCells, SignTree
from reluscope.geometry.cutting.top_tree import TopTree
from reluscope.interruption import step_point
from reluscope.needed_memory import need_at_once
from reluscope.networks.evaluation.affine_values import AffineValues, close_affinely
from reluscope.networks.fractions.rational_maps import AffineFunction
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.partitions.driver.walk import Step
from reluscope.partitions.tree.tree_coordinates import EPSILON, Coordinates, by_rows, taken

# Cells whose values are computed together.
BLOCK = 64
# A gate with more forms than the first number is searched in two parts, the first of the second number.
MAX_FORMS, FIRST_FORMS = 12, 8
# Regions of one batch, and the memory that its cells may need.
BATCH, BATCH_BYTES = 1024, 2**26
COUNTERS = ("programs", "pivots", "corners", "nodes", "by_point", "by_clause")
# Choices of one form or group that are asked for at once.
MAX_CHOICES = 64

Level = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Block:
    """Cells before a gate, or finished regions."""

    coordinates: Coordinates
    stage: int  # the gate to come; the number of gates if there is none
    cells: Sequence[FramedCell]
    pieces: tuple[np.ndarray, ...]  # (c, u) each, pieces chosen at the gates before
    values: AffineValues  # on every cell

    @classmethod
    def first(cls, coordinates: Coordinates) -> "Block":
        """Return the domain."""
        return cls(coordinates, 0, [coordinates.first], (), coordinates.start())

    @property
    def level(self) -> Level:
        """How far the cells have come: the gate, and the part of it."""
        return self.stage, 0

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def witnesses(self) -> np.ndarray:
        """A point strictly inside every cell, in coordinates y: (c, n)."""
        return (
            self.cells.witnesses if isinstance(self.cells, CutCells) else np.stack([one.witness for one in self.cells])
        )

    @property
    def is_finished(self) -> bool:
        """Whether the cells are regions."""
        return self.stage == len(self.coordinates.network.stages)

    def parts(self, size: int) -> "list[Block]":
        """Return the same cells in blocks of bounded size."""
        return [self._part(first, min(first + size, len(self.cells))) for first in range(0, len(self.cells), size)]

    def _part(self, first: int, last: int) -> "Block":
        rows = torch.arange(first, last, device=self.coordinates.network.device)
        values = {position: value.take(rows) for position, value in self.values.items()}
        pieces = tuple(piece[first:last] for piece in self.pieces)
        return Block(self.coordinates, self.stage, self.cells[first:last], pieces, values)

    def step(self, room: float) -> Step:
        """Return searches for the pieces of the next gate, the first cell's last."""
        del room
        if len(self.cells) > BLOCK:
            return Step(self.parts(BLOCK)[::-1])
        nothing = np.zeros(0, dtype=np.bool_)
        searches = [gate.search(cell, nothing) for gate, cell in zip(self.gates(), self.cells, strict=True)]
        return Step(searches[::-1])

    def gates(self) -> "Iterator[OpenGate]":
        """Yield the next gate on every cell."""
        maps, errors, live = self.coordinates.advance(self.stage, self.values)
        for index in range(len(self.cells)):
            row = torch.tensor([index], device=self.coordinates.network.device)
            values = {position: value.take(row) for position, value in live.items()}
            pieces = tuple(piece[index] for piece in self.pieces)
            yield OpenGate(self.coordinates, self.stage, pieces, values, maps[index], errors[index])


@dataclass(frozen=True, eq=False)
class OpenGate:
    """A gate on one cell."""

    coordinates: Coordinates
    stage: int
    pieces: tuple[np.ndarray, ...]  # (u,) each, pieces chosen at the gates before
    values: AffineValues  # what is live at the gate, on this cell
    maps: np.ndarray  # (t, k) the gate's inputs, as forms
    errors: np.ndarray  # (t, k) bounds on the errors of ``maps``

    @property
    def gate(self) -> Pointwise | Max:
        """The gate."""
        return self.coordinates.network.stages[self.stage].gate

    @cached_property
    def _levels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Units and finite breakpoints of all forms of a pointwise gate, and the lowest piece of every unit."""
        assert isinstance(self.gate, Pointwise)
        table = self.gate.breakpoints.cpu().numpy()
        table = np.broadcast_to(table, (len(table), self.gate.num_units)).T
        units, which = np.nonzero(np.isfinite(table))
        return units, table[units, which], (table == -np.inf).sum(axis=1)

    @cached_property
    def forms(self) -> LinearForms:
        """Pre-activations minus breakpoints, unit by unit."""
        units, levels, _ = self._levels
        coefficients, errors = taken(self.maps, units), taken(self.errors, units)
        coefficients[:, -1] -= levels
        errors[:, -1] += self.coordinates.gamma * np.abs(levels)
        return self.coordinates.forms(
            coefficients, errors, lambda which: self._exact_levels(units[which], levels[which])
        )

    def _exact_levels(self, units: np.ndarray, levels: np.ndarray) -> list[AffineFunction | None]:
        """Return pre-activations minus breakpoints in fractions."""
        functions = self._exactly(units)
        return [
            None if function is None else (*function[:-1], function[-1] - Fraction(level))
            for function, level in zip(functions, levels.tolist(), strict=True)
        ]

    def _exactly(self, entries: np.ndarray) -> list[AffineFunction | None]:
        """Return some of what the gate sees as functions of the input, in fractions, if that is cheap enough."""
        maps = self.coordinates.exact.maps(self.pieces)
        found: list[AffineFunction | None] = []
        for entry in entries.tolist():
            step_point()
            found.append(None if maps is None else maps.entry(self.stage, entry))
        return found

    def in_fractions(self) -> "OpenGate | None":
        """Return the same gate with forms that are rounded once, from fractions; None if there are none to be had."""
        entries = range(len(self.maps))
        rows = [
            None if function is None else self.coordinates.entries(function)
            for function in self._exactly(np.array(entries))
        ]
        maps = np.array([row for row in rows if row is not None])
        return replace(self, maps=maps, errors=EPSILON * np.abs(maps)) if len(maps) == len(self.maps) else None

    @cached_property
    def _groups(self) -> list[np.ndarray]:
        """The candidates of every unit of a max gate, or the members of every group of a top-k gate."""
        return [np.flatnonzero(row >= 0) for row in self._table]

    @property
    def has_groups(self) -> bool:
        """Whether the gate compares entries with each other."""
        return isinstance(self.gate, Max | TopK)

    @cached_property
    def _table(self) -> np.ndarray:
        """The entries of each group; of a top-k gate those that may be among the largest anywhere in the box."""
        if isinstance(self.gate, TopK):
            return self._candidates(self.gate.groups.cpu().numpy(), self.gate.k)
        assert isinstance(self.gate, Max)
        return self.gate.index.cpu().numpy()

    def _candidates(self, groups: np.ndarray, k: int) -> np.ndarray:
        """Return of each group (g, n) equally many members, all others being below k of them in the whole box."""
        frame = self.coordinates.frame
        if frame.is_cone:
            return groups
        noise = 2 * self.coordinates.noise(self.maps, self.errors)
        low, high = by_rows(self._ends, self.maps).T
        least, most = (low - noise)[groups], (high + noise)[groups]
        reached = np.partition(least, -k, axis=1)[:, -k, None]
        number = max(k + 1, int((most >= reached).sum(axis=1).max()))
        if number >= groups.shape[1]:
            return groups
        kept = np.argpartition(-most, number - 1, axis=1)[:, :number]
        return np.take_along_axis(groups, np.sort(kept, axis=1), axis=1)

    def _ends(self, maps: np.ndarray) -> np.ndarray:
        """Return the least and the largest value of forms in the box: (f, 2)."""
        frame = self.coordinates.frame
        entries = maps @ frame.generators if len(frame.generators) else maps
        ends = np.stack([entries * frame.lower, entries * frame.upper])
        return np.stack([ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)], axis=1)

    def _tree_of_groups(self, cell: FramedCell, differences: Sequence[LinearForms]) -> MaxTree:
        """Return a search for the choices of groups."""
        frame, scratch = self.coordinates.frame, self.coordinates.scratch
        if isinstance(self.gate, TopK):
            return TopTree(frame, cell, differences, scratch, self.gate.k)
        return MaxTree(frame, cell, differences, scratch)

    def search(self, cell: FramedCell, signs: np.ndarray) -> "Search":
        """Return a search for what remains of the gate after some forms have got their signs."""
        frame, scratch = self.coordinates.frame, self.coordinates.scratch
        if self.has_groups:
            return Search(self, cell, signs, self._tree_of_groups(cell, self._differences()), 0)
        number = len(self.forms.noise)
        first = len(signs)
        last = FIRST_FORMS if first == 0 and number > MAX_FORMS else number
        return Search(self, cell, signs, SignTree(frame, cell, self.forms.select(slice(first, last)), scratch), last)

    def _differences(self) -> list[LinearForms]:
        found = []
        for members, index in zip(self._groups, self._table, strict=True):
            maps, errors = self.maps[index[members]], self.errors[index[members]]
            number, width = maps.shape
            need_at_once(
                3 * 8 * number**2 * width,
                f"differences of every two of {number:,} units as functions of {width - 1:,} inputs",
                "partition a Plane or a Segment",
            )
            coefficients = (maps[:, None] - maps[None]).reshape(-1, width)
            doubt = (errors[:, None] + errors[None]).reshape(-1, width)
            doubt += self.coordinates.gamma * np.abs(coefficients)
            found.append(self.coordinates.forms(coefficients, doubt, partial(self._exact_differences, index[members])))
        return found

    def _exact_differences(self, members: np.ndarray, which: np.ndarray) -> list[AffineFunction | None]:
        """Return some of the differences of a group's members in fractions."""
        functions = self._exactly(members)
        pairs = [(functions[int(a)], functions[int(b)]) for a, b in zip(*divmod(which, len(members)), strict=True)]
        return [
            None if one is None or other is None else tuple(a - b for a, b in zip(one, other, strict=True))
            for one, other in pairs
        ]

    @property
    def num_choices(self) -> int:
        """Forms of a pointwise gate, groups of a gate that compares entries."""
        return len(self._groups) if self.has_groups else len(self.forms.noise)

    def choices(self, index: int, cell: FramedCell) -> tuple[np.ndarray, list[FramedCell]]:
        """Return all that one form, or one group, may be on a cell: its signs or members, and where it is so."""
        frame, scratch = self.coordinates.frame, self.coordinates.scratch
        found, cells = [], []
        if self.has_groups:
            maxima = self._tree_of_groups(cell, self._differences()[index : index + 1])
            while not maxima.is_done:
                members, where = maxima.take(MAX_CHOICES)
                found.append(members[:, 0])
                cells += where
        else:
            tree = SignTree(frame, cell, self.forms.select(slice(index, index + 1)), scratch)
            while not tree.is_done:
                batch = tree.take(MAX_CHOICES)
                found.append(batch.signs[:, 0])
                cells += tree.cells(batch)
        return np.concatenate(found), cells

    def chosen(self, cell: FramedCell, choices: np.ndarray) -> Block:
        """Return a cell on which every form, or group, is what was chosen, as a block before the next gate."""
        pieces = self.labels(choices[None]) if self.has_groups else self.pieces_of(choices[None])
        return self.close([cell], pieces)

    def is_whole(self, num_forms: int) -> bool:
        """Whether so many forms are all."""
        return self.has_groups or num_forms == len(self.forms.noise)

    def pieces_of(self, signs: np.ndarray) -> np.ndarray:
        """Return the pieces (r, u) that signs (r, p) of all forms mean."""
        units, _, lowest = self._levels
        pieces = np.tile(lowest, (len(signs), 1))
        np.add.at(pieces.T, units, signs.T)
        return pieces

    def imposed(self, pieces: np.ndarray) -> tuple[LinearForms, np.ndarray, np.ndarray]:
        """Return the forms whose signs pieces (u,) fix, these signs, and sources (p, 3): gate, unit, piece beyond."""
        if isinstance(self.gate, Max):
            parts, sources = [], []
            for unit, (group, differences) in enumerate(zip(self._groups, self._differences(), strict=True)):
                member = int(np.flatnonzero(group == pieces[unit])[0])
                others = np.delete(np.arange(len(group)), member)
                parts.append(differences.select(member * len(group) + others))
                sources += [(self.stage, unit, other) for other in group[others].tolist()]
            forms = LinearForms(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
            return forms, np.ones(len(forms.noise)), np.array(sources, dtype=np.int64).reshape(-1, 3)
        if isinstance(self.gate, TopK):
            return self._imposed_on_groups(pieces)
        units, _, lowest = self._levels
        levels = lowest[units] + np.arange(len(units)) - np.searchsorted(units, units)
        passed = pieces[units].astype(np.int64) > levels
        beyond = np.stack([np.full(len(units), self.stage), units, np.where(passed, levels, levels + 1)], axis=1)
        return self.forms, np.where(passed, 1.0, -1.0), beyond

    def _imposed_on_groups(self, pieces: np.ndarray) -> tuple[LinearForms, np.ndarray, np.ndarray]:
        parts, sources = [], []
        for group, differences in zip(self._table, self._differences(), strict=True):
            inside, outside = (np.flatnonzero(pieces[group] == piece) for piece in (1, 0))
            parts.append(differences.select((inside[:, None] * len(group) + outside).ravel()))
            sources += [
                (self.stage, *pair) for pair in itertools.product(group[inside].tolist(), group[outside].tolist())
            ]
        forms = LinearForms(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return forms, np.ones(len(forms.noise)), np.array(sources, dtype=np.int64).reshape(-1, 3)

    def labels(self, members: np.ndarray) -> np.ndarray:
        """Return the pieces (r, u) that chosen members of all groups, or sets (r, g, n) of them, mean."""
        if isinstance(self.gate, TopK):
            pieces = np.zeros((len(members), self.gate.num_units), dtype=np.int64)
            pieces[:, self._table.ravel()] = members.reshape(len(members), -1)
            return pieces
        columns = [group[members[:, unit]] for unit, group in enumerate(self._groups)]
        return np.stack(columns, axis=1) if columns else members

    def close(self, cells: Sequence[FramedCell], pieces: np.ndarray) -> Block:
        """Return cells with their pieces of this gate as a block before the next one."""
        coordinates, network = self.coordinates, self.coordinates.network
        number = len(cells)
        before = tuple(np.broadcast_to(piece, (number, len(piece))) for piece in self.pieces)
        values: AffineValues = {}
        if self.stage + 1 < len(network.stages):
            rows = torch.zeros(number, dtype=torch.int64, device=network.device)
            values = {position: value.take(rows) for position, value in self.values.items()}
            values = close_affinely(network.stages[self.stage], values, pieces, coordinates.gamma)
        return Block(coordinates, self.stage + 1, cells, (*before, pieces), values)


@dataclass(frozen=True, eq=False)
class GatePart:
    """Cells of one parent on which the first forms of a gate have their signs."""

    gate: OpenGate
    cells: Sequence[FramedCell]
    signs: np.ndarray  # (c, p)

    is_finished = False

    @property
    def level(self) -> Level:
        """How far the cells have come."""
        return self.gate.stage, 1

    def __len__(self) -> int:
        return len(self.cells)

    def parts(self, size: int) -> "list[GatePart]":
        """Return the same cells in groups of bounded size."""
        starts = range(0, len(self.cells), size)
        return [GatePart(self.gate, self.cells[i : i + size], self.signs[i : i + size]) for i in starts]

    def step(self, room: float) -> Step:
        """Return a search in the first cell, after the others."""
        del room
        others = [GatePart(self.gate, self.cells[1:], self.signs[1:])] if len(self.cells) > 1 else []
        return Step([*others, self.gate.search(self.cells[0], self.signs[0])])


@dataclass(frozen=True, eq=False)
class Search:
    """A search in one cell."""

    gate: OpenGate
    cell: FramedCell
    signs: np.ndarray  # (p,) of the forms that are decided on the cell
    tree: SignTree | MaxTree
    num_forms: int  # forms that are decided when the search is finished
    is_exact: bool = False  # whether the forms come from fractions

    is_finished = False

    @property
    def level(self) -> Level:
        """How far the cell has come."""
        return self.gate.stage, int(len(self.signs) > 0)

    def __len__(self) -> int:
        """Return how many cells are left to visit, each of which holds at least one region."""
        return self.tree.num_open

    @property
    def cell_bytes(self) -> int:
        """Memory that a cell needs at most: its values and its rows."""
        parts = [part for value in self.gate.values.values() for part in (value.coefficients, value.errors)]
        num_rows = len(self.cell.rows) + len(self.gate.maps)
        return sum(part.nbytes for part in parts) + num_rows * self.cell.rows.itemsize * self.cell.rows.shape[1]

    def step(self, room: float) -> Step:
        """Return the next cells, no more than are asked for, after the search for those beyond."""
        before = self.tree.counters.copy()
        found = self.take(int(np.clip(BATCH_BYTES // self.cell_bytes, 1, np.clip(room, 1, BATCH))))
        *amounts, undecided = (self.tree.counters - before).tolist()
        if undecided and not before.any() and not self.is_exact and (gate := self.gate.in_fractions()) is not None:
            # What rounding hides in sums of floats, coincident hyperplanes above all, is often clear in fractions.
            exact = replace(gate.search(self.cell, self.signs), is_exact=True)
            return Step([exact], work=dict(zip(COUNTERS, amounts, strict=True)))
        items = [*([] if self.tree.is_done else [self]), *([] if found is None else [found])]
        return Step(items, num_undecided=undecided, work=dict(zip(COUNTERS, amounts, strict=True)))

    def again(self) -> "Search":
        """Return the same search in room of its own, which leaves this one as it is."""
        return deepcopy(self, {id(self.gate.coordinates): self.gate.coordinates})

    def take(self, most: int) -> Block | GatePart | None:
        """Return the next cells, at most this many."""
        batch = self.tree.take(most)
        if isinstance(batch, MaxBatch):
            return self.gate.close(batch.cells, self.gate.labels(batch.members)) if batch.cells else None
        if not len(batch.signs):
            return None
        assert isinstance(self.tree, SignTree)
        signs = np.concatenate([np.tile(self.signs, (len(batch.signs), 1)), batch.signs], axis=1)
        if not self.gate.is_whole(self.num_forms):
            return GatePart(self.gate, self.tree.cells(batch), signs)
        return self.gate.close(self.tree.cells(batch), self.gate.pieces_of(signs))


class ImposedCell(NamedTuple):
    """A region by all rows that its code imposes, redundant ones too.

    ``still`` are units on a breakpoint, or in a tie, all over the region: constant rows at zero.
    """

    cell: FramedCell  # domain's rows first; without constant rows
    sources: np.ndarray  # (m, 3) gate, unit and piece beyond of every other row
    still: np.ndarray  # (c, 3) the same of constant rows at zero
    num_doubtful: int  # constant rows that may be at zero within rounding


def region_cells(coordinates: Coordinates, pieces: Sequence[np.ndarray], witnesses: np.ndarray) -> list[ImposedCell]:
    """Return the cells of codes.

    ``pieces`` has one array per gate; witnesses are homogeneous.
    """
    number = len(witnesses)
    network = coordinates.network
    rows = torch.zeros(number, dtype=torch.int64, device=network.device)
    values = {position: value.take(rows) for position, value in coordinates.start().items()}
    tables = [[coordinates.first.rows] for _ in range(number)]
    noises = [[coordinates.first.noise] for _ in range(number)]
    slacks = [[coordinates.first.slack] for _ in range(number)]
    sources, still = ([[np.zeros((0, 3), dtype=np.int64)] for _ in range(number)] for _ in range(2))
    num_doubtful = [0] * number
    for stage, chosen in enumerate(pieces):
        maps, errors, live = coordinates.advance(stage, values)
        for index in range(number):
            before = tuple(piece[index] for piece in pieces[:stage])
            gate = OpenGate(coordinates, stage, before, {}, maps[index], errors[index])
            forms, side, beyond = gate.imposed(chosen[index])
            varies = ~forms.is_constant
            tables[index].append(side[varies, None] * forms.coefficients[varies])
            noises[index].append(forms.noise[varies])
            slacks[index].append(forms.slack[varies])
            sources[index].append(beyond[varies])
            sizes = np.abs(forms.coefficients) @ coordinates.largest
            is_zero = forms.is_constant & (sizes <= forms.noise)
            still[index].append(beyond[is_zero])
            num_doubtful[index] += int((is_zero & (forms.noise > 0)).sum())
        if stage + 1 < len(pieces):
            values = close_affinely(network.stages[stage], live, chosen, coordinates.gamma)
    return [
        ImposedCell(
            FramedCell(
                np.concatenate(tables[row]), np.concatenate(noises[row]), np.concatenate(slacks[row]), witnesses[row]
            ),
            np.concatenate(sources[row]),
            np.concatenate(still[row]),
            num_doubtful[row],
        )
        for row in range(number)
    ]

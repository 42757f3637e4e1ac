"""Exact partition in several dimensions, cell by cell: every cell keeps its own vertices and facets.

For 3 to 8 inputs, and for unbounded domains in any small number of dimensions: vertices are homogeneous, so directions
are vertices like any other, and a region is unbounded iff it has one. Cells go through the gates in batches, depth
first.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import numpy as np

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.effort import Effort
from reluscope.geometry.cutting.double_description import cut_cells
from reluscope.geometry.cutting.polytopes import BORDER, WALL
from reluscope.geometry.polyhedra.domains import Box, Domain
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.models.stacked_networks import StackedNetworks
from reluscope.networks.network import Network
from reluscope.partitions.cells.cell_batches import AtGate, Batch, BeforeGate, Finished
from reluscope.partitions.cells.cell_patches import CellPatch
from reluscope.partitions.cells.cell_tasks import NeededCells, Splitting
from reluscope.partitions.cells.first_cells import EPSILON, Start, first_cells
from reluscope.partitions.cells.maps_at_gates import CarriedMaps, MapsOfNetwork, MapsOfStack
from reluscope.partitions.complexes.certification import CutFunction
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.driver.walk import Checkpoint, Step, Store, Walked, walk

# What one step takes on and what it makes, so that it is short whatever the dimension: cells, and their vertices.
BATCH, MAX_VERTICES, MAX_MADE = 512, 2**14, 2**17
# Cells behind the last gate that are finished together.
MAX_FINISHED = 2**15
# Fewer cells than this are cut by so many units at a time: there are then cells for all threads, and, of all cells that
# there are, tasks of about as much work each.
FEW, UNITS_OF_FEW = 8, 6
# And pieces of units, of which every cell has its own.
MAX_PIECES = 2**22


def supports(network: Network) -> str | None:
    """Return why the cells of a network cannot be found this way, or None if they can."""
    kinds = [type(stage.gate) for stage in network.stages]
    if all(issubclass(kind, Pointwise) and kind is not TopK for kind in kinds):
        return None
    return "top-k gates" if TopK in kinds else "max gates"


def walk_cells(
    network: Network,
    domain: Domain,
    effort: Effort,
    *,
    keeps_vertices: bool = True,
    keep: Callable[[CellPatch], Any] | None = None,
    store: Store | None = None,
    checkpoint: Checkpoint | None = None,
) -> Walked:
    """Take the cells of a domain through all gates of a network whose gates are pointwise.

    Parts of the result are `CellPatch`, or what ``keep`` makes of them; on an unbounded domain one code may come in
    several cells, one per cone, to be merged. Without vertices, the last gate's cuts make none where they can.
    """
    began, gamma = time.time(), effort.tolerance.rounding * EPSILON
    start = first_cells(network, domain, effort.tolerance)
    steps = _CellSteps(
        MapsOfNetwork(network, gamma), _Keys(network), gamma, start, _Signs([network], domain), keeps_vertices, keep
    )
    return walk(
        [_first_batch(steps, np.zeros(len(start.cells), dtype=np.int64))],
        steps.step,
        split=Splitting(steps),
        finish=steps.finish,
        store=store,
        effort=replace(effort, began=began),
        checkpoint=checkpoint,
    )


def walk_stacked(
    stack: StackedNetworks,
    domain: Box | Polyhedron,
    effort: Effort,
    keep: Callable[[CellPatch], Any] | None = None,
) -> Walked:
    """Take the cells of a bounded domain through the gates of several networks at once, as `walk_cells` does.

    With ``keep``, which counts them, cells have no vertices. What is left are the networks of unfinished cells.
    """
    began, gamma = time.time(), effort.tolerance.rounding * EPSILON
    start = first_cells(stack.first, domain, effort.tolerance)
    whole = start.cells.select(np.zeros(len(stack), dtype=np.int64))
    steps = _CellSteps(
        MapsOfStack(stack, gamma),
        _Keys(stack.first),
        gamma,
        start._replace(cells=whole),
        _Signs(stack, domain),
        keep is None,
        keep,
    )
    return walk(
        [_first_batch(steps, np.arange(len(stack)))],
        steps.step,
        finish=steps.finish,
        left=attrgetter("owners"),
        effort=replace(effort, began=began),
    )


def _first_batch(steps: "_CellSteps", owners: np.ndarray) -> Batch:
    """Return the cells that a walk begins with, before the first gate."""
    number, start = len(owners), steps.start
    values = steps.carried.start(number, start.scale)
    known = BeforeGate(values, np.arange(number), np.zeros((number, 0), dtype=np.uint16))
    hashes, in_doubt = np.zeros((number, 2), dtype=np.uint64), np.zeros(number, dtype=bool)
    return Batch(0, start.cells, known, (), hashes, in_doubt, owners, is_all=True)


class _Signs:
    """Signs in rational arithmetic, of each of several networks."""

    def __init__(self, networks: "Sequence[Network] | StackedNetworks", domain: Domain) -> None:
        self._networks, self._domain = networks, domain
        self._made: dict[int, ExactSigns] = {}

    def of(self, owner: int) -> ExactSigns:
        """Return those of one network."""
        if owner not in self._made:
            self._made[owner] = ExactSigns(self._networks[owner], [self._domain])
        return self._made[owner]


class _Keys:
    """Random words for the pieces and breakpoints of every unit, the same in every run."""

    def __init__(self, network: Network) -> None:
        draw = np.random.default_rng(20_17).integers
        self.pieces, self.zeros, self.levels = [], [], []
        for stage in network.stages:
            gate = stage.gate
            assert isinstance(gate, Pointwise)
            levels = gate.breakpoints.cpu().numpy()
            levels = np.ascontiguousarray(np.broadcast_to(levels, (len(levels), gate.num_units)))
            self.levels.append(levels)
            self.pieces.append(draw(2**64, size=(gate.num_units, len(levels) + 1, 2), dtype=np.uint64))
            self.zeros.append(draw(2**64, size=(gate.num_units, len(levels), 2), dtype=np.uint64))


@dataclass(frozen=True)
class _CellSteps:
    """How cells are taken through the gates, and what is kept of them."""

    carried: CarriedMaps
    keys: _Keys
    gamma: float
    start: Start
    signs: _Signs
    keeps_vertices: bool
    keep: Callable[[CellPatch], Any] | None
    whole: NeededCells = field(default_factory=NeededCells)

    @property
    def network(self) -> Network:
        """The network, or one of several of the same gates."""
        return self.carried.network

    @property
    def scale(self) -> np.ndarray:
        """What makes homogeneous coordinates of cells those of the domain."""
        return np.append(np.full(len(self.start.resolution) - 1, self.start.scale), 1.0)

    def step(self, batch: Batch, room: float) -> Step:
        """Take a batch through units of a gate, or spread it if it is too large, also for the regions asked for."""
        end = len(self.network.stages)
        most, most_finished = (int(min(one, max(1, room))) for one in (_most(batch), MAX_FINISHED))
        if batch.stage == end:
            return Step([replace(part, is_finished=True) for part in batch.spread(most_finished)])
        is_early = batch.is_all and len(batch) < self.whole.until <= room
        if len(batch) > most and not is_early:
            return Step(batch.spread(most))
        following, undecided = self._cut(batch, room, UNITS_OF_FEW if is_early or len(batch) < FEW else np.inf)
        work = {"batches": 1, "evaluated_cells": len(batch)}
        parts = [
            replace(part, is_finished=some.stage == end)
            for some in following
            for part in (
                [some]
                if some.is_all and some.stage < end
                else some.spread(most_finished if some.stage == end else most)
            )
        ]
        return Step(parts, num_undecided=undecided, work=work)

    def finish(self, batch: Batch) -> Any:
        """Return what is kept of finished cells."""
        patch = self._finished(batch)
        return patch if self.keep is None else self.keep(patch)

    def _finished(self, batch: Batch) -> CellPatch:
        """Return the cells that have a point at all: of others rounding has left nothing but directions."""
        cells, hashes, in_doubt, owners = batch.cells, batch.hashes, batch.in_doubt, batch.owners
        words = np.concatenate([*batch.words, np.zeros((len(cells), 0), dtype=np.uint64)], axis=1)
        known = (
            batch.known if isinstance(batch.known, Finished) else Finished.of(cells, self.keeps_vertices, self.scale)
        )
        has_point = known.middles[:, -1] > 0
        if not has_point.all():
            finite = np.flatnonzero(has_point)
            cells, known = cells.select(finite), known.take(finite)
            hashes, words, in_doubt, owners = hashes[finite], words[finite], in_doubt[finite], owners[finite]
        owner = np.repeat(np.arange(len(cells)), np.diff(cells.facet_offsets))
        shown = cells.kinds != BORDER
        return CellPatch(
            words=words,
            corner_offsets=known.corner_offsets,
            corner_ids=known.corner_ids,
            corners=known.corners,
            middles=known.middles * self.scale,
            is_bounded=known.is_bounded,
            facet_cells=owner[shown],
            facet_keys=cells.keys[shown] ^ hashes[owner[shown]],
            on_walls=cells.kinds[shown] == WALL,
            in_doubt=in_doubt,
            owners=owners,
        )

    def _cut(self, batch: Batch, room: float, max_units: float) -> tuple[list[Batch], int]:
        """Cut a batch by some units of a gate at most; what is through the gate comes last."""
        number, keys = batch.stage, self.keys
        if isinstance(batch.known, BeforeGate):
            batch = replace(batch, known=batch.known.open(self.carried, number, batch.owners))
        opened = batch.known
        assert isinstance(opened, AtGate)
        num_units = self.network.stages[number].gate.num_units
        is_last = number == len(self.network.stages) - 1
        cut = cut_cells(
            batch.cells,
            opened.maps,
            opened.errors,
            keys.levels[number],
            keys.pieces[number],
            keys.zeros[number],
            rounding=self.gamma,
            resolution=self.start.resolution,
            relative=self.start.relative,
            map_of_cell=opened.cell_of,
            first_units=opened.next_units,
            max_parts=min(room, max(1, MAX_PIECES // max(1, num_units))),
            max_vertices=MAX_MADE,
            max_units=max_units,
            is_last=is_last,
            keeps_vertices=self.keeps_vertices,
            corner_scale=self.scale,
        )
        is_through = cut.next_units == num_units
        parts = batch.replaced(cut.cells, cut.parents)
        parts = replace(parts, hashes=parts.hashes ^ cut.hashes)
        # Units that have cut before have cut all parts of a cell.
        pieces = opened.pieces[cut.parents] + cut.pieces if opened.next_units.any() else cut.pieces
        parts.in_doubt[np.isin(cut.parents, cut.doubtful)] = True
        num_flat = self._settle_flat(parts, cut.flat_units, pieces)
        following = [batch.take(cut.num_taken, len(batch))] if cut.num_taken < len(batch) else []
        parts = replace(parts, is_all=batch.is_all and not following and (is_through.all() or not is_through.any()))
        if not is_through.all():
            rows = np.flatnonzero(~is_through)
            left = parts.replaced(parts.cells.select(rows), rows)
            known = left.known._replace(next_units=cut.next_units[rows], pieces=pieces[rows])
            following.append(replace(left, known=known))
            rows = np.flatnonzero(is_through)
            parts, pieces = parts.replaced(parts.cells.select(rows), rows), pieces[rows]
        if len(parts):
            parts = self._pass(parts, pieces)
            if is_last:
                known = Finished(cut.middles, cut.is_bounded, cut.corner_offsets, cut.corner_ids, cut.corners)
                parts = replace(parts, known=known.take(is_through))
            following.append(parts)
        return following, cut.num_undecided + num_flat

    def _settle_flat(self, parts: Batch, flat_units: np.ndarray, pieces: np.ndarray) -> int:
        """Count what is above zero in truth on a whole part into pieces; return how many signs stay open.

        Parts where one does are in doubt from then on.
        Keys of facets stay as they are: they hold such units to be at their breakpoints, on both sides alike.
        """
        if not len(flat_units):
            return 0
        levels, num_open = self.keys.levels[parts.stage], 0
        for rows in np.split(flat_units, np.flatnonzero(np.diff(flat_units[:, 0])) + 1):
            part, (_, units, which, is_in_doubt) = int(rows[0, 0]), rows.T
            cuts = [
                CutFunction(parts.stage, unit, breakpoint=at)
                for unit, at in zip(units.tolist(), levels[which, units].tolist(), strict=True)
            ]
            vertices = parts.cells.vertices[parts.cells.vertex_offsets[part] : parts.cells.vertex_offsets[part + 1]]
            words = np.concatenate([*(word[part] for word in parts.words), np.zeros(0, dtype=np.uint64)])
            signs = self.signs.of(int(parts.owners[part])).signs(0, vertices * self.scale, words, cuts)
            if signs is None:
                signs_open = int(is_in_doubt.sum())
            else:
                signs_open = sum(sign is None for sign in signs)
                for unit, sign in zip(units, signs, strict=True):
                    pieces[part, unit] += sign == 1
            parts.in_doubt[part] |= signs_open > 0
            num_open += signs_open
        return num_open

    def _pass(self, batch: Batch, pieces: np.ndarray) -> Batch:
        """Return cells behind a gate, given the pieces of its units."""
        number, opened = batch.stage, batch.known
        assert isinstance(opened, AtGate)
        words = pack_pieces([pieces], CodeLayout((self.network.layout.gates[number],)))
        return Batch(
            number + 1,
            batch.cells,
            BeforeGate(opened.values, opened.cell_of, pieces),
            (*batch.words, words),
            batch.hashes,
            batch.in_doubt,
            batch.owners,
            batch.is_all,
        )


def _most(batch: Batch) -> int:
    """Return how many of its cells one step may take on."""
    return max(1, min(BATCH, MAX_VERTICES * len(batch) // max(1, len(batch.cells.vertices))))

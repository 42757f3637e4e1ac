"""The cells of a chunk cut by the units of its gate, or by ties of its candidates, and the gate closed behind them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from reluscope import _kernels
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.geometry.cutting.splitting import (
    BOTH,
    MINUS,
    NOISE,
    PLUS,
    Subdivision,
    is_positive,
    subdivide,
)
from reluscope.interruption import step_point
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import steps
from reluscope.networks.network import Network
from reluscope.networks.passes.numbers import Numbers
from reluscope.networks.passes.stages import Stage
from reluscope.partitions.complexes.bends import narrowed
from reluscope.partitions.complexes.candidates import find_rivals, settle, winners
from reluscope.partitions.complexes.carried_ahead import carried_ahead
from reluscope.partitions.complexes.certification import (
    Certifier,
    CutFunction,
    ExactVertex,
    doubtful,
    subdivide_exactly,
)
from reluscope.partitions.complexes.chunks import Chunk, OpenStage, Resolution
from reluscope.partitions.complexes.open_bends import close_bends
from reluscope.partitions.complexes.vertex_names import extend_names

# Bytes of rows that are extended between two looks at the clock.
TOGETHER = 2**26
# What some columns of heights are.
Cuts = Callable[[np.ndarray], list[CutFunction]]


def cut(
    chunk: Chunk, network: Network, resolution: Resolution, limit: int, certifier: Certifier | None = None
) -> tuple[Chunk, int]:
    """Cut a chunk's cells by the units of its opened stage, and close the stage when all are done.

    Stops, with the stage open, at more cells than ``limit``, which a certifier ignores. Also returns the number of
    undecided signs, which may hide regions thicker than the resolution.
    """
    stage = network.stages[chunk.stage]
    arrived = None if chunk.opened is None else chunk.opened.arrived
    if arrived is not None:
        stage = narrowed(stage, arrived.units)
    function = _cut_ties if isinstance(stage.gate, Max) else _cut_breakpoints
    work, exact, opened, num_flat = function(chunk, stage, _CutRules(resolution, limit, certifier))
    finished = work.num_done == work.sides.shape[1]
    is_last = finished and chunk.stage == len(network.stages) - 1
    moved = replace(
        chunk,
        cells=work.complex,
        points=work.placement.points,
        seams=work.seams,
        roots=chunk.roots[work.parent],
        words=tuple(word.take(work.parent, axis=0) for word in chunk.words),
        values={}
        if is_last and not chunk.keeps_outputs
        else chunk.values
        if chunk.shares is not None
        else {key: _extend_tensor(value, work) for key, value in chunk.values.items()},
        blur=work.placement.blur,
        skew=work.placement.skew,
        factor=work.placement.factor,
        drift=work.placement.drift,
        opened=opened,
        exact=exact,
        names=None if chunk.names is None else extend_names(chunk.names, work.tail, work.head),
        shares=None if chunk.shares is None else _extend(chunk.shares, work),
    )
    if finished and arrived is not None:
        moved = close_bends(moved, opened, network, resolution)
    elif finished:
        layout = CodeLayout((network.layout.gates[chunk.stage],))
        words = (*moved.words, pack_pieces([opened.pieces], layout))
        values, errors, outputs, sizes = {}, {}, None, {}
        if is_last and chunk.keeps_outputs:
            values = stage.close(moved.values, torch.from_numpy(opened.pre).to(network.device))
            outputs, values = network.finish(values).reshape(len(opened.pre), -1).cpu().numpy(), {}
        elif not is_last:
            values = stage.close(moved.values, torch.from_numpy(opened.pre).to(network.device), _OVERWRITING)
            error = opened.proved + (opened.snapped[:, None] if opened.proved.ndim == 2 else opened.snapped)
            passed = stage.pass_errors(opened.size, error, opened.pieces, resolution.rounding)
            errors = {**chunk.errors, stage.position: passed}
            ahead = carried_ahead(network.stages[stage.index + 1], stage, values, work)
            values, sizes = (values, {}) if ahead is None else ahead
        last = opened.pre if is_last and chunk.names is not None else None
        moved = replace(
            moved,
            words=words,
            stage=chunk.stage + 1,
            values=values,
            errors=errors,
            sizes=sizes,
            opened=None,
            last=last,
            outputs=outputs,
        )
    return moved, work.num_undecided + num_flat


class _Overwriting(Numbers):
    """Values that nobody asks for again give their place to what they become."""

    def leave(self, stage: Stage, arrived: Tensor) -> Tensor:
        """Return the gate's output."""
        gate = stage.gate
        is_relu = isinstance(gate, Pointwise) and gate.is_relu
        return arrived.relu_().reshape(-1, *gate.shape) if is_relu else gate.apply(arrived)


_OVERWRITING = _Overwriting()


@dataclass(frozen=True)
class _CutRules:
    """How cuts are made: thresholds, the largest number of cells, and who decides doubtful signs."""

    resolution: Resolution
    limit: int
    certifier: Certifier | None

    def crossing(self, chunk: Chunk, heights: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns may cut some cell, and which of the others are positive."""
        low, high = _kernels.column_ranges(heights)
        size = np.maximum(-low, high)
        rounding = float(chunk.factor.max()) * rounding
        # How far a function of one sign stays from zero; of both signs it is below zero.
        least = np.maximum(low, -high)
        # A function without terms is zero.
        clear = (least > self.margin(chunk, rounding, size)) | ((size == 0) & (rounding == 0))
        return ~clear, clear & (low > 0)

    def margin(self, chunk: Chunk, rounding: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Return up to which size a sign is examined further, for functions of given error and largest value."""
        if self.certifier is not None:
            return doubtful(rounding, size)
        return np.maximum(rounding, chunk.doubt * size)

    def apply(
        self, chunk: Chunk, heights: np.ndarray, rounding: np.ndarray, cuts: Cuts
    ) -> tuple[Subdivision, list[ExactVertex] | None]:
        """Cut a chunk by functions given at its vertices."""
        placement = chunk.placement
        if self.certifier is not None:
            assert chunk.exact is not None
            return subdivide_exactly(
                chunk.cells,
                placement,
                chunk.seams,
                heights,
                rounding=rounding,
                vertices=chunk.exact,
                cuts=cuts(np.arange(heights.shape[1])),
                certifier=self.certifier,
            )
        _, ends = chunk.cells.boundary(1)
        slopes = _kernels.steepest(heights, chunk.points, ends)
        work = subdivide(
            chunk.cells,
            placement,
            chunk.seams,
            heights,
            rounding=rounding,
            slopes=slopes,
            floor=self.resolution.length * slopes,
            limit=self.limit,
        )
        return work, None


def _settle_flat(
    chunk: Chunk, work: Subdivision, cuts: Cuts, rounding: np.ndarray, doubted: int
) -> tuple[np.ndarray, int]:
    """Find the sign of functions that are zero at all vertices of a cell.

    Where exact signs cost too much they are read as zero, unless a side is one of those ``doubted``. Returns the sides
    of all cells and how many flat ones could not be decided.
    """
    sides = work.sides
    # Without terms, zero is zero.
    flat = ((sides & BOTH) == 0) & (rounding > 0)
    flat[:, work.num_done :] = False
    if not flat.any():
        return sides, 0
    exact_signs = chunk.exact_signs
    if exact_signs is None:
        return sides, int((flat & ((sides & doubted) != 0)).sum())
    sides = sides.copy()
    offsets, ids = work.complex.cell_vertices()
    words = np.concatenate([*chunk.words, np.zeros((len(chunk), 0), dtype=np.uint64)], axis=1)
    rows, columns = np.flatnonzero(flat.any(axis=1)), np.flatnonzero(flat.any(axis=0))
    block = np.ix_(rows, columns)
    vanishing = flat[block] & exact_signs.vanish(words[work.parent[rows]], cuts(columns))
    sides[block] = np.where(vanishing, 0, sides[block])
    flat[block] &= ~vanishing
    undecided = flat & ((sides & doubted) != 0)
    # What is surely not exact comes first, should exact arithmetic run out.
    order = np.flatnonzero(flat.any(axis=1))
    for cell in order[np.argsort(~undecided[order].any(axis=1), kind="stable")].tolist():
        columns = np.flatnonzero(flat[cell])
        corners = work.placement.points[ids[offsets[cell] : offsets[cell + 1]]]
        vertices = np.column_stack([corners, np.ones(len(corners))])
        parent = int(work.parent[cell])
        signs = exact_signs.signs(int(chunk.roots[parent]), vertices, words[parent], cuts(columns))
        if signs is None:
            break
        for column, sign in zip(columns, signs, strict=True):
            undecided[cell, column] = sign is None
            if sign is not None:
                sides[cell, column] = 0 if sign == 0 else PLUS if sign > 0 else MINUS
    return sides, int(undecided.sum())


def _cut_breakpoints(
    chunk: Chunk, stage: Stage, rules: _CutRules
) -> tuple[Subdivision, list[ExactVertex] | None, OpenStage, int]:
    """Cut where a pointwise unit crosses a breakpoint; its piece is the number of breakpoints below."""
    opened = chunk.opened
    assert opened is not None
    assert isinstance(stage.gate, Pointwise)
    num_units = opened.pre.shape[1]
    levels = stage.gate.breakpoints.cpu().numpy()
    levels = np.broadcast_to(levels, (len(levels), num_units))
    is_single = len(levels) == 1
    if is_single and not levels.any():
        heights = opened.pre
    else:
        heights = (opened.pre[:, None, :] - levels).reshape(len(opened.pre), -1)
    rounding = (opened.error + rules.resolution.rounding * np.abs(levels)).reshape(-1)
    crossing, positive = rules.crossing(chunk, heights, rounding)
    # A unit of one strict sign on all cells has one piece, found without going through the cells.
    constant = np.flatnonzero(opened.todo & positive) % num_units
    columns = np.flatnonzero(opened.todo & crossing)
    index, units = columns // num_units, columns % num_units

    numbers = units if opened.arrived is None else opened.arrived.units[units]

    def cuts(chosen: np.ndarray) -> list[CutFunction]:
        thresholds = levels[index[chosen], units[chosen]].tolist()
        return [
            CutFunction(stage.index, unit, breakpoint=at)
            for unit, at in zip(numbers[chosen].tolist(), thresholds, strict=True)
        ]

    work, exact = rules.apply(chunk, heights.take(columns, axis=1), rounding[columns], cuts)
    step_point()
    sides, num_flat = _settle_flat(chunk, work, cuts, rounding[columns], NOISE)
    positive = is_positive(sides)
    is_kept = chunk.names is not None or chunk.keeps_outputs
    if chunk.stage + 1 < chunk.num_stages or work.num_done < len(columns) or is_kept:
        pre = _extend(opened.pre, work)
        _kernels.settle_at(pre, units, levels[index, units], work.heights, is_single)
    else:
        pre = opened.pre[:0]  # nothing follows that asks for it
    constants = np.bincount(constant, minlength=num_units).astype(opened.pieces.dtype)
    pieces = _kernels.count_below(opened.pieces, constants, work.parent, units[: work.num_done], positive)
    todo = opened.todo & crossing
    todo[columns[: work.num_done]] = False
    snapped = opened.snapped.copy()
    np.maximum.at(snapped, units, work.snapped)
    return work, exact, replace(opened, pre=pre, snapped=snapped, pieces=pieces, todo=todo), num_flat


def _cut_ties(
    chunk: Chunk, stage: Stage, rules: _CutRules
) -> tuple[Subdivision, list[ExactVertex] | None, OpenStage, int]:
    """Cut where candidates of a max unit tie; its piece is the lowest of the largest candidates."""
    opened = chunk.opened
    assert opened is not None
    assert isinstance(stage.gate, Max)
    table = stage.gate.index.cpu().numpy()
    margin = rules.margin(chunk, float(chunk.factor.max()) * opened.error, opened.size)
    rivals = find_rivals(opened.pre, opened.error, margin, ties=rules.certifier is None)
    crossing, _ = rules.crossing(chunk, rivals.heights, rivals.rounding)
    columns = np.flatnonzero(crossing)
    pairs = rivals.pairs[columns]
    units, first, second = pairs.T

    def cuts(chosen: np.ndarray) -> list[CutFunction]:
        entries = (table[units[chosen], which[chosen]].tolist() for which in (first, second))
        return [CutFunction(stage.index, one, other) for one, other in zip(*entries, strict=True)]

    work, exact = rules.apply(chunk, rivals.heights[:, columns], rivals.rounding[columns], cuts)
    step_point()
    # Candidates that agree up to rounding on whole cells nearly always are the same: equal patches of an image.
    _, num_flat = _settle_flat(chunk, work, cuts, rivals.rounding[columns], 0)
    pre = _extend(opened.pre, work)
    pre[:, table < 0] = -np.inf
    settle(pre, pairs[: work.num_done], work.heights[:, : work.num_done])
    snapped = opened.snapped.copy()
    np.maximum.at(snapped, units, work.snapped)
    pieces = np.tile(rivals.winner.astype(opened.pieces.dtype), (len(work.parent), 1))
    if work.num_done == len(columns) and len(rivals.open_units):
        offsets, ids = work.complex.cell_vertices()
        if rules.certifier is None:
            pieces[:, rivals.open_units] = winners(pre, rivals.open_units, offsets, ids)
        else:
            assert exact is not None
            candidates = table[rivals.open_units].tolist()
            for cell in range(work.complex.num_cells):
                step_point()
                corners = [exact[v] for v in ids[offsets[cell] : offsets[cell + 1]]]
                pieces[cell, rivals.open_units] = rules.certifier.winners(corners, stage.index, candidates)
    return work, exact, replace(opened, pre=pre, snapped=snapped, pieces=pieces), num_flat


def _extend(rows: np.ndarray, work: Subdivision) -> np.ndarray:
    """Return rows at the old vertices with those at the new ones, interpolated."""
    flat, number = rows.reshape(len(rows), -1), len(rows)
    grown = np.empty((number + len(work.tail), flat.shape[1]))
    size = grown[:1].nbytes
    for some in steps(number, size, TOGETHER):
        grown[some] = flat[some]
    # A new vertex may lie between two others that are new, before it.
    for some in steps(len(work.tail), size, TOGETHER):
        _kernels.interpolate(grown[: number + some.stop], work.tail[some], work.head[some], work.share[some])
    return grown.reshape(len(grown), *rows.shape[1:])


def _extend_tensor(value: Tensor, work: Subdivision) -> Tensor:
    return torch.from_numpy(_extend(value.cpu().numpy(), work)).to(value.device)

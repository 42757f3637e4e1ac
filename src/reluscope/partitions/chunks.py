"""A chunk of cells on its way through the gates of a network.

The values that later stages read are kept at the vertices of the chunk. A network is continuous, so they do not depend
on the cell a vertex is seen from, and as long as no gate is passed they are affine on each cell: values at new vertices
are interpolated, never recomputed. One gate step cuts all cells by the gate's units; a chunk that grows too large is
spread over several, which share *seams*: facets that are cut on both sides and joined again at the end.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.geometry.complexes import Complex
from reluscope.geometry.splitting import Subdivision, column_signs, interpolate, steepest, subdivide
from reluscope.networks.graph import Max, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage, Values
from reluscope.partitions.candidates import find_rivals, winners
from reluscope.partitions.certification import (
    Certifier,
    Cut,
    ExactVertex,
    doubtful,
    doubtful_candidates,
    subdivide_exactly,
)
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Chunk:
    """Cells that have passed the same gates, with everything needed to go on.

    Parameters
    ----------
    cells : Complex
    points : (v, d) float64
        Vertices in domain coordinates.
    seams : (facets,) int64
        Seam that a facet lies on, -1 for none.
    roots : (cells,) int64
        Cell of the initial complex that each cell lies in.
    words : tuple of (cells, w) uint64
        Packed codes of the gates passed so far.
    stage : int
        The gate that comes next.
    values : dict of (v, *shape) tensors
        What the stage starts from; once it is opened, what later stages still read.
    opened : OpenStage, optional
        Work on the gate, once its pre-activations are there.
    exact : list of ExactVertex, optional
        The vertices in rational arithmetic, if signs are to be certified.
    """

    cells: Complex
    points: np.ndarray
    seams: np.ndarray
    roots: np.ndarray
    words: tuple[np.ndarray, ...]
    stage: int
    values: Values
    opened: "OpenStage | None" = None
    exact: list[ExactVertex] | None = None


@dataclass(frozen=True)
class OpenStage:
    """A gate whose units are cutting the cells of a chunk.

    Parameters
    ----------
    pre : (v, u) or (v, u, k) float64
        Pre-activations at the vertices.
    magnitude : float
        Largest absolute value that the stage read at any vertex: the scale of rounding. Not vertex by vertex: where
        all values happen to vanish, what is left of them is the rounding of the vertex's own position.
    pieces : (cells, u) uint8 or uint16
        Pieces found so far.
    todo : (cuts,) bool
        Cut functions of a pointwise gate that have not been used.
    """

    pre: np.ndarray
    magnitude: float
    pieces: np.ndarray
    todo: np.ndarray

    def take(self, vertices: np.ndarray, cells: np.ndarray) -> "OpenStage":
        """Return the work on some cells and their vertices."""
        return replace(self, pre=self.pre[vertices], pieces=self.pieces[cells])


@dataclass(frozen=True)
class Resolution:
    """Thresholds of one run: lengths in domain coordinates and the rounding factor."""

    length: float
    rounding: float

    @classmethod
    def of(cls, tolerance: Tolerance, diameter: float) -> "Resolution":
        """Turn relative into absolute thresholds."""
        return cls(tolerance.resolution * diameter, tolerance.rounding * EPSILON)


def open_stage(chunk: Chunk, stage: Stage) -> Chunk:
    """Run the affine nodes up to the gate at all vertices of the chunk."""
    magnitude = max((float(chunk.values[position].abs().max()) for position in stage.reads), default=0.0)
    pre, live = stage.advance(chunk.values)
    # A copy, because what is decided to be zero is set to zero, and the gate may read a value that others read too.
    heights = pre.cpu().numpy().copy()
    pieces = np.zeros((chunk.cells.num_cells, heights.shape[1]), dtype=np.min_scalar_type(stage.gate.num_pieces - 1))
    cuts = 0 if isinstance(stage.gate, Max) else len(stage.gate.breakpoints) * heights.shape[1]
    return replace(chunk, values=live, opened=OpenStage(heights, magnitude, pieces, np.ones(cuts, dtype=bool)))


def cut(
    chunk: Chunk, network: Network, resolution: Resolution, limit: int, certifier: Certifier | None = None
) -> tuple[Chunk, int]:
    """Cut the cells of a chunk by the units of its opened stage, and close the stage when all are done.

    Parameters
    ----------
    chunk : Chunk
        With an opened stage.
    network : Network
    resolution : Resolution
    limit : int
        Stop once there are more cells than this; the stage then stays open.
    certifier : Certifier, optional
        Decides doubtful signs; the limit is ignored then.

    Returns
    -------
    chunk : Chunk
    num_undecided : int
        Signs between the rounding bound and the resolution.
    """
    stage = network.stages[chunk.stage]
    function = _cut_ties if isinstance(stage.gate, Max) else _cut_breakpoints
    work, exact, opened = function(chunk, stage, _Knife(resolution, limit, certifier))
    finished = work.num_done == work.positive.shape[1]
    is_last = finished and chunk.stage == len(network.stages) - 1
    moved = replace(
        chunk,
        cells=work.complex,
        points=_extend(chunk.points, work),
        seams=work.seams,
        roots=chunk.roots[work.parent],
        words=tuple(word[work.parent] for word in chunk.words),
        values={} if is_last else {key: _extend_tensor(value, work) for key, value in chunk.values.items()},
        opened=opened,
        exact=exact,
    )
    if finished:
        layout = CodeLayout((network.layout.gates[chunk.stage],))
        words = (*moved.words, pack_pieces([opened.pieces], layout))
        values = {} if is_last else stage.close(moved.values, torch.from_numpy(opened.pre).to(network.device))
        moved = replace(moved, words=words, stage=chunk.stage + 1, values=values, opened=None)
    return moved, work.num_undecided


@dataclass(frozen=True)
class _Knife:
    """How cuts are made: thresholds, the largest number of cells, and who decides doubtful signs."""

    resolution: Resolution
    limit: int
    certifier: Certifier | None

    def crossing(self, heights: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns may cut some cell, and which of the others are positive."""
        if self.certifier is not None:
            above, below, within = column_signs(heights.copy(), doubtful(heights, rounding))
            crossing = (above & below) | within
        else:
            above, below, within = column_signs(heights, rounding)
            crossing = (above & below) | (within & (above | below))
        return crossing, above & ~crossing

    def apply(
        self, chunk: Chunk, heights: np.ndarray, rounding: np.ndarray, cuts: Callable[[], list[Cut]]
    ) -> tuple[Subdivision, list[ExactVertex] | None, np.ndarray]:
        """Cut a chunk by functions given at its vertices; also return what counts as zero for the resolution."""
        _, ends = chunk.cells.boundary(1)
        tail, head = ends[0::2], ends[1::2]
        length = np.linalg.norm(chunk.points[tail] - chunk.points[head], axis=1)
        slopes = steepest(heights, tail, head, length)
        # Vertices are rounded too, on the scale of the largest coordinate.
        extent = float(np.abs(chunk.points).max())
        rounding = rounding + self.resolution.rounding * extent * slopes
        floor = self.resolution.length * slopes
        if self.certifier is None:
            work = subdivide(chunk.cells, chunk.seams, heights, rounding=rounding, floor=floor, limit=self.limit)
            return work, None, floor
        assert chunk.exact is not None
        work, exact = subdivide_exactly(
            chunk.cells,
            chunk.seams,
            heights,
            rounding=rounding,
            vertices=chunk.exact,
            cuts=cuts(),
            certifier=self.certifier,
        )
        return work, exact, floor


def _cut_breakpoints(
    chunk: Chunk, stage: Stage, knife: _Knife
) -> tuple[Subdivision, list[ExactVertex] | None, OpenStage]:
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
    scale = stage.gain * opened.magnitude + stage.offset + np.abs(levels)
    rounding = knife.resolution.rounding * scale.reshape(-1)
    crossing, positive = knife.crossing(heights, rounding)
    # A unit of one strict sign on all cells has one piece, found without looking at the cells.
    constant = np.flatnonzero(opened.todo & positive) % num_units
    columns = np.flatnonzero(opened.todo & crossing)
    index, units = columns // num_units, columns % num_units

    def cuts() -> list[Cut]:
        thresholds = levels[index, units].tolist()
        return [Cut(stage.index, unit, breakpoint=at) for unit, at in zip(units.tolist(), thresholds, strict=True)]

    work, exact, _ = knife.apply(chunk, heights[:, columns], rounding[columns], cuts)
    # A unit is exactly at its breakpoint where it was decided to be, so that no noise passes the gate.
    pre = _extend(opened.pre, work)
    pieces = opened.pieces + np.bincount(constant, minlength=num_units).astype(opened.pieces.dtype)
    pieces = pieces[work.parent]
    for which, level in enumerate(levels):
        mine = index == which
        decided = work.heights[:, mine]
        value = level[units[mine]] + decided if is_single else pre[:, units[mine]]
        pre[:, units[mine]] = np.where(decided == 0, level[units[mine]], value)
        mine[work.num_done :] = False
        pieces[:, units[mine]] += work.positive[:, mine]
    todo = opened.todo & crossing
    todo[columns[: work.num_done]] = False
    return work, exact, OpenStage(pre, opened.magnitude, pieces, todo)


def _cut_ties(chunk: Chunk, stage: Stage, knife: _Knife) -> tuple[Subdivision, list[ExactVertex] | None, OpenStage]:
    """Cut where candidates of a max unit tie; its piece is the lowest of the largest candidates."""
    opened = chunk.opened
    assert opened is not None
    assert isinstance(stage.gate, Max)
    table = stage.gate.index.cpu().numpy()
    rounding = knife.resolution.rounding * (stage.gain * opened.magnitude + stage.offset)
    # Only a candidate that is clearly dominated may be dropped if signs are to be certified.
    slack = rounding if knife.certifier is None else -doubtful_candidates(opened.pre, rounding)
    rivals = find_rivals(opened.pre, rounding, slack)
    crossing, _ = knife.crossing(rivals.heights, rivals.rounding)
    columns = np.flatnonzero(crossing)
    units, first, second = rivals.pairs[columns].T

    def cuts() -> list[Cut]:
        entries = zip(table[units, first].tolist(), table[units, second].tolist(), strict=True)
        return [Cut(stage.index, one, other) for one, other in entries]

    work, exact, floor = knife.apply(chunk, rivals.heights[:, columns], rivals.rounding[columns], cuts)
    pre = _extend(opened.pre, work)
    for column, (unit, one, other) in enumerate(rivals.pairs[columns]):
        tied = work.heights[:, column] == 0
        pre[tied, unit, one] = pre[tied, unit, other] = np.minimum(pre[tied, unit, one], pre[tied, unit, other])
    pieces = np.tile(rivals.winner.astype(opened.pieces.dtype), (len(work.parent), 1))
    if work.num_done == len(columns) and len(rivals.open_units):
        offsets, ids = work.complex.cell_vertices()
        if knife.certifier is None:
            widest = np.zeros(len(table))
            np.maximum.at(widest, units, floor)
            labels = winners(pre, rivals.open_units, offsets, ids, rounding, widest[rivals.open_units])
            pieces[:, rivals.open_units] = labels
        else:
            assert exact is not None
            candidates = table[rivals.open_units].tolist()
            for cell in range(work.complex.num_cells):
                corners = [exact[v] for v in ids[offsets[cell] : offsets[cell + 1]]]
                pieces[cell, rivals.open_units] = knife.certifier.winners(corners, stage.index, candidates)
    return work, exact, OpenStage(pre, opened.magnitude, pieces, opened.todo)


def _extend(rows: np.ndarray, work: Subdivision) -> np.ndarray:
    """Return rows at the old vertices with those at the new ones, interpolated."""
    flat = rows.reshape(len(rows), -1)
    grown = np.empty((len(rows) + len(work.tail), flat.shape[1]))
    grown[: len(rows)] = flat
    interpolate(grown, work.tail, work.head, work.share)
    return grown.reshape(len(grown), *rows.shape[1:])


def _extend_tensor(value: Tensor, work: Subdivision) -> Tensor:
    return torch.from_numpy(_extend(value.cpu().numpy(), work)).to(value.device)


def spread(chunk: Chunk, most: int, next_seam: int) -> tuple[list[Chunk], int]:
    """Spread a chunk over several of at most ``most`` cells, neighbours together.

    Cells are halved at the median of their centres along the longer extent, again and again. A facet between two of
    the new chunks becomes a seam; seams are numbered from ``next_seam``, and the next free number is returned.
    """
    offsets, ids = chunk.cells.cell_vertices()
    centers = np.add.reduceat(chunk.points[ids], offsets[:-1], axis=0) / np.diff(offsets)[:, None]
    groups = _halve(np.arange(len(centers)), centers, most)
    owner = np.empty(len(centers), dtype=np.int64)
    for number, group in enumerate(groups):
        owner[group] = number
    left, right = chunk.cells.cofaces()
    between = np.flatnonzero((right >= 0) & (owner[left] != owner[right]))
    seams = chunk.seams.copy()
    seams[between] = next_seam + np.arange(len(between))
    opened = chunk.opened
    parts = []
    for group in groups:
        cells, vertices, facets = chunk.cells.extract(group)
        parts.append(
            replace(
                chunk,
                cells=cells,
                points=chunk.points[vertices],
                seams=seams[facets],
                roots=chunk.roots[group],
                words=tuple(words[group] for words in chunk.words),
                values={key: value[vertices] for key, value in chunk.values.items()},
                opened=None if opened is None else opened.take(vertices, group),
            )
        )
    return parts, next_seam + len(between)


def _halve(members: np.ndarray, centers: np.ndarray, most: int) -> list[np.ndarray]:
    if len(members) <= most:
        return [members]
    inside = centers[members]
    axis = int(np.argmax(inside.max(axis=0) - inside.min(axis=0)))
    middle = len(members) // 2
    order = np.argpartition(inside[:, axis], middle)
    return _halve(members[order[:middle]], centers, most) + _halve(members[order[middle:]], centers, most)


def _extent(chunk: Chunk) -> float:
    """Largest coordinate: the scale on which the positions of vertices are rounded."""
    return float(np.abs(chunk.points).max())

"""A chunk of cells on its way through the gates of a network.

The values that later stages read are kept at the vertices of the chunk. A network is continuous, so they do not depend
on the cell a vertex is seen from, and as long as no gate is passed they are affine on each cell: values at new vertices
are interpolated, never recomputed. One gate step cuts all cells by the gate's units; a chunk that grows too large is
spread over several, which share *seams*: facets that are cut on both sides and joined again at the end.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.geometry.complexes import Complex, Subdivision, column_signs, interpolate, steepest, subdivide
from reluscope.networks.graph import Max, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage, Values
from reluscope.partitions.candidates import find_rivals, winners
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
    """

    cells: Complex
    points: np.ndarray
    seams: np.ndarray
    roots: np.ndarray
    words: tuple[np.ndarray, ...]
    stage: int
    values: Values
    opened: "OpenStage | None" = None


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


def cut(chunk: Chunk, network: Network, resolution: Resolution, limit: int) -> tuple[Chunk, int]:
    """Cut the cells of a chunk by the units of its opened stage, and close the stage when all are done.

    Parameters
    ----------
    chunk : Chunk
        With an opened stage.
    network : Network
    resolution : Resolution
    limit : int
        Stop once there are more cells than this; the stage then stays open.

    Returns
    -------
    chunk : Chunk
    num_undecided : int
        Signs between the rounding bound and the resolution.
    """
    stage = network.stages[chunk.stage]
    if isinstance(stage.gate, Max):
        work, opened = _cut_ties(chunk, stage, resolution, limit)
    else:
        work, opened = _cut_breakpoints(chunk, stage, resolution, limit)
    finished = work.num_done == len(work.positive.T)
    is_last = finished and chunk.stage == len(network.stages) - 1
    words = tuple(word[work.parent] for word in chunk.words)
    points = _extend(chunk.points, work)
    moved = replace(
        chunk, cells=work.complex, points=points, seams=work.seams, roots=chunk.roots[work.parent], words=words
    )
    if finished:
        layout = CodeLayout((network.layout.gates[chunk.stage],))
        words = (*words, pack_pieces([opened.pieces], layout))
        moved = replace(moved, words=words, stage=chunk.stage + 1, opened=None)
    if is_last:
        return replace(moved, values={}), work.num_undecided
    live = {position: _extend_tensor(value, work) for position, value in chunk.values.items()}
    if finished:
        return replace(moved, values=stage.close(live, torch.from_numpy(opened.pre).to(network.device))), work.num_undecided
    return replace(moved, values=live, opened=opened), work.num_undecided


def _cut_breakpoints(
    chunk: Chunk, stage: Stage, resolution: Resolution, limit: int
) -> tuple[Subdivision, OpenStage]:
    """Cut where a pointwise unit crosses a breakpoint; its piece is the number of breakpoints below."""
    opened = chunk.opened
    assert opened is not None and isinstance(stage.gate, Pointwise)
    num_units = opened.pre.shape[1]
    breakpoints = stage.gate.breakpoints.cpu().numpy()
    breakpoints = np.broadcast_to(breakpoints, (len(breakpoints), num_units))
    if len(breakpoints) == 1 and not breakpoints.any():
        heights = opened.pre
    else:
        heights = (opened.pre[:, None, :] - breakpoints).reshape(len(opened.pre), -1)
    scale = (stage.gain * opened.magnitude + stage.offset + np.abs(breakpoints)).reshape(-1)
    rounding = resolution.rounding * scale

    above, below, within = column_signs(heights, rounding)
    crossing = (above & below) | (within & (above | below))
    # A unit of one strict sign on all cells has one piece, found without looking at the cells.
    constant = np.flatnonzero(opened.todo & above & ~crossing)
    columns = np.flatnonzero(opened.todo & crossing)
    slopes = _slopes(chunk, heights, columns)
    work = subdivide(
        chunk.cells,
        chunk.seams,
        heights[:, columns],
        rounding=rounding[columns] + resolution.rounding * _extent(chunk) * slopes,
        floor=resolution.length * slopes,
        limit=limit,
    )
    # A unit is exactly at its breakpoint where it was decided to be, so that no noise passes the gate.
    pre = _extend(opened.pre, work)
    for index, level in enumerate(breakpoints):
        mine = columns // num_units == index
        units = columns[mine] % num_units
        pre[:, units] = np.where(work.heights[:, mine] == 0, level[units], pre[:, units])
    pieces = (opened.pieces + np.bincount(constant % num_units, minlength=num_units).astype(opened.pieces.dtype))[
        work.parent
    ]
    done = columns[: work.num_done]
    for index in range(len(breakpoints)):
        mine = done // num_units == index
        pieces[:, done[mine] % num_units] += work.positive[:, : work.num_done][:, mine]
    todo = opened.todo & crossing
    todo[done] = False
    return work, OpenStage(pre, opened.magnitude, pieces, todo)


def _cut_ties(chunk: Chunk, stage: Stage, resolution: Resolution, limit: int) -> tuple[Subdivision, OpenStage]:
    """Cut where candidates of a max unit tie; its piece is the lowest of the largest candidates."""
    opened = chunk.opened
    assert opened is not None
    rounding = resolution.rounding * (stage.gain * opened.magnitude + stage.offset)
    rivals = find_rivals(opened.pre, rounding)
    above, below, within = column_signs(rivals.heights, rivals.rounding)
    columns = np.flatnonzero((above & below) | (within & (above | below)))
    slopes = _slopes(chunk, rivals.heights, columns)
    floor = resolution.length * slopes
    work = subdivide(
        chunk.cells,
        chunk.seams,
        rivals.heights[:, columns],
        rounding=rivals.rounding[columns] + resolution.rounding * _extent(chunk) * slopes,
        floor=floor,
        limit=limit,
    )
    pre = _extend(opened.pre, work)
    for column, (unit, first, second) in enumerate(rivals.pairs[columns]):
        tied = work.heights[:, column] == 0
        equal = np.minimum(pre[tied, unit, first], pre[tied, unit, second])
        pre[tied, unit, first] = pre[tied, unit, second] = equal
    pieces = np.tile(rivals.winner.astype(opened.pieces.dtype), (len(work.parent), 1))
    if work.num_done == len(columns) and len(rivals.open_units):
        widest = np.zeros(opened.pre.shape[1])
        np.maximum.at(widest, rivals.pairs[columns, 0], floor)
        units = rivals.open_units
        pieces[:, units] = winners(pre, units, *work.complex.cell_vertices(), rounding, widest[units])
    return work, OpenStage(pre, opened.magnitude, pieces, opened.todo)


def _extend(rows: np.ndarray, work: Subdivision) -> np.ndarray:
    """Return rows at the old vertices with those at the new ones, interpolated."""
    flat = rows.reshape(len(rows), -1)
    grown = np.empty((len(rows) + len(work.tail), flat.shape[1]))
    grown[: len(rows)] = flat
    interpolate(grown, work.tail, work.head, work.share)
    return grown.reshape(len(grown), *rows.shape[1:])


def _extend_tensor(value: Tensor, work: Subdivision) -> Tensor:
    return torch.from_numpy(_extend(value.cpu().numpy(), work)).to(value.device)


def _slopes(chunk: Chunk, heights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Steepest slope of each column over the edges of the chunk."""
    _, ends = chunk.cells.boundary(1)
    tail, head = ends[0::2], ends[1::2]
    length = np.linalg.norm(chunk.points[tail] - chunk.points[head], axis=1)
    return steepest(heights, tail, head, length, columns)


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

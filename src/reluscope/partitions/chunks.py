"""A chunk of cells on its way through the gates of a network.

The values that later stages read are kept at the vertices of the chunk. A network is continuous, so they do not depend
on the cell a vertex is seen from, and as long as no gate is passed they are affine on each cell: values at new vertices
are interpolated, never recomputed. One gate step cuts all cells by the gate's units; a chunk that grows too large is
spread over several, which share *seams*: facets that are cut on both sides and joined again at the end.

What floats know of a sign is a matter of three bounds. Every unit has a rounding error, the same for all vertices of
the chunk, from a running error analysis through the gates (`reluscope.networks.stages`). Every vertex has a blur, the
error of its position (`reluscope.geometry.splitting`). And a unit that is zero at all vertices of a cell may still be
anything inside it. Rational arithmetic decides it where that is cheap. Elsewhere exact zeros, and candidates of a max
gate that agree up to rounding, are read as zero (dead units, equal patches of an image); noise of a pointwise unit is
undecided.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Int
from numba import njit
from torch import Tensor

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.errors import InputError
from reluscope.geometry.complexes import Complex
from reluscope.geometry.splitting import (
    BOTH,
    MINUS,
    NOISE,
    PLUS,
    Placement,
    Subdivision,
    column_ranges,
    interpolate,
    is_positive,
    steepest,
    subdivide,
)
from reluscope.geometry.window_shapes import Corners
from reluscope.interruption import held
from reluscope.networks.graph import Max, Pointwise
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage, Values
from reluscope.partitions.candidates import find_rivals, settle, winners
from reluscope.partitions.certification import (
    Certifier,
    Cut,
    ExactVertex,
    Judge,
    doubtful,
    subdivide_exactly,
)
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
# A function that stays this far from zero, relative to its largest value, is looked at no closer.
CLEAR = 1e-6
# How much cheaper than the rest of the work exact values at the corners of the domains have to be.
EXACT_START = 10
# Products of numbers within these limits neither vanish nor overflow, and neither do their squares by much.
SMALLEST, LARGEST = 1e-120, 1e120

# What some columns of heights are.
Cuts = Callable[[np.ndarray], list[Cut]]


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
    blur : (v,) float64
        Error of the position of every vertex.
    skew : (edges,) float64
        Error of the position of every edge.
    errors : dict of (1, *shape) tensors
        Bounds on the errors of the values, for all vertices.
    judge : Judge, optional
        Decides what floats call zero on a whole cell.
    opened : OpenStage, optional
        Work on the gate, once its pre-activations are there.
    exact : list of ExactVertex, optional
        The vertices in rational arithmetic, if signs are to be certified.
    corners : Corners, optional
        The vertices as corners of the domains, until the first gate is opened.
    num_stages : int
        Gates to pass.
    seam_numbers : SeamNumbers
        Where new seams get theirs.
    """

    cells: Complex
    points: np.ndarray
    seams: np.ndarray
    roots: np.ndarray
    words: tuple[np.ndarray, ...]
    stage: int
    values: Values
    blur: np.ndarray
    skew: np.ndarray
    errors: Values
    judge: Judge | None = None
    opened: "OpenStage | None" = None
    exact: list[ExactVertex] | None = None
    corners: Corners | None = None
    num_stages: int = 0
    seam_numbers: "SeamNumbers" = field(default_factory=lambda: SeamNumbers(0))

    @property
    def is_finished(self) -> bool:
        """Whether the cells have passed all gates."""
        return self.stage == self.num_stages

    @property
    def level(self) -> int:
        """How far the cells have come."""
        return self.stage

    def __len__(self) -> int:
        return self.cells.num_cells

    @classmethod
    def start(
        cls,
        network: Network,
        cells: Complex,
        corners: Corners,
        inputs: Tensor,
        *,
        certifier: Certifier | None = None,
        judge: Judge | None = None,
    ) -> "Chunk":
        """Return cells before the first gate, given their vertices in domain coordinates and in input space."""
        values = network.start(inputs)
        _, ends = cells.boundary(1)
        skew = np.maximum(corners.errors[ends[0::2]], corners.errors[ends[1::2]])
        return cls(
            cells,
            corners.points,
            np.full(int(cells.size[cells.dim - 1]), -1, dtype=np.int64),
            np.arange(cells.num_cells),
            (),
            0,
            values,
            corners.errors,
            skew,
            {position: torch.zeros_like(value[:1]) for position, value in values.items()},
            judge,
            exact=None if certifier is None else [ExactVertex(corner=point) for point in corners.exact],
            corners=corners,
            num_stages=len(network.stages),
        )


class SeamNumbers:
    """Numbers that no two seams of a walk share.

    Parameters
    ----------
    first : int
        The next number that is free.
    """

    def __init__(self, first: int) -> None:
        self._first, self._lock = first, threading.Lock()

    def take(self, number: int) -> Int[np.ndarray, " seams"]:
        """Return so many numbers that are not given again."""
        with self._lock:
            self._first += number
            return np.arange(self._first - number, self._first)

    def __reduce__(self) -> tuple[type["SeamNumbers"], tuple[int]]:
        return SeamNumbers, (self._first,)


@dataclass(frozen=True)
class OpenStage:
    """A gate whose units are cutting the cells of a chunk.

    Parameters
    ----------
    pre : (v, u) or (v, u, k) float64
        Pre-activations at the vertices.
    size, error : (u,) or (u, k) float64
        Bounds on the pre-activations and on their errors. Not vertex by vertex: where all values happen to vanish,
        what is left of them is the rounding of those that they came from.
    snapped : (u,) float64
        How much a pre-activation was changed where it was decided to be at a breakpoint or in a tie.
    pieces : (cells, u) uint8 or uint16
        Pieces found so far.
    todo : (cuts,) bool
        Cut functions of a pointwise gate that have not been used.
    """

    pre: np.ndarray
    size: np.ndarray
    error: np.ndarray
    snapped: np.ndarray
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


def open_stage(chunk: Chunk, stage: Stage, resolution: Resolution) -> Chunk:
    """Run the affine nodes up to the gate at all vertices of the chunk."""
    gamma = resolution.rounding
    sizes = {position: chunk.values[position].abs().amax(0, keepdim=True) for position in stage.reads}
    size, error, errors = stage.advance_errors(sizes, chunk.errors, gamma)
    _check_range(stage, sizes, size)
    pre, live = stage.advance(chunk.values)
    # A copy, because what is decided to be zero is set to zero, and the gate may read a value that others read too.
    heights = pre.cpu().numpy().copy()
    if chunk.stage == 0 and chunk.exact is None:
        exact = _exact_heights(chunk, stage)
        if exact is not None:
            heights = exact
            size = np.abs(np.where(np.isfinite(exact), exact, 0.0)).max(axis=0, initial=0.0)
            error = np.zeros_like(size)
    # Values at new vertices are rounded too.
    error = np.maximum(error, gamma * size)
    num_units = stage.gate.num_units
    pieces = np.zeros((chunk.cells.num_cells, num_units), dtype=np.min_scalar_type(stage.gate.num_pieces - 1))
    cuts = 0 if isinstance(stage.gate, Max) else len(stage.gate.breakpoints) * num_units
    opened = OpenStage(heights, size, error, np.zeros(num_units), pieces, np.ones(cuts, dtype=bool))
    return replace(chunk, values=live, errors=errors, opened=opened, corners=None)


def _exact_heights(chunk: Chunk, stage: Stage) -> np.ndarray | None:
    """Return the pre-activations of the first gate at the corners of the domains, exact but for their last digit.

    Far from the origin floats lose digits here that no later step gives back. None where this would be slow.
    """
    judge, gate = chunk.judge, stage.gate
    corners = chunk.corners
    if judge is None or corners is None or not judge.is_able(EXACT_START * len(chunk.points)):
        return None
    offsets, ids = chunk.cells.cell_vertices()
    root = np.empty(len(chunk.points), dtype=np.int64)
    root[ids] = np.repeat(chunk.roots, np.diff(offsets))
    found = []
    for vertex, point in enumerate(corners.exact):
        (values,) = judge.preactivations(int(root[vertex]), chunk.stage, [point])
        found.append([numerator / values.denominator for numerator in values.numerators])
    heights = np.array(found).reshape(len(found), -1)
    return gate.candidates(torch.from_numpy(heights)).numpy().copy()


def _check_range(stage: Stage, sizes: Values, size: np.ndarray) -> None:
    """Refuse numbers whose products floats cannot hold."""
    smallest, largest = stage.leg.extremes
    entries = np.concatenate(
        [size.ravel(), *(one.cpu().numpy().ravel() for one in sizes.values()), [smallest, largest]]
    )
    entries = entries[entries != 0]
    if not (entries.min() >= SMALLEST and entries.max() <= LARGEST):
        worst = entries.min() if entries.min() < SMALLEST else entries.max()
        raise InputError(
            f"expected constants and values between {SMALLEST:g} and {LARGEST:g} in absolute value, got {worst:.1e} on "
            f"the way to gate {stage.gate.name}, where products of floats underflow or overflow: scale the network"
        )


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
        Signs that may hide regions thicker than the resolution.
    """
    stage = network.stages[chunk.stage]
    function = _cut_ties if isinstance(stage.gate, Max) else _cut_breakpoints
    work, exact, opened, num_flat = function(chunk, stage, _Knife(resolution, limit, certifier))
    finished = work.num_done == work.sides.shape[1]
    is_last = finished and chunk.stage == len(network.stages) - 1
    moved = replace(
        chunk,
        cells=work.complex,
        points=_extend(chunk.points, work),
        seams=work.seams,
        roots=chunk.roots[work.parent],
        words=tuple(word[work.parent] for word in chunk.words),
        values={} if is_last else {key: _extend_tensor(value, work) for key, value in chunk.values.items()},
        blur=work.placement.blur,
        skew=work.placement.skew,
        opened=opened,
        exact=exact,
    )
    if finished:
        layout = CodeLayout((network.layout.gates[chunk.stage],))
        words = (*moved.words, pack_pieces([opened.pieces], layout))
        values, errors = {}, {}
        if not is_last:
            values = stage.close(moved.values, torch.from_numpy(opened.pre).to(network.device))
            error = opened.error + (opened.snapped[:, None] if opened.error.ndim == 2 else opened.snapped)
            passed = stage.pass_errors(opened.size, error, opened.pieces, resolution.rounding)
            errors = {**chunk.errors, stage.position: passed}
        moved = replace(moved, words=words, stage=chunk.stage + 1, values=values, errors=errors, opened=None)
    return moved, work.num_undecided + num_flat


@dataclass(frozen=True)
class _Knife:
    """How cuts are made: thresholds, the largest number of cells, and who decides doubtful signs."""

    resolution: Resolution
    limit: int
    certifier: Certifier | None

    def crossing(self, chunk: Chunk, heights: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns may cut some cell, and which of the others are positive."""
        low, high, least = column_ranges(heights)
        size = np.maximum(-low, high)
        is_one_sided = (low > 0) | (high < 0)
        # A function without terms is zero.
        clear = (is_one_sided & (least > self.margin(chunk, rounding, size))) | ((size == 0) & (rounding == 0))
        return ~clear, clear & (low > 0)

    def margin(self, chunk: Chunk, rounding: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Return up to which size a sign deserves a closer look, for functions of given error and largest value."""
        if self.certifier is not None:
            return doubtful(rounding, size)
        # The slope of a function is taken to be at most a thousand times what it is on average.
        extent = float(np.ptp(chunk.points, axis=0).max())
        share = min(1.0, max(CLEAR, 1000 * float(chunk.blur.max()) / extent)) if extent > 0 else 1.0
        return np.maximum(rounding, share * size)

    def apply(
        self, chunk: Chunk, heights: np.ndarray, rounding: np.ndarray, cuts: Cuts
    ) -> tuple[Subdivision, list[ExactVertex] | None]:
        """Cut a chunk by functions given at its vertices."""
        placement = Placement(chunk.points, chunk.blur, chunk.skew)
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
        tail, head = ends[0::2], ends[1::2]
        length = np.linalg.norm(chunk.points[tail] - chunk.points[head], axis=1)
        slopes = steepest(heights, tail, head, length)
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


def _judge_flat(
    chunk: Chunk, work: Subdivision, cuts: Cuts, rounding: np.ndarray, doubted: np.ndarray
) -> tuple[np.ndarray, int]:
    """Find the sign of functions that are zero at all vertices of a cell.

    Without a judge that is able they are read as zero, unless ``doubted`` (cells, cuts). Returns the sides of all
    cells and how many flat ones could not be decided.
    """
    sides = work.sides
    # Without terms, zero is zero.
    flat = ((sides & BOTH) == 0) & (rounding > 0)
    flat[:, work.num_done :] = False
    if not flat.any():
        return sides, 0
    sides = sides.copy()
    undecided = flat & doubted
    judge = chunk.judge
    points_each = work.complex.dim + 1
    if judge is not None and judge.is_able(points_each):
        offsets, ids = work.complex.cell_vertices()
        # What is surely not exact comes first, should exact arithmetic run out.
        order = np.flatnonzero(flat.any(axis=1))
        for cell in order[np.argsort(~undecided[order].any(axis=1), kind="stable")].tolist():
            if not judge.is_able(points_each):
                break
            columns = np.flatnonzero(flat[cell])
            corners = work.placement.points[ids[offsets[cell] : offsets[cell + 1]]]
            root = int(chunk.roots[work.parent[cell]])
            for column, sign in zip(columns, judge.signs(root, corners, cuts(columns)), strict=True):
                undecided[cell, column] = sign is None
                if sign is not None:
                    sides[cell, column] = 0 if sign == 0 else PLUS if sign > 0 else MINUS
    return sides, int(undecided.sum())


def _cut_breakpoints(
    chunk: Chunk, stage: Stage, knife: _Knife
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
    rounding = (opened.error + knife.resolution.rounding * np.abs(levels)).reshape(-1)
    crossing, positive = knife.crossing(chunk, heights, rounding)
    # A unit of one strict sign on all cells has one piece, found without looking at the cells.
    constant = np.flatnonzero(opened.todo & positive) % num_units
    columns = np.flatnonzero(opened.todo & crossing)
    index, units = columns // num_units, columns % num_units

    def cuts(chosen: np.ndarray) -> list[Cut]:
        thresholds = levels[index[chosen], units[chosen]].tolist()
        return [
            Cut(stage.index, unit, breakpoint=at) for unit, at in zip(units[chosen].tolist(), thresholds, strict=True)
        ]

    work, exact = knife.apply(chunk, heights[:, columns], rounding[columns], cuts)
    is_noise = (work.sides & NOISE) != 0
    sides, num_flat = _judge_flat(chunk, work, cuts, rounding[columns], is_noise)
    positive = is_positive(sides)
    pre = _extend(opened.pre, work)
    _settle_at(pre, units, levels[index, units], work.heights, is_single)
    constants = np.bincount(constant, minlength=num_units).astype(opened.pieces.dtype)
    pieces = _count_below(opened.pieces, constants, work.parent, units[: work.num_done], positive)
    todo = opened.todo & crossing
    todo[columns[: work.num_done]] = False
    snapped = opened.snapped.copy()
    np.maximum.at(snapped, units, work.snapped)
    return work, exact, replace(opened, pre=pre, snapped=snapped, pieces=pieces, todo=todo), num_flat


@held
@njit(cache=True)
def _settle_at(pre, units, levels, heights, is_single) -> None:
    """Put units exactly at their breakpoints where they were decided to be, so that no noise passes the gate."""
    for v in range(heights.shape[0]):
        for i in range(heights.shape[1]):
            if heights[v, i] == 0:
                pre[v, units[i]] = levels[i]
            elif is_single:
                pre[v, units[i]] = levels[i] + heights[v, i]


@held
@njit(cache=True)
def _count_below(pieces, constants, parent, units, positive) -> np.ndarray:
    """Return for every cell and unit how many breakpoints are below: as in the parent, and those passed since."""
    counts = np.empty((parent.shape[0], pieces.shape[1]), dtype=pieces.dtype)
    for cell in range(parent.shape[0]):
        for unit in range(pieces.shape[1]):
            counts[cell, unit] = pieces[parent[cell], unit] + constants[unit]
        for i in range(units.shape[0]):
            counts[cell, units[i]] += positive[cell, i]
    return counts


def _cut_ties(
    chunk: Chunk, stage: Stage, knife: _Knife
) -> tuple[Subdivision, list[ExactVertex] | None, OpenStage, int]:
    """Cut where candidates of a max unit tie; its piece is the lowest of the largest candidates."""
    opened = chunk.opened
    assert opened is not None
    assert isinstance(stage.gate, Max)
    table = stage.gate.index.cpu().numpy()
    margin = knife.margin(chunk, opened.error, opened.size)
    rivals = find_rivals(opened.pre, opened.error, margin, ties=knife.certifier is None)
    crossing, _ = knife.crossing(chunk, rivals.heights, rivals.rounding)
    columns = np.flatnonzero(crossing)
    pairs = rivals.pairs[columns]
    units, first, second = pairs.T

    def cuts(chosen: np.ndarray) -> list[Cut]:
        entries = (table[units[chosen], which[chosen]].tolist() for which in (first, second))
        return [Cut(stage.index, one, other) for one, other in zip(*entries, strict=True)]

    work, exact = knife.apply(chunk, rivals.heights[:, columns], rivals.rounding[columns], cuts)
    # Candidates that agree up to rounding on whole cells nearly always are the same: equal patches of an image.
    nothing = np.zeros(work.sides.shape, dtype=bool)
    _, num_flat = _judge_flat(chunk, work, cuts, rivals.rounding[columns], nothing)
    pre = _extend(opened.pre, work)
    pre[:, table < 0] = -np.inf
    settle(pre, pairs[: work.num_done], work.heights[:, : work.num_done])
    snapped = opened.snapped.copy()
    np.maximum.at(snapped, units, work.snapped)
    pieces = np.tile(rivals.winner.astype(opened.pieces.dtype), (len(work.parent), 1))
    if work.num_done == len(columns) and len(rivals.open_units):
        offsets, ids = work.complex.cell_vertices()
        if knife.certifier is None:
            pieces[:, rivals.open_units] = winners(pre, rivals.open_units, offsets, ids)
        else:
            assert exact is not None
            candidates = table[rivals.open_units].tolist()
            for cell in range(work.complex.num_cells):
                corners = [exact[v] for v in ids[offsets[cell] : offsets[cell + 1]]]
                pieces[cell, rivals.open_units] = knife.certifier.winners(corners, stage.index, candidates)
    return work, exact, replace(opened, pre=pre, snapped=snapped, pieces=pieces), num_flat


def _extend(rows: np.ndarray, work: Subdivision) -> np.ndarray:
    """Return rows at the old vertices with those at the new ones, interpolated."""
    flat = rows.reshape(len(rows), -1)
    grown = np.empty((len(rows) + len(work.tail), flat.shape[1]))
    grown[: len(rows)] = flat
    interpolate(grown, work.tail, work.head, work.share)
    return grown.reshape(len(grown), *rows.shape[1:])


def _extend_tensor(value: Tensor, work: Subdivision) -> Tensor:
    return torch.from_numpy(_extend(value.cpu().numpy(), work)).to(value.device)


def spread(chunk: Chunk, most: int) -> list[Chunk]:
    """Spread a chunk over several of at most ``most`` cells, neighbours together.

    Cells are halved at the median of their centres along the longer extent, again and again. A facet between two of
    the new chunks becomes a seam.
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
    seams[between] = chunk.seam_numbers.take(len(between))
    opened = chunk.opened
    parts = []
    for group in groups:
        cells, vertices, edges, facets = chunk.cells.extract(group)
        parts.append(
            replace(
                chunk,
                cells=cells,
                points=chunk.points[vertices],
                seams=seams[facets],
                roots=chunk.roots[group],
                words=tuple(words[group] for words in chunk.words),
                values={key: value[vertices] for key, value in chunk.values.items()},
                blur=chunk.blur[vertices],
                skew=chunk.skew[edges],
                opened=None if opened is None else opened.take(vertices, group),
                corners=None if chunk.corners is None else chunk.corners.take(vertices),
            )
        )
    return parts


def _halve(members: np.ndarray, centers: np.ndarray, most: int) -> list[np.ndarray]:
    if len(members) <= most:
        return [members]
    inside = centers[members]
    axis = int(np.argmax(inside.max(axis=0) - inside.min(axis=0)))
    middle = len(members) // 2
    order = np.argpartition(inside[:, axis], middle)
    return _halve(members[order[:middle]], centers, most) + _halve(members[order[middle:]], centers, most)

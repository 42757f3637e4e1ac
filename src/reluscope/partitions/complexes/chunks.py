"""A chunk of cells on its way through the gates of a network.

The values that later stages read are kept at the vertices of the chunk. A network is continuous, so they do not depend
on the cell a vertex is seen from, and as long as no gate is passed they are affine on each cell: values at new vertices
are interpolated, never recomputed. One gate step cuts all cells by the gate's units; a chunk that grows too large is
spread over several, which share *seams*: facets that are cut on both sides and joined again at the end.

What floats know of a sign is a matter of three bounds. Every unit has a rounding error, the same for all vertices of
the chunk, from a running error analysis through the gates (`reluscope.networks.passes.stages`). Every vertex has a
blur, the error of its position (`reluscope.geometry.cutting.splitting`). And a unit that is zero at all vertices of a
cell may still be anything inside it. Rational arithmetic decides it where that is cheap. Elsewhere exact zeros, and
candidates of a max gate that agree up to rounding, are read as zero (dead units, equal patches of an image); noise of a
pointwise unit is undecided.
"""

import threading
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from reluscope import _kernels
from reluscope.codes.steady_words import SteadyWords
from reluscope.geometry.cutting.complexes import Complex
from reluscope.geometry.cutting.splitting import Placement
from reluscope.geometry.polyhedra.window_shapes import RationalCorners
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.networks.number_range import check_numbers
from reluscope.networks.passes.numbers import LIVE_NUMBERS
from reluscope.networks.passes.stages import Stage, Values
from reluscope.partitions.complexes.bends import Arrived, first_rows
from reluscope.partitions.complexes.certification import Certifier, ExactVertex
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.complexes.spanning_vertices import (
    MOST_FACTOR,
    MOST_MEASURED,
    Spanning,
    pays,
    spanning_vertices,
)
from reluscope.partitions.complexes.vertex_names import first_names
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
# How much cheaper than the rest of the work exact values at the corners of the domains have to be.
EXACT_START = 10
# Rounding errors that heights at these corners may have, in their last digit, for fractions not to be needed.
SHARP = 16.0
# Proofs last to the end of a network if errors are at most this.
PROVED = 1e-5
# A function that stays this far from zero, relative to its largest value, is not examined further.
CLEAR = 1e-6
# The seam of facets to cells that were dropped.
NOTHING = -2


@dataclass(frozen=True)
class Chunk:
    """Cells that have passed the same gates, with everything needed to go on."""

    cells: Complex
    points: np.ndarray  # (v, d) vertices in domain coordinates
    seams: np.ndarray  # (facets,) -1 for none, `NOTHING` beside dropped cells
    roots: np.ndarray  # (cells,) cell of the initial complex each lies in
    words: tuple[np.ndarray | SteadyWords, ...]  # (cells, w) each, packed codes of the gates passed
    stage: int  # the gate that comes next
    values: Values  # the stage starts from; once open, for later stages
    blur: np.ndarray  # (v,) error of the position of every vertex
    skew: np.ndarray  # (edges,) error of the position of every edge
    factor: np.ndarray  # (v,) multiple of evaluated values' errors at a vertex
    drift: np.ndarray  # (v,) error beside that, see `spanning_vertices`
    errors: Values  # bounds on the errors of evaluated values
    sizes: Values = field(default_factory=dict)  # largest absolute start values, if carried ahead
    exact_signs: ExactSigns | None = None  # decides what floats call zero on a whole cell
    opened: "OpenStage | None" = None  # work on the gate, once its pre-activations are there
    exact: list[ExactVertex] | None = None  # rational vertices, if signs are to be certified
    corners: RationalCorners | None = None  # the vertices as corners, until the first gate opens
    num_stages: int = 0  # gates to pass
    seam_numbers: "SeamNumbers" = field(default_factory=lambda: SeamNumbers(0))  # where new seams get theirs
    names: np.ndarray | None = None  # (v,) the same from every chunk, see `vertex_names`
    last: np.ndarray | None = None  # (v, u) last gate's pre-activations, if there are names
    rounding: MeasuredRounding | None = None  # replaces proved bounds that leave a sign undecided
    is_measured: bool = False  # whether ``rounding`` has done so
    keeps_outputs: bool = False  # whether finished cells are to have outputs
    outputs: np.ndarray | None = None  # (v, m) network's, at the vertices of finished cells
    shares: np.ndarray | None = None  # (v, k) of the rows that ``values`` then are, see `bends`
    in_doubt: bool = False  # whether a sign stayed undecided on the way

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
        corners: RationalCorners,
        inputs: Tensor,
        *,
        certifier: Certifier | None = None,
        exact_signs: ExactSigns | None = None,
        has_names: bool = False,
        rounding: MeasuredRounding | None = None,
        keeps_outputs: bool = False,
        combines: bool = False,
    ) -> "Chunk":
        """Return cells before the first gate, given their vertices in domain coordinates and in input space."""
        rows, shares, off = first_rows(inputs, corners.points) if combines else (inputs, None, 0 * inputs[:1])
        values = network.start(rows)
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
            np.ones(len(corners)),
            np.zeros(len(corners)),
            dict.fromkeys(values, off),
            exact_signs=exact_signs,
            exact=None if certifier is None else [ExactVertex(corner=point) for point in corners.exact],
            corners=corners,
            num_stages=len(network.stages),
            names=first_names(len(corners)) if has_names else None,
            rounding=rounding,
            keeps_outputs=keeps_outputs,
            shares=shares,
        )

    @property
    def doubt(self) -> float:
        """Of the largest value of a function, the share up to which its sign is examined."""
        # The slope of a function is taken to be at most a thousand times what it is on average.
        least, most = _kernels.column_ranges(self.points)
        extent = float((most - least).max())
        return min(1.0, max(CLEAR, 1000 * float((self.blur + self.drift).max()) / extent)) if extent > 0 else 1.0

    @property
    def placement(self) -> Placement:
        """Where vertices and edges are, and how well that is known."""
        return Placement(self.points, self.blur, self.skew, self.factor, self.drift)

    def part(self, group: np.ndarray, seams: np.ndarray) -> "Chunk":
        """Return some of the cells, with the seams (facets,) that facets of all cells are to lie on."""
        cells, vertices, edges, facets = self.cells.extract(group)
        rows = torch.from_numpy(vertices)
        return replace(
            self,
            cells=cells,
            points=self.points[vertices],
            seams=seams[facets],
            roots=self.roots[group],
            words=tuple(words.take(group, axis=0) for words in self.words),
            values=self.values
            if self.shares is not None
            else {key: value.index_select(0, rows.to(value.device)) for key, value in self.values.items()},
            shares=None if self.shares is None else self.shares[vertices],
            blur=self.blur[vertices],
            skew=self.skew[edges],
            factor=self.factor[vertices],
            drift=self.drift[vertices],
            opened=None if self.opened is None else self.opened.take(vertices, group),
            corners=None if self.corners is None else self.corners.take(vertices),
            names=None if self.names is None else self.names[vertices],
        )

    def only(self, group: np.ndarray) -> "Chunk":
        """Return some of the cells; facets to others, which nobody asks for, lie on the seam `NOTHING`."""
        left, right = self.cells.cofaces()
        is_kept = np.zeros(len(self), dtype=bool)
        is_kept[group] = True
        seams = self.seams.copy()
        seams[(right >= 0) & (is_kept[left] != is_kept[right])] = NOTHING
        return self.part(group, seams)


class SeamNumbers:
    """Numbers that no two seams of a walk share."""

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

    Bounds are not per vertex: where all values happen to vanish, the rounding of those that they came from is left.
    With ``arrived``, which has all units, the other fields have those that may bend.
    """

    pre: np.ndarray  # (v, u) or (v, u, k) pre-activations at the vertices
    size: np.ndarray  # (u,) or (u, k) bounds on the pre-activations
    error: np.ndarray  # (u,) or (u, k) bounds on their errors
    snapped: np.ndarray  # (u,) change where decided at a breakpoint or a tie
    pieces: np.ndarray  # (cells, u) pieces found so far
    todo: np.ndarray  # (cuts,) unused cut functions of a pointwise gate
    proved: np.ndarray  # (u,) or (u, k) proved, where ``error`` is measured
    num_unproved: int = 0  # signs that are read by measured errors alone
    arrived: Arrived | None = None  # all units, where values are combinations of rows

    def take(self, vertices: np.ndarray, cells: np.ndarray) -> "OpenStage":
        """Return the work on some cells and their vertices."""
        return replace(self, pre=self.pre.take(vertices, axis=0), pieces=self.pieces.take(cells, axis=0))


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
    sizes = chunk.sizes or {position: largest(chunk.values[position]) for position in stage.reads}
    size, error, errors = stage.advance_errors(sizes, chunk.errors, gamma)
    check_range(stage, sizes, size)
    spanning = _spanning(chunk, stage, resolution)
    pre, live = stage.advance(chunk.values, LIVE_NUMBERS) if spanning is None else _advance(chunk, stage, spanning)
    heights, unit = pre.cpu().numpy(), gamma
    if chunk.sizes:
        unit, error = 2 * gamma, error + gamma * size
    if spanning is not None:
        unit = gamma * max(1.0, spanning.roundings)
        made = {at: errors[at] + unit * largest(live[at]) for at in stage.keeps if at not in chunk.values}
        errors, error = {**errors, **made}, error + unit * size
    if chunk.stage == 0 and chunk.exact is None and not _is_sharp(stage.gate, heights, error, gamma):
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
    proved, expected, is_measured, num_unproved = error, error, chunk.is_measured, 0
    if chunk.rounding is not None:
        expected = np.minimum(np.maximum(chunk.rounding.errors(chunk.stage, size, gamma), unit * size), proved)
    if spanning is not None:
        chunk = _where_in_doubt(chunk, stage, spanning, heights, live, expected if is_measured else proved)
    if chunk.rounding is not None:
        num_unproved = int(between(stage.gate, heights, chunk.factor, expected, proved).sum())
        is_measured |= num_unproved > 0
        error = expected if is_measured else proved
    opened = OpenStage(
        heights, size, error, np.zeros(num_units), pieces, np.ones(cuts, dtype=bool), proved, num_unproved
    )
    return replace(chunk, values=live, errors=errors, sizes={}, opened=opened, corners=None, is_measured=is_measured)


def _spanning(chunk: Chunk, stage: Stage, resolution: Resolution) -> Spanning | None:
    """Return which vertices are to be evaluated, None where all are, or where values have gone ahead."""
    # While proofs of a deep network last, they are not given away for speed.
    if chunk.stage == 0 or chunk.sizes or chunk.exact is not None or not pays(stage.leg, len(chunk.points)):
        return None
    if chunk.rounding is None or chunk.is_measured or chunk.rounding.proved <= PROVED:
        most = MOST_MEASURED if chunk.is_measured else MOST_FACTOR
        return spanning_vertices(chunk.cells, chunk.placement, resolution.length, most)
    return None


def _advance(chunk: Chunk, stage: Stage, spanning: Spanning) -> tuple[Tensor, Values]:
    """Return what `Stage.advance` does, from values at some vertices."""
    leg = stage.leg
    found = leg.carry(LIVE_NUMBERS, {position: spanning.rows(chunk.values[position]) for position in leg.reads})
    live = {at: chunk.values[at] if at in chunk.values else spanning.expanded(found[at]) for at in stage.keeps}
    reached = chunk.values.get(leg.target)
    reached = spanning.expanded(found[leg.target]) if reached is None else reached
    return LIVE_NUMBERS.arrive(stage, reached), live


def _where_in_doubt(
    chunk: Chunk, stage: Stage, spanning: Spanning, heights: np.ndarray, live: Values, error: np.ndarray
) -> Chunk:
    """Evaluate, in place, the derived vertices where errors that have grown leave a sign open; return the chunk."""
    factor, drift = spanning.factor.copy(), spanning.drift.copy()
    worst = float(factor[spanning.derived].max())
    may = between(stage.gate, heights, np.ones(len(factor)), 0 * error, worst * error) > 0
    rows = spanning.derived[may[spanning.derived]]
    rows = rows[between(stage.gate, heights[rows], factor[rows], 0 * error, error) > 0]
    if len(rows):
        which = torch.from_numpy(rows)
        reads = {at: chunk.values[at].index_select(0, which) for at in stage.reads}
        others = {at: chunk.values[at].index_select(0, which) for at in stage.keeps if at in chunk.values}
        pre, found = stage.advance({**others, **reads}, LIVE_NUMBERS)
        heights[rows] = pre.numpy()
        for at in stage.keeps:
            if at not in chunk.values:
                live[at][which] = found[at]
        factor[rows], drift[rows] = chunk.factor[rows], chunk.drift[rows]
    return replace(chunk, factor=factor, drift=drift)


def between(
    gate: Pointwise | Max, heights: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return how many signs at each vertex errors of one size leave open, and smaller ones do not."""
    if isinstance(gate, Max):
        behind = heights.max(axis=2, keepdims=True) - heights
        low, high = (2 * factor[:, None, None] * error.max(axis=1, keepdims=True) for error in (low, high))
        return ((behind > low) & (behind <= high)).sum(axis=(1, 2))
    number = np.zeros(len(heights), dtype=np.int64)
    least, most = _kernels.column_ranges(heights)
    for threshold in gate.breakpoints.cpu().numpy():
        # Most units are far from their breakpoints at all vertices.
        near = np.flatnonzero(np.maximum(least - threshold, threshold - most) <= factor.max(initial=1.0) * high)
        gap = np.abs(heights.take(near, axis=1) - np.broadcast_to(threshold, least.shape)[near]) / factor[:, None]
        number += ((gap > low[near]) & (gap <= high[near])).sum(axis=1)
    return number


def largest(values: Tensor) -> Tensor:
    """Return the largest absolute values ``(1, *shape)`` at any vertex."""
    if values.device.type == "cpu" and values.numel():
        low, high = _kernels.column_ranges(values.contiguous().numpy().reshape(len(values), -1))
        return torch.from_numpy(np.maximum(high, -low)).reshape(1, *values.shape[1:])
    return torch.maximum(values.amax(0, keepdim=True), -values.amin(0, keepdim=True))


def _is_sharp(gate: Pointwise | Max, heights: np.ndarray, error: np.ndarray, gamma: float) -> bool:
    """Whether heights are far from breakpoints and have lost no digits: fractions would tell nothing new."""
    if isinstance(gate, Max) or (error > SHARP * gamma * np.abs(heights).max(axis=0)).any():
        return False
    return all((np.abs(heights - threshold) > error).all() for threshold in gate.breakpoints.cpu().numpy())


def _exact_heights(chunk: Chunk, stage: Stage) -> np.ndarray | None:
    """Return the pre-activations of the first gate at the corners of the domains, exact but for their last digit.

    Far from the origin floats lose digits here that no later step gives back. None where this would be slow.
    """
    exact_signs, gate = chunk.exact_signs, stage.gate
    corners = chunk.corners
    if exact_signs is None or corners is None or not exact_signs.is_able(EXACT_START * len(chunk.points)):
        return None
    offsets, ids = chunk.cells.cell_vertices()
    root = np.empty(len(chunk.points), dtype=np.int64)
    root[ids] = np.repeat(chunk.roots, np.diff(offsets))
    found = []
    for vertex, point in enumerate(corners.exact):
        (values,) = exact_signs.preactivations(int(root[vertex]), chunk.stage, [point])
        found.append([numerator / values.denominator for numerator in values.numerators])
    heights = np.array(found).reshape(len(found), -1)
    return gate.candidates(torch.from_numpy(heights)).numpy().copy()


def check_range(stage: Stage, sizes: Values, size: np.ndarray) -> None:
    """Refuse numbers whose products floats cannot hold."""
    tables = (size, *(one.cpu().numpy() for one in sizes.values()), np.array(stage.leg.extremes))
    check_numbers(f"on the way to gate {stage.gate.name}", *tables)


def spread(chunk: Chunk, most: int) -> list[Chunk]:
    """Spread a chunk over several of at most ``most`` cells, neighbours together.

    Cells are halved at the median of their centres along the longer extent, again and again. A facet between two of
    the new chunks becomes a seam.
    """
    offsets, ids = chunk.cells.cell_vertices()
    centers = means(chunk.points, offsets, ids)
    groups = _halve(np.arange(len(centers)), centers, most)
    owner = np.empty(len(centers), dtype=np.int64)
    for number, group in enumerate(groups):
        owner[group] = number
    left, right = chunk.cells.cofaces()
    between = np.flatnonzero((right >= 0) & (owner[left] != owner[right]))
    seams = chunk.seams.copy()
    seams[between] = chunk.seam_numbers.take(len(between))
    return [chunk.part(group, seams) for group in groups]


def means(points: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the mean of the vertices of every cell: a strictly interior point."""
    sums = [np.add.reduceat(column[ids], offsets[:-1]) for column in points.T]
    return np.stack(sums, axis=1) / np.diff(offsets)[:, None]


def _halve(members: np.ndarray, centers: np.ndarray, most: int) -> list[np.ndarray]:
    if len(members) <= most:
        return [members]
    inside = centers[members]
    axis = int(np.argmax(inside.max(axis=0) - inside.min(axis=0)))
    middle = len(members) // 2
    order = np.argpartition(inside[:, axis], middle)
    return _halve(members[order[:middle]], centers, most) + _halve(members[order[middle:]], centers, most)

"""The pieces of an exact preimage: regions that outputs at vertices do not rule out, cut by rows pulled back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.boxes.pullback import RESOLUTION, pulled_back
from reluscope.analyses.preimages.preimage_pieces import PreimagePieces, scale_of, volume_of
from reluscope.analyses.preimages.rows_of_inputs import RowsOfInputs
from reluscope.budget import why_ended
from reluscope.geometry.numbers.resolutions import HULLS
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.relative_interior import relative_interior
from reluscope.geometry.polyhedra.widths import swept_volume, width_bound
from reluscope.interruption import step_point
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.partitions.corner_errors import side_errors, volume_errors
from reluscope.partitions.partition_in_memory import Partition
from reluscope.regions.region import Region
from reluscope.regions.regions import regions
from reluscope.time_limits import OutOfTime, driven, time_limit

# Regions whose half-spaces are in memory at a time.
BATCH = 256
# By how much float64 may move the corners of a polyhedron, relative to the largest coordinate.
ROUNDING = 64 * np.finfo(float).eps
# Relative to the domain: radii of balls that linear programs in float64 may not find.
WEDGE = 1e-8


def partitioned_preimage(
    part: Partition, target: Polyhedron, cut_by: Polyhedron, seconds: float = np.inf
) -> PreimagePieces:
    """Return the exact preimage of a target on a partition; `cut_by` is the target, of the scores.

    Regions that are not cut when the seconds are over, or at Ctrl-C, are undecided.
    """
    return PieceSearch(part, target, cut_by).run(seconds)


def by_vertices(part: Partition, targets: Sequence[Polyhedron]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for each target the regions that outputs at vertices do not rule out, and which lie inside.

    Both are decided by a forward pass over the vertices with bounds on its rounding. Which lie inside is told for all
    regions.
    """
    if not part.has_vertices or not len(part) or not part.is_bounded().all():
        return [(np.arange(len(part)), np.zeros(len(part), dtype=bool)) for _ in targets]
    errors = rounded_forward(part.network_on_domain, part.vertices).errors
    return [_by_vertices(part, errors, target) for target in targets]


def _by_vertices(
    part: Partition, errors: Float[np.ndarray, "v m"], target: Polyhedron
) -> tuple[np.ndarray, np.ndarray]:
    outputs = part.outputs
    size = np.abs(outputs).max(axis=0)
    normals, values = np.concatenate([target.A, target.C]), np.concatenate([target.b, target.d])
    over, off = outputs @ normals.T - values, errors @ np.abs(normals).T
    scale = np.abs(normals) @ size + np.abs(values)
    offsets, ids = part.region_vertices
    least, most = (end.reduceat(over[ids], offsets[:-1]) for end in (np.minimum, np.maximum))
    off = np.maximum.reduceat(off[ids], offsets[:-1])
    equal = np.arange(len(values)) >= len(target.b)
    is_sharp = np.maximum(most, -least) + off == 0
    # What is outside is so in spite of the largest outputs' rounding; inside counts what a region's own may be, where
    # that is nothing beside how far the row goes on the region.
    slack = RESOLUTION * np.maximum(scale, np.finfo(float).tiny)
    own = np.maximum.reduceat(np.abs(outputs)[ids] @ np.abs(normals).T, offsets[:-1]) + np.abs(values)
    rounding = 64 * np.finfo(float).eps * own
    outside = (least > slack + off).any(axis=1) | (equal & (most < -slack - off)).any(axis=1)
    is_small = rounding + off <= RESOLUTION * (most - least)
    below = most <= np.where(is_small, rounding, -rounding - off)
    # That an output is constant, and as asked, is for fractions to say unless it is known without any rounding.
    inside = np.where(equal, is_sharp, below).all(axis=1)
    return np.flatnonzero(~outside), np.asarray(inside)


class _FoundPiece(NamedTuple):
    """A piece: its region, dimension, inner point, whether it is all of the region, and whether it lies in a facet."""

    row: int
    dim: int
    point: np.ndarray
    is_whole: bool
    may_be_copy: bool
    error: float


class PieceSearch:
    """The pieces of the preimage of a target, which says that the network's own outputs are in another polyhedron."""

    def __init__(self, part: Partition, target: Polyhedron, cut_by: Polyhedron) -> None:
        self.part, self.target, self.cut_by = part, target, cut_by
        self.length = scale_of(part)
        self.thin = 10 * RESOLUTION * self.length
        self.pieces: list[Polyhedron] = []
        self.found: list[_FoundPiece] = []
        self.missing = 0.0
        self.undecided: list[int] = []
        around = np.concatenate([part.vertices if part.has_vertices else part.witnesses, part.witnesses])
        self.low, self.high = _ends_of(part, around)
        self.goes_on = not part.window.is_bounded()
        self.rows_of_inputs = RowsOfInputs(part.network_on_domain, self.low, self.high, goes_on=self.goes_on)
        largest = float(np.maximum(np.abs(self.low), np.abs(self.high)).max(initial=0.0))
        self.moved = side_errors(part)
        # Polyhedra are cut in coordinates of the domain, wherever they lie.
        self.rounding = ROUNDING * largest

    def run(self, seconds: float = np.inf) -> PreimagePieces:
        """Cut all regions that vertices do not rule out."""
        part = self.part
        ((may, whole),) = by_vertices(part, [self.cut_by])
        with time_limit(seconds):
            for start in range(0, len(may), BATCH):
                tables = self.pieces, self.found, self.undecided
                before = [len(table) for table in tables]
                try:
                    with driven():
                        self._cut_batch(may[start : start + BATCH], whole)
                except (KeyboardInterrupt, OutOfTime) as end:
                    for table, length in zip(tables, before, strict=True):
                        del table[length:]
                    self.undecided += may[start:].tolist()
                    self.missing = volume_of(part)
                    part = part if part.stop else replace(part, stop=why_ended(end))
                    break
        undecided = np.array(self.undecided, dtype=np.int64)
        return _without_copies(part, self.target, self.pieces, self.found, self.thin, self.missing, undecided)

    def _cut_batch(self, rows: np.ndarray, whole: np.ndarray) -> None:
        """Cut some regions."""
        part = self.part
        at = part.network_on_domain.at(part.witnesses[rows])
        weights, biases = (one.cpu().numpy() for one in (at.maps.weight, at.maps.bias))
        errors = self.rows_of_inputs.errors(at)
        # Of a region thinner than rounding the witness lies beside it.
        is_own = (at.codes.words == part.codes.words[rows]).all(axis=1)
        for place, (row, body) in enumerate(zip(rows.tolist(), self._bodies(rows), strict=True)):
            step_point()
            if body is None or not is_own[place]:
                self._leave_open(row)
            elif whole[row]:
                self._keep(row, body, part.dim, part.witnesses[row], self._error(row, part.dim * RESOLUTION))
            else:
                self._cut(row, body, weights[place], biases[place], errors[place])

    def _bodies(self, rows: np.ndarray) -> Sequence[Polyhedron | None]:
        """Return regions as polyhedra, None for those that rounding hides in the domain, or rows of them."""
        part = self.part
        if part.has_facet_vertices:
            return [part[int(row)].polyhedron for row in rows]
        found = regions(part.network_on_domain, part.witnesses[rows], domain=part.window, missing="return")
        reach = 0.0 if part.window.is_bounded() else np.inf
        ends = self.low - reach, self.high + reach
        return [one.polyhedron if isinstance(one, Region) and one.is_whole_within(*ends) else None for one in found]

    def _cut(self, row: int, body: Polyhedron, weight: np.ndarray, bias: np.ndarray, errors: np.ndarray) -> None:
        code = self.part.codes[row : row + 1]
        shift = 0.0
        try:
            found = self.rows_of_inputs.pulled_back(self.cut_by, weight, bias, errors, code)
            cut = None if found is None else found.polyhedron
            shift = 0.0 if found is None else found.shift
        except TooManyMultiplicationsError:
            cut, shift = pulled_back(self.cut_by, weight, bias), 1.0
        if cut is None:
            if shift:
                self._leave_open(row)
            return
        if not len(cut.A) + len(cut.C):
            error = self._error(row, 0.0) if not shift else self._most(row)
            self._keep(row, body, self.part.dim, self.part.witnesses[row], error)
            return
        inside = body.intersect(cut)
        inner = relative_interior(inside, tolerance=RESOLUTION * self.length, cap=self.length)
        # A wedge that holds a ball in fractions alone has no volume by its corners.
        is_wedge = inner is not None and inner.dim == self.part.dim and inner.radius <= WEDGE * self.length
        is_wedge = is_wedge and not inside.insphere().radius > 0
        if (inner is None or inner.dim < self.part.dim or is_wedge) and not len(cut.C):
            self.missing += min(self._most(row), self._thin(row, inside.insphere(), shift))
        if inner is not None:
            may_be_copy = inner.dim < self.part.dim and not body.contains(inner.point, -self.thin)
            self.pieces.append(inner.polyhedron)
            error = self._error(row, 0.0, shift)
            self.found.append(_FoundPiece(row, inner.dim, inner.point, False, may_be_copy, error))

    def _leave_open(self, row: int) -> None:
        self.undecided.append(row)
        self.missing += self._most(row)

    def _keep(self, row: int, body: Polyhedron, dim: int, point: np.ndarray, error: float) -> None:
        self.pieces.append(body)
        self.found.append(_FoundPiece(row, dim, point, True, False, error))

    def _thin(self, row: int, ball: Ball, shift: float) -> float:
        """Return a bound on the volume of a part of a region that counts as flat, or as empty, by its largest ball."""
        if not self._is_measured(row):
            return 0.0
        dim, ends = self.part.dim, self._ends(row)
        moved = self.moved[row] + self.rounding
        turned = self._turned(ends, shift)
        if ball.radius + ball.gap < -moved and not turned:
            return 0.0
        width = width_bound(ball, dim, RESOLUTION * self.length)
        return float(volume_errors(np.array([moved + width]), ends[None])[0]) + turned

    def _error(self, row: int, share: float, shift: float = 0.0) -> float:
        """Return how far the volume of a part of a region may be off, and a share of the region beside that."""
        if not self._is_measured(row):
            return 0.0
        ends = self._ends(row)
        moved = np.array([self.moved[row] + self.rounding])
        error = float(volume_errors(moved, ends[None])[0]) + self._turned(ends, shift)
        return error + (share + HULLS) * self._volume(row)

    def _turned(self, ends: np.ndarray, shift: float) -> float:
        """Return what rows sweep that are shifted by a share of how far they go on the whole box."""
        return float(shift * np.sqrt(self.part.dim)) * swept_volume(ends[1] - ends[0], self.high - self.low)

    def _is_measured(self, row: int) -> bool:
        return bool(self.part.is_bounded()[row])

    def _ends(self, row: int) -> np.ndarray:
        if not self.part.has_vertices:
            around = bounding_box(self.part[row].polyhedron) if self.goes_on else (self.low, self.high)
            return np.stack(around or (np.full(self.part.dim, -np.inf), np.full(self.part.dim, np.inf)))
        offsets, ids = self.part.region_vertices
        corners = self.part.vertices[ids[offsets[row] : offsets[row + 1]]]
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    def _most(self, row: int) -> float:
        """Return what the volume of a region is at most, wherever rounding has moved its corners."""
        volume = self._volume(row)
        if not self.part.has_vertices or volume == np.inf:
            return volume
        moved = np.array([self.moved[row] + self.rounding])
        return (1 + HULLS) * volume + float(volume_errors(moved, self._ends(row)[None])[0])

    def _volume(self, row: int) -> float:
        """Return the volume of a bounded region, or a bound on it."""
        if self.part.has_vertices:
            return float(self.part.volumes()[row])
        return float(np.diff(self._ends(row), axis=0).prod()) if self._is_measured(row) else np.inf


def _ends_of(part: Partition, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a box around a bounded domain, else around what is known of it."""
    window = part.window
    if isinstance(window, Box):
        return np.asarray(window.lo, dtype=float), np.asarray(window.hi, dtype=float)
    if window.is_bounded() and not part.has_vertices and (ends := bounding_box(window.polyhedron)) is not None:
        return ends
    if not len(points):
        return np.zeros(part.dim), np.zeros(part.dim)
    return points.min(axis=0), points.max(axis=0)


def _without_copies(
    part: Partition,
    target: Polyhedron,
    pieces: list[Polyhedron],
    found: list[_FoundPiece],
    tolerance: float,
    missing: float,
    undecided: np.ndarray,
) -> PreimagePieces:
    """Leave out flat pieces that are parts of others: by continuity these meet in whole faces of both."""
    kept: list[int] = []
    for index in sorted(range(len(found)), key=lambda index: -found[index].dim):
        is_copy = found[index].may_be_copy and any(
            bool(pieces[other].contains(found[index].point, tolerance)) for other in kept
        )
        if not is_copy:
            kept.append(index)
    kept.sort()
    return PreimagePieces(
        part,
        target,
        tuple(pieces[index] for index in kept),
        np.array([found[index].row for index in kept], dtype=np.int64),
        np.array([found[index].dim for index in kept], dtype=np.int64),
        np.array([found[index].point for index in kept]).reshape(-1, part.dim),
        np.array([found[index].is_whole for index in kept], dtype=bool),
        np.array([found[index].error * (found[index].dim == part.dim) for index in kept], dtype=float),
        missing,
        undecided,
    )

"""The inputs of a box whose outputs are unsafe, region by region: polyhedra that do not overlap.

On a linear region unsafe outputs are a polyhedron of inputs. Where several kinds of them are unsafe, each is taken
without those before it: a polyhedron without another is one part for each row, where that row is broken and those
before it are not. A region on which some row is constant and so near to its end that fractions are needed, and too
many of them, is not decided.

Polyhedra are cut in coordinates in which the box is the unit cube, so that what is thin is so along some axis of the
box. What is too thin to be a piece is added up, and so is what rounding of corners and rows may move. Regions that
rounding hides are returned as boxes around them.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.boxes.pullback import RESOLUTION
from reluscope.analyses.preimages.piece_search import by_vertices
from reluscope.analyses.preimages.rows_of_inputs import RowsOfInputs
from reluscope.analyses.verification.disjoint_boxes import Unsafe
from reluscope.budget import Budget
from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.numbers.resolutions import HULLS
from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.widths import swept_volume, width_bound
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.geometry.unions.set_differences import without
from reluscope.interruption import pass_on
from reluscope.networks.fractions.rational import multiplications
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.network import Network
from reluscope.partitions.ask.certify import certify
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.corner_errors import side_errors
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.regions.region import Region
from reluscope.regions.regions import find_regions
from reluscope.stopping import Stop, StopReason, is_interrupted
from reluscope.tolerance import EPSILON

# Regions whose half-spaces are in memory at a time.
BATCH = 256
# How much inside a row all vertices are if it is left out, relative to the box.
CLEAR = 1e-6
# In the unit cube: parts without a ball of this radius are left out, and added up.
THIN = 1e-12
# In the unit cube: by how much float64 may move the corners of a polyhedron.
ROUNDING = 64 * np.finfo(float).eps
# Rows that rounding may shift by a larger share of how far they go in the cube are made again in fractions.
ROUGH = 1e-10
# Multiplications of fractions that a box with undecided signs, or rough rows, may take: some seconds.
MOST_MULTIPLICATIONS = 2_000_000


class Piece(NamedTuple):
    """A polyhedron of inputs that violate a property."""

    polyhedron: Polyhedron
    volume: float
    error: float  # how far the volume may be off
    witness: Float[np.ndarray, " d"]  # strictly inside
    unsafe: Unsafe  # what the outputs are in
    ends: Float[np.ndarray, "2 d"]  # the least box around it
    is_box: bool  # a box of several regions, not within one region


class UnsafeRegions(NamedTuple):
    """What the exact regions of a box say about unsafe outputs."""

    pieces: list[Piece]
    missing: float  # volume of parts that are too thin
    num_regions: int  # regions examined
    open_boxes: Sequence[Float[np.ndarray, "2 d"]] = ()  # around regions that are not decided
    stop: Stop | None = None  # why no pieces: budget, or undecided signs


def unsafe_regions(network: Network, box: Box, unsafe: Sequence[Unsafe], budget: Budget) -> UnsafeRegions:
    """Return the parts of linear regions whose outputs are unsafe; parts without an interior are left out.

    For about 1 to 6 dimensions. One partition, and one in fractions for small networks with undecided signs; there are
    no pieces where the budget does not suffice or signs stay undecided. Ctrl-C is passed on.
    """
    part = partition(network, box, budget=budget)
    is_doubtful = not part.stop and not left_open(part).is_listed_sure
    if is_doubtful and (len(part) + 1) * box.dim * multiplications(network) <= MOST_MULTIPLICATIONS:
        part = certify(part, budget=budget)
    if is_interrupted(part.stop):
        pass_on()
    if not left_open(part).is_nothing:
        return UnsafeRegions([], box.volume(), len(part), stop=part.stop or Stop(StopReason.UNDECIDED_SIGNS))
    found = _UnsafeParts(part, box, unsafe)
    found.run()
    return UnsafeRegions(found.pieces, found.missing, len(part), found.open_boxes)


class _UnsafeParts:
    """The unsafe parts of the regions of a whole partition, as far as they are found."""

    def __init__(self, part: Partition, box: Box, unsafe: Sequence[Unsafe]) -> None:
        self.part, self.box, self.unsafe = part, box, unsafe
        self.pieces: list[Piece] = []
        self.missing = 0.0
        self.open_boxes: list[np.ndarray] = []
        self.width, self.volume = box.hi - box.lo, box.volume()
        self.largest = np.maximum(np.abs(box.lo), np.abs(box.hi))
        self.rows_of_inputs = RowsOfInputs(part.network_on_domain, box.lo, box.hi)
        # How far sides of regions may be moved, in shares of each side of the box.
        self.moved = side_errors(part)[:, None] / self.width + ROUNDING
        self.left = MOST_MULTIPLICATIONS

    def run(self) -> None:
        """Cut all regions."""
        rulings = by_vertices(self.part, [one.outputs for one in self.unsafe])
        rows = np.unique(np.concatenate([may for may, _ in rulings])).astype(np.int64)
        for start in range(0, len(rows), BATCH):
            self._cut_regions(rows[start : start + BATCH], rulings)

    def _cut_regions(self, rows: np.ndarray, rulings: list[tuple[np.ndarray, np.ndarray]]) -> None:
        may = [np.isin(rows, possible) for possible, _ in rulings]
        at = self.part.network_on_domain.at(self.part.witnesses[rows])
        found = find_regions(at, domain=self.box)
        errors, codes = self.rows_of_inputs.errors(at), self.part.codes.words[rows]
        for place, row in enumerate(rows.tolist()):
            region = found[place]
            # Thinner than rounding, with a witness beside it, or larger by rows that rounding hides.
            if (
                not isinstance(region, Region)
                or not np.array_equal(region.code.words[0], codes[place])
                or not region.is_whole_within(self.box.lo, self.box.hi)
            ):
                self.open_boxes.append(self._around(row))
                continue
            weight, bias = (one[0].cpu().numpy() for one in (region.map.weight, region.map.bias))
            kinds = [(one, bool(rulings[kind][1][row])) for kind, one in enumerate(self.unsafe) if may[kind][place]]
            self._cut_region(row, region, weight, bias, errors[place], kinds)

    def _cut_region(
        self,
        row: int,
        region: Region,
        weight: np.ndarray,
        bias: np.ndarray,
        errors: np.ndarray,
        kinds: list[tuple[Unsafe, bool]],
    ) -> None:
        """Cut one region by all kinds of unsafe outputs that its vertices do not rule out, one after the other."""
        code = self.part.codes[row : row + 1]
        body = region.polyhedron
        inner, near, turned = self._in_cube(region)
        left = [inner]
        for number, (one, is_inside) in enumerate(kinds):
            try:
                cut = self.rows_of_inputs.of(one.outputs, weight, bias, errors, code)
            except TooManyMultiplicationsError:
                self.open_boxes.append(self._around(row))
                return
            if cut is None:
                continue
            if (is_inside or not len(cut.polyhedron.A)) and not number:
                self.pieces.append(self._whole(row, Polyhedron(body.A[near], body.b[near]), one))
                return
            turned += cut.shift
            for each in left:
                self._keep(each.intersect(cut.polyhedron), one, row, turned)
            parts, dropped = [], []
            for each in left:
                kept, thin = without(each, cut.polyhedron, THIN)
                parts += kept
                dropped += thin
            left = parts
            if number + 1 < len(kinds):
                self.missing += sum(self._thin(ball, turned) for ball in dropped)

    def _whole(self, row: int, body: Polyhedron, one: Unsafe) -> Piece:
        """Return a region all of whose outputs are unsafe."""
        corners = self.part[row].vertices
        ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
        volume = hull_volume((corners - self.box.lo) / self.width) * self.volume
        # Vertices say that it lies inside up to a share of how far a row goes on it.
        error = self._error((ends - self.box.lo) / self.width, row, 0.0) + self.box.dim * RESOLUTION * volume
        return Piece(body, volume, error, self.part.witnesses[row], one, ends, False)

    def _keep(self, polyhedron: Polyhedron, one: Unsafe, row: int, turned: float) -> None:
        """Take a polyhedron of the cube as a piece, with the rows that its vertices come near to, or as missing."""
        ball = polyhedron.insphere()
        if not ball.radius > THIN:
            self.missing += self._thin(ball, turned)
            return
        try:
            corners = polyhedron.vertices()
        except DegenerateGeometryError:
            self.missing += self._thin(ball, turned)
            return
        ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
        slack = polyhedron.b - corners @ polyhedron.A.T
        kept = (slack <= CLEAR * (np.abs(polyhedron.A) @ (ends[1] - ends[0]))).any(axis=0)
        small = Polyhedron(polyhedron.A[kept], polyhedron.b[kept])
        volume = small.volume() * self.volume
        error = self._error(ends, row, turned) + HULLS * volume
        outside = Polyhedron(*self._out_of_cube(small))
        place = self.box.lo + self.width * ball.center, self.box.lo + self.width * ends
        self.pieces.append(Piece(outside, volume, error, place[0], one, place[1], False))

    def _in_cube(self, region: Region) -> tuple[Polyhedron, np.ndarray, float]:
        """Return a region in coordinates in which the box is the unit cube, of which rows, and how far these are off.

        Rows that nothing in the box comes near to are left out. Walls of the box go into the cube without rounding;
        other rows are shifted by a share of how far they go in it, and made again in fractions where that is much.
        """
        body, low, high = region.polyhedron, self.box.lo, self.box.hi
        ends = np.where(body.A > 0, high, low)
        is_wall = (np.count_nonzero(body.A, axis=1) == 1) & ((body.A * ends).sum(axis=1) == body.b)
        normals, size = body.A * self.width, np.abs(body.A) @ self.largest + np.abs(body.b)
        extent, highest = np.abs(normals).sum(axis=1), np.maximum(normals, 0.0).sum(axis=1)
        offsets = np.where(is_wall, highest, body.b - body.A @ low)
        rounding = np.where(is_wall, 0.0, 4 * EPSILON * size + region.row_errors(low, high))
        near = np.flatnonzero(highest + rounding >= offsets - CLEAR * extent)
        normals, offsets = normals[near], offsets[near]
        shift = rounding[near] / np.maximum(extent[near], np.finfo(float).tiny)
        cost = (self.box.dim + 1) * multiplications(self.part.network_on_domain)
        if (shift > ROUGH).any() and cost <= self.left and body.is_exact:
            self.left -= cost
            for place in np.flatnonzero(shift > ROUGH).tolist():
                normals[place], offsets[place] = self._exactly_in_cube(body.side(int(near[place])))
                shift[place] = ROUNDING
        return Polyhedron(normals, offsets), near, float(shift.sum())

    def _exactly_in_cube(self, side: Sequence[Fraction]) -> tuple[list[float], float]:
        """Return a row of fractions ``(a, c)`` of ``a . x + c >= 0`` as a row of the cube."""
        ends = [[Fraction(entry) for entry in bounds.tolist()] for bounds in (self.box.lo, self.box.hi)]
        slopes = [slope * (high - low) for slope, low, high in zip(side[:-1], *ends, strict=True)]
        at_low = side[-1] + sum(slope * low for slope, low in zip(side[:-1], ends[0], strict=True))
        scale = max(map(abs, slopes))
        return [-nearest(slope / scale) for slope in slopes], nearest(at_low / scale)

    def _out_of_cube(self, body: Polyhedron) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of the cube as rows of inputs; walls are those of the box, without rounding."""
        normals = body.A / self.width
        offsets = body.b + normals @ self.box.lo
        walls = (np.count_nonzero(body.A, axis=1) == 1) & (body.b == np.maximum(body.A, 0.0).sum(axis=1))
        for row in np.flatnonzero(walls).tolist():
            axis = int(np.flatnonzero(body.A[row])[0])
            sign = np.sign(body.A[row, axis])
            normals[row, axis] = sign
            offsets[row] = self.box.hi[axis] if sign > 0 else -self.box.lo[axis]
        return normals, offsets

    def _around(self, row: int) -> np.ndarray:
        """Return a box around a region, by its corners."""
        corners = self.part[row].vertices
        reach = self.moved[row] * self.width
        ends = np.stack([corners.min(axis=0) - reach, corners.max(axis=0) + reach])
        return np.clip(ends, self.box.lo, self.box.hi)

    def _thin(self, ball: Ball, turned: float) -> float:
        """Return a bound on the volume of a part of the cube by its ball: its width times the cube's largest shadow."""
        across = float(np.sqrt(self.box.dim))
        moved = ROUNDING + 2 * across * turned
        if ball.radius + ball.gap < -moved:
            return 0.0
        return min(1.0, (width_bound(ball, self.box.dim) + moved) * across) * self.volume

    def _error(self, ends: np.ndarray, row: int, turned: float) -> float:
        """Return how far the volume of a part of the cube may be off: its surface times what may be moved."""
        moved = self.moved[row] + np.sqrt(self.box.dim) * turned
        return swept_volume(ends[1] - ends[0] + 2 * moved, 2 * moved) * self.volume

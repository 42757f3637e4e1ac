"""The exact preimage of a polyhedron of outputs on a domain, as a union of polyhedra: one in each linear region.

On a region the network is an affine map, and the preimage of ``{y : A y <= b, C y = d}`` there is the region cut by the
rows ``A W`` and ``C W``. Pieces may be flat, where the target is or where a region only touches it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.analyses.boxes.pullback import RESOLUTION, pulled_back
from reluscope.analyses.preimages.input_pieces import MOVED
from reluscope.analyses.preimages.rows_of_inputs import RowsOfInputs
from reluscope.arguments import Natural, read_arguments
from reluscope.files import stored
from reluscope.files.named_arrays import prefixed, without_prefix
from reluscope.findings import Claim, Finding
from reluscope.findings.derived import Ends
from reluscope.geometry.numbers.resolutions import HULLS
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domain_arrays import polyhedra_arrays, read_polyhedra
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.relative_interior import relative_interior
from reluscope.geometry.polyhedra.widths import swept_volume, width_bound
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra, bounded_finding, numbered_columns
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.partitions.corner_errors import side_errors, volume_errors
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.stored_partitions import read_stored
from reluscope.regions.region import Region
from reluscope.regions.regions import regions
from reluscope.tolerance import EPSILON

# Regions whose half-spaces are in memory at a time.
BATCH = 256
# By how much float64 may move the corners of a polyhedron, relative to the largest coordinate.
ROUNDING = 64 * np.finfo(float).eps
# Relative to the domain: radii of balls that linear programs in float64 may not find.
WEDGE = 1e-8
# Volumes of polyhedra as domains in up to so many dimensions.
FEW_DIMENSIONS = 5


@dataclass(frozen=True, eq=False)
class PreimagePieces(UnionOfPolyhedra):
    """The preimage of a polyhedron of outputs, region by region, in coordinates of the domain.

    Parameters
    ----------
    partition : Partition
        Of the network up to the chosen gate.
    target : Polyhedron
        In the space of outputs.
    pieces : tuple of Polyhedron
        Their union is the preimage; the interiors of pieces of one dimension do not meet.
    rows : (p,) int64
        The region that contains each piece, as a row of the partition.
    dims : (p,) int64
        Dimension of each piece, at most that of the domain.
    points : (p, n) float64
        A point in the relative interior of each piece.
    is_whole : (p,) bool
        Whether the piece is all of its region.
    errors : (p,) float64
        Error bound of the volume of each full-dimensional piece.
    missing : float
        Upper bound on the volume of parts of regions that are too thin to be full-dimensional pieces, and of
        `undecided`.
    undecided : (q,) int64
        Regions that rounding hides, as rows of the partition: what of them belongs to the preimage is not known.

    Notes
    -----
    A flat piece that is part of another piece, because both lie in the facet of two regions, is listed once. Columns of
    the table: ``region`` (row of the partition), ``dim``, ``is_whole``, ``num_half_spaces`` and, for each coordinate i,
    ``point_i``.
    """

    partition: Partition
    target: Polyhedron
    pieces: tuple[Polyhedron, ...]
    rows: Int[np.ndarray, " p"]
    dims: Int[np.ndarray, " p"]
    points: Float[np.ndarray, "p n"]
    is_whole: Bool[np.ndarray, " p"]
    errors: Float[np.ndarray, " p"]
    missing: float
    undecided: Int[np.ndarray, " q"]

    kind: ClassVar[str] = "preimage"
    coordinates: ClassVar[str] = "coordinates"

    @property
    def dim(self) -> int:
        """Dimension of the domain."""
        return self.partition.dim

    @property
    def claim(self) -> Claim:
        """EXACT, LOWER where something is missing, or ESTIMATE where undecided signs leave the maps of regions open.

        Missing are undecided regions, and parts that are too thin to be pieces where they may take a billionth of the
        domain's volume. It is an ESTIMATE where rounding may move sides of pieces by more than a ten-millionth of it.
        """
        claim, whole = left_open(self.partition).claim, _volume_of(self.partition)
        if claim is Claim.EXACT and self.errors.sum() > MOVED * whole:
            return Claim.ESTIMATE
        is_missing = len(self.undecided) or self.missing > RESOLUTION * whole
        return Claim.LOWER if claim is Claim.EXACT and is_missing else claim

    @property
    def _resolution(self) -> float:
        return RESOLUTION * _scale(self.partition)

    @read_arguments
    def size(self, dim: Natural | None = None) -> float:
        """Return the total volume of the pieces of one dimension, by default that of the domain.

        Notes
        -----
        The length of curves, the area of surfaces, the number of points for ``dim=0``. Regions that lie in the
        preimage with all their points take the partition's volumes; every other piece its vertices.
        """
        dim = self.partition.dim if dim is None else dim
        chosen = np.flatnonzero(self.dims == dim)
        has_volumes = self.partition.has_vertices
        whole = self.is_whole[chosen] & has_volumes & (dim == self.partition.dim)
        total = 0.0
        if whole.any():
            total += float(self.partition.volumes()[self.rows[chosen[whole]]].sum())
        return total + sum(self.pieces[index].volume() for index in chosen[~whole])

    def volume(self) -> Finding:
        """Return the volume of the preimage in the dimension of the domain.

        Returns
        -------
        Finding
            EXACT if the partition leaves nothing open, and rounding and parts that are too thin to be pieces take
            little; LOWER where regions are missing; else an ESTIMATE with an interval.
        """
        part, value = self.partition, self.size()
        error = float(self.errors.sum()) if np.isfinite(value) else 0.0
        whole = _volume_of(part)
        uncovered = max(0.0, whole - float(part.volumes().sum())) if part.has_vertices and whole < np.inf else whole
        value = min(value, whole)
        lower, upper = left_open(part).ends(
            max(0.0, value - error),
            value + error + self.missing,
            least=0.0,
            most=value + error + self.missing + uncovered if left_open(part).is_listed_sure else whole,
        )
        scale = whole if whole < np.inf else 0.0
        # Coordinates of float64 do not tell less than a step from nothing.
        upper = max(value, min(upper + EPSILON * scale, whole))
        return bounded_finding(
            Ends(value, lower, upper),
            scale,
            name="volume of the preimage",
            definition=f"points of the domain with outputs in a {self.target.describe()}",
            domain=self.partition.domain.describe(),
            method="linear regions cut by the target's rows",
            num_undecided=self.partition.num_undecided,
            work={**self.partition.work, "pieces": len(self)},
        )

    def __repr__(self) -> str:
        return f"PreimagePieces({self._number()}, {self.claim}, of {self.partition.domain.describe()})"

    def _columns(self) -> dict[str, Any]:
        return {
            "region": self.rows,
            "dim": self.dims,
            "is_whole": self.is_whole,
            "num_half_spaces": np.array([len(piece.A) for piece in self.pieces], dtype=np.int64),
            **numbered_columns({"point": self.points}),
        }

    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types."""
        arrays, described = self.partition.stored_parts()
        own = {name: getattr(self, name) for name in _ARRAYS} | polyhedra_arrays(self.pieces, self.dim)
        target = polyhedra_arrays([self.target], self.target.dim)
        arrays = {**arrays, **prefixed("piece.", own), **prefixed("target.", target)}
        return arrays, {"kind": self.kind, "missing": self.missing, "partition": described}

    @classmethod
    def _read(cls, arrays: dict[str, np.ndarray], described: dict[str, Any]) -> Self:
        own = without_prefix("piece.", arrays)
        (target,) = read_polyhedra(without_prefix("target.", arrays), 1)
        rest = {name: array for name, array in arrays.items() if not name.startswith(("piece.", "target."))}
        part = Partition(**read_stored(rest, described["partition"], None))
        number, missing = len(own["rows"]), stored.number(described, "missing")
        errors = stored.array(own, "errors", np.float64, (number,), least=0)
        if missing < 0:
            raise ValueError("a volume below 0")
        return cls(
            part,
            target,
            tuple(read_polyhedra(own, number, part.dim)),
            stored.array(own, "rows", np.int64, (number,), least=0, below=max(1, len(part))),
            stored.array(own, "dims", np.int64, (number,), least=0, below=part.dim + 1),
            stored.array(own, "points", np.float64, (number, part.dim)),
            stored.array(own, "is_whole", np.bool_, (number,)),
            errors,
            missing,
            stored.array(own, "undecided", np.int64, (None,), least=0, below=max(1, len(part))),
        )


_ARRAYS = ("rows", "dims", "points", "is_whole", "errors", "undecided")


def partitioned_preimage(part: Partition, target: Polyhedron, cut_by: Polyhedron) -> PreimagePieces:
    """Return the exact preimage of a target on a partition; `cut_by` is the target, of the scores."""
    return _PieceSearch(part, target, cut_by).run()


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


def _scale(part: Partition) -> float:
    """Return the length that thicknesses are compared with."""
    window = part.domain.window if isinstance(part.domain, Slice) else part.domain
    if isinstance(window, Box):
        return window.diameter().upper
    points = part.vertices if part.has_vertices else part.witnesses
    return max(1.0, float(np.abs(points).max(initial=0.0)))


class _FoundPiece(NamedTuple):
    """A piece: its region, dimension, inner point, whether it is all of the region, and whether it lies in a facet."""

    row: int
    dim: int
    point: np.ndarray
    is_whole: bool
    may_be_copy: bool
    error: float


class _PieceSearch:
    """The pieces of the preimage of a target, which says that the network's own outputs are in another polyhedron."""

    def __init__(self, part: Partition, target: Polyhedron, cut_by: Polyhedron) -> None:
        self.part, self.target, self.cut_by = part, target, cut_by
        self.length = _scale(part)
        self.thin = 10 * RESOLUTION * self.length
        self.pieces: list[Polyhedron] = []
        self.found: list[_FoundPiece] = []
        self.missing = 0.0
        self.undecided: list[int] = []
        around = np.concatenate([part.vertices if part.has_vertices else part.witnesses, part.witnesses])
        self.low, self.high = _ends_of(part, around)
        self.rows_of_inputs = RowsOfInputs(part.network_on_domain, self.low, self.high)
        largest = float(np.maximum(np.abs(self.low), np.abs(self.high)).max(initial=0.0))
        self.moved = side_errors(part)
        # Polyhedra are cut in coordinates of the domain, wherever they lie.
        self.rounding = ROUNDING * largest

    def run(self) -> PreimagePieces:
        """Cut all regions that vertices do not rule out."""
        part = self.part
        ((may, whole),) = by_vertices(part, [self.cut_by])
        for start in range(0, len(may), BATCH):
            rows = may[start : start + BATCH]
            at = part.network_on_domain.at(part.witnesses[rows])
            weights, biases = (one.cpu().numpy() for one in (at.maps.weight, at.maps.bias))
            errors = self.rows_of_inputs.errors(at)
            # Of a region thinner than rounding the witness lies beside it.
            is_own = (at.codes.words == part.codes.words[rows]).all(axis=1)
            for place, (row, body) in enumerate(zip(rows.tolist(), self._bodies(rows), strict=True)):
                if body is None or not is_own[place]:
                    self._leave_open(row)
                elif whole[row]:
                    self._keep(row, body, part.dim, part.witnesses[row], self._error(row, part.dim * RESOLUTION))
                else:
                    self._cut(row, body, weights[place], biases[place], errors[place])
        undecided = np.array(self.undecided, dtype=np.int64)
        return _without_copies(part, self.target, self.pieces, self.found, self.thin, self.missing, undecided)

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
            return np.stack([self.low, self.high])
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
        return float((self.high - self.low).prod()) if self._is_measured(row) else np.inf


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


def _volume_of(part: Partition) -> float:
    """Return the volume of the domain, infinite where it is unbounded or takes long to find."""
    window = part.window
    if isinstance(window, Box) or (window.is_bounded() and part.dim <= FEW_DIMENSIONS):
        return float(window.volume())
    return np.inf


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

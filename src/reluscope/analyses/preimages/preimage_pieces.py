"""The exact preimage of a polyhedron of outputs on a domain, as a union of polyhedra: one in each linear region.

On a region the network is an affine map, and the preimage of ``{y : A y <= b, C y = d}`` there is the region cut by the
rows ``A W`` and ``C W``. Pieces may be flat, where the target is or where a region only touches it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.analyses.boxes.pullback import RESOLUTION
from reluscope.analyses.preimages.input_pieces import MOVED
from reluscope.arguments import Natural, read_arguments
from reluscope.files import stored
from reluscope.files.named_arrays import prefixed, without_prefix
from reluscope.findings import Claim, Finding
from reluscope.findings.derived import Ends
from reluscope.geometry.polyhedra.domain_arrays import polyhedra_arrays, read_polyhedra
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra, bounded_finding, numbered_columns
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.stored_partitions import read_stored
from reluscope.tolerance import EPSILON

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
        claim, whole = left_open(self.partition).claim, volume_of(self.partition)
        if claim is Claim.EXACT and self.errors.sum() > MOVED * whole:
            return Claim.ESTIMATE
        is_missing = len(self.undecided) or self.missing > RESOLUTION * whole
        return Claim.LOWER if claim is Claim.EXACT and is_missing else claim

    @property
    def _resolution(self) -> float:
        return RESOLUTION * scale_of(self.partition)

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
        whole = volume_of(part)
        uncovered = whole - float(part.volumes().sum()) if part.has_vertices and whole < np.inf else whole
        value = min(value, whole)
        lower, upper = left_open(part).ends(
            max(0.0, value - error),
            value + error + self.missing,
            least=0.0,
            most=value + error + self.missing + uncovered if left_open(part).is_listed_sure else whole,
        )
        scale = whole if whole < np.inf else 0.0
        # Coordinates of float64 do not tell less than a step from nothing.
        upper = min(upper + EPSILON * scale, whole)
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
            stored.array(own, "rows", np.int64, (number,), least=0, below=len(part)),
            stored.array(own, "dims", np.int64, (number,), least=0, below=part.dim + 1),
            stored.array(own, "points", np.float64, (number, part.dim)),
            stored.array(own, "is_whole", np.bool_, (number,)),
            errors,
            missing,
            stored.array(own, "undecided", np.int64, (None,), least=0, below=len(part)),
        )


_ARRAYS = ("rows", "dims", "points", "is_whole", "errors", "undecided")


def scale_of(part: Partition) -> float:
    """Return the length that thicknesses are compared with."""
    window = part.domain.window if isinstance(part.domain, Slice) else part.domain
    if isinstance(window, Box):
        return window.diameter().upper
    points = part.vertices if part.has_vertices else part.witnesses
    return max(1.0, float(np.abs(points).max(initial=0.0)))


def volume_of(part: Partition) -> float:
    """Return the volume of the domain, infinite where it is unbounded or takes long to find."""
    window = part.window
    if isinstance(window, Box) or (window.is_bounded() and part.dim <= FEW_DIMENSIONS):
        return float(window.volume())
    return np.inf

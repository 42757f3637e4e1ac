"""A level set as an object: a mesh of convex pieces, what is known of it, and its measures."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int

from reluscope import markup
from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.files.named_arrays import load_as, save_arrays
from reluscope.findings import Claim, Finding, Findings
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.levels.level_files import KIND, described_level, read_level
from reluscope.partitions.levels.level_findings import numbers_of
from reluscope.partitions.levels.level_polygons import pinched
from reluscope.partitions.levels.level_walls import Walls
from reluscope.partitions.levels.piece_geometry import PieceGeometry
from reluscope.stopping import Noted, Stop
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    pass

# Of sums of products of coordinates, as a share of the sum of their sizes: a few dozen operations each.
ROUNDED = 64 * UNIT_ROUNDOFF


@dataclass(frozen=True, eq=False, repr=False)
class LevelSet(PieceGeometry, Noted):
    """Where a function f crosses a level: convex polygons in space or segments in the plane.

    Pieces share vertices.

    Parameters
    ----------
    domain : Domain
    level : float
    outputs : tuple of int
        The output that is f, or two whose difference is f. For a model that ends with a sigmoid or the like,
        outputs and level are those before it.
    plateaus : str
        The side to which regions with f identically equal to the level belong.
    vertices : (v, d) float64; blur : (v,) float64
        In domain coordinates, with the possible rounding error of each position.
    offsets : (p + 1,) int64; ids : (offsets[-1],) int64
        Piece i has the vertices ``ids[offsets[i] : offsets[i + 1]]``, in cyclic order, counter-clockwise seen from
        where f is larger; a segment has f smaller on its left.
    normals : (p, d) float64
        Unit normals of the pieces, towards larger f.
    codes : Codes
        Code of the region beside each piece where f is larger.
    witnesses : (p, d) float64
        A point inside this region, beside the piece.
    solid_cells : Codes; solid_witnesses : (s, d) float64
        Cells on which f equals the level identically, and a point inside each.
    border : (e, d - 1) int64
        Vertices of the ridges on the boundary of the domain.
    walls : Walls
        The boundary of the domain, divided by the side of the level.
    num_undecided : int
        Undecided signs, and vertices of neighbouring chunks that do not coincide.
    num_open : int
        Unfinished cells when work stopped.
    tolerance : Tolerance
    fingerprint : str
        Fingerprint of the network.
    stop : Stop, optional
        Why work stopped early, if it did; `note` says it in words.
    work : mapping
    """

    domain: Domain
    level: float
    outputs: tuple[int, ...]
    plateaus: str
    vertices: Float[np.ndarray, "v d"]
    blur: Float[np.ndarray, " v"]
    offsets: Int[np.ndarray, " _"]
    ids: Int[np.ndarray, " _"]
    normals: Float[np.ndarray, "p d"]
    codes: Codes
    witnesses: Float[np.ndarray, "p d"]
    solid_cells: Codes
    solid_witnesses: Float[np.ndarray, "s d"]
    border: Int[np.ndarray, "e _"]
    walls: Walls
    num_undecided: int
    num_open: int
    tolerance: Tolerance
    fingerprint: str = ""
    stop: Stop | None = None
    work: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("vertices", "blur", "offsets", "ids", "normals", "witnesses", "solid_witnesses", "border"):
            getattr(self, name).setflags(write=False)

    def __repr__(self) -> str:
        kind = "polygons" if self.dim == 3 else "segments"
        shape = "empty" if not len(self) else "closed" if self.is_closed else "open"
        stopped = f", stopped: {self.note}" if self.stop else ""
        return f"LevelSet({len(self):,} {kind}, {self.claim}, {shape}, of {self.domain.describe()}{stopped})"

    def _repr_html_(self) -> str:
        """Return the level set for a notebook: its pieces with the claim, measures and topology."""
        entries: list[tuple[str, object]] = [
            ("vertices", f"{len(self.vertices):,}"),
            ("area" if self.dim == 3 else "length", str(self.area_finding())),
            ("Euler characteristic", str(self.euler_characteristic)),
            ("components", str(self.num_components)),
            ("open edges" if self.dim == 3 else "ends", f"{len(self.boundary_edges):,}"),
        ]
        if len(self.solid_cells):
            entries.append(("cells on the level", f"{len(self.solid_cells):,}"))
        if self.stop:
            entries.append(("stopped early", self.note))
        return markup.figure("LevelSet", self.finding()._repr_html_(), markup.terms(entries))

    @property
    def claim(self) -> Claim:
        """What the number of pieces claims."""
        return self.finding().claim

    def finding(self) -> Finding:
        """Return the number of pieces, with its claim."""
        return Finding.of(
            len(self),
            lower=0 if self._is_doubtful else len(self),
            upper=float("inf") if self._is_doubtful or self.num_open else len(self),
            name="polygons of a level set" if self.dim == 3 else "segments of a level set",
            definition="facets between the cells where f exceeds the level and the others",
            **self._said,
        )

    def findings(self) -> Findings:
        """Return all its numbers as a table of one row: size, measures and topology, each with its claim."""
        return numbers_of(self)

    @read_arguments
    def volume(self, capped: Literal["below", "above"] | None = None) -> float:
        """Return the volume on one side of the level; the area in the plane.

        Parameters
        ----------
        capped : {"below", "above"}, optional
            The part of the domain where f is below the level, or above it, closed by the sides of the domain. Without
            it, the body that a closed level set encloses.

        Raises
        ------
        InputError
            If the level set is open, and ``capped`` is not given.
        IncompletePartitionError
            If the computation of the level set stopped early.

        Notes
        -----
        By the divergence theorem: for nested bodies, the volume between them counts.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> half = rs.load([(np.array([[1.0, 1.0, 0.0]]), np.zeros(1))])
        >>> round(rs.level_set(half, rs.Box(-1, 1, 3)).volume(capped="below"), 12)
        4.0
        """
        return float(self.volume_finding(capped))

    @read_arguments
    def volume_finding(self, capped: Literal["below", "above"] | None = None) -> Finding:
        """Return the volume, as `volume` does, with its claim: the ends hold what rounding may have moved.

        Raises
        ------
        InputError
            If the level set is open, and is not to be capped.
        IncompletePartitionError
            If work on it stopped early.
        """
        if self.num_open:
            raise IncompletePartitionError(f"expected a whole level set, got one that was stopped: {self.note}")
        if capped is None and not self.is_closed:
            raise InputError(
                f"expected a closed level set, got one with {len(self.boundary_edges):,} open edges: give a larger "
                'domain, or volume(capped="below"), which closes it by the sides of the domain'
            )
        sense = {"below": 1.0, "above": -1.0, None: 0.0}[capped]
        center = self.walls.apex if capped else self.vertices.mean(axis=0) if len(self) else np.zeros(self.dim)
        cones = ((self._centers - center) * self.area_vectors).sum(axis=1) / self.dim
        caps = self.walls.cones[[0, 2][capped == "above"]] if capped else 0.0
        caps += self.walls.cones[1] if capped == self.plateaus else 0.0
        total = math.fsum([*(cones * (sense or 1.0)).tolist(), caps])
        found = max(0.0, total) if capped else abs(total)
        # Pieces that move by e sweep at most their area, while it changes, times e.
        moved = self._moved
        swept = moved * (self.piece_areas + moved * (self.piece_extents + np.pi * moved * np.diff(self.offsets)))
        sizes = np.abs(self._centers - center).sum(axis=1) * np.abs(self.area_vectors).sum(axis=1)
        rounded = ROUNDED * (float(sizes.sum()) + (self.walls.total if capped else 0.0))
        # Caps have corners of cells, as rounded as those of the pieces, and sweep at most the boundary of the domain.
        corner = 16 * self.tolerance.unit * float(np.abs(self._ends).max())
        caps_swept = float(moved.max(initial=corner)) * self._boundary_size if capped else 0.0
        # What is thinner than the resolution may be on the other side, with no piece around it.
        thin = self.tolerance.resolution * self._diameter * self._boundary_size if capped else 0.0
        error = float(swept.sum()) + caps_swept + rounded + thin if len(self) or capped else 0.0
        error = math.inf if math.isnan(error) else error  # of numbers that overflow
        where = f"the part of the domain where f is {capped} the level" if capped else "what the level set encloses"
        return Finding.of(
            found,
            lower=0.0 if self._is_doubtful else max(0.0, found - error),
            upper=float("inf") if self._is_doubtful else found + error,
            scale=self.walls.total if capped else 0.0,
            name="volume" if self.dim == 3 else "area",
            definition=where,
            **self._said,
        )

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the level set to an Arrow file, for `load`, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written; what was there before stays.
        """
        save_arrays(path, *described_level(self))

    @staticmethod
    @read_arguments
    def load(path: str | os.PathLike[str], network: Network | None = None) -> "LevelSet":
        """Read a level set that `save` wrote.

        Parameters
        ----------
        path : path
        network : Network, optional
            Checked against the fingerprint in the file.

        Raises
        ------
        InputError
            If the file is missing, damaged, not a level set, or of another network.
        """
        return load_as(
            path,
            KIND,
            lambda arrays, described: LevelSet(**read_level(arrays, described)),
            None if network is None else network.fingerprint,
        )

    @cached_property
    def boundary_edges(self) -> Int[np.ndarray, "e _"]:
        """The ridges that an odd number of pieces meets: edges, or ends in the plane."""
        ridges, number, _ = self._ridges
        return ridges[number % 2 == 1]

    @property
    def is_closed(self) -> bool:
        """Whether the level set is complete and has no boundary."""
        return not self.num_open and not len(self.boundary_edges)

    @property
    def is_manifold(self) -> bool:
        """Whether it is a surface around every vertex, or a curve: at most two pieces at an edge, no vertex pinched."""
        return bool((self._ridges[1] <= 2).all()) and not len(self.pinched_vertices)

    @cached_property
    def pinched_vertices(self) -> Int[np.ndarray, " _"]:
        """Vertices around which the pieces are not one fan, closed or open; in the plane, of more than two segments.

        There cones touch with their tips, or more than two pieces meet at an edge.
        """
        if self.dim == 2:
            return np.flatnonzero(np.bincount(self.ids, minlength=len(self.vertices)) > 2)
        return pinched(self.offsets, self.ids, len(self.vertices))

    @property
    def euler_characteristic(self) -> int:
        """Vertices less edges, plus polygons."""
        return len(self.vertices) - len(self) if self.dim == 2 else len(self.vertices) - len(self.edges) + len(self)

    @cached_property
    def num_unmatched(self) -> int:
        """Ridges inside the domain at which the pieces do not fit together: none, unless work stopped early."""
        ridges, number, sense = self._ridges
        base = len(self.vertices)
        keys = [one[:, 0] if self.dim == 2 else one[:, 0] * base + one[:, 1] for one in (ridges, self.border)]
        is_inner = ~np.isin(keys[0], keys[1])
        return int(((number % 2 == 1) & is_inner).sum() + ((number % 2 == 0) & (sense != 0)).sum())

    @cached_property
    def _ends(self) -> Float[np.ndarray, "ends d"]:
        """Ends of a box around the domain."""
        window = self.domain.window if isinstance(self.domain, Slice) else self.domain
        ends = (window.lo, window.hi) if isinstance(window, Box) else None
        if isinstance(window, Polyhedron):
            ends = bounding_box(window)
        return np.array(ends if ends is not None else [[-np.inf] * self.dim, [np.inf] * self.dim])

    @property
    def _diameter(self) -> float:
        return float(np.linalg.norm(self._ends[1] - self._ends[0]))

    @property
    def _boundary_size(self) -> float:
        """An upper bound on the area of the boundary of the domain, in the plane on its length: that of the box."""
        sides = self._ends[1] - self._ends[0]
        return float(2 * sum(np.prod(np.delete(sides, axis)) for axis in range(self.dim)))

    @property
    def _is_doubtful(self) -> bool:
        return bool(self.num_undecided or (not self.num_open and self.num_unmatched))

    @property
    def _said(self) -> dict[str, Any]:
        return {
            "domain": self.domain.describe(),
            "method": "gate-by-gate subdivision, the level as last gate; cells that exclude it are dropped",
            "resolution": self.tolerance.resolution,
            "num_undecided": self.num_undecided,
            "stop": self.stop,
            "work": self.work,
        }

"""A decision surface as an object: the polygons at which two classes meet, and the curves at which three do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from reluscope import markup
from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.findings import Claim, Column, Finding, Findings, Kind, declare
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.partitions.levels.piece_geometry import PieceGeometry
from reluscope.stopping import Noted, Stop
from reluscope.tolerance import Tolerance

METHOD = "gate-by-gate subdivision, differences of scores as last gate; cells of one class are dropped"
PIECES = declare("decision_pieces", "pieces of the decision boundary at which two classes meet", kind=Kind.COUNT)
AREA = declare("decision_area", "area of the decision boundary at which two classes meet, in the plane length")


@dataclass(frozen=True, eq=False, repr=False)
class DecisionSurface(PieceGeometry, Noted):
    """Where the class changes: convex polygons in space, segments in the plane, with shared vertices.

    Parameters
    ----------
    domain : Domain
    vertices : (v, d) float64; blur : (v,) float64
        In domain coordinates, with the possible rounding error of each position.
    offsets : (p + 1,) int64; ids : (offsets[-1],) int64
        Piece i has the vertices ``ids[offsets[i] : offsets[i + 1]]``, in cyclic order, counter-clockwise seen from
        the second class; a segment has the first class on its left.
    classes : (p, 2) int64
        The two classes that meet, the lower first.
    normals : (p, d) float64
        Unit normals of the pieces, towards the second class.
    codes : Codes
        Code of the region on the second class's side of each piece.
    witnesses : (p, d) float64
        A point inside this region and class, beside the piece.
    border : (e, d - 1) int64
        Vertices of the ridges on the boundary of the domain.
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
    vertices: Float[np.ndarray, "v d"]
    blur: Float[np.ndarray, " v"]
    offsets: Int[np.ndarray, " _"]
    ids: Int[np.ndarray, " _"]
    classes: Int[np.ndarray, "p 2"]
    normals: Float[np.ndarray, "p d"]
    codes: Codes
    witnesses: Float[np.ndarray, "p d"]
    border: Int[np.ndarray, "e _"]
    num_undecided: int
    num_open: int
    tolerance: Tolerance
    fingerprint: str = ""
    stop: Stop | None = None
    work: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("vertices", "blur", "offsets", "ids", "classes", "normals", "witnesses", "border"):
            getattr(self, name).setflags(write=False)

    def __repr__(self) -> str:
        kind = "polygons" if self.dim == 3 else "segments"
        pairs = len(np.unique(self.classes, axis=0))
        stopped = f", stopped: {self.note}" if self.stop else ""
        between = f"between {pairs} pairs of classes" if pairs != 1 else "between two classes"
        return f"DecisionSurface({len(self):,} {kind} {between}, {self.claim}, of {self.domain.describe()}{stopped})"

    def _repr_html_(self) -> str:
        """Return the surface for a notebook: its pieces with the claim, and which classes they part."""
        pairs, numbers = np.unique(self.classes, axis=0, return_counts=True)
        rows = [(f"{low} and {high}", int(number)) for (low, high), number in zip(pairs, numbers, strict=True)]
        kind = "polygons" if self.dim == 3 else "segments"
        parts = [self.finding()._repr_html_(), markup.table(("between classes", kind), rows) if rows else ""]
        return markup.figure("DecisionSurface", *parts, markup.terms([("stopped early", self.note)]))

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
            name="polygons of a decision boundary" if self.dim == 3 else "segments of a decision boundary",
            definition="facets between cells of different classes",
            **self._said,
        )

    def findings(self) -> Findings:
        """Return a table with a row for each pair of classes that meet: how many pieces, and their area."""
        pairs, row = np.unique(self.classes, axis=0, return_inverse=True)
        row = row.reshape(-1)
        counts = np.bincount(row, minlength=len(pairs)).astype(np.float64)
        areas = np.bincount(row, self.piece_areas, len(pairs)).astype(np.float64)
        errors = np.bincount(row, self._area_errors, len(pairs)).astype(np.float64)
        is_part, unknown = bool(self._is_doubtful or self.num_open), np.full(len(pairs), np.inf)
        least = np.zeros(len(pairs)) if self._is_doubtful else np.maximum(0.0, areas - errors)
        return Findings.of(
            Column.of(PIECES, counts, 0 * counts if self._is_doubtful else counts, unknown if is_part else counts),
            Column.of(
                AREA, least if self.num_open else areas, least, unknown if is_part else areas + errors, method=METHOD
            ),
            keys={"first": pairs[:, 0], "second": pairs[:, 1]},
            domain=self.domain.describe(),
            stop=self.stop,
            seconds=float(self.work.get("seconds", 0.0)),
        )

    @read_arguments
    def between(self, first: int, second: int) -> Int[np.ndarray, " _"]:
        """Return the rows of the pieces at which two classes meet, in either order; none where they do not."""
        return np.flatnonzero((self.classes == sorted((first, second))).all(axis=1))

    @cached_property
    def junctions(self) -> Int[np.ndarray, "e _"]:
        """The edges at which three classes or more meet, two vertices each; in the plane one vertex."""
        ridges, _, _ = self._ridges
        return ridges[self._num_classes_at_ridges > 2]

    @cached_property
    def num_unmatched(self) -> int:
        """Ridges inside the domain that a single piece meets: none, unless work stopped early."""
        ridges, number, _ = self._ridges
        base = len(self.vertices)
        keys = [one[:, 0] if self.dim == 2 else one[:, 0] * base + one[:, 1] for one in (ridges, self.border)]
        return int(((number == 1) & ~np.isin(keys[0], keys[1])).sum())

    @property
    def _num_classes_at_ridges(self) -> np.ndarray:
        row = self._ridge_rows[1]
        piece = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        there = np.unique(
            np.concatenate([np.stack([row, self.classes[piece, side]], axis=1) for side in (0, 1)]), axis=0
        )
        return np.bincount(there[:, 0], minlength=len(self._ridges[0]))

    @property
    def _is_doubtful(self) -> bool:
        return bool(self.num_undecided or (not self.num_open and self.num_unmatched))

    @property
    def _said(self) -> dict[str, Any]:
        return {
            "domain": self.domain.describe(),
            "method": METHOD,
            "resolution": self.tolerance.resolution,
            "num_undecided": self.num_undecided,
            "stop": self.stop,
            "work": self.work,
        }

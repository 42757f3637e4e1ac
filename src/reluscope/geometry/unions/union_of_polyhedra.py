"""A union of polyhedra: the points in it, its volume, its largest values, its table and its file.

Preimages, violations, images, covers and approximations are such unions. Each states its pieces and how sure its
numbers are; everything else is here.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from reluscope.arguments import NonNegative, read_arguments, read_array, read_position
from reluscope.errors import ShapeError
from reluscope.files.named_arrays import load_as, save_arrays
from reluscope.findings import Claim, Finding
from reluscope.findings.claims import largest_error
from reluscope.findings.data_frames import as_pandas
from reluscope.findings.derived import Ends, at_an_end
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class UnionOfPolyhedra(ABC):
    """A union of polyhedra with a claim; a table with a row for each of them.

    Subclasses give ``pieces``, ``claim``, ``dim``, ``volume``, the columns of the table and what a file keeps. They
    may bound the pieces by boxes, and replace the comparison of points with a piece.
    """

    pieces: tuple[Polyhedron, ...]

    # What files hold, and what messages call the coordinates and the pieces.
    kind: ClassVar[str]
    coordinates: ClassVar[str] = "inputs"
    parts: ClassVar[str] = "pieces"

    def __len__(self) -> int:
        return len(self.pieces)

    @read_arguments
    def __getitem__(self, index: int) -> Polyhedron:
        return self.pieces[read_position(index, "index", len(self), self.parts)]

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """What the union claims to be: all of the set, a part of it, more than it, or an estimate."""

    @abstractmethod
    def volume(self) -> Finding:
        """Return the volume of the union."""

    @abstractmethod
    def _columns(self) -> dict[str, Any]:
        """Return the columns of the table."""

    @abstractmethod
    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types with the ``kind``."""

    @classmethod
    @abstractmethod
    def _read(cls, arrays: dict[str, np.ndarray], described: dict[str, Any]) -> Self:
        """Return the union that a file holds; ValueError, or another of `stored.MALFORMED`, if it holds none."""

    @property
    def _resolution(self) -> float:
        """Distance per row up to which points lie in a piece by default."""
        return 0.0

    def _boxes(self, reach: float) -> Float[np.ndarray, "p 2 k"]:
        """Return a box around each piece that is widened by a distance; by default all of space."""
        return np.broadcast_to(np.array([[-np.inf], [np.inf]]), (len(self), 2, self.dim))

    def _holds(self, index: int, points: Float[np.ndarray, "s k"], reach: float) -> Bool[np.ndarray, " s"]:
        """Return which points of a piece's box lie in the piece."""
        return self.pieces[index].contains(points, reach)

    @read_arguments
    def contains(self, x: ArrayLike, tolerance: NonNegative | None = None) -> Bool[np.ndarray, "..."]:
        """Return which points (..., k) lie in some piece, up to a distance per row.

        Rows of pieces are rounded: what lies closer to one than a few units in the last place of its coordinates may
        count as on either side, whatever the tolerance.

        Parameters
        ----------
        x : (..., k) array
        tolerance : float, optional
            By default the resolution of the pieces: a billionth of the size of a domain or of outputs, 0 for pieces
            that a search over boxes finds.
        """
        points, shape = self._read_points(x)
        is_out = np.ones(len(points), dtype=bool)
        for inside in self._members(points, self._resolution if tolerance is None else tolerance, is_out):
            is_out[inside] = False
        return (~is_out).reshape(shape)

    def _count(self, x: ArrayLike, tolerance: float | None) -> Int[np.ndarray, "..."]:
        """Return in how many pieces points lie."""
        points, shape = self._read_points(x)
        found, every = np.zeros(len(points), dtype=np.int64), np.ones(len(points), dtype=bool)
        for inside in self._members(points, self._resolution if tolerance is None else tolerance, every):
            found[inside] += 1
        return found.reshape(shape)

    def _read_points(self, x: ArrayLike) -> tuple[np.ndarray, tuple[int, ...]]:
        points = read_array(x, "x")
        if points.ndim == 0 or points.shape[-1] != self.dim:
            raise ShapeError(f"expected points of {self.dim} {self.coordinates}, got shape {points.shape}")
        return points.reshape(-1, self.dim), points.shape[:-1]

    def _members(self, points: np.ndarray, reach: float, is_asked: Bool[np.ndarray, " s"]) -> Iterator[np.ndarray]:
        """Yield for each piece the rows of the points in it, among those that are asked about by then."""
        order = np.argsort(points[:, 0], kind="stable")
        first = points[order, 0]
        for index, (low, high) in enumerate(self._boxes(reach)):
            rows = order[np.searchsorted(first, low[0]) : np.searchsorted(first, high[0], side="right")]
            rows = rows[is_asked[rows]]
            rows = rows[((points[rows] >= low) & (points[rows] <= high)).all(axis=1)]
            if len(rows):
                yield rows[self._holds(index, points[rows], reach)]

    @read_arguments
    def maximum(self, direction: ArrayLike) -> Finding:
        """Return the largest value of a linear function on the union.

        Parameters
        ----------
        direction : (k,) array
            Coefficients of the coordinates.

        Returns
        -------
        Finding
            Its claim says whether the value is attained, a bound, or neither: that of pieces of inputs is an ESTIMATE,
            the largest value on the pieces as they are written.
        """
        weights = read_array(direction, "direction", ndim=1)
        if len(weights) != self.dim:
            one = self.coordinates.removesuffix("s")
            raise ShapeError(f"expected {self.dim} coefficients, one for each {one}, got {len(weights)}")
        return self._maximum(weights)

    def _maximum(self, weights: Float[np.ndarray, " k"]) -> Finding:
        return Finding.of(
            max((piece.maximize(weights).value for piece in self.pieces), default=-np.inf),
            -np.inf,
            np.inf,
            name=f"maximum of {self.coordinates}",
            definition=f"largest value of a linear function of the {self.coordinates} on the pieces",
            method="a linear program for each piece",
            work={"pieces": len(self)},
        )

    def to_table(self) -> "pa.Table":
        """Return one row per piece; the class lists the columns.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa

        return pa.table(self._columns())

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas."""
        return as_pandas(self.to_table())

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to an Arrow file, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written; what was there before stays.
        """
        save_arrays(path, *self.stored_parts())

    @classmethod
    @read_arguments
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a partition in it comes without the network.

        Raises
        ------
        InputError
            If the file is missing, damaged, or holds something else.
        """
        return load_as(path, cls.kind, cls._read)

    def _number(self) -> str:
        """Return how many pieces there are, in words."""
        return f"1 {self.parts.removesuffix('s')}" if len(self) == 1 else f"{len(self):,} {self.parts}"


def bounded_finding(ends: Ends, scale: float, **fields: Any) -> Finding:
    """Return a number between ends; one that rounding keeps from an end is moved to that end.

    Fields are those of `Finding`.
    """
    value = at_an_end(ends, float(largest_error(ends.value, scale))).value
    return Finding.of(value, ends.lower, ends.upper, scale=scale, **fields)


def numbered_columns(tables: Mapping[str, Float[np.ndarray, "p k"]]) -> dict[str, Float[np.ndarray, " p"]]:
    """Return the columns of tables, coordinate by coordinate, as ``name_0``, ``name_1`` and so on."""
    width = next(iter(tables.values())).shape[1]
    return {f"{name}_{axis}": table[:, axis] for axis in range(width) for name, table in tables.items()}

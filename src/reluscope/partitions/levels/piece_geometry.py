"""Convex pieces with shared vertices, polygons in space or segments in the plane: measures, edges, components."""

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.errors import InputError
from reluscope.files.mesh_files import check_mesh_file, write_mesh
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.geometry.numbers.scales import lengths
from reluscope.partitions.levels.level_meshes import as_mesh, as_trimesh
from reluscope.partitions.levels.level_polygons import area_vectors, fans, following, largest, sums
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    from trimesh import Trimesh

# Of sums of products of sides, as a share of the square of the length around a polygon.
NORMAL_ROUNDED = 16 * UNIT_ROUNDOFF


class PieceGeometry:
    """What level sets and decision surfaces share; see `LevelSet` for the arrays."""

    vertices: np.ndarray
    blur: np.ndarray
    offsets: np.ndarray
    ids: np.ndarray
    normals: np.ndarray
    codes: Codes
    num_open: int
    tolerance: Tolerance

    @property
    def _is_doubtful(self) -> bool:
        """Whether pieces may be missing, or too many."""
        raise NotImplementedError

    @property
    def _said(self) -> dict[str, Any]:
        """What findings say besides."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.normals)

    @property
    def dim(self) -> int:
        """Dimension of the domain."""
        return self.vertices.shape[1]

    @cached_property
    def area(self) -> float:
        """Area of all pieces; length in the plane."""
        return float(self.piece_areas.sum())

    def area_finding(self) -> Finding:
        """Return the area, or the length, with its claim."""
        error = float(self._area_errors.sum())
        least = max(0.0, self.area - error)
        return Finding.of(
            least if self.num_open else self.area,
            lower=0.0 if self._is_doubtful else least,
            upper=float("inf") if self._is_doubtful or self.num_open else self.area + error,
            name="area" if self.dim == 3 else "length",
            **self._said,
        )

    @property
    def _area_errors(self) -> np.ndarray:
        """How far the area of each piece may be from what it should be."""
        moved = self._moved
        # Corners that move by e change an area by at most e along its sides, and a disc of e around each corner.
        return moved * (self.piece_extents + np.pi * moved * np.diff(self.offsets))

    @cached_property
    def piece_areas(self) -> Float[np.ndarray, " p"]:
        """Area of every piece; its length in the plane."""
        return lengths(self.area_vectors)

    @cached_property
    def piece_extents(self) -> Float[np.ndarray, " p"]:
        """Length around every polygon; of a segment 2, for its ends."""
        if self.dim == 2:
            return np.full(len(self), 2.0)
        sides = self.vertices[self.ids] - self.vertices[following(self.offsets, self.ids)]
        return sums(np.linalg.norm(sides, axis=1), self.offsets)

    def triangles(self) -> Int[np.ndarray, "t 3"]:
        """Return the polygons as triangles, each a fan of its polygon, with the same sense.

        Raises
        ------
        InputError
            In the plane.
        """
        if self.dim != 3:
            raise InputError("triangles are parts of polygons in space, got pieces in the plane: use these segments")
        return self.ids[fans(self.vertices, self.offsets, self.ids)]

    @read_arguments
    def write(
        self,
        path: str | os.PathLike[str],
        *,
        color: Literal["region", "normal"] | Int[np.ndarray, " p"] | None = None,
    ) -> None:
        """Write the polygons to a file for other programs, completely or not at all.

        Parameters
        ----------
        path : path
            Ends in ``.ply`` or ``.obj`` (polygons with shared vertices and all digits; the colours of ``.obj`` are in a
            file ``.mtl`` beside it), or in ``.glb`` or ``.stl`` (triangles with 32-bit coordinates, with a warning if
            vertices coincide; ``.stl`` has no colours).
        color : {"region", "normal"} or (p,) int64, optional
            Meaning of the polygons' colours: the region, the normal, or a class per polygon, such as
            ``network(surface.witnesses).argmax(1)``. Without it there are no colours.

        Raises
        ------
        InputError
            If the path has another suffix, the file cannot be written, the level set lies in the plane, or there is not
            one class per polygon.

        Examples
        --------
        >>> import tempfile, numpy as np, reluscope as rs
        >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
        >>> rs.level_set(ball, rs.Box(-2, 2, 3)).write(tempfile.mkdtemp() + "/ball.ply", color="normal")
        """
        check_mesh_file(target := Path(path))
        write_mesh(target, as_mesh(self, color))

    @read_arguments
    def to_trimesh(self, *, color: Literal["region", "normal"] | Int[np.ndarray, " p"] | None = None) -> "Trimesh":
        """Return the triangles as a mesh of the package trimesh (``pip install "reluscope[mesh]"``).

        The triangles are not changed.

        Parameters
        ----------
        color : {"region", "normal"} or (p,) int64, optional
            As in `write`.

        Raises
        ------
        ReluscopeError
            If trimesh is not installed.
        InputError
            If the level set lies in the plane, or there is not one class per polygon.
        """
        return as_trimesh(as_mesh(self, color))

    @property
    def vertex_errors(self) -> Float[np.ndarray, " v"]:
        """How far every vertex may be from where it should be, by its blur and the rounding of its coordinates."""
        return self.blur + self._length_error

    @cached_property
    def area_vectors(self) -> Float[np.ndarray, "p d"]:
        """Normals as the vertices have them, as long as the areas of the pieces; in the plane as their lengths."""
        return area_vectors(self.vertices, self.offsets, self.ids)

    @property
    def normal_errors(self) -> Float[np.ndarray, " p"]:
        """Angle by which each of `area_vectors` may be turned by the errors of the vertices, at most pi."""
        share = (self._area_errors + NORMAL_ROUNDED * self.piece_extents**2) / np.where(
            self.piece_areas > 0, self.piece_areas, 1.0
        )
        is_known = (self.piece_areas > 0) & (share < 1)
        return np.where(is_known, np.arcsin(np.where(is_known, share, 0.0)), np.pi)

    @cached_property
    def edges(self) -> Int[np.ndarray, "e _"]:
        """The ridges of pieces, each once: two vertices of an edge in increasing order; in the plane one vertex."""
        return self._ridges[0]

    @cached_property
    def components(self) -> Int[np.ndarray, " p"]:
        """Number of the connected component of every piece, from 0; pieces that share a vertex are connected."""
        number, first = len(self.vertices), self.ids[self.offsets[:-1]]
        links = np.repeat(first, np.diff(self.offsets)), self.ids
        _, label = connected_components(
            coo_array((np.ones(len(self.ids)), links), shape=(number, number)), directed=False
        )
        return np.unique(label[first], return_inverse=True)[1].astype(np.int64)

    @property
    def num_components(self) -> int:
        """Number of connected components."""
        return int(self.components.max(initial=-1)) + 1

    @cached_property
    def _ridges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ridges, how many pieces meet at each, and the sum of the senses in which they do."""
        if self.dim == 2:
            ridges, sense = self.ids[:, None], np.tile([-1, 1], len(self))
        else:
            here, after = self.ids, following(self.offsets, self.ids)
            ridges = np.stack([np.minimum(here, after), np.maximum(here, after)], axis=1)
            sense = np.where(here < after, 1, -1)
        first, row, number = self._ridge_rows
        return ridges[first], number, np.bincount(row, weights=sense, minlength=len(first))

    @cached_property
    def _ridge_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where in ``ids`` each ridge comes first, the ridge that begins at every entry, and how often ridges come."""
        here, after = self.ids, self.ids if self.dim == 2 else following(self.offsets, self.ids)
        keys = np.minimum(here, after) * len(self.vertices) + np.maximum(here, after)
        _, first, row, number = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return first, row, number

    @property
    def _length_error(self) -> float:
        """What rounding may add to where vertices are."""
        return 16 * (self.tolerance.unit * float(np.abs(self.vertices).max(initial=0.0)))

    @property
    def _moved(self) -> np.ndarray:
        """How far the corners of each piece may be from where they should be."""
        return largest(self.blur[self.ids], self.offsets) + self._length_error

    @cached_property
    def _centers(self) -> np.ndarray:
        """Centroids of the pieces."""
        counts = np.diff(self.offsets)[:, None]
        middle = sums(self.vertices[self.ids], self.offsets) / counts
        if self.dim == 2:
            return middle
        around = np.repeat(middle, counts[:, 0], axis=0)
        one, two = self.vertices[self.ids] - around, self.vertices[following(self.offsets, self.ids)] - around
        weight = np.linalg.norm(np.cross(one, two), axis=1)
        total = sums(weight, self.offsets)
        moved = sums(weight[:, None] * (one + two) / 3, self.offsets)
        return middle + moved / np.where(total > 0, total, 1.0)[:, None]

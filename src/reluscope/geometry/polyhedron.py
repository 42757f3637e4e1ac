"""Closed convex polyhedra {x : A x <= b, C x = d}: rows are outward normals; nothing here knows of networks."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from reluscope.errors import ShapeError
from reluscope.geometry.arrays import read_array


@dataclass(frozen=True, eq=False, init=False)
class Polyhedron:
    """The closed set of points x with ``A x <= b`` and ``C x = d``.

    Parameters
    ----------
    A : (h, n) array
        Outward normals, one row per half-space; they need not be normalised.
    b : (h,) array
        Offsets.
    C, d : (k, n) and (k,) arrays, optional
        Equations.

    Raises
    ------
    ShapeError
        If the shapes do not fit together.
    InputError
        If an entry is NaN or infinite.

    Examples
    --------
    >>> square = Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1])
    >>> square.dim, bool(square.contains([0.5, -0.5]))
    (2, True)
    """

    A: Float[np.ndarray, "h n"]
    b: Float[np.ndarray, " h"]
    C: Float[np.ndarray, "k n"]
    d: Float[np.ndarray, " k"]

    def __init__(self, A: ArrayLike, b: ArrayLike, C: ArrayLike | None = None, d: ArrayLike | None = None) -> None:
        normals = read_array(A, "A", ndim=2)
        offsets = read_array(b, "b", ndim=1)
        if (C is None) != (d is None):
            raise ShapeError("C and d belong together: give both or neither")
        equations = read_array(np.empty((0, normals.shape[1])) if C is None else C, "C", ndim=2)
        values = read_array(np.empty(0) if d is None else d, "d", ndim=1)
        if normals.shape[1] == 0:
            raise ShapeError(f"A must have at least one column, got shape {normals.shape}")
        if len(offsets) != len(normals) or len(values) != len(equations) or equations.shape[1] != normals.shape[1]:
            raise ShapeError(
                "A (h, n), b (h,), C (k, n) and d (k,) must agree, got shapes "
                f"{normals.shape}, {offsets.shape}, {equations.shape} and {values.shape}"
            )
        for name, array in (("A", normals), ("b", offsets), ("C", equations), ("d", values)):
            object.__setattr__(self, name, array)

    @property
    def dim(self) -> int:
        """Number of coordinates n."""
        return self.A.shape[1]

    @property
    def ambient_dim(self) -> int:
        """Same as ``dim``: a polyhedron lives in its own coordinates."""
        return self.dim

    def contains(self, x: ArrayLike, tolerance: float = 0.0) -> Bool[np.ndarray, "..."]:
        """Tell which points satisfy every row up to ``tolerance`` times the row's length.

        Parameters
        ----------
        x : (..., n) array
            Points.
        tolerance : float
            Largest Euclidean distance by which a half-space or an equation may be missed.

        Returns
        -------
        (...) bool array
        """
        points = read_array(x, "x", finite=False)
        if points.ndim == 0 or points.shape[-1] != self.dim:
            raise ShapeError(f"points must have {self.dim} coordinates, got shape {points.shape}")
        inside = (points @ self.A.T - self.b <= tolerance * np.linalg.norm(self.A, axis=1)).all(axis=-1)
        level = (np.abs(points @ self.C.T - self.d) <= tolerance * np.linalg.norm(self.C, axis=1)).all(axis=-1)
        return np.asarray(inside & level)

    def describe(self) -> str:
        """Say in a few words what this is."""
        equations = f" and {len(self.C)} equations" if len(self.C) else ""
        return f"polyhedron of {len(self.A)} half-spaces{equations} in {self.dim} dimensions"

"""Trajectories through samples: polylines, closed or not, along which regions are counted.

A curve stands here as the polyline through points of it, and says so. The ellipse through three samples a, b, c is
``m + cos(t) (a - m) + sin(t) (b - c) / sqrt(3)`` with their mean m (Steiner's, the one of least area); the translations
of an image by whole pixels, with straight segments between, are a trajectory of [novak2018]_.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.arguments import Count, read_arguments, read_array, read_point
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Shown):
    """A polyline.

    Parameters
    ----------
    points : (k, n) float64
        Its corners, in order.
    is_closed : bool
        Whether the last corner is joined to the first.
    description : str
        Text for the domain of findings.
    """

    points: Float[np.ndarray, "k n"]
    is_closed: bool
    description: str

    def ends(self) -> tuple[Float[np.ndarray, "s n"], Float[np.ndarray, "s n"]]:
        """Return where segments begin and end; points that repeat their predecessor are left out."""
        starts, ends = self.points[:-1], self.points[1:]
        if self.is_closed:
            starts, ends = self.points, np.roll(self.points, -1, axis=0)
        moves = (starts != ends).any(axis=1)
        return starts[moves], ends[moves]


@read_arguments
def trajectory(points: ArrayLike, *, is_closed: bool = False) -> Trajectory:
    """Return the polyline through points (k, n) or (k, *input_shape).

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.sensitivity.trajectory([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], is_closed=True).description
    'closed polyline through 3 points'
    """
    corners = read_array(points, "points")
    if corners.ndim < 2 or len(corners) < 2:
        raise ShapeError(f"expected at least two points, one per row, got an array of shape {corners.shape}")
    kind = "closed polyline" if is_closed else "polyline"
    return Trajectory(corners.reshape(len(corners), -1), is_closed, f"{kind} through {len(corners):,} points")


@read_arguments
def ellipse(a: ArrayLike, b: ArrayLike, c: ArrayLike, *, num_points: Count = 99) -> Trajectory:
    """Return the closed polyline through points of the ellipse of least area through three samples.

    Parameters
    ----------
    a, b, c : arrays of n entries
        Corners of the polyline if the number of points is a multiple of three.
    num_points : int
        At least three, at equal angles.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> circle = rs.sensitivity.ellipse([1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)], num_points=12)
    >>> np.linalg.norm(circle.points, axis=1).round(9).tolist() == [1.0] * 12
    True
    """
    first, second, third = read_point(a, "a"), read_point(b, "b"), read_point(c, "c")
    if not first.size == second.size == third.size:
        raise ShapeError(
            f"a, b and c must have equally many coordinates, got {first.size}, {second.size} and {third.size}"
        )
    if num_points < 3:
        raise InputError(f"expected at least three points of the ellipse, got {num_points}")
    sides = np.stack([second - first, third - first])
    if np.linalg.matrix_rank(sides / (np.abs(sides).max() or 1.0)) < 2:
        raise DegenerateGeometryError("a, b and c must not lie on one line, where no ellipse goes through them")
    angles = 2 * np.pi * np.arange(num_points)[:, None] / num_points
    middle = (first + second + third) / 3
    points = middle + np.cos(angles) * (first - middle) + np.sin(angles) * (second - third) / 3**0.5
    said = f"closed polyline through {num_points:,} points of the ellipse of least area through three samples"
    return Trajectory(points, True, said)


@read_arguments
def translations(image: ArrayLike, *, shape: Sequence[int]) -> Trajectory:
    """Return the closed trajectory of an image shifted sideways pixel by pixel, with wrap-around.

    Parameters
    ----------
    image : array of n entries
    shape : sequence of int
        Of the image, width last.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.sensitivity.translations([1.0, 0.0, 0.0], shape=(1, 3)).points.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    flat = read_point(image, "image")
    if int(np.prod(shape)) != flat.size:
        raise ShapeError(f"shape must have {flat.size} entries in all, as the image has, got {tuple(shape)}")
    pixels = flat.reshape(tuple(shape))
    moved = np.stack([np.roll(pixels, step, axis=-1).reshape(-1) for step in range(pixels.shape[-1])])
    return Trajectory(moved, True, f"translations of an image by {len(moved)} pixels, straight segments between")

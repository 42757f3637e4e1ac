"""Minimal width and diameter of polyhedra: the least and the greatest distance of two parallel supporting hyperplanes.

From vertices v both are exact. The width is the inradius of the difference body around the origin, the convex hull of
all ``v_i - v_j`` (its support function is the extent ``max u x - min u x`` in direction u); the diameter is the longest
``v_i - v_j``. Elsewhere linear maxima bound them: the extent in any direction is an upper bound on the width, any two
points are a lower bound on the diameter. By Steinhagen (1921) a body of inradius r in n dimensions has a width between
2 r and ``2 r sqrt(n)`` for odd n, ``2 r (n + 1) / sqrt(n + 2)`` for even n.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import pdist
from torch import Tensor

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.interior_point import Local, minimize, within

# Relative to the largest entry of the diagonal: what is added to it, so that it has an inverse.
SHIFT = 1e-12
# Pairs of vertices whose differences have a convex hull within a second, by the dimension.
MAX_DIFFERENCES = {1: 10**6, 2: 10**6, 3: 10**5, 4: 3_000, 5: 1_100}
# Rows this close to the inscribed ball, in shares of its radius, count as touching.
TOUCHING = 1e-3
# The gap of linear maxima, relative to their size.
ROUGH = 1e-4
POWER_STEPS = 30
# Largest number of rounds of the search for two points far apart, and the growth that another round needs.
MAX_ROUNDS, GROWTH = 4, 1.01


class Width(NamedTuple):
    """Bounds on the minimal width; equal up to rounding where it is known."""

    lower: float
    upper: float
    direction: Float[np.ndarray, " n"]  # unit; extent at most ``upper``; NaN if no extent is


class Diameter(NamedTuple):
    """Bounds on the diameter; equal up to rounding where it is known."""

    lower: float
    upper: float
    ends: Float[np.ndarray, "2 n"]  # points at distance ``lower``; NaN if it is infinite


def steinhagen(dim: int) -> float:
    """Return the largest width of a body of inradius 1."""
    return 2.0 * float(np.sqrt(dim)) if dim % 2 else 2.0 * (dim + 1) / float(np.sqrt(dim + 2))


def width_bound(ball: Ball, dim: int, unknown: float = 0.0) -> float:
    """Return an upper bound on the width of a body by its largest ball; ``unknown`` replaces a gap that is infinite."""
    return steinhagen(dim) * (max(0.0, ball.radius) + (ball.gap if np.isfinite(ball.gap) else unknown))


def swept_volume(sides: Float[np.ndarray, " d"], moved: Float[np.ndarray, " d"]) -> float:
    """Return the volume that one facet of a box sweeps along each axis, in all."""
    return float(sum(moved[axis] * np.delete(sides, axis).prod() for axis in range(len(sides))))


def are_few(vertices: Float[np.ndarray, "v n"]) -> bool:
    """Whether width and diameter of the convex hull of points take a second at most."""
    number, dim = vertices.shape
    return number**2 <= MAX_DIFFERENCES.get(dim, 0)


def width_of_hull(vertices: Float[np.ndarray, "v n"]) -> Width:
    """Return the width of the convex hull of a few points.

    Raises DegenerateGeometryError if the hull is nearly flat.
    """
    dim = vertices.shape[1]
    differences = (vertices[:, None] - vertices[None]).reshape(-1, dim)
    if dim == 1:
        return Width(float(differences.max()), float(differences.max()), np.ones(1))
    size = np.abs(differences).max()
    try:
        sides = ConvexHull(differences / size).equations
    except QhullError as error:
        raise DegenerateGeometryError("the width needs vertices that are not nearly in one hyperplane") from error
    nearest = int((-sides[:, -1]).argmin())
    direction = sides[nearest, :-1]
    extent = float(np.ptp(vertices @ direction))
    return Width(extent, extent, direction)


def diameter_of_hull(vertices: Float[np.ndarray, "v n"]) -> Diameter:
    """Return the largest distance of two of a few points."""
    number = len(vertices)
    if number == 1:
        return Diameter(0.0, 0.0, vertices[[0, 0]])
    distances = pdist(vertices)
    farthest = int(distances.argmax())
    first, second = (int(entry[farthest]) for entry in np.triu_indices(number, 1))
    return Diameter(float(distances[farthest]), float(distances[farthest]), vertices[[first, second]])


def width_bounds(body: HalfSpaceStack, ball: Ball) -> Width:
    """Return bounds on the width of one body.

    ``ball`` has to be a largest ball in it, of positive and finite radius. Extents are taken in two directions derived
    from the ball, and along all coordinates with two bounds.
    """
    lower, upper = 2.0 * ball.radius, steinhagen(body.dim) * (ball.radius + ball.gap)
    direction = np.full(body.dim, np.nan)
    sides = (body.upper - body.lower)[0].cpu().numpy()
    if sides.min() < upper:
        upper, direction = float(sides.min()), np.eye(body.dim)[sides.argmin()]
    centered = _around(body, ball.center)
    slacks = centered.slacks(torch.zeros_like(centered.lower))
    candidates = torch.stack([_across(centered, slacks), _axis(centered, slacks, is_long=False)])
    tops, _ = _maxima(centered, torch.cat([candidates, -candidates]), ball.radius)
    extents = (tops[: len(candidates)] + tops[len(candidates) :]).cpu().numpy()
    best = int(extents.argmin())
    if extents[best] < upper:
        upper, direction = float(extents[best]), candidates[best].cpu().numpy()
    return Width(lower, max(lower, upper), direction)


def diameter_bounds(body: HalfSpaceStack, ball: Ball) -> Diameter:
    """Return bounds on the diameter of one body.

    ``ball`` has to be a largest ball in it, of positive and finite radius. The upper bound comes from bounds of
    coordinates, the lower one from a few pairs of linear maxima.
    """
    upper = float(torch.linalg.vector_norm((body.upper - body.lower)[0]))
    centered = _around(body, ball.center)
    slacks = centered.slacks(torch.zeros_like(centered.lower))
    direction = _axis(centered, slacks, is_long=True)
    best, ends = 0.0, np.full((2, body.dim), np.nan)
    for _ in range(MAX_ROUNDS):
        _, points = _maxima(centered, torch.stack([direction, -direction]), ball.radius)
        apart = points[0] - points[1]
        length = float(torch.linalg.vector_norm(apart))
        if not np.isfinite(length) or length <= best * GROWTH:
            break
        best, ends = length, ball.center + points.cpu().numpy()
        direction = apart / length
    return Diameter(best, upper, ends)


def _around(body: HalfSpaceStack, center: np.ndarray) -> HalfSpaceStack:
    """Return a body moved so that a point is the origin."""
    there = torch.as_tensor(center, dtype=body.rows.dtype, device=body.rows.device)
    return HalfSpaceStack(body.rows, body.offsets - body.rows @ there, body.lower - there, body.upper - there)


def _maxima(body: HalfSpaceStack, gains: Tensor, radius: float) -> tuple[Tensor, Tensor]:
    """Return upper bounds on the maxima of linear functions on a body around the origin, and points near them."""
    number = len(gains)

    def objective(points: Tensor, which: Tensor) -> Local:
        return Local(-(points * gains[which]).sum(dim=1), -gains[which])

    found = minimize(body.shared(number), objective, torch.zeros_like(gains), within(ROUGH, radius))
    return found.gaps - found.values, found.points


def _across(body: HalfSpaceStack, slacks: Tensor) -> Tensor:
    """Return the direction between the two most opposite hyperplanes that touch the ball around the origin."""
    height, dim = body.rows.shape[1:]
    touching = torch.nonzero(body.exists[0] & (slacks[0] <= (1 + TOUCHING) * slacks[body.exists].min()))[:, 0]
    normals = torch.zeros(len(touching), dim, dtype=body.rows.dtype, device=body.rows.device)
    for place, index in enumerate(touching.tolist()):
        if index < height:
            normals[place] = body.rows[0, index]
        else:
            axis = (index - height) % dim
            normals[place, axis] = -1.0 if index < height + dim else 1.0
    cosines = normals @ normals.T
    first, second = divmod(int(cosines.argmin()), len(touching))
    apart = normals[first] - normals[second]
    length = torch.linalg.vector_norm(apart)
    return apart / length if length > 1e-3 else normals[first]


def _axis(body: HalfSpaceStack, slacks: Tensor, *, is_long: bool) -> Tensor:
    """Return about the longest or the shortest axis of the ellipsoid ``x' A' S^-2 A x <= 1`` at the origin."""
    weights = torch.where(body.exists, 1.0 / slacks, 0.0).square()
    matrix = body.gram(weights)[0]
    matrix = matrix.tril() + matrix.tril(-1).T
    along = torch.as_tensor(np.random.default_rng(0).normal(size=body.dim), dtype=matrix.dtype, device=matrix.device)
    if is_long:
        # Directions in which the body is endless are as long as rounding lets them be.
        matrix.diagonal().add_(SHIFT * matrix.diagonal().max())
        matrix = torch.linalg.inv(matrix)
    for _ in range(POWER_STEPS):
        along = matrix @ along
        along = along / torch.linalg.vector_norm(along)
    return along

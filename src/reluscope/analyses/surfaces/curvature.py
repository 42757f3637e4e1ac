"""Curvature of a polygonal surface: the mean curvature is on its edges, the Gauss curvature at its vertices.

A surface of flat polygons bends nowhere else. Smoothed a little, an edge of length l whose polygons turn by the angle a
has the integral l a / 2 of the mean curvature, and a vertex the integral of the Gauss curvature that its angles lack to
a full turn; by Gauss and Bonnet all these are 2 pi times the Euler characteristic.
"""

import math

import numpy as np

from reluscope.analyses.surfaces.edges import SurfaceEdges
from reluscope.analyses.surfaces.read_surfaces import read_in_space
from reluscope.arguments import read_arguments
from reluscope.findings import Claim, Column, Findings, declare
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.geometry.numbers.scales import exponents, times_power, units
from reluscope.partitions.levels.level_polygons import following, preceding
from reluscope.partitions.levels.level_sets import LevelSet

ANGLE = declare(
    "dihedral_angle",
    "angle by which a surface turns at an edge, in radians; positive where it is convex seen from larger f",
    least=-np.pi,
    most=np.pi,
)
MEAN = declare("mean_curvature", "integral of the mean curvature: half the angle times the length", least=-np.inf)
GAUSS = declare(
    "gauss_curvature", "integral of the Gauss curvature: what the angles at a vertex lack to a full turn", least=-np.inf
)
# Of a few operations on differences of coordinates.
UNIT = 16 * UNIT_ROUNDOFF


@read_arguments
def edge_curvature(surface: LevelSet) -> Findings:
    """Return the dihedral angles at the edges of a level set, and the mean curvature concentrated there.

    Parameters
    ----------
    surface : LevelSet
        In space.

    Returns
    -------
    Findings
        ``dihedral_angle`` and ``mean_curvature`` at every edge of two polygons, identified by its vertices
        ``first`` and ``second``. The angle is 0 where the surface is flat, positive where the part with smaller f
        is convex, negative where it is concave. The summary has the ``mean_curvature`` of the whole surface.

    Raises
    ------
    InputError
        If the level set lies in the plane.

    Notes
    -----
    Intervals include the rotation that the rounding of vertices may cause. Polygons thinner than this rounding have
    no direction and wide intervals. Edges of a single polygon, or of more than two, have no defined angle and are
    left out. Angles and lengths are those of domain coordinates.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> surface = rs.level_set(ball, rs.Box(-2, 2, 3))
    >>> found = rs.surfaces.edge_curvature(surface)
    >>> print(found.finding("dihedral_angle", 0), len(found))  # arccos(1/3)
    1.23096 (EXACT) 12
    """
    read_in_space(surface)
    edges = SurfaceEdges.of(surface)
    edges_of_two = edges.counts == 2
    ends, sides = edges.ends[edges_of_two], edges.polygons[edges_of_two]
    tips = surface.vertices[ends]
    along = tips[:, 1] - tips[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    errors = surface.vertex_errors
    moved = errors[ends].sum(axis=1)
    vectors, off = surface.area_vectors, surface.normal_errors
    turned = off[sides].sum(axis=1)
    by_corners = _angles(vectors[sides[:, 0]], vectors[sides[:, 1]], along)
    # Gradients know the direction of thin polygons better than their corners do; these say how sure that is.
    # At a fold to and fro, the two ends of the range of angles are neighbours.
    wraps = np.abs(by_corners) + turned > np.pi
    low, high = np.where(wraps, -np.pi, by_corners - turned), np.where(wraps, np.pi, by_corners + turned)
    angles = np.clip(_angles(surface.normals[sides[:, 0]], surface.normals[sides[:, 1]], along), low, high)
    mean, least, most = angles * lengths / 2, *_products(low, high, lengths, moved)
    is_doubtful, open_ended = surface.claim is Claim.ESTIMATE, surface.claim is not Claim.EXACT
    if is_doubtful:
        low, high = np.full(len(low), -np.pi), np.full(len(low), np.pi)
        least, most = np.full(len(low), -np.inf), np.full(len(low), np.inf)
    size = float(lengths.sum())
    total = Column.of(
        MEAN,
        [math.fsum(mean)],
        [-np.inf if open_ended else math.fsum(least)],
        [np.inf if open_ended else math.fsum(most)],
        scale=np.pi * size,
    )
    return Findings.of(
        Column.of(ANGLE, angles, low, high, scale=np.pi),
        Column.of(MEAN, mean, least, most, scale=np.pi * lengths),
        keys={"first": ends[:, 0], "second": ends[:, 1]},
        summary=Findings.of(total, domain=surface.domain.describe()),
        domain=surface.domain.describe(),
        stop=surface.stop,
    )


@read_arguments
def vertex_curvature(surface: LevelSet) -> Findings:
    """Return the Gauss curvature concentrated at the vertices of a level set.

    Parameters
    ----------
    surface : LevelSet
        In space.

    Returns
    -------
    Findings
        ``gauss_curvature`` for every ``vertex``: 2 pi minus the angles there, and at the boundary of an open
        surface pi minus the angles. The summary has the curvature of the whole surface, 2 pi times
        `LevelSet.euler_characteristic`.

    Raises
    ------
    InputError
        If the level set lies in the plane.

    Notes
    -----
    The term of a vertex is ``2 pi - angles + (pi / 2) sum (k - 2)`` over its edges, where k polygons meet at an
    edge. With this term, the Gauss-Bonnet theorem also holds for open or pinched surfaces. Intervals include the
    rotation that the rounding of vertices may cause.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> found = rs.surfaces.vertex_curvature(rs.level_set(ball, rs.Box(-2, 2, 3)))
    >>> print(found.finding("gauss_curvature", 0), found.summary.finding("gauss_curvature"))  # 2 pi / 3, and 4 pi
    2.0944 (EXACT) 12.5664 (EXACT)
    """
    read_in_space(surface)
    edges, number = SurfaceEdges.of(surface), len(surface.vertices)
    here = surface.vertices[surface.ids]
    before = surface.vertices[preceding(surface.offsets, surface.ids)] - here
    after = surface.vertices[following(surface.offsets, surface.ids)] - here
    one, two = _scaled(before), _scaled(after)
    angles = np.arctan2(np.linalg.norm(np.cross(one, two), axis=1), (one * two).sum(axis=1))
    errors = surface.vertex_errors[surface.ids]
    moved = [errors + surface.vertex_errors[one(surface.offsets, surface.ids)] for one in (preceding, following)]
    off = np.minimum(np.pi, sum(_turned(*one) for one in zip(moved, (before, after), strict=True)))
    excess = np.bincount(edges.ends.reshape(-1), np.repeat(edges.counts - 2.0, 2), number)
    terms = 2 * np.pi + np.pi / 2 * excess - np.bincount(surface.ids, angles, number)
    corners = np.bincount(surface.ids, minlength=number)
    error = np.bincount(surface.ids, off, number) + UNIT * corners
    low, high = terms - error, terms + error
    if surface.claim is Claim.ESTIMATE:
        low, high = np.full(number, -np.inf), np.full(number, np.inf)
    # The theorem gives the sum without any rounding of angles.
    total = 2 * np.pi * surface.euler_characteristic
    is_whole = surface.claim is Claim.EXACT
    ends = (total, total) if is_whole else (-np.inf, np.inf)
    return Findings.of(
        Column.of(GAUSS, terms, low, high, scale=2 * np.pi),
        keys={"vertex": np.arange(number)},
        summary=Findings.of(
            Column.of(GAUSS, [total], *([end] for end in ends), method="theorem of Gauss and Bonnet"),
            domain=surface.domain.describe(),
        ),
        domain=surface.domain.describe(),
        stop=surface.stop,
    )


def _angles(one: np.ndarray, two: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return the angles from vectors to others, about edges: those of nothing are 0."""
    one, two = _scaled(one), _scaled(two)
    return np.arctan2((np.cross(one, two) * units(along)).sum(axis=1), (one * two).sum(axis=1))


def _scaled(vectors: np.ndarray) -> np.ndarray:
    """Return vectors times powers of two, so that their products stay in range."""
    return times_power(vectors, -exponents(vectors, 1)[:, None])


def _turned(moved: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return by which angle a vector may turn whose ends move so far together."""
    lengths = np.linalg.norm(along, axis=1)
    reach = moved * (1 + UNIT)  # by that much more it turns farther than rounding matters
    share = np.divide(reach, lengths, out=np.zeros_like(lengths), where=lengths > reach)
    return np.where(lengths > reach, np.arcsin(share), np.pi)


def _products(low: np.ndarray, high: np.ndarray, lengths: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the ends of half the product of angles and lengths."""
    short, long = np.maximum(0.0, lengths - moved), lengths + moved
    corners = [angle * length / 2 for angle in (low, high) for length in (short, long)]
    rounded = UNIT * long
    return np.minimum.reduce(corners) - rounded, np.maximum.reduce(corners) + rounded

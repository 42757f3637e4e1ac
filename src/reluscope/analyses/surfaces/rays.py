"""`cast_rays`: where rays first hit a level set, and how often they go through it."""

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.surfaces.box_tree import BoxTree
from reluscope.analyses.surfaces.ray_signs import parameters_at, signs_beside
from reluscope.analyses.surfaces.read_surfaces import read_in_space
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF
from reluscope.geometry.numbers.scales import exponents, times_power
from reluscope.partitions.levels.level_polygons import fan_pieces
from reluscope.partitions.levels.level_sets import LevelSet

REACH = declare(
    "ray_distance",
    "distance from its origin to where a ray first hits the polygons of a level set, with vertices as they are stored",
    unit="input",
)
HITS = declare(
    "ray_hits", "how often a ray goes through a level set, with vertices as they are stored", kind=Kind.COUNT
)
METHOD = "signs in floats with bounds on rounding, else in fractions; ties by a ray that is moved by nothing"
# Of the sums of a ray and its direction, as a share of coordinates.
ROUNDED = 16 * UNIT_ROUNDOFF
# Rays that go through the tree together.
BATCH = 1024


@read_arguments
def cast_rays(surface: LevelSet, origins: Float[np.ndarray, "s 3"], directions: Float[np.ndarray, "s 3"]) -> Findings:
    """Return the first hit of each ray on a level set, exactly: no ray passes between two polygons.

    Parameters
    ----------
    surface : LevelSet
        In space.
    origins, directions : (s, 3) arrays
        In domain coordinates; directions are nonzero, of any length.

    Returns
    -------
    Findings
        ``ray_distance``, infinite without a hit, and ``ray_hits``, for every ``ray``. Details: ``points``, the
        first hits, and ``piece``, the polygons; NaN and -1 without a hit.

    Raises
    ------
    InputError
        If the level set lies in the plane, or a direction is zero.

    Notes
    -----
    Signs that are exact for the stored vertices decide whether a ray crosses a triangle of a polygon. A ray through
    an edge or a vertex is treated as infinitesimally displaced, always to the same side. Where it crosses the
    surface, it hits one of the polygons there; where it only touches the surface, none or two; it hits no polygon
    that contains it. A ray that starts on the surface hits it there. Rays from inside a closed surface have an odd
    number of hits. `LevelSet.vertex_errors` bounds the distance of stored vertices from their true positions.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> surface = rs.level_set(ball, rs.Box(-2, 2, 3))
    >>> found = rs.surfaces.cast_rays(surface, [[0.0, 0.0, -3.0]], [[0.0, 0.0, 1.0]])  # through two vertices
    >>> print(found.finding("ray_distance", 0), found.finding("ray_hits", 0))
    2 (EXACT) 2 (EXACT)
    """
    read_in_space(surface)
    if not directions.any(axis=1).all():
        raise InputError("directions must not be zero, got one that is: leave out this ray")
    number = len(origins)
    values, low, high = (np.full(number, np.inf) for _ in range(3))
    points, pieces, hits = np.full((number, 3), np.nan), np.full(number, -1), np.zeros(number)
    triangles, owners = surface.triangles(), fan_pieces(surface.offsets)
    corners = surface.vertices[triangles]
    tree = BoxTree(corners.min(axis=1), corners.max(axis=1))
    directions = times_power(directions, -exponents(directions, 1)[:, None])  # their squares stay in range
    lengths = np.linalg.norm(directions, axis=1)
    for start in range(0, number, BATCH):
        part = slice(start, start + BATCH)
        rows, things = _candidates(tree, origins[part], directions[part])
        rows, things = _through(origins, directions, surface.vertices, triangles, rows + start, things)
        where, errors = parameters_at(origins[rows], directions[rows], corners[things])
        kept = where >= 0
        rows, things, where, errors = rows[kept], things[kept], where[kept], errors[kept]
        order = np.lexsort((owners[things], where, rows))
        there, first = np.unique(rows[order], return_index=True)
        best = order[first]
        points[there] = origins[there] + where[best, None] * directions[there]
        pieces[there] = owners[things[best]]
        hits += np.bincount(rows, minlength=number)
        np.minimum.at(low, rows, (where - errors) * lengths[rows] * (1 - ROUNDED))
        np.minimum.at(high, rows, (where + errors) * lengths[rows] * (1 + ROUNDED))
        np.minimum.at(values, rows, where * lengths[rows])
    low, values = np.maximum(low, 0.0), np.clip(values, low, high)
    least, most = hits, hits
    if surface.claim is not Claim.EXACT:
        low, most, values = np.zeros(number), np.full(number, np.inf), high
    if surface.claim is Claim.ESTIMATE:
        high, least = np.full(number, np.inf), np.zeros(number)
    scale = np.abs(origins).max(axis=1, initial=0.0) + float(np.abs(surface.vertices).max(initial=0.0))
    return Findings.of(
        Column.of(REACH, values, low, high, scale=scale, method=METHOD),
        Column.of(HITS, hits, least, most, method=METHOD),
        keys={"ray": np.arange(number)},
        details={"points": points, "piece": pieces},
        domain=surface.domain.describe(),
        stop=surface.stop,
    )


def _candidates(tree: BoxTree, origins: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rays may go through the boxes of which triangles."""

    def keep(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        from_, along = origins[rows], directions[rows]
        room = ROUNDED * (np.abs(low) + np.abs(high) + np.abs(from_))
        below, above = low - room - from_, high + room - from_
        still = along == 0
        step = np.where(still, 1.0, along)
        with np.errstate(over="ignore"):
            one, two = below / step, above / step
        enters = np.where(still, np.where((below <= 0) & (above >= 0), -np.inf, np.inf), np.minimum(one, two))
        leaves = np.where(still, np.inf, np.maximum(one, two))
        return np.maximum(0.0, enters.max(axis=1)) <= leaves.min(axis=1)

    return tree.pairs(len(origins), keep)


def _through(
    origins: np.ndarray,
    directions: np.ndarray,
    vertices: np.ndarray,
    triangles: Int[np.ndarray, "t 3"],
    rows: np.ndarray,
    things: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of rays and triangles in which the whole line goes through the triangle."""
    sides = []
    for tail, head in ((0, 1), (1, 2), (2, 0)):
        ends = (vertices[triangles[things, corner]] for corner in (tail, head))
        sides.append(signs_beside(origins[rows], directions[rows], *ends))
    kept = (sides[0] != 0) & (sides[0] == sides[1]) & (sides[1] == sides[2])
    return rows[kept], things[kept]

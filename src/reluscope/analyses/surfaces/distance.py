"""`distance`: how far points are from a level set, and on which side."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.surfaces.nearest_points import Nearest, NearestPieces
from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim, Column, Findings, declare
from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.network import Network
from reluscope.partitions.levels.level_sets import LevelSet

DISTANCE = declare("surface_distance", "distance to the nearest point of a level set in its domain", unit="input")
SIGNED = declare(
    "signed_surface_distance",
    "distance to the nearest point of a level set in its domain, negative where f is smaller",
    unit="input",
    least=-np.inf,
)
METHOD = "nearest points of the pieces whose boxes are near enough"


@read_arguments
def distance(surface: LevelSet, points: Float[np.ndarray, "s d"], *, network: Network | None = None) -> Findings:
    """Return the distances of points to a level set.

    Parameters
    ----------
    surface : LevelSet
        In the plane or in space.
    points : (s, d) array
        In domain coordinates, inside or outside the domain.
    network : Network, optional
        The network of the level set, for signed distances: negative where f is below the level.

    Returns
    -------
    Findings
        ``surface_distance``, or ``signed_surface_distance``, for every ``point``; infinite if the level set is
        empty. Details: ``nearest``, the closest point, and ``piece``, its polygon or segment.

    Raises
    ------
    InputError
        If the network is not the network of the level set.
    ShapeError
        If points have another dimension than the domain.

    Notes
    -----
    A tree of boxes leaves some dozen pieces for each point. Upper ends are distances to the points found, lower
    ends are distances to planes with a piece behind them; both include the rounding of vertices. The sign is the
    sign of f at the point, with its own rounding bound; where it is undecided, the interval contains both signs. If
    the level set is incomplete, distances are upper bounds.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> surface = rs.level_set(ball, rs.Box(-2, 2, 3))
    >>> found = rs.surfaces.distance(surface, [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], network=ball)
    >>> print(found.finding("signed_surface_distance", 0), found.finding("signed_surface_distance", 1))
    -0.57735 (EXACT) 1 (EXACT)
    """
    if points.shape[1] != surface.dim:
        raise ShapeError(f"expected points of {surface.dim} coordinates, got shape {points.shape}")
    if network is not None and network.fingerprint != surface.fingerprint:
        raise InputError("network must be the one the level set was made with, got another: leave it out for no sides")
    found = NearestPieces(surface).find(points)
    low, high = known_ends(surface, found)
    # Beside coordinates, distances that small are rounding.
    scale = np.abs(points).max(axis=1, initial=0.0) + float(np.abs(surface.vertices).max(initial=0.0))
    quantity, values = DISTANCE, high if surface.num_open else found.distances
    if network is not None:
        quantity = SIGNED
        below, above = _sides(surface, network, points)
        is_below = below if surface.plateaus == "below" else ~above & below
        is_sure = below != above
        values = np.where(is_below, -values, values)
        low, high = (
            np.where(is_sure, np.where(below, -high, low), -high),
            np.where(is_sure, np.where(below, -low, high), high),
        )
    return Findings.of(
        Column.of(quantity, values, low, high, scale=scale, method=METHOD),
        keys={"point": np.arange(len(points))},
        details={"nearest": found.points, "piece": found.pieces},
        domain=surface.domain.describe(),
        stop=surface.stop,
    )


def known_ends(surface: LevelSet, found: Nearest) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of distances, with pieces in mind that may be missing, or too many."""
    low = found.low if surface.claim is Claim.EXACT else np.zeros_like(found.low)
    high = np.full_like(found.high, np.inf) if surface.claim is Claim.ESTIMATE else found.high
    return low, high


def _sides(surface: LevelSet, network: Network, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether f may be at most the level at points, and whether it may be at least the level."""
    inner = network.restrict(surface.domain) if isinstance(surface.domain, Slice) else network
    at = inner.at(points)
    heights, errors = np.full(len(points), -surface.level), np.full(len(points), np.spacing(abs(surface.level)))
    for sign, output in zip((1.0, -1.0), surface.outputs, strict=False):
        heights = heights + sign * at.outputs[:, output]
        errors = errors + at.errors[:, output] + 2 * np.spacing(np.abs(at.outputs[:, output]))
    errors = errors + np.spacing(np.abs(heights))
    return heights <= errors, heights >= -errors

"""How far points are from the boundary of their linear regions, in closed form."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.robustness.cells import Window, open_domain
from reluscope.arguments import read_arguments, read_position
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Domain
from reluscope.geometry.norms import Norm, check_norm, dual, size, steepest
from reluscope.networks.network import Network
from reluscope.networks.points import Points, chunks
from reluscope.regions.nearest import BUDGET, facet_normals, nearest_facets
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class BoundaryDistances:
    """The nearest boundary point of every point's region.

    Parameters
    ----------
    distances : (s,) float64
        Infinite where neither a unit nor the domain is in the way; 0 on a hyperplane as far as rounding can tell.
    errors : (s,) float64
        Bounds on what rounding changes in the distances.
    sources : (s, 3) int64
        Gate, unit, and the unit's piece beyond; for the domain -1, the row (of a box upper bounds first), -1; of
        infinite distances all -1.
    points : (s, n) float64
        Where the boundary is touched; NaN at infinite distances. In slice coordinates on a slice.
    norm : str
    domain : str
    """

    distances: Float[np.ndarray, " s"]
    errors: Float[np.ndarray, " s"]
    sources: Int[np.ndarray, "s 3"]
    points: Float[np.ndarray, "s n"]
    norm: Norm
    domain: str

    def __len__(self) -> int:
        return len(self.distances)

    @read_arguments
    def finding(self, row: int) -> Finding:
        """Return the distance of one point, EXACT within the bound on rounding."""
        row = read_position(row, "row", len(self), "points")
        return Finding(
            float(self.distances[row]),
            Claim.EXACT,
            name="distance to the boundary of the region",
            definition=f"{self.norm} distance from the point to the boundary of its linear region",
            domain=self.domain,
            method="least (b - a x) / |a| over all half-spaces a z <= b, with the dual norm, in float64",
            tolerance=float(self.errors[row]),
        )


@read_arguments
def boundary_distance(
    network: Network,
    x: Points,
    *,
    norm: Norm,
    domain: Domain | None = None,
    tolerance: Tolerance | None = None,
) -> BoundaryDistances:
    """Return how far points are from the boundary of their linear regions, which unit it is, and where.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Points; for a slice as domain ``(s, d)`` in slice coordinates.
    norm : "l1", "l2" or "linf"
    domain : Box, Polyhedron, Slice or Space, optional
        What regions are cut down to; by default all of input space. On a slice distances are those of its coordinates.
    tolerance : Tolerance, optional
        Its ``rounding`` says which pre-activations count as zero.

    Returns
    -------
    BoundaryDistances

    Raises
    ------
    InputError
        If the norm is unknown, or a point lies outside the domain.

    Notes
    -----
    About n forward passes per point, in blocks: no table of all normals is made.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> [float(rs.robustness.boundary_distance(net, [[2.0, 1.0]], norm=n).distances[0]) for n in ("l1", "l2", "linf")]
    [2.0, 2.0, 1.4285714285714286]
    """
    check_norm(norm)
    network, window = open_domain(network, domain)
    points = network.points(x)
    flat = points.reshape(-1, network.num_inputs).cpu().numpy()
    if outside := [row for row, point in enumerate(flat) if not window.contains(point)]:
        raise InputError(
            f"expected points in the domain ({window.text}), got point {outside[0]} outside: move it inside"
        )
    found = nearest_facets(network, points, norm=norm, tolerance=tolerance)
    parts = chunks(len(points), 3 * network.bytes_per_point + 8 * network.num_inputs, BUDGET)
    normals = np.concatenate([facet_normals(network, points[rows], found.sources[rows]) for rows in parts])
    distances, errors, sources = found.distances.copy(), found.errors.copy(), found.sources.copy()
    limits, rows, outward = _nearest_limits(window, flat, norm)
    nearer = limits < distances
    distances[nearer], normals[nearer] = limits[nearer], outward[nearer]
    unit = (tolerance or Tolerance()).rounding * np.finfo(float).eps
    errors[nearer] = unit * (np.abs(flat[nearer]).max(axis=1, initial=0.0) + limits[nearer])
    sources[nearer] = np.stack([np.full(len(rows), -1), rows, np.full(len(rows), -1)], axis=1)[nearer]
    touched = flat + np.where(np.isfinite(distances), distances, np.nan)[:, None] * steepest(normals, norm)
    return BoundaryDistances(distances, errors, sources, touched, norm, window.text)


def _nearest_limits(window: Window, points: np.ndarray, norm: Norm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each point the distance to the boundary of the domain, the row there, and its outward normal."""
    dim = points.shape[1]
    slack = np.concatenate([window.upper - points, points - window.lower], axis=1)
    normals = np.concatenate([np.eye(dim), -np.eye(dim)])
    if len(window.rows):
        slack = (window.offsets - points @ window.rows.T) / size(window.rows, dual(norm))
        normals = window.rows
    slack = np.maximum(slack, 0.0)
    rows = slack.argmin(axis=1)
    return slack[np.arange(len(points)), rows], rows, normals[rows]

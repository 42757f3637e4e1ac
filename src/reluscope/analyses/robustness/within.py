"""How far points are from the nearest decision boundary inside their own linear regions."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.robustness.cells import Cell, open_domain, viewpoint
from reluscope.arguments import read_arguments, read_position
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Domain
from reluscope.geometry.norms import Norm, check_norm
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class DistancesWithin:
    """The nearest points of the points' regions at which another class is not below the point's own.

    Parameters
    ----------
    distances, lower : (s,) float64
        The distance, and a bound from duality that no such point is nearer; both infinite where there is none.
    points : (s, n) float64
        The nearest point; NaN where there is none. In slice coordinates on a slice.
    classes, rivals : (s,) int64
        The class of the point, and the one that ties there, -1 where there is none.
    errors : (s,) float64
        Bounds, to first order, on what rounding of the outputs and of the region's rows makes of the distance.
    norm : str
    domain : str
    """

    distances: Float[np.ndarray, " s"]
    lower: Float[np.ndarray, " s"]
    points: Float[np.ndarray, "s n"]
    classes: Int[np.ndarray, " s"]
    rivals: Int[np.ndarray, " s"]
    errors: Float[np.ndarray, " s"]
    norm: Norm
    domain: str

    def __len__(self) -> int:
        return len(self.distances)

    @read_arguments
    def finding(self, row: int) -> Finding:
        """Return the distance of one point: EXACT within the dual gap and rounding."""
        row = read_position(row, "row", len(self), "points")
        distance = float(self.distances[row])
        gap = distance - float(self.lower[row]) if np.isfinite(distance) else 0.0
        return Finding(
            distance,
            Claim.EXACT,
            name="distance to the decision boundary within the region",
            definition=f"least {self.norm} distance to a point of the closed region where another output is not below "
            "that of the point's class",
            domain=self.domain,
            method="a quadratic or linear program for each rival, with a dual bound",
            tolerance=gap + float(self.errors[row]),
        )


@read_arguments
def decision_distance_within(
    network: Network,
    x: Points,
    *,
    norm: Norm,
    domain: Domain | None = None,
    tolerance: Tolerance | None = None,
) -> DistancesWithin:
    """Return how far the nearest decision boundary inside each point's linear region is.

    Parameters
    ----------
    network : Network
        A classifier: the largest output wins, the lowest one at a tie; a single output f wins where f > 0.
    x : (s, *input_shape) or (s, n)
        Points; for a slice as domain ``(s, d)`` in slice coordinates. A point on a kink stands for one region that
        touches it.
    norm : "l1", "l2" or "linf"
    domain : Box, Polyhedron, Slice or Space, optional
        What regions are cut down to; by default nothing.
    tolerance : Tolerance, optional
        Its ``rounding`` says which pre-activations count as zero.

    Returns
    -------
    DistancesWithin
        An upper bound on the distance to the nearest decision boundary of the network, where it is finite and outputs
        cross; see `decision_distance`.

    Raises
    ------
    InputError
        If the norm is unknown, a point lies outside the domain, or the domain has equations.
    DegenerateGeometryError
        If the domain has no interior.

    Notes
    -----
    About n forward passes per point, and a program for each rival whose half-space alone is nearer than the best yet.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.robustness.decision_distance_within(net, [[3.0, 1.0]], norm="l1")
    >>> print(found.finding(0), found.rivals)
    2 (EXACT) [1]
    """
    check_norm(norm)
    network, window = open_domain(network, domain)
    table = []
    for point in network.points(x).reshape(-1, network.num_inputs).cpu().numpy():
        view = viewpoint(network, window, point, norm, tolerance or Tolerance())
        distance, lower, step, rival, error = _nearest_change(view.cell(view.first_pieces()))
        table.append((distance, lower, point + step, view.label, rival, error))
    distances, lower, points, classes, rivals, errors = (np.array(column) for column in zip(*table, strict=True))
    return DistancesWithin(distances, lower, points, classes, rivals, errors, norm, window.text)


def _nearest_change(cell: Cell) -> tuple[float, float, np.ndarray, int, float]:
    """Return distance, lower bound, step, rival and rounding of the nearest change of class in a region."""
    best, lower, step, label, error = np.inf, np.inf, np.full(len(cell.origin), np.nan), -1, 0.0
    for rival in sorted(cell.rivals, key=lambda rival: rival.distance):
        if rival.distance >= best:  # and so are all that follow
            break
        found = cell.nearest_change(rival, best)
        lower = min(lower, found.lower)
        if found.distance < best:
            best, step, label = found.distance, found.point, rival.label
            error = cell.rounding(rival, found)
    return best, min(lower, best), step, label, error

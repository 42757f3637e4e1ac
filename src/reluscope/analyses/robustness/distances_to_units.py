"""How far points are from the bent hyperplane of every unit, as it continues from their regions.

On the region of a point x every unit is affine, and its hyperplane ``a y = b`` is at the distance ``(b - a x) / |a|*``,
with the dual norm, whether it meets the region or not. The foot is one of the closest points of the hyperplane: the end
of the norm's steepest step. Where the foot lies in the region the network bends there; where it does not, another unit
bends before, and this one may be elsewhere by then.
"""

import numpy as np
from jaxtyping import Float

from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.errors import DiscontinuousNetworkError
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.interruption import safe_point
from reluscope.networks.evaluation.unit_half_spaces import Rows
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.number_range import overflow_refused
from reluscope.networks.point_evaluation import Evaluation, bytes_of_gates
from reluscope.regions.exact_facets import MULTIPLICATIONS, ExactFacets
from reluscope.tolerance import Tolerance

UNIT_DISTANCE = declare(
    "unit_distance",
    "distance from the point to the hyperplane where the unit leaves its piece, as continued from the point's region",
    unit="input",
)
FOOT_IS_WITHIN = declare(
    "foot_is_within",
    "whether the end of the steepest step to the hyperplane lies in the point's region",
    kind=Kind.TRUTH,
)
METHOD = "(b - a x) / |a|, with the dual norm; in fractions where rounding hides the slopes"


@read_arguments
@holds_across_jumps
@overflow_refused()
def unit_distances(network: Network, x: Points, *, norm: AnyNorm, tolerance: Tolerance | None = None) -> Findings:
    """Return the distance of each point to every unit's bent hyperplane, as it continues from the point's region.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    norm : "l1", "l2", "linf" or Norm
        A `Norm` may have weights, one per input.
    tolerance : Tolerance, optional
        Its ``rounding`` scales the bounds on rounding.

    Returns
    -------
    Findings
        A row for each point and each piece that a unit may change to, with the keys ``sample``, ``gate``, ``unit`` and
        ``beyond``: two rows for a unit with a breakpoint on both sides of its piece, and one for each other candidate
        of a max unit. ``unit_distance`` is infinite where the unit is constant on the region, with an interval for
        rounding. ``foot_is_within`` is 1 where the foot lies in the region; in l1 and linf, where a hyperplane may
        have several closest points, that of the steepest step. The smallest distance of a sample is its
        `boundary_distance`, and its foot lies within.

    Raises
    ------
    InputError
        If the norm is unknown.
    ShapeError
        If there is not one weight per input.
    DiscontinuousNetworkError
        For top-k gates, whose regions end where two units are equal.

    Notes
    -----
    The derivatives of all units by all inputs, about n forward passes per point, and the products of all normals
    with all steps: h^2 n operations for h rows.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> print(rs.robustness.unit_distances(net, [[2.0, -1.0]], norm="l2"))
    sample  gate  unit  beyond  unit distance in l2  foot is within
    0       0     0     0                       0.4               1
    0       0     1     0                         2               0
    """
    norm = Norm.of(norm)
    norm.check_inputs(network.num_inputs)
    if top := [stage.gate.name for stage in network.stages if isinstance(stage.gate, TopK)]:
        raise DiscontinuousNetworkError(
            f"distances to units look at one unit at a time, and the top-k gate {top[0]!r} compares two: take the "
            "half-spaces of rs.region(network, x).polyhedron, which hold",
            "a network without top-k gates",
        )
    exact, parts = ExactFacets(network, norm), [np.zeros((0, 10))]
    at = network.at(network.points(x), tolerance=tolerance)
    for block, part in at.blocks(bytes_of_gates(network) + 24 * network.num_inputs * max(1, network.num_units)):
        for row, point in enumerate(range(block.start, block.stop)):
            safe_point()
            parts.append(_of_point(part, row, point, norm, exact))
    table = np.concatenate(parts)
    keys = {name: table[:, place].astype(np.int64) for place, name in enumerate(("sample", "gate", "unit", "beyond"))}
    points = at.points.reshape(len(at), -1).cpu().numpy()
    scale = np.abs(points).max(axis=1, initial=0.0)[keys["sample"]]
    return Findings.of(
        Column.of(UNIT_DISTANCE, *table[:, 4:7].T, scale=scale, method=METHOD, given=f"in {norm}"),
        Column.of(FOOT_IS_WITHIN, *table[:, 7:].T, method="all half-spaces of the region at the foot"),
        keys=keys,
        domain="in input space",
        num_samples=len(at),
    )


def _of_point(at: Evaluation, row: int, sample: int, norm: Norm, exact: ExactFacets) -> Float[np.ndarray, "h 10"]:
    """Return sample, source, distance and whether its foot is within, both with ends, of all rows of one point."""
    own = [Rows(*(table[row] for table in gate)) for gate in at.half_spaces]
    kept = [gate.exists for gate in own]
    names = ("normals", "sources", "slack", "noise", "constant_below")
    normals, sources, slack, noise, below = (
        np.concatenate([getattr(gate, name)[chosen] for gate, chosen in zip(own, kept, strict=True)]) for name in names
    )
    lengths = norm.dual.size(normals)
    wrong = norm.dual.size_of_ones(normals.shape[1]) * below + SUMS * lengths
    bends, clear = lengths > wrong, np.maximum(slack - noise, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(lengths + wrong > 0, clear / (lengths + wrong), np.inf)
        value = np.where(bends, np.where(clear > 0, slack, 0.0) / lengths, lower)
        upper = np.where(bends, (np.abs(slack) + noise) / (lengths - wrong), np.inf)
    distances = np.stack([value, lower, upper], axis=1)
    hidden = np.flatnonzero(~bends & (wrong > 0))
    code, left = [piece[row].tolist() for piece in at.pieces], MULTIPLICATIONS
    point = at.points[row].reshape(-1).cpu().numpy()
    for place in hidden.tolist() if exact.is_small else ():
        decided = exact.decide(code, point, sources[place].tolist(), left)
        if decided is None:
            break
        facet, cost = decided
        left -= cost
        if facet is None:
            distances[place] = np.inf
        else:
            distances[place], normals[place] = facet[:3], facet.normal
    within = _are_within(normals, slack, noise, below, distances, norm)
    return np.column_stack([np.full(len(sources), sample), sources, distances, within])


def _are_within(
    normals: np.ndarray, slack: np.ndarray, noise: np.ndarray, below: np.ndarray, distances: np.ndarray, norm: Norm
) -> Float[np.ndarray, "h 3"]:
    """Return whether the feet on all rows violate no other row, between ends: as far as rounding tells."""
    steps = norm.steepest(normals)
    speeds = steps @ normals.T
    value, low, high = distances.T
    has_foot = np.isfinite(value) & np.isfinite(high)
    value, low, high = (np.where(has_foot, one, 0.0) for one in (value, low, high))
    left = slack - value[:, None] * speeds
    # What is left is rounded by a share of itself, which does not change its sign.
    terms = value[:, None] * (np.abs(steps) @ np.abs(normals).T)
    error = noise + (value[:, None] * np.abs(steps).sum(axis=1, keepdims=True)) * below
    error += (high - low)[:, None] * np.abs(speeds) + SUMS * terms
    np.fill_diagonal(left, np.inf)
    np.fill_diagonal(error, 0.0)
    surely, maybe = (left - error >= 0).all(axis=1), (left + error >= 0).all(axis=1)
    surely, maybe = surely & has_foot, maybe | (np.isfinite(distances[:, 0]) & ~has_foot)
    maybe[np.isinf(distances[:, 0])] = False  # no hyperplane, and no foot
    return np.stack([maybe, surely, maybe], axis=1).astype(np.float64)

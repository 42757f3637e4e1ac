"""Numbers of changes of the linear region, and of units that change their piece, along a trajectory, exactly.

Every segment is partitioned: crossings are not looked for by steps. Within a segment there is one transition between
consecutive pieces; at a corner there is one if the pieces on its two sides have different codes. Novak et al. add up
the changes of codes between many points of a trajectory, see [novak2018]_; here nothing is left between points.
"""

import numpy as np
from jaxtyping import Int
from numpy.typing import ArrayLike

from reluscope.analyses.samples.measuring import ragged
from reluscope.analyses.sensitivity.trajectories import Trajectory, trajectory
from reluscope.arguments import read_arguments
from reluscope.budget import RegionBudget
from reluscope.codes.packed import Codes
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.geometry.polyhedra.slices import Segment
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partitions
from reluscope.partitions.partition_in_memory import Partition
from reluscope.tolerance import Tolerance

METHOD = "exact partition of every segment"
TRANSITIONS = declare(
    "num_transitions",
    "changes of the activation region on the segment, and at its end on to the next one; stretches within a boundary "
    "have codes of their own",
    kind=Kind.COUNT,
    source="novak2018",
)
UNIT_CHANGES = declare(
    "num_unit_changes",
    "changes of pieces, summed over units, on the segment and at its end on to the next one",
    kind=Kind.COUNT,
    source="novak2018",
)


@read_arguments
def transitions(
    network: Network,
    way: Trajectory | ArrayLike,
    *,
    budget: RegionBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the exact number of changes of linear region along a trajectory.

    Parameters
    ----------
    network : Network
    way : Trajectory, or (k, n) or (k, *input_shape) array
        See `trajectory`, `ellipse` and `translations`; points define the polyline through them. Counts are those of
        the polyline, which shares only its corner points with a curve.
    budget : Budget, optional
        For all segments together.
    tolerance : Tolerance, optional

    Returns
    -------
    Findings
        ``num_transitions`` and ``num_unit_changes`` of every segment: exact, or lower bounds where signs stayed
        undecided or work stopped early. Sums over all segments are those of the trajectory. Details:
        ``corner_transitions`` (k,), the number of transitions at the end of the segment, to the next segment;
        ``lengths`` (k,) of the segments in input space; ``places`` (k,), arrays of the positions of the transitions
        on each segment, as distances from its start; ``num_undecided`` (k,).

    Raises
    ------
    ShapeError
        If the points do not fit the inputs.

    Notes
    -----
    About one forward pass over all crossing points. A trajectory that touches a boundary in a corner and turns back
    does not cross the boundary.

    References
    ----------
    .. [novak2018] Novak et al., "Sensitivity and generalization in neural networks: an empirical study", 2018.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> circle = rs.sensitivity.ellipse([1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)], num_points=30)
    >>> print(rs.sensitivity.transitions(net, circle).total("num_transitions"))  # around the four quadrants
    4 (EXACT)
    """
    path = way if isinstance(way, Trajectory) else trajectory(way)
    tolerance = tolerance or Tolerance()
    starts, ends = path.ends()
    segments = [Segment(start, end) for start, end in zip(starts, ends, strict=True)]
    parts = partitions(network, segments, budget=budget, tolerance=tolerance) if segments else []
    orders = [np.argsort(part.witnesses[:, 0]) for part in parts]
    corner_crossings, corner_flips = _at_corners(parts, orders, path.is_closed)
    crossings = np.array([len(part.facets) for part in parts], dtype=np.float64)
    flips = np.array([len(part.facets.flips) for part in parts], dtype=np.float64)
    exact = np.array([part.finding().claim is Claim.EXACT for part in parts], dtype=bool)
    if len(parts):
        # What is at a corner hangs on the next segment too.
        following = np.roll(exact, -1)
        following[-1] |= not path.is_closed
        exact &= following
    columns = [
        Column.of(quantity, number, upper=np.where(exact, number, np.inf), method=METHOD)
        for quantity, number in ((TRANSITIONS, crossings + corner_crossings), (UNIT_CHANGES, flips + corner_flips))
    ]
    return Findings.of(
        *columns,
        keys={"segment": np.arange(len(parts))},
        domain=path.description,
        details={
            "corner_transitions": corner_crossings,
            "lengths": np.linalg.norm(ends - starts, axis=1),
            "places": ragged([np.sort(part.vertices[part.facets.vertices[:, 0], 0]) for part in parts]),
            "num_undecided": np.array([part.num_undecided for part in parts], dtype=np.int64),
        },
        stop=next((part.stop for part in parts if part.stop), None),
    )


def _at_corners(
    parts: list[Partition], orders: list[np.ndarray], is_closed: bool
) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """Return for every segment whether the next begins in another region, and how many units differ."""
    flips = np.zeros(len(parts), dtype=np.int64)
    for index, (part, order) in enumerate(zip(parts, orders, strict=True)):
        following = (index + 1) % len(parts)
        if following == 0 and not is_closed:
            continue
        # What an unfinished segment ends with is not known.
        if part.num_open or parts[following].num_open or not len(order) or not len(orders[following]):
            continue
        last, first = int(order[-1]), int(orders[following][0])
        flips[index] = _distance(part.codes[last : last + 1], parts[following].codes[first : first + 1])
    return (flips > 0).astype(np.int64), flips


def _distance(one: Codes, other: Codes) -> int:
    return int(one.distance(other)[0, 0])

"""How many regions the straight segment between two samples crosses."""

import time

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.budget import RegionBudget
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.geometry.polyhedra.slices import Segment
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partitions
from reluscope.tolerance import Tolerance

NUM_REGIONS_ON_SEGMENT = declare(
    "num_regions_on_segment", "linear regions that a straight segment between two points meets", kind=Kind.COUNT
)


@read_arguments
def count_along_segments(
    network: Network,
    starts: Float[np.ndarray, "k n"],
    ends: Float[np.ndarray, "k n"],
    *,
    budget: RegionBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the exact number of regions on each segment.

    Parameters
    ----------
    network : Network
    starts, ends : (k, n) float64
        Different end points.
    budget : Budget, optional
        Regions and seconds for all segments together.
    tolerance : Tolerance, optional

    Returns
    -------
    Findings
        `NUM_REGIONS_ON_SEGMENT` for each ``segment``: EXACT, or LOWER where the budget ended the computation.
        Details: ``length``, in input space, and ``num_undecided``.

    Raises
    ------
    DegenerateGeometryError
        If a segment has no length.

    Notes
    -----
    About one forward pass over all crossing points, for all segments together.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> print(rs.counting.count_along_segments(net, [[-1.0, -2.0]], [[1.0, 2.0]]))
    segment  number of regions on segment
    0                                   2
    """
    began = time.perf_counter()
    segments = [Segment(start, end) for start, end in zip(starts, ends, strict=True)]
    parts = partitions(network, segments, budget=budget, tolerance=tolerance) if segments else []
    counts = [part.finding() for part in parts]
    ends_of_counts = [(one.value, one.value) if one.claim is Claim.EXACT else one.interval for one in counts]
    lower, upper = np.array(ends_of_counts, dtype=np.float64).reshape(-1, 2).T
    return Findings.of(
        Column.of(
            NUM_REGIONS_ON_SEGMENT,
            [one.value for one in counts],
            lower,
            upper,
            method=counts[0].method if counts else "",
        ),
        keys={"segment": np.arange(len(parts))},
        domain="straight segments",
        details={
            "length": np.linalg.norm(np.subtract(ends, starts), axis=1),
            "num_undecided": np.array([one.num_undecided for one in counts], dtype=np.int64),
        },
        stop=next((part.stop for part in parts if part.stop), None),
        seconds=time.perf_counter() - began,
    )

"""`shortest_path`: the fewest regions on a way from one point to another."""

import numpy as np
from jaxtyping import Float
from scipy.sparse.csgraph import breadth_first_order

from reluscope.arguments import read_arguments
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.partitions.partition_in_memory import Partition

CROSSED = declare("facets_crossed", "least number of facets that a way to the region crosses", kind=Kind.COUNT)


@read_arguments
def shortest_path(part: Partition, start: Float[np.ndarray, " d"], end: Float[np.ndarray, " d"]) -> Findings:
    """Return a path through the fewest regions from one point to another, from facet to facet.

    Parameters
    ----------
    part : Partition
        Of any number of dimensions.
    start, end : (d,) arrays
        In domain coordinates.

    Returns
    -------
    Findings
        ``facets_crossed`` for each ``region`` on the path, from 0. EXACT if the adjacency of regions is known
        (`Partition.adjacency_finding`), otherwise UPPER, because missing regions may be on a shorter path. Details:
        ``witnesses``, a point inside each region.

    Raises
    ------
    InputError
        If a point lies in no region of the partition.
    IncompletePartitionError
        If the known regions do not connect the points.

    Notes
    -----
    By breadth-first search. Other paths may cross as few regions. A point on a boundary is assigned to its first
    region.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # four quadrants
    >>> found = rs.topology.shortest_path(rs.partition(net, rs.Space(2)), [-1.0, -1.0], [1.0, 1.0])
    >>> print(found.finding("facets_crossed", 2), np.sign(found.details["witnesses"][[0, 2]]).tolist())
    2 (EXACT) [[-1.0, -1.0], [1.0, 1.0]]
    """
    ends = []
    for name, point in (("start", start), ("end", end)):
        row = int(part.locate(point)[0])
        if row < 0:
            raise InputError(f"{name} lies in no region of {part.domain.describe()}: give a point inside")
        ends.append(row)
    first, last = ends
    _, before = breadth_first_order(part.adjacency(), first, directed=False)
    way = [last]
    while way[-1] != first:
        way.append(int(before[way[-1]]))
        if way[-1] < 0:
            raise IncompletePartitionError(
                f"the {len(part):,} regions that are known do not connect the points: partition with a larger budget"
            )
    regions = np.array(way[::-1])
    steps = np.arange(len(regions), dtype=np.float64)
    is_certain = part.adjacency_finding().claim is Claim.EXACT
    return Findings.of(
        Column.of(
            CROSSED, steps, steps if is_certain else np.minimum(steps, 1.0), steps, method="breadth first search"
        ),
        keys={"region": regions},
        details={"witnesses": part.witnesses[regions]},
        domain=part.domain.describe(),
    )

"""Which gate bends the network along each facet of a partition."""

import numpy as np
from jaxtyping import Int

from reluscope.partitions.table import Partition


def facet_gates(part: Partition) -> Int[np.ndarray, " f"]:
    """Return for every facet the first gate with a unit that changes its piece there.

    Parameters
    ----------
    part : Partition

    Returns
    -------
    (f,) int64
        Positions among the network's gates; -1 where no unit changes.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> facet_gates(rs.partition(net, rs.Box(-1, 1, 2)))
    array([0, 0, 0, 0])
    """
    facets = part.facets
    gates, _ = part.codes.layout.locate_units(facets.flip_units)
    first = np.full(len(facets), -1, dtype=np.int64)
    flips = np.diff(facets.flip_offsets) > 0
    if flips.any():
        first[flips] = np.minimum.reduceat(gates, facets.flip_offsets[:-1][flips])
    return first

"""Exact counts of small networks with many inputs, as studies ask for them."""

from concurrent.futures import Executor

from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.networks.network import Network
from reluscope.partitions.engine import Budget
from reluscope.partitions.tree import TreeWalk


def count_in_box(
    network: Network, box: Box, *, seconds: float | None = None, executor: Executor | None = None
) -> Finding:
    """Return the number of full-dimensional activation regions of a network in a box, by the tree of linear programs.

    Parameters
    ----------
    network : Network
    box : Box
    seconds : float, optional
        Most time; the count is a LOWER bound where that is not enough.
    executor : concurrent.futures.Executor, optional

    Returns
    -------
    Finding
        EXACT, or LOWER with its interval.

    Raises
    ------
    KeyboardInterrupt
        If the user interrupts: part of a count is worth nothing to a study that goes on later.

    Examples
    --------
    >>> import reluscope as rs, numpy as np
    >>> net = rs.load([(np.eye(3), np.full(3, -0.5)), (np.ones((1, 3)), np.zeros(1))])
    >>> print(count_in_box(net, rs.Box(0, 1, 3)))
    8 (EXACT)
    """
    walk = TreeWalk(network, box, budget=Budget(seconds=seconds), executor=executor)
    found = sum(len(batch) for batch in walk)
    if walk.stopped == "interrupted":
        raise KeyboardInterrupt
    certain = found + walk.num_open
    is_sure = not (walk.num_open or walk.num_undecided)
    high = float("inf") if walk.num_open else certain + walk.num_undecided
    return Finding(
        certain,
        Claim.EXACT if is_sure else Claim.LOWER,
        name="regions",
        interval=(certain, high),
        definition="proper activation regions (full-dimensional)",
        domain=box.describe(),
        method="tree of linear programs",
        tolerance=walk.coordinates.tolerance.resolution,
        num_undecided=walk.num_undecided,
        work=dict(walk.work),
    )

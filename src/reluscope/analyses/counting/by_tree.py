"""Counts by the tree of linear programs: any number of inputs, bounded or not, memory that does not grow."""

from concurrent.futures import Executor

from reluscope.analyses.counting.counted import Counted
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.engine import Budget
from reluscope.partitions.tree import TreeWalk
from reluscope.progress import counting


def count_by_tree(
    network: Network,
    domain: Domain,
    *,
    budget: Budget | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Counted:
    """Return the number of full-dimensional activation regions of a network on a domain.

    Parameters
    ----------
    network : Network
    domain : Box, Space, Polyhedron or Slice
        Of any dimension.
    budget : Budget, optional
        Where to stop early.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of the tree.
    progress : bool
        Show how many regions there are so far.

    Returns
    -------
    finding : Finding
        EXACT; LOWER, with an interval without upper end, if rounding left a question open or work stopped early: what
        was taken for empty may hide many regions. A cell that was not finished counts as one region.
    stopped : str
        The budget that ended the work, or "interrupted".

    Raises
    ------
    ShapeError, DegenerateGeometryError
        As `reluscope.partitions.tree.tree_regions`.

    Notes
    -----
    About one linear program of a few pivots per region. No region is kept.

    Examples
    --------
    >>> import reluscope as rs, numpy as np
    >>> net = rs.load([(np.eye(3), np.full(3, -0.5)), (np.ones((1, 3)), np.zeros(1))])
    >>> print(count_by_tree(net, rs.Box(0, 1, 3)).finding)
    8 (EXACT)
    """
    walk = TreeWalk(network, domain, budget=budget, executor=executor)
    with counting("count", "regions", shown=progress) as report:
        certain = 0
        for batch in walk:
            certain += len(batch)
            report(len(batch), 0.0)
    certain += walk.num_open
    is_sure = not (walk.stopped or walk.num_undecided)
    found = Finding(
        certain,
        Claim.EXACT if is_sure else Claim.LOWER,
        name="regions",
        interval=(certain, certain if is_sure else float("inf")),
        definition="proper activation regions (full-dimensional)",
        domain=domain.describe(),
        method="tree of linear programs",
        tolerance=walk.coordinates.tolerance.resolution,
        num_undecided=walk.num_undecided,
        work=dict(walk.work),
    )
    return Counted(found, walk.stopped)

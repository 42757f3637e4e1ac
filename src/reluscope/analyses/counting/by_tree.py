"""Counts by the tree of linear programs: any number of inputs, bounded or not, memory that does not grow."""

import os
from concurrent.futures import Executor

from reluscope.analyses.counting.counted import Counted
from reluscope.budget import Budget
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.patience import patient
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.progress import Progress, counting_regions
from reluscope.tolerance import Tolerance


def count_by_tree(
    network: Network,
    domain: Domain,
    *,
    budget: Budget | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> Counted:
    """Return the number of full-dimensional activation regions of a network on a domain.

    Parameters
    ----------
    network : Network
    domain : Box, Space, Polyhedron or Slice
        Of any dimension.
    budget : Budget, optional
        Where to stop early. Without one, and without a checkpoint, a count that would not end stops after some seconds.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of the tree.
    checkpoint : path, optional
        A folder that keeps what was counted, part by part. If it is there, the count goes on from it, whatever became
        of the run that made it; how much of it there was is ``kept_tasks`` of the finding's work.
    progress : bool or callable
        Show how much of the work is done; a function is told the share, from 0 to 1.

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
        As `reluscope.partitions.tree.tree.tree_regions`.
    InputError
        If the checkpoint is that of another network, domain or version, or cannot be written.

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
    tolerance = Tolerance()
    budget = Budget() if budget is None else budget
    if checkpoint is None:
        budget = patient(budget, network, domain)
    with counting_regions("count", progress) as count:
        found = tree_count(
            network,
            domain,
            budget=budget,
            tolerance=tolerance,
            executor=executor,
            checkpoint=checkpoint,
            progress=count,
        )
    certain = found.num_found + sum(found.left)
    finding = Finding.of(
        certain,
        upper=float("inf") if found.left or found.num_undecided else certain,
        resolution=tolerance.resolution,
        name="regions",
        definition="proper activation regions (full-dimensional)",
        domain=domain.describe(),
        method="tree of linear programs",
        num_undecided=found.num_undecided,
        work=dict(found.work),
    )
    return Counted(finding, found.stopped)

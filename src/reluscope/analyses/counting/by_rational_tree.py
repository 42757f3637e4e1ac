"""Counts of activation regions, those without interior included, by the tree of codes in rational arithmetic."""

import time

from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.analyses.counting.rational_codes import RationalCodes
from reluscope.budget import Budget
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.patience import patient
from reluscope.partitions.driver.walk import walk
from reluscope.progress import Progress, counting_regions


def count_by_rational_tree(
    network: Network, domain: Domain, *, budget: Budget | None = None, progress: Progress = False
) -> Counted:
    """Return the number of activation regions of a network on a domain, those without interior included.

    Parameters
    ----------
    network : Network
        Any gates.
    domain : Box, Space, Polyhedron or Slice
        Of any dimension, bounded or not, its float64 numbers taken as they are. Regions that meet it only in its
        boundary count.
    budget : Budget, optional
        Where to stop early. Without one, a count that would not end stops after some seconds.
    progress : bool or callable
        Show how much of the work is done; a function is told the share, from 0 to 1.

    Returns
    -------
    finding : Finding
        EXACT, at resolution 0: every code counted has a rational point, and every other one contradicts itself in
        rational arithmetic. LOWER, with an interval without upper end, if work stopped early.
    stopped : str
        The budget that ended the work, or "interrupted".

    Raises
    ------
    DegenerateGeometryError
        If the domain is empty or flat.

    Notes
    -----
    For every region and each of its units some pivots of a simplex method in whole numbers: about a millisecond in
    three dimensions, ten in six. No region is kept.

    Examples
    --------
    The absolute value: its two units are active on either side, and neither is at 0.

    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> print(count_by_rational_tree(net, rs.Space(1)).finding)
    3 (EXACT)
    """
    began = time.time()
    budget = patient(Budget() if budget is None else budget, network, domain)
    codes = RationalCodes(network, domain)
    with counting_regions("count", progress) as count:
        found = walk([codes.first], codes.step, budget=budget, began=began, progress=count)
    # A node that was not visited has a code.
    certain = max(found.num_found, 1)
    work = {"nodes": 0, "programs": 0, **found.work}
    finding = Finding.of(
        certain,
        upper=float("inf") if found.left else certain,
        resolution=0.0,
        name="regions",
        definition=DEFINITIONS["activation"].regions,
        domain=domain.describe(),
        method="tree of codes in rational arithmetic",
        source="stargalla2025",
        work={**work, "nodes": work["nodes"] + found.num_found, "seconds": time.time() - began},
    )
    return Counted(finding, found.stopped)

"""Counts by the tree of linear programs: any number of inputs, bounded or not, memory that does not grow."""

import os

from reluscope.analyses.counting.counted import Counted
from reluscope.effort import Effort
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.patience import patient_effort
from reluscope.partitions.tree.tree_count import tree_count


def count_by_tree(
    network: Network,
    domain: Domain,
    effort: Effort | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Counted:
    """Return the number of full-dimensional activation regions of a network on a domain.

    EXACT; LOWER without upper end if rounding left a question open or work stopped early, with unfinished cells as one
    region. A checkpoint folder is continued. About one linear program of a few pivots per region.
    """
    effort = effort or Effort()
    if checkpoint is None:
        effort = patient_effort(effort, network, domain)
    with effort.counting("count") as count:
        found = tree_count(network, domain, count, checkpoint=checkpoint)
    certain = found.num_found + sum(found.left)
    finding = Finding.of(
        certain,
        upper=float("inf") if found.left or found.num_undecided else certain,
        resolution=effort.tolerance.resolution,
        name="regions",
        definition="proper activation regions (full-dimensional)",
        domain=domain.describe(),
        method="tree of linear programs",
        num_undecided=found.num_undecided,
        work=dict(found.work),
    )
    return Counted(finding, found.stop)

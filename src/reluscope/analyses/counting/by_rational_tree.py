"""Counts of activation regions, those without interior included, by the tree of codes in rational arithmetic."""

import time
from dataclasses import replace

from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.analyses.counting.rational_codes import RationalCodes
from reluscope.effort import Effort
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.patience import patient_effort
from reluscope.partitions.driver.walk import walk


def count_by_rational_tree(network: Network, domain: Domain, effort: Effort | None = None) -> Counted:
    """Return the number of activation regions on a domain, those without interior included.

    EXACT at resolution 0: all other codes are refuted in rational arithmetic; LOWER without upper end if stopped early.
    Regions that meet the domain only in its boundary count. 1 ms per region and unit in 3 dimensions.
    """
    began = time.time()
    effort = patient_effort(effort or Effort(), network, domain)
    codes = RationalCodes(network, domain)
    with effort.counting("count") as count:
        found = walk([codes.first], codes.step, effort=replace(count, began=began))
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
    return Counted(finding, found.stop)

"""Partitions of any number of dimensions, bounded or not, with any gates: from linear programs to the table."""

from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.partitions.tree.tree import tree_regions


def partition_by_tree(network: Network, domain: Domain, method: str, effort: Effort) -> Partition:
    """Partition any domain by linear programs: codes and witnesses, in the order of the codes."""
    with effort.counting("partition") as counted:
        found = tree_regions(network, domain, counted)
    return Partition(
        domain=domain,
        codes=Codes(found.words, network.layout),
        geometry=RegionColumns(words=found.words, witnesses=found.witnesses),
        num_undecided=found.num_undecided,
        num_open=found.num_open,
        num_pending=found.num_open,
        tolerance=effort.tolerance,
        fingerprint=network.fingerprint,
        network=network,
        stop=found.stop,
        work=found.work,
        method=method,
        jumps=network.jumps,
    )

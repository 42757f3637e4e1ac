"""Partitions of several networks of one shape: their cells are cut together, and then joined network by network."""

import time
from dataclasses import replace

import numpy as np

from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.models.stacked_networks import StackedNetworks
from reluscope.partitions.cells.cellwise import walk_stacked
from reluscope.partitions.engines.several_dimensions import in_order, table_of
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.gathered_cells import joined, regions_of

METHOD = "gate-by-gate subdivision, cells of several networks together"


def partition_stacked(stack: StackedNetworks, domain: Box | Polyhedron, effort: Effort) -> list[Partition]:
    """Partition a bounded domain by each of several networks whose gates are pointwise and do not jump."""
    began = time.perf_counter()
    num_words = stack.first.layout.num_words
    with effort.counting("partitions") as counted:
        walked = walk_stacked(stack, domain, counted)
    is_open = np.zeros(len(stack), dtype=np.int64)
    for owners in walked.left:
        is_open += np.bincount(owners, minlength=len(stack))
    patch = joined(walked.parts, domain.dim, num_words)
    found = []
    for owner, own in enumerate(patch.by_owner(len(stack))):
        regions, doubts = in_order(regions_of(own, domain.dim)), int(np.count_nonzero(own.in_doubt))
        alone = replace(walked, parts=[], num_undecided=doubts, stop=walked.stop if is_open[owner] else None)
        one = table_of(
            stack[owner], domain, regions, alone, int(is_open[owner]), effort=effort, began=began, method=METHOD
        )
        found.append(one)
    return found

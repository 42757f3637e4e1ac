"""Numbers of regions by the tree of linear programs: tasks hand back numbers, and memory does not grow with them."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.driver.kept_counts import KEPT, KeptCounts, counted_key
from reluscope.partitions.driver.walk import Walked
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_items import COUNTERS
from reluscope.partitions.tree.tree_search import search_tree, split_mark


def tree_count(
    network: Network,
    domain: Domain,
    effort: Effort | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Walked:
    """Count all full-dimensional activation regions by linear programs, and keep none of them.

    What is left are numbers of cells that each hold one region more; a checkpoint keeps finished tasks' counts and is
    resumed. Raises as `tree_regions`, and InputError for a bad checkpoint.
    """
    began, effort = time.time(), effort or Effort()
    inner, window = (network.restrict(domain), domain.window) if isinstance(domain, Slice) else (network, domain)
    coordinates = Coordinates.of(inner, window, effort.tolerance)

    def kept(tasks: Sequence[Any]) -> KeptCounts:
        assert checkpoint is not None
        return KeptCounts(checkpoint, counted_key(network, domain, effort.tolerance, split_mark(tasks)), len(tasks))

    found = search_tree(
        coordinates,
        effort=replace(effort, began=began),
        checkpoint=None if checkpoint is None else kept,
    )
    work = {**dict.fromkeys(COUNTERS, 0), **({} if checkpoint is None else {KEPT: 0}), **found.work}
    return replace(found, work={**work, "seconds": time.time() - began})

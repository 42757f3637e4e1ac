"""Numbers of regions by the tree of linear programs: tasks hand back numbers, so that memory does not grow with them.

With a folder to keep what tasks have counted, a run that was killed continues: how work is broken into tasks depends on
the network, the domain and the tolerance alone, and counts of tasks add up.
"""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reluscope.effort import Effort
from reluscope.files import stored
from reluscope.files.kept_results import KeptResults, Record
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.driver.walk import Walked, task_name
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_items import COUNTERS
from reluscope.partitions.tree.tree_search import search_tree, split_mark

# Of the work of a count: tasks that were there before.
KEPT = "kept_tasks"


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
        return KeptCounts(checkpoint, _key(network, domain, coordinates, tasks), len(tasks))

    found = search_tree(
        coordinates,
        effort=replace(effort, began=began),
        checkpoint=None if checkpoint is None else kept,
    )
    work = {**dict.fromkeys(COUNTERS, 0), **({} if checkpoint is None else {KEPT: 0}), **found.work}
    return replace(found, work={**work, "seconds": time.time() - began})


class KeptCounts(KeptResults):
    """What finished tasks have counted, in a folder."""

    def __init__(self, folder: str | os.PathLike[str], key: Mapping[str, str], num_tasks: int) -> None:
        self._num_tasks = num_tasks
        super().__init__(folder, key)

    def to_record(self, value: Walked) -> Record:
        """Return the numbers."""
        return Record({"regions": value.num_found, "undecided": value.num_undecided})

    def from_record(self, name: str, record: Record) -> Walked:
        """Return what a task has counted: a region at least."""
        number = stored.whole(record.plain, "regions", least=1)
        if not name.isdecimal() or int(name) not in range(self._num_tasks) or name != task_name(int(name)):
            raise ValueError(f"there is no task {name}")
        return Walked(num_found=number, num_undecided=stored.whole(record.plain, "undecided"), work={KEPT: 1})


def _key(network: Network, domain: Domain, coordinates: Coordinates, tasks: Sequence[Any]) -> dict[str, str]:
    where = hashlib.sha256()
    for name, array in domain_arrays(domain).items():
        where.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    tolerance = coordinates.tolerance
    return {
        "network": network.fingerprint,
        "domain": where.hexdigest(),
        "tolerance": f"{tolerance!r}",
        "version of reluscope": split_mark(tasks),
    }

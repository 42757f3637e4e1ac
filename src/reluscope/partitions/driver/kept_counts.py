"""What the tasks of a count have counted, in a folder, so that a run that was killed continues.

How work is broken into tasks depends on the network, the domain and the tolerance alone, and counts of tasks add up.
"""

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from reluscope.files import stored
from reluscope.files.kept_results import KeptResults, Record
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.driver.walk import Walked, task_name
from reluscope.tolerance import Tolerance

# Of the work of a count: tasks that were there before.
KEPT = "kept_tasks"


class KeptCounts(KeptResults):
    """What finished tasks have counted, in a folder.

    Subclasses keep of a task's parts what they need, as plain types.
    """

    def __init__(self, folder: str | os.PathLike[str], key: Mapping[str, str], num_tasks: int) -> None:
        self._num_tasks = num_tasks
        super().__init__(folder, key)

    def plain_parts(self, parts: list[Any]) -> dict[str, Any]:
        """Return what is kept of a task's parts."""
        del parts
        return {}

    def parts_of(self, plain: Mapping[str, Any], number: int) -> list[Any]:
        """Return a task's parts; ValueError if that is none of what was kept."""
        del plain, number
        return []

    def to_record(self, value: Walked) -> Record:
        """Return the numbers, and what is kept of the parts."""
        numbers = {"regions": value.num_found, "undecided": value.num_undecided}
        return Record({**numbers, **self.plain_parts(value.parts)})

    def from_record(self, name: str, record: Record) -> Walked:
        """Return what a task has counted: a region at least."""
        number = stored.whole(record.plain, "regions", least=1)
        if not name.isdecimal() or int(name) not in range(self._num_tasks) or name != task_name(int(name)):
            raise ValueError(f"there is no task {name}")
        undecided = stored.whole(record.plain, "undecided")
        return Walked(self.parts_of(record.plain, number), number, undecided, work={KEPT: 1})


def counted_key(network: Network, domain: Domain, tolerance: Tolerance, split: str) -> dict[str, str]:
    """Return what counts of tasks depend on; ``split`` tells one way of breaking up work from another."""
    where = hashlib.sha256()
    for name, array in domain_arrays(domain).items():
        where.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return {
        "network": network.fingerprint,
        "domain": where.hexdigest(),
        "tolerance": f"{tolerance!r}",
        "version of reluscope": split,
    }

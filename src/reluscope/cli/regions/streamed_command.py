"""The command `partition` with ``--stream``: regions go to a file as they are found, however many there are."""

import warnings
from pathlib import Path

from reluscope.budget import Budget
from reluscope.cli.reading.opened_domains import open_domain
from reluscope.cli.regions.partition_commands import PartitionOptions
from reluscope.cli.regions.partition_results import PartitionResult
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.executors import open_executor
from reluscope.cli.terminal.failures import interrupted
from reluscope.cli.terminal.outputs import conclude, plan_outputs
from reluscope.cli.terminal.progress_bar import is_watched
from reluscope.errors import InputError
from reluscope.partitions.ask.stream import stream
from reluscope.stopping import is_interrupted

KINDS = {".parquet": "a table of regions"}


def stream_partition(given: PartitionOptions, path: Path) -> int:
    """Partition into a file, print the count, and return the exit code."""
    method, common = given.method, given.common
    others = {"-o": given.output, "--certify": given.certify, "--color": given.color, "--measure": given.measure}
    for name, value in others.items():
        if value:
            raise InputError(f"--stream writes the regions alone, got {name}: leave out one of them")
    files = plan_outputs([path], KINDS, force=given.force, option="--stream")
    most = 2 if method is None else None
    network, where = open_domain(given.where, given.model, common, most_dimensions=most)
    with keeping_results(), open_executor(given.workers) as executor, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # interruption is told by the partition's note, and said at the end
        part = stream(
            network,
            where.domain,
            path,
            method=method or "auto",
            budget=Budget(regions=given.regions, seconds=given.seconds),
            executor=executor,
            progress=is_watched(common),
        )
    found = PartitionResult(given.model.name, where, part)
    conclude(found.to_dict(files), files, common, lambda: found.print([path]))
    if is_interrupted(part.stop):
        return interrupted(f"{path} holds what was found", part.num_open)
    return 0

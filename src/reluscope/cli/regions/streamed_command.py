"""The command `partition` with ``--stream``: regions go to a file as they are found, however many there are."""

import warnings
from pathlib import Path

from rich.console import Console

from reluscope.budget import Budget
from reluscope.cli.reading.opened_domains import open_domain
from reluscope.cli.regions.partition_commands import PartitionOptions
from reluscope.cli.regions.partition_results import PartitionResult
from reluscope.cli.terminal.ctrl_c import INTERRUPTED, keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.executors import open_executor
from reluscope.cli.terminal.failures import warn
from reluscope.cli.terminal.outputs import conclude, plan_outputs
from reluscope.cli.terminal.printed_results import several
from reluscope.cli.terminal.progress_bar import show_progress
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
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        most = 2 if method is None else None
        network, where = open_domain(
            given.where, given.model, seed=common.seed, device=device, bar=bar, most_dimensions=most
        )
    terminal = Console(stderr=True).is_terminal
    with keeping_results(), open_executor(given.workers) as executor, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # interruption is told by the partition's note, and said at the end
        part = stream(
            network,
            where.domain,
            path,
            method=method or "auto",
            budget=Budget(regions=given.regions, seconds=given.seconds),
            executor=executor,
            progress=terminal and not common.quiet,
        )
    found = PartitionResult(given.model.name, where, part)
    conclude(found.to_dict(files), files, common, lambda: found.print([path]))
    if is_interrupted(part.stop):
        open_cells = f" with {several(part.num_open, 'cell')} unfinished" if part.num_open else ""
        warn(f"interrupted{open_cells}; {path} holds what was found")
        return INTERRUPTED
    return 0

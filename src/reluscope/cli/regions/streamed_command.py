"""The command `partition` with ``--stream``: regions go to a file as they are found, however many there are."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from reluscope.budget import Budget
from reluscope.cli.reading.domain_arguments import DomainArguments, open_domain
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.regions.partition_results import PartitionResult
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.ctrl_c import INTERRUPTED, keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.executors import ExecutorArguments, open_executor
from reluscope.cli.terminal.failures import warn
from reluscope.cli.terminal.outputs import plan_outputs
from reluscope.cli.terminal.printed_results import print_json, several
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.errors import InputError
from reluscope.partitions.ask.dispatch import partition as cut
from reluscope.stopping import is_interrupted

KINDS = {".parquet": "a table of regions"}


def stream_partition(
    model: ModelArguments,
    place: DomainArguments,
    *,
    path: Path,
    unfit: Sequence[str],
    method: str | None,
    budget: Budget,
    workers: ExecutorArguments,
    force: bool,
    common: Common,
) -> int:
    """Partition into a file, print the count, and return the exit code.

    `unfit` are options that were given and mean nothing here.
    """
    if unfit:
        raise InputError(f"--stream writes the regions alone, got {unfit[0]}: leave out one of them")
    files = plan_outputs([path], KINDS, force=force, option="--stream")
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        most = 2 if method is None else None
        network, where = open_domain(place, model, seed=common.seed, device=device, bar=bar, most_dimensions=most)
    terminal = Console(stderr=True).is_terminal
    with keeping_results(), open_executor(workers) as executor, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # interruption is told by the partition's note, and said at the end
        part = cut(
            network,
            where.domain,
            method=method or "auto",
            budget=budget,
            executor=executor,
            progress=terminal and not common.quiet,
            out=path,
        )
    found = PartitionResult(model.name, where, part)
    if common.as_json:
        print_json(found.to_dict(files))
    elif not common.quiet:
        found.print([path])
    if is_interrupted(part.stop):
        open_cells = f" with {several(part.num_open, 'cell')} unfinished" if part.num_open else ""
        warn(f"interrupted{open_cells}; {path} holds what was found")
        return INTERRUPTED
    return 0

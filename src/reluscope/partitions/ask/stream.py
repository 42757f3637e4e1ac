"""`stream`: the regions of a domain go to a file as they are found."""

import os
from concurrent.futures import Executor
from dataclasses import replace
from typing import Literal

from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.budget import RegionBudget
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.interruption import has_struck, held
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import MAX_STREAMED_DIMENSIONS, choose_engine
from reluscope.partitions.ask.patience import MAX_KEPT, patient
from reluscope.partitions.ask.region_search import check_question, in_place, warn_if_interrupted
from reluscope.partitions.engines.few_dimensions import windowed
from reluscope.partitions.streamed_partition import StreamedPartition
from reluscope.partitions.streams.streaming import stream_regions
from reluscope.progress import Progress
from reluscope.stopping import INTERRUPTED
from reluscope.tolerance import Tolerance


@held
@read_arguments
@holds_across_jumps
def stream(
    network: Network,
    domain: Domain,
    path: "str | os.PathLike[str]",
    *,
    method: str = "auto",
    budget: RegionBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    rounding: Literal["measured", "proved"] = "measured",
) -> StreamedPartition:
    """Write the regions of a network on a domain to a file, so that memory does not grow with their number.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, Space or Polyhedron
    path : path
        A Parquet file. It holds codes, witnesses and, for lines and planes, areas, but no corners and no neighbours.
        An existing file stays until the new one is complete.
    method, budget, executor, progress, tolerance, rounding
        As for `partition`; "incidence" on lines and planes alone.

    Returns
    -------
    StreamedPartition
        Claims as `partition` does.

    Raises
    ------
    InputError
        If no engine covers the domain, an option is unknown, or the file cannot be written; no part of it then
        remains.
    DegenerateGeometryError, ShapeError
        As `partition`.

    Notes
    -----
    Finished cells are kept in a folder beside the file, of about twice its size, until it is decided which cells form
    one region. Ctrl-C and lack of memory end the search, and the file holds the finished regions. The tasks of an
    executor return complete results: memory then holds one of 64 parts of the work at a time.

    Examples
    --------
    >>> import numpy as np, reluscope as rs, tempfile
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part = rs.stream(net, rs.Box(-1, 1, 2), f"{folder}/regions.parquet")
    ...     print(len(part), part.claim, part.take(part.locate([[0.5, 0.5]])).volumes)
    4 EXACT [1.]
    """
    check_question(network, domain, method)
    effort = Effort.of(budget, executor, progress, tolerance)
    engine, reason = choose_engine(network, domain, method, keep="codes", most_shared=MAX_STREAMED_DIMENSIONS)
    limit = patient(effort.budget, network, domain, MAX_KEPT)
    where = windowed(domain) if engine == "incidence" else domain
    part = stream_regions(
        network, where, path, engine, reason + in_place(network), effort.within(limit), rounding=rounding
    )
    if has_struck():  # while the file was written
        part = replace(part, stop=INTERRUPTED)
    warn_if_interrupted([part])
    return part

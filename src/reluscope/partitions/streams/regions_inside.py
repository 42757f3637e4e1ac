"""Which of the staged rows of a streamed partition are regions: one row of every code, and each of them there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reluscope.codes.packed import Codes
from reluscope.networks.graph.points import chunks
from reluscope.partitions.doubts.shown_regions import codes_inside, max_exact
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.streams.staged_regions import StagedRegions
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.partitions.table.region_rows import RegionRows

if TYPE_CHECKING:
    from reluscope.partitions.streamed_partition import StreamedPartition

# Bytes that the values at witnesses may take at once.
MEMORY = 2**27


def regions_inside(
    part: "StreamedPartition", staged: StagedRegions, folder: Path
) -> tuple[Iterator[RegionRows], dict[str, float]]:
    """Return the regions of a partition, each once, and the numbers to report of that work.

    As `reluscope.partitions.doubts.shown_regions.shown`, but pieces of one region are joined. ``folder`` holds regions
    that get other codes, if signs stayed undecided.
    """
    pieces = staged.repeated()
    regions = staged.distinct(pieces, sums=True)
    if not part.num_undecided:
        return regions, {}
    network = part.network
    assert network is not None
    shown, left = (
        StagedRegions(folder, staged.num_words, staged.dim, has_volumes=staged.has_volumes),
        max_exact(network, staged.num_rows),
    )
    num_unconfirmed = 0
    for block in regions:
        for rows in chunks(len(block), 4 * network.bytes_per_point, MEMORY) if len(block) else ():
            some = block.take(np.arange(rows.start, rows.stop))
            codes, is_there, is_whole, spent = codes_inside(_listed(part, some), left)
            left -= spent
            # Of cells with one code the first that had it before, else the first.
            ranks = (codes.words != some.words).any(axis=1).astype(np.int64)
            if not is_whole:
                num_unconfirmed += int(np.count_nonzero(~is_there & (ranks == 0)))
                is_there = is_there | (ranks == 0)
            there = np.flatnonzero(is_there)
            shown.extend([replace(some, words=codes.words).take(there)], ranks[there])
    others = shown.repeated()
    number = shown.num_rows - len(others)
    work: dict[str, float] = {"cells_left_out": staged.num_rows - len(pieces) - number}
    if num_unconfirmed:
        num_unconfirmed = min(num_unconfirmed, number)
        work |= {"cells_confirmed": number - num_unconfirmed, "cells_unconfirmed": num_unconfirmed}
    return shown.distinct(others, sums=False), work


def _listed(part: "StreamedPartition", rows: RegionRows) -> Partition:
    """Return some rows as a partition of its own."""
    return Partition(
        domain=part.domain,
        codes=Codes(rows.words, part.layout),
        geometry=RegionColumns(words=rows.words, witnesses=rows.witnesses),
        num_undecided=part.num_undecided,
        num_open=part.num_open,
        tolerance=part.tolerance,
        fingerprint=part.fingerprint,
        network=part.network,
        method=part.method,
        stop=part.stop,
    )

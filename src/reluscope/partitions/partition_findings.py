"""Numbers of a partition as findings, each with the claim that it can stand by."""

from typing import TYPE_CHECKING

import numpy as np

from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.networks.evaluation.measured_rounding import said_of
from reluscope.partitions.table.boundedness import Boundedness

IS_BOUNDED = declare("is_bounded", "whether no direction stays in the region", kind=Kind.TRUTH)

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition
    from reluscope.partitions.streamed_partition import StreamedPartition


def number_of_regions(part: "Partition | StreamedPartition") -> Finding:
    """Return the number of regions."""
    certain = len(part) + part.num_pending
    return Finding.of(
        certain,
        certain - _num_unconfirmed(part),
        upper=float("inf") if part.num_open or part.num_undecided else certain,
        resolution=part.tolerance.resolution,
        name="regions",
        definition="proper activation regions (full-dimensional)",
        domain=part.domain.describe(),
        method=_method(part),
        num_undecided=part.num_undecided,
        work=part.work,
    )


def number_of_adjacent_pairs(part: "Partition") -> Finding:
    """Return the number of pairs of regions that share a facet."""
    number = part.adjacency().nnz // 2
    num_unmatched = int(part.facet_columns.num_unmatched)
    return Finding.of(
        number,
        0 if _num_unconfirmed(part) else number,
        upper=float("inf") if part.num_open or part.num_undecided or num_unmatched else number,
        resolution=part.tolerance.resolution,
        name="pairs of regions that share a facet",
        definition="pairs of full-dimensional activation regions whose common boundary has a relative interior",
        domain=part.domain.describe(),
        method=_method(part),
        num_undecided=max(part.num_undecided, num_unmatched),
    )


def number_of_bounded_regions(part: "Partition") -> Finding:
    """Return the number of bounded regions."""
    column = part.boundedness()["is_bounded"]
    number, least, most = (int(table.sum()) for table in (column.value, column.lower, column.upper))
    return Finding.of(
        number,
        max(0, least - _num_unconfirmed(part)),
        float("inf") if part.num_open or part.num_undecided else most,
        resolution=part.tolerance.resolution,
        name="bounded regions",
        definition="proper activation regions (full-dimensional) in which no direction stays",
        domain=part.domain.describe(),
        method=_method(part),
        num_undecided=max(part.num_undecided, most - least),
    )


def bounded_regions(part: "Partition", found: Boundedness) -> Findings:
    """Return for every region whether it is bounded, between the ends that are proved."""
    bounded, proved = found
    column = Column.of(IS_BOUNDED, bounded, bounded & proved, bounded | ~proved, method=_method(part))
    return Findings.of(column, keys={"region": np.arange(len(part))}, domain=part.domain.describe())


def facets_by_gate(part: "Partition") -> dict[str, int]:
    """Return how many pieces of boundary between two regions each gate makes, by its name."""
    layout = part.codes.layout
    numbers = np.bincount(part.facets.gates if len(part.facets) else [], minlength=len(layout))
    return {gate.name: int(number) for gate, number in zip(layout, numbers, strict=True)}


def _num_unconfirmed(part: "Partition | StreamedPartition") -> int:
    """Return how many cells are listed without a proof that there is a region; see `shown_regions`."""
    return int(part.work.get("cells_unconfirmed", 0))


def _method(part: "Partition | StreamedPartition") -> str:
    measured = said_of(part.work)
    return (
        part.method
        + (", certified by rational arithmetic" if part.certified else "")
        + (f"; {measured}" * bool(measured))
    )

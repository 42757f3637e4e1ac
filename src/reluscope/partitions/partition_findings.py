"""Numbers of a partition as findings, each with the claim that it can stand by."""

from typing import TYPE_CHECKING

import numpy as np

from reluscope.findings import Claim, Finding

if TYPE_CHECKING:
    from reluscope.partitions.table import Partition


def number_of_regions(part: "Partition") -> Finding:
    """Return the number of regions."""
    certain = len(part) + part.num_pending
    high = float("inf") if part.num_open or part.num_undecided else certain
    return Finding(
        certain,
        part.claim,
        name="regions",
        interval=(certain, high),
        definition="proper activation regions (full-dimensional)",
        domain=part.domain.describe(),
        method=_method(part),
        tolerance=part.tolerance.resolution,
        num_undecided=part.num_undecided,
        work=part.work,
    )


def number_of_adjacent_pairs(part: "Partition") -> Finding:
    """Return the number of pairs of regions that share a facet."""
    number = part.adjacency().nnz // 2
    open_ones = int(part.geometry.num_unmatched)
    is_sure = not (part.num_open or part.num_undecided or open_ones)
    return Finding(
        number,
        Claim.EXACT if is_sure else Claim.LOWER,
        name="pairs of regions that share a facet",
        interval=(number, number if is_sure else float("inf")),
        definition="pairs of full-dimensional activation regions whose common boundary has a relative interior",
        domain=part.domain.describe(),
        method=_method(part),
        tolerance=part.tolerance.resolution,
        num_undecided=max(part.num_undecided, open_ones),
    )


def number_of_bounded_regions(part: "Partition") -> Finding:
    """Return the number of bounded regions."""
    number = int(np.count_nonzero(part.is_bounded()))
    least, most = part.geometry.num_bounded
    missing = bool(part.num_open or part.num_undecided)
    claim = Claim.EXACT if least == most else Claim.ESTIMATE
    return Finding(
        number,
        Claim.LOWER if missing and number <= least else Claim.ESTIMATE if missing else claim,
        name="bounded regions",
        interval=(least, float("inf") if missing else most),
        definition="proper activation regions (full-dimensional) in which no direction stays",
        domain=part.domain.describe(),
        method=_method(part),
        tolerance=part.tolerance.resolution,
        num_undecided=max(part.num_undecided, most - least),
    )


def _method(part: "Partition") -> str:
    return part.method + (", certified by rational arithmetic" if part.certified else "")

"""What a partition leaves open: the account from which every number over its regions takes its ends.

Cells that were not finished are regions that are missing: what is listed is there, and a number that grows with the
regions is at least what the listed ones give. A sign that stayed undecided is worse. The code of a region is the one
at its witness; elsewhere in the region the network may be another affine map, so that no number that rests on the maps
or the sizes of regions is known. The same holds for regions that are listed without a proof.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from reluscope.findings import Claim

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition
    from reluscope.partitions.streamed_partition import StreamedPartition


@dataclass(frozen=True)
class LeftOpen:
    """What is unknown about the regions of a partition."""

    num_undecided: int = 0  # signs that neither bounds nor rational arithmetic decided
    num_unfinished: int = 0  # cells that were not finished when work stopped
    num_unconfirmed: int = 0  # regions listed without a proof that they exist

    @property
    def is_nothing(self) -> bool:
        """Whether the listed regions are all regions, at the resolution of the partition."""
        return self.is_listed_sure and not self.num_unfinished

    @property
    def is_listed_sure(self) -> bool:
        """Whether the network is one affine map on each listed region, the one of its code."""
        return not self.num_undecided and not self.num_unconfirmed

    @property
    def claim(self) -> Claim:
        """What a set claims that is made of all listed regions: EXACT, LOWER where regions are missing, ESTIMATE."""
        if self.is_nothing:
            return Claim.EXACT
        return Claim.LOWER if self.is_listed_sure else Claim.ESTIMATE

    def ends(self, lower: float, upper: float, *, least: float = -inf, most: float = inf) -> tuple[float, float]:
        """Return the ends of a number that grows with the regions.

        ``lower`` and ``upper`` bound the number of the listed regions, ``least`` and ``most`` the number whatever the
        regions are.
        """
        if self.is_nothing:
            return lower, upper
        return (lower if self.is_listed_sure else min(least, lower)), max(upper, most)


def left_open(part: "Partition | StreamedPartition") -> LeftOpen:
    """Return what a partition leaves open."""
    return LeftOpen(part.num_undecided, part.num_open, int(part.work.get("cells_unconfirmed", 0)))

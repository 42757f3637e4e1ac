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
    """What is unknown about the regions of a partition.

    Parameters
    ----------
    num_undecided : int
        Signs that neither bounds on rounding nor rational arithmetic decided.
    num_unfinished : int
        Cells that were not finished when work stopped.
    num_unconfirmed : int
        Regions that are listed without a proof that they exist.
    """

    num_undecided: int = 0
    num_unfinished: int = 0
    num_unconfirmed: int = 0

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

        Parameters
        ----------
        lower, upper : float
            Between them the number of the listed regions lies.
        least, most : float
            Between them the number lies whatever the regions are.

        Examples
        --------
        >>> LeftOpen().ends(1.0, 1.0, least=0.0), LeftOpen(num_unfinished=3).ends(1.0, 1.0, least=0.0, most=4.0)
        ((1.0, 1.0), (1.0, 4.0))
        >>> LeftOpen(num_undecided=1).ends(1.0, 1.0, least=0.0, most=4.0)
        (0.0, 4.0)
        """
        if self.is_nothing:
            return lower, upper
        return (lower if self.is_listed_sure else min(least, lower)), max(upper, most)


def left_open(part: "Partition | StreamedPartition") -> LeftOpen:
    """Return what a partition leaves open.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> left_open(rs.partition(net, rs.Box(-1, 1, 2))).is_nothing
    True
    """
    return LeftOpen(part.num_undecided, part.num_open, int(part.work.get("cells_unconfirmed", 0)))

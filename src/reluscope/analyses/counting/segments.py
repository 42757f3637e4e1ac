"""How many regions the straight way between two samples crosses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.arguments import read_arguments
from reluscope.budget import Budget, RegionBudget
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Segment, Slice
from reluscope.networks.network import Network
from reluscope.partitions.dispatch import partition
from reluscope.partitions.table import Partition
from reluscope.tolerance import Tolerance


@dataclass(frozen=True)
class SegmentCounts:
    """Numbers of regions along segments.

    Parameters
    ----------
    counts : (k,) int64
        Regions on each segment.
    lengths : (k,) float64
        Length of each segment in input space.
    is_exact : (k,) bool
        Whether a count is exact; else it is a lower bound.
    findings : tuple of Finding
        One per segment.
    stopped : str
        Why work stopped early, empty if it did not.
    work : dict
        What all segments took together.
    """

    counts: Int[np.ndarray, " k"]
    lengths: Float[np.ndarray, " k"]
    is_exact: Bool[np.ndarray, " k"]
    findings: tuple[Finding, ...]
    stopped: str
    work: dict[str, float]

    def __len__(self) -> int:
        return len(self.counts)

    def median(self, chosen: Bool[np.ndarray, " k"], name: str) -> Finding:
        """Return the median count over some of the segments.

        Returns
        -------
        Finding
            EXACT for these segments if all their counts are; else LOWER.
        """
        exact = bool(self.is_exact[chosen].all())
        number = int(chosen.sum())
        any_finding = self.findings[int(np.flatnonzero(chosen)[0])]
        return Finding(
            float(np.median(self.counts[chosen])),
            Claim.EXACT if exact else Claim.LOWER,
            name=name,
            definition=f"median over {number} segments of the number of {any_finding.definition}",
            domain=f"{number} segments between samples, of median length {np.median(self.lengths[chosen]):.4g}",
            method=any_finding.method,
            tolerance=any_finding.tolerance,
            num_undecided=sum(self.findings[row].num_undecided for row in np.flatnonzero(chosen)),
            work=self.work,
        )


@read_arguments
def count_along_segments(
    network: Network,
    starts: Float[np.ndarray, "k n"],
    ends: Float[np.ndarray, "k n"],
    *,
    budget: RegionBudget = Budget(),
    tolerance: Tolerance | None = None,
) -> SegmentCounts:
    """Count the regions on straight segments, exactly.

    Parameters
    ----------
    network : Network
    starts, ends : (k, n) float64
        Different end points.
    budget : Budget
        Regions and seconds for all segments together.
    tolerance : Tolerance, optional

    Returns
    -------
    SegmentCounts

    Raises
    ------
    DegenerateGeometryError
        If a segment has no length.

    Notes
    -----
    About one forward pass over all crossing points; all segments are taken through the network together.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> count_along_segments(net, np.array([[-1.0, -2.0]]), np.array([[1.0, 2.0]])).counts
    array([2])
    """
    segments = [Segment(start, end) for start, end in zip(starts, ends, strict=True)]
    parts = _partitions(network, segments, budget, tolerance)
    findings = tuple(part.finding() for part in parts)
    return SegmentCounts(
        np.array([int(finding) for finding in findings], dtype=np.int64),
        np.linalg.norm(ends - starts, axis=1),
        np.array([finding.claim is Claim.EXACT for finding in findings], dtype=bool),
        findings,
        next((part.note for part in parts if part.note), ""),
        dict(parts[0].work) if parts else {},
    )


def _partitions(
    network: Network, segments: Sequence[Slice], budget: Budget, tolerance: Tolerance | None
) -> list[Partition]:
    return partition(network, list(segments), budget=budget, tolerance=tolerance) if segments else []

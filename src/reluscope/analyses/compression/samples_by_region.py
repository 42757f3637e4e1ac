"""Regions by how many samples they hold, largest first."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.arguments import Share, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.networks.rounded_forward import coded_forward


@dataclass(frozen=True, eq=False)
class RegionSamples:
    """Which regions hold how many samples.

    Parameters
    ----------
    counts : (r,) int64
        Samples in each region, descending.
    first : (r,) int64
        First sample of each region.
    labels : (s,) int64
        Row of each sample's region in these.
    num_doubtful : int
        Samples so near a boundary between regions that rounding could move them across.
    """

    counts: Int[np.ndarray, " r"]
    first: Int[np.ndarray, " r"]
    labels: Int[np.ndarray, " s"]
    num_doubtful: int

    def __len__(self) -> int:
        return len(self.counts)

    @read_arguments
    def holding(self, share: Share) -> Finding:
        """Return the least number of regions that hold a share of the samples.

        Returns
        -------
        Finding
            EXACT if no sample is in doubt, else with the interval that the doubt leaves.
        """
        if not 0 < share <= 1:
            raise InputError(f"expected a share of the samples above 0 and up to 1, got {share}")
        number = len(self.labels)
        least = int(np.ceil(share * number * (1 - 1e-12)))
        value, low, high = (self._needed(least + d) for d in (0, -self.num_doubtful, self.num_doubtful))
        high += self.num_doubtful  # each may be a region of its own
        exact = not self.num_doubtful
        return Finding.of(
            value,
            value if exact else max(1, low),
            value if exact else min(high, number),
            name="regions needed",
            definition=f"least number of activation regions that hold {share:.4g} of the samples",
            domain=f"{number:,} samples",
            method="codes of the samples, with bounds on rounding",
            num_undecided=self.num_doubtful,
        )

    def _needed(self, samples: int) -> int:
        return min(len(self.counts), int(np.searchsorted(np.cumsum(self.counts), samples)) + 1)


@read_arguments
def region_samples(matrices: CoefficientMatrices) -> RegionSamples:
    """Return the regions that samples lie in, those with the most samples first.

    Parameters
    ----------
    matrices : CoefficientMatrices
        For its network and samples; no coefficients are computed.

    Returns
    -------
    RegionSamples

    Notes
    -----
    Two forward passes.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.ones(1))])
    >>> found = region_samples(rs.coefficients.matrix(net, [[-1.0], [3.0], [4.0]]))
    >>> found.counts, found.holding(0.6)
    (array([2, 1]), Finding(regions needed: 1 (EXACT)))
    """
    labels, first, counts = matrices.regions()
    order = np.argsort(-counts, kind="stable")
    rank = np.argsort(order)
    doubtful = coded_forward(matrices.network, matrices.inputs)[0].doubtful.any(axis=1)
    return RegionSamples(counts[order], first[order], rank[labels], int(doubtful.sum()))

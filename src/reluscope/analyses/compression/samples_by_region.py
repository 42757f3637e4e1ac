"""Linear regions by how many samples they hold, largest first."""

import numpy as np

from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.arguments import Share, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.networks.evaluation.rounded_forward import coded_forward

NUM_SAMPLES = declare("num_samples_in_region", "samples that lie in the linear region", kind=Kind.COUNT)
NUM_IN_DOUBT = declare(
    "num_samples_in_doubt",
    "samples so near a boundary between linear regions that rounding could move them across",
    kind=Kind.COUNT,
)
METHOD = "codes of the samples, with bounds on rounding"


@read_arguments
def region_samples(matrices: CoefficientMatrices) -> Findings:
    """Return the regions of samples, ordered by their number of samples, largest first.

    Parameters
    ----------
    matrices : CoefficientMatrices
        Source of network and samples; no coefficients are computed.

    Returns
    -------
    Findings
        ``num_samples_in_region`` of every region, as an interval that samples in doubt may change; for all regions
        together ``num_samples_in_doubt``. Details: the ``first_sample`` of each region. ``matrices.regions()``
        gives the region of each sample.

    Notes
    -----
    Two forward passes.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.ones(1))])
    >>> found = rs.compression.region_samples(rs.coefficients.matrix(net, [[-1.0], [3.0], [4.0]]))
    >>> found["num_samples_in_region"].value, rs.compression.regions_holding(found, 0.6)
    (array([2., 1.]), Finding(regions needed: 1 (EXACT)))
    """
    labels, first, counts = matrices.regions()
    order = np.argsort(-counts, kind="stable")
    in_doubt = coded_forward(matrices.network, matrices.inputs)[0].doubtful.any(axis=1)
    here = np.bincount(labels[in_doubt], minlength=len(counts))[order]
    number, counts = int(in_doubt.sum()), counts[order]
    return Findings.of(
        Column.of(NUM_SAMPLES, counts, counts - here, counts + number - here, method=METHOD),
        keys={"region": np.arange(len(counts))},
        domain=f"{len(labels):,} samples",
        num_samples=len(labels),
        details={"first_sample": first[order]},
        summary=Findings.of(
            Column.of(NUM_IN_DOUBT, [number], method=METHOD), domain=f"{len(labels):,} samples", num_samples=len(labels)
        ),
    )


@read_arguments
def regions_holding(found: Findings, share: Share) -> Finding:
    """Return the least number of regions that hold a share of the samples.

    Parameters
    ----------
    found : Findings
        Result of `region_samples`.
    share : float
        Above 0.

    Returns
    -------
    Finding
        EXACT if no sample is in doubt, else with the interval that samples in doubt allow.

    Raises
    ------
    InputError
        If the share is invalid, or the findings have another origin.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.ones(1))])
    >>> found = rs.compression.region_samples(rs.coefficients.matrix(net, [[-1.0], [3.0], [4.0]]))
    >>> print(rs.compression.regions_holding(found, 1.0))
    2 (EXACT)
    """
    if not 0 < share <= 1:
        raise InputError(f"expected a share of the samples above 0 and up to 1, got {share}")
    sums, in_doubt = np.cumsum(found[NUM_SAMPLES].value), int(found.finding(NUM_IN_DOUBT))
    number = int(sums[-1])
    needed = int(np.ceil(share * number * (1 - SUMS)))

    def regions(samples: int) -> int:
        return min(len(sums), int(np.searchsorted(sums, samples)) + 1)

    value = regions(needed)
    # Each sample in doubt may lie in a region of its own.
    low, high = max(1, regions(needed - in_doubt)), min(regions(needed + in_doubt) + in_doubt, number)
    return Finding.of(
        value,
        low if in_doubt else value,
        high if in_doubt else value,
        name="regions needed",
        definition=f"least number of activation regions that hold {share:.4g} of the samples",
        domain=f"{number:,} samples",
        num_samples=number,
        method=METHOD,
        num_undecided=in_doubt,
    )

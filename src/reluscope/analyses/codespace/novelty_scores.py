"""How far samples are from the cells that data occupies: a score for samples out of the data's domain.

The score of a sample is the Hamming distance of its code to the nearest code of the data (or the mean over the k
nearest). A score of zero says that the data has a point in the same linear region.
"""

import time

import numpy as np
from jaxtyping import Float

from reluscope.analyses.codespace.code_neighbors import nearest_codes
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes
from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, Kind, declare

NOVELTY = declare("novelty", "mean Hamming distance of the sample's code to the nearest codes of data", unit="units")
IS_NEW = declare("is_in_unoccupied_cell", "whether no sample of the data has the sample's code", kind=Kind.TRUTH)
SCORE = declare("score", "score of a sample", least=-np.inf)
AUROC = declare(
    "auroc",
    "share of pairs in which the sample outside has the larger score than the one inside, ties counted half",
    kind=Kind.SHARE,
)


@read_arguments
def novelty(data: SampleCodes, samples: SampleCodes, *, k: Count = 1) -> Findings:
    """Return the distances of the codes of samples to the codes that data occupies.

    Parameters
    ----------
    data : SampleCodes
        Equal codes count once.
    samples : SampleCodes
        At least one.
    k : int
        The score is the mean distance to the k closest occupied codes, or to all if there are fewer.

    Returns
    -------
    Findings
        ``novelty`` and ``is_in_unoccupied_cell`` of each ``sample``. Unknown for samples whose codes rounding could
        change, and for all samples if rounding could change a code of the data.

    Raises
    ------
    InputError
        If there are no codes on either side, layouts differ, or k is below 1.

    Notes
    -----
    See `nearest_codes` for the cost. For the codes of selected gates pass ``data.of_gates(...)``.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.analyses.codespace.sampled import sample_codes
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> data, samples = sample_codes(net, [[1.0, 1.0], [2.0, 1.0]]), sample_codes(net, [[3.0, 1.0], [-1.0, -2.0]])
    >>> found = rs.codespace.novelty(data, samples)
    >>> found["novelty"].value, found.share("is_in_unoccupied_cell")
    (array([0., 2.]), Finding(is in unoccupied cell: 0.5 (EXACT)))
    """
    if not len(data) or not len(samples):
        raise InputError(
            f"expected codes of data and samples to compare with them, got {len(data):,} codes and {len(samples):,} "
            "samples"
        )
    began = time.perf_counter()
    occupied = data.codes.unique()
    distances, _ = nearest_codes(occupied, samples.codes, k=min(k, len(occupied)))
    in_doubt = samples.in_doubt | data.in_doubt.any()
    units = float(samples.codes.layout.num_units)
    scores, is_new = distances.mean(axis=1), (distances[:, 0] > 0).astype(float)
    given = f"k = {k}" if k > 1 else ""
    columns = [
        Column.of(
            NOVELTY,
            scores,
            np.where(in_doubt, 0.0, scores),
            np.where(in_doubt, units, scores),
            method=METHOD,
            given=given,
        ),
        Column.of(IS_NEW, is_new, np.where(in_doubt, 0.0, is_new), np.where(in_doubt, 1.0, is_new), method=METHOD),
    ]
    seconds = samples.seconds + time.perf_counter() - began
    return Findings.of(
        *columns,
        keys={"sample": np.arange(len(samples))},
        domain=samples.domain,
        num_samples=len(samples),
        seconds=seconds,
    )


@read_arguments
def auroc(inside: Float[np.ndarray, " a"] | Column, outside: Float[np.ndarray, " b"] | Column) -> Finding:
    """Return how well scores separate samples outside a domain from samples inside (AUROC).

    The area under the receiver operating characteristic is the probability that a sample outside has a larger score
    than a sample inside, ties counted half. 1 is a perfect score, 1/2 is chance.

    Parameters
    ----------
    inside, outside : arrays of numbers, or columns of findings
        Scores of both groups, at least one each.

    Returns
    -------
    Finding
        EXACT for arrays. For columns of findings the ends are those of the smallest and largest scores that the
        findings allow.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> print(rs.codespace.auroc(np.array([0.0, 1.0]), np.array([1.0, 2.0])))
    0.875 (EXACT)
    """
    if not len(inside) or not len(outside):
        raise InputError(f"expected scores inside and outside, got {len(inside)} and {len(outside)}")
    near, far = (scores if isinstance(scores, Column) else Column.of(SCORE, scores) for scores in (inside, outside))
    ends = ((near.value, far.value), (near.upper, far.lower), (near.lower, far.upper))
    column = Column.of(AUROC, *([_share_of_larger(low, high)] for low, high in ends), method="ranks")
    domain = f"scores of {len(inside):,} samples inside, {len(outside):,} outside"
    return Findings.of(column, domain=domain).finding(AUROC)


def _share_of_larger(inside: np.ndarray, outside: np.ndarray) -> float:
    ordered = np.sort(inside)
    below = np.searchsorted(ordered, outside, "left").sum()
    up_to = np.searchsorted(ordered, outside, "right").sum()
    return float((below + up_to) / (2 * len(inside) * len(outside)))

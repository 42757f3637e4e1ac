"""How far samples are from the cells that data occupies: a score for samples out of the data's domain.

The score of a sample is the Hamming distance of its code to the nearest code of the data (or the mean over the k
nearest). A score of zero says that the data has a point in the same linear region. Where rounding could change a code,
the numbers are estimates.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from reluscope.analyses.codespace.nearest import nearest_codes
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes
from reluscope.arguments import Count, Natural, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding


@dataclass(frozen=True)
class Novelty:
    """Scores of samples.

    Parameters
    ----------
    scores : (q,) float64
        Mean distance to the k nearest occupied codes, in units that differ.
    is_new : (q,) bool
        Whether no sample of the data has the code.
    num_in_doubt : int
        Samples on both sides whose code rounding could change.
    """

    scores: Float[np.ndarray, " q"]
    is_new: Bool[np.ndarray, " q"]
    num_in_doubt: int

    def __len__(self) -> int:
        return len(self.scores)

    def share_new(self) -> Finding:
        """Return the share of samples in cells that the data does not occupy: EXACT if no code is in doubt."""
        return Finding(
            float(self.is_new.mean()),
            Claim.ESTIMATE if self.num_in_doubt else Claim.EXACT,
            name="samples in unoccupied cells",
            definition="share of samples whose code no sample of the data has",
            domain=f"{len(self):,} samples",
            method=METHOD,
            tolerance=1e-12,
            num_undecided=self.num_in_doubt,
        )


@read_arguments
def novelty(data: SampleCodes, samples: SampleCodes, *, k: Count = 1) -> Novelty:
    """Return how far the codes of samples are from those that data occupies.

    Parameters
    ----------
    data : SampleCodes
        Equal codes count once.
    samples : SampleCodes
        At least one.
    k : int
        The score is the mean over so many nearest occupied codes, or over all if there are fewer.

    Returns
    -------
    Novelty
        Exact for these codes; see `Novelty.num_in_doubt` for whether they are those of real arithmetic.

    Raises
    ------
    InputError
        If there are no codes on either side, layouts differ, or k is below 1.

    Notes
    -----
    See `nearest_codes` for the cost. For the codes of some gates only, give ``data.of_gates(...)``.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.analyses.codespace.sampled import sample_codes
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> data, samples = sample_codes(net, [[1.0, 1.0], [2.0, 1.0]]), sample_codes(net, [[3.0, 1.0], [-1.0, -2.0]])
    >>> found = novelty(data, samples)
    >>> found.scores, found.share_new()
    (array([0., 2.]), Finding(samples in unoccupied cells: 0.5 (EXACT)))
    """
    if not len(data) or not len(samples) or k < 1:
        raise InputError(
            f"expected codes of data, samples to compare with them, and k of 1 or more, got {len(data):,} codes, "
            f"{len(samples):,} samples and k = {k}"
        )
    occupied = data.codes.unique()
    distances, _ = nearest_codes(occupied, samples.codes, k=min(k, len(occupied)))
    in_doubt = int(data.in_doubt.sum() + samples.in_doubt.sum())
    return Novelty(distances.mean(axis=1), distances[:, 0] > 0, in_doubt)


@read_arguments
def auroc(
    inside: Float[np.ndarray, " a"], outside: Float[np.ndarray, " b"], *, num_in_doubt: Natural = 0, name: str = "AUROC"
) -> Finding:
    """Return how well scores tell samples outside from samples inside.

    The area under the receiver operating characteristic: the probability that a sample outside has a larger score than
    one inside, ties counted half. 1 is a perfect score, 1/2 is chance.

    Parameters
    ----------
    inside, outside : arrays of numbers
        Scores of both, at least one each.
    num_in_doubt : int
        How many scores rounding could change.
    name : str

    Returns
    -------
    Finding
        EXACT for these scores; ESTIMATE if some are in doubt.

    Examples
    --------
    >>> float(auroc(np.array([0.0, 1.0]), np.array([1.0, 2.0])))
    0.875
    """
    if not len(inside) or not len(outside):
        raise InputError(f"expected scores inside and outside, got {len(inside)} and {len(outside)}")
    ordered = np.sort(inside)
    below = np.searchsorted(ordered, outside, "left").sum()
    up_to = np.searchsorted(ordered, outside, "right").sum()
    return Finding(
        float((below + up_to) / (2 * len(inside) * len(outside))),
        Claim.ESTIMATE if num_in_doubt else Claim.EXACT,
        name=name,
        definition="share of pairs in which the sample outside has the larger score, ties counted half",
        domain=f"scores of {len(inside):,} samples inside, {len(outside):,} outside",
        method="ranks",
        tolerance=1e-12,
        num_undecided=num_in_doubt,
    )

"""How far samples are from the cells that data occupies: a score for samples out of the data's domain.

The score of a sample is the Hamming distance of its code to the nearest code of the data (or the mean over the k
nearest). A score of zero says that the data has a point in the same linear region.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from reluscope.analyses.codespace.nearest import nearest_codes
from reluscope.codes.packed import Codes
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
    """

    scores: Float[np.ndarray, " q"]
    is_new: Bool[np.ndarray, " q"]

    def __len__(self) -> int:
        return len(self.scores)

    def share_new(self) -> Finding:
        """Return the share of samples in cells that the data does not occupy."""
        return Finding(
            float(self.is_new.mean()),
            Claim.EXACT,
            name="samples in unoccupied cells",
            definition="share of samples whose code no sample of the data has",
            domain=f"{len(self):,} samples",
            method="codes of float64 forward passes, compared exactly",
            tolerance=1e-12,
        )


def novelty(codes: Codes, queries: Codes, *, k: int = 1) -> Novelty:
    """Return how far the codes of samples are from those that data occupies.

    Parameters
    ----------
    codes : Codes
        Of the data; equal ones count once.
    queries : Codes
        Of the samples, at least one.
    k : int
        The score is the mean over so many nearest occupied codes, or over all if there are fewer.

    Returns
    -------
    Novelty
        Exact for these codes.

    Raises
    ------
    InputError
        If there are no codes on either side, layouts differ, or k is below 1.

    Notes
    -----
    See `nearest_codes` for the cost. For the codes of some gates only, give ``codes.of_gates(...)``.

    Examples
    --------
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> layout = CodeLayout((GateLayout("relu", 3),))
    >>> data = Codes.from_pieces([np.array([[0, 0, 0], [0, 0, 1]])], layout)
    >>> found = novelty(data, Codes.from_pieces([np.array([[0, 0, 1], [1, 1, 1]])], layout))
    >>> found.scores, float(found.share_new())
    (array([0., 2.]), 0.5)
    """
    if not len(codes) or not len(queries) or k < 1:
        raise InputError(
            f"expected codes of data, samples to compare with them, and k of 1 or more, got {len(codes):,} codes, "
            f"{len(queries):,} samples and k = {k}"
        )
    occupied = codes.unique()
    distances, _ = nearest_codes(occupied, queries, k=min(k, len(occupied)))
    return Novelty(distances.mean(axis=1), distances[:, 0] > 0)


def auroc(inside: Float[np.ndarray, " a"], outside: Float[np.ndarray, " b"], *, name: str = "AUROC") -> Finding:
    """Return how well scores tell samples outside from samples inside.

    The area under the receiver operating characteristic: the probability that a sample outside has a larger score than
    one inside, ties counted half. 1 is a perfect score, 1/2 is chance.

    Parameters
    ----------
    inside, outside : arrays of numbers
        Scores of both, at least one each.
    name : str

    Returns
    -------
    Finding
        EXACT for these samples.

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
        Claim.EXACT,
        name=name,
        definition="share of pairs in which the sample outside has the larger score, ties counted half",
        domain=f"{len(inside):,} samples inside, {len(outside):,} outside",
        method="ranks",
        tolerance=1e-12,
    )

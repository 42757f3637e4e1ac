"""How the Hamming distances of pairs of samples are distributed, from all pairs of a bounded number of samples."""

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.analyses.codespace.sampled import SampleCodes
from reluscope.arguments import Count, Seed, describe, read_arguments, read_labels
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding

MOST_SAMPLES = 2_000


@dataclass(frozen=True)
class PairDistances:
    """Numbers of pairs by their distance.

    Parameters
    ----------
    within, between : (units + 1,) int64
        Entry d counts the pairs of one class, and of different classes, whose codes differ on d units.
    num_samples, population : int
        Samples that were compared, and samples that there are.
    num_doubtful : int
        Samples among those compared whose code rounding could change.
    seconds : float
    """

    within: Int[np.ndarray, " d"]
    between: Int[np.ndarray, " d"]
    num_samples: int
    population: int
    num_doubtful: int
    seconds: float

    @read_arguments
    def median(self, counts: Int[np.ndarray, " d"], name: str) -> Finding:
        """Return the median distance of some of the pairs.

        Returns
        -------
        Finding
            EXACT if all samples were compared, else an ESTIMATE for all of them.
        """
        if counts.shape != self.within.shape or (counts < 0).any() or not counts.any():
            raise InputError(
                f"counts must be numbers of pairs at the distances 0 to {len(self.within) - 1}, as in within, got "
                f"{describe(counts)}"
            )
        number = int(counts.sum())
        ends = np.searchsorted(np.cumsum(counts), [(number + 1) // 2, number // 2 + 1])
        some = self.num_samples < self.population
        drawn = f", from {self.num_samples:,} drawn at random" if some else ""
        return Finding(
            float(ends.mean()),
            Claim.ESTIMATE if some or self.num_doubtful else Claim.EXACT,
            name=name,
            definition=f"median over pairs of samples of the number of units on which their codes differ{drawn}",
            domain=f"{number:,} pairs of {self.num_samples:,} of {self.population:,} samples",
            method="codes compared word by word",
            tolerance=0.0,
            num_undecided=self.num_doubtful,
            source="shepeleva2020",
            work={"seconds": self.seconds},
        )


@read_arguments
def pair_distances(
    sampled: SampleCodes, classes: Int[np.ndarray, " s"], *, most: Count = MOST_SAMPLES, seed: Seed = 0
) -> PairDistances:
    """Return how many pairs of samples differ on how many units.

    Parameters
    ----------
    sampled : SampleCodes
    classes : (s,) int
        The class of every sample; all equal where there are no classes.
    most : int
        How many samples to compare; they are drawn at random if there are more.
    seed : int
        Of the draw.

    Returns
    -------
    PairDistances
        Exact for the samples compared.

    Notes
    -----
    Grows with the square of ``most``: 0.1 s for 2,000 samples of 3,072 units.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.analyses.codespace import sample_codes
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = sample_codes(net, [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> found = pair_distances(sampled, np.array([0, 0, 1]))
    >>> found.within, found.between
    (array([0, 1, 0]), array([0, 1, 1]))
    """
    began = time.perf_counter()
    size = len(sampled)
    classes = read_labels(classes, num_samples=size, name="classes")
    rows = np.arange(size)
    if size > most:
        rows = np.sort(np.random.default_rng(seed).choice(size, most, replace=False))
    codes, kinds = sampled.codes[rows], classes[rows]
    longest = codes.layout.num_units + 1
    within, between = np.zeros(longest, dtype=np.int64), np.zeros(longest, dtype=np.int64)
    block = 256
    for start in range(0, len(rows), block):
        distances = codes[start : start + block].distance(codes[start:]).astype(np.int64)
        later = np.arange(start, len(rows)) > np.arange(start, min(start + block, len(rows)))[:, None]
        same = kinds[start : start + block, None] == kinds[start:]
        within += np.bincount(distances[later & same], minlength=longest)
        between += np.bincount(distances[later & ~same], minlength=longest)
    doubtful = int(sampled.in_doubt[rows].sum())
    return PairDistances(within, between, len(rows), size, doubtful, time.perf_counter() - began)

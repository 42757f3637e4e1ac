"""Variation of information between the partitions of the data that two networks' codes induce, in bits.

Samples of equal codes are together. ``VI = H(A | B) + H(B | A) = 2 H(A, B) - H(A) - H(B)`` is a metric on partitions
[meila2007]_: 0 if the same samples are together, at most log2 s. Where every sample is alone in both, it is 0 too.
"""

from dataclasses import dataclass
from math import log2

import numpy as np
from jaxtyping import Bool, Int

from reluscope.analyses.similarity.metric import Invariance, Metric, Source
from reluscope.arguments import read_arguments, read_position
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class CodePartitions(Shown):
    """Partitions of the same samples.

    Parameters
    ----------
    labels : (k, s) int
        Equal for samples that are together.
    doubtful : (k, s) bool
        Samples that rounding could move to another part.
    """

    labels: Int[np.ndarray, "k s"]
    doubtful: Bool[np.ndarray, "k s"]


@read_arguments
def variation_of_information(partitions: CodePartitions, first: int, second: int) -> Finding:
    """Return the variation of information between two partitions, in bits.

    Parameters
    ----------
    partitions : CodePartitions
    first, second : int

    Returns
    -------
    Finding
        EXACT up to the rounding of logarithms. If rounding could change codes, an ESTIMATE between 0 and log2 s.

    References
    ----------
    .. [meila2007] "Comparing clusterings: an information based distance".

    Examples
    --------
    >>> halves = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> print(variation_of_information(CodePartitions(halves, np.zeros((2, 4), dtype=bool)), 0, 1))
    2 (EXACT)
    """
    first, second = (
        read_position(one, "first and second", len(partitions.labels), "networks") for one in (first, second)
    )
    own, other = partitions.labels[first], partitions.labels[second]
    number = len(own)
    sizes = [np.unique(one, axis=-1, return_counts=True)[1] for one in (np.stack([own, other]), own, other)]
    joint, alone, beside = (_entropy(one, number) for one in sizes)
    doubtful = int((partitions.doubtful[first] | partitions.doubtful[second]).sum()) if first != second else 0
    value, rounding = max(0.0, 2 * joint - alone - beside), SUMS * (1 + log2(number))
    ends = (0.0, log2(number)) if doubtful else (max(0.0, value - rounding), value + rounding)
    return Finding.of(
        value,
        ends[0],
        max(value, ends[1]),
        scale=1.0,
        name=VARIATION_OF_INFORMATION.title,
        definition=VARIATION_OF_INFORMATION.definition,
        domain=f"{number:,} samples",
        num_samples=number,
        method="entropies from numbers of samples",
        source=VARIATION_OF_INFORMATION.publication,
        num_undecided=doubtful,
    )


def _entropy(counts: Int[np.ndarray, " p"], number: int) -> float:
    return log2(number) - float((counts * np.log2(counts)).sum()) / number


VARIATION_OF_INFORMATION = Metric(
    "variation_of_information",
    "variation of information of codes",
    "H(A | B) + H(B | A) in bits, of the partitions of the samples by equal codes",
    Source.CODES,
    variation_of_information,
    frozenset({Invariance.UNIT_PERMUTATION, Invariance.UNIT_RESCALING, Invariance.SCALING, Invariance.TRANSLATION}),
    publication="meila2007",
)

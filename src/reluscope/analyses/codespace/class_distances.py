"""Mean Hamming distances of codes within and between classes, exactly and without going through pairs.

With p_ck(u) the share of class c on piece k of unit u, the mean distance between a sample of class c and one of class d
is ``sum_u (1 - sum_k p_ck(u) p_dk(u))``. Within a class of s samples, pairs of a sample with itself are taken out:
the mean over different samples is s / (s - 1) times that.
"""

import time

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.codespace.sampled import SampleCodes, piece_counts
from reluscope.arguments import Count, read_arguments, read_labels
from reluscope.findings import Column, Findings, declare
from reluscope.geometry.numbers.resolutions import TOTALS

NUM_CLASSES = 20
METHOD = "sum over units of 1 less the share of pairs on one piece, from counts of pieces"
MEAN_DISTANCE = declare(
    "mean_code_distance",
    "mean over pairs of different samples of the number of units on which their codes differ",
    unit="units",
    source="shepeleva2020",
)
# Which pairs of samples.
WITHIN, BETWEEN, ALL = "within classes", "between classes", "all pairs"
ALL_GATES = "all gates"


@read_arguments
def mean_code_distances(sampled: SampleCodes, classes: Int[np.ndarray, " s"]) -> Findings:
    """Return mean Hamming distances of codes: within classes, between classes, and over all pairs.

    Parameters
    ----------
    sampled : SampleCodes
    classes : (s,) int
        The class of every sample; all equal if there are no classes.

    Returns
    -------
    Findings
        ``mean_code_distance`` for each kind of ``pairs`` ("within classes", "between classes", "all pairs") and
        each ``gate``, after all gates together; undefined where there are no such pairs. Exact up to the rounding
        of a quotient. Pairs of samples whose codes rounding could change may differ in no unit or in all.

    Notes
    -----
    One pass over the codes; nothing grows with the square of the number of samples.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.analyses.codespace import sample_codes
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = sample_codes(net, [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> found = rs.codespace.mean_code_distances(sampled, np.array([0, 0, 1])).where(gate="all gates")
    >>> [float(found.where(pairs=kind).finding("mean_code_distance")) for kind in ("within classes", "between classes")]
    [1.0, 1.5]
    """
    began = time.perf_counter()
    classes = read_labels(classes, num_samples=len(sampled), name="classes")
    units = np.array([gate.num_units for gate in sampled.codes.layout], dtype=np.int64)
    agreeing = np.zeros(len(units), dtype=np.int64)  # pairs within classes, summed over units
    totals = [np.zeros((max(2, gate.num_pieces), gate.num_units), dtype=np.int64) for gate in sampled.codes.layout]
    for kind in np.unique(classes):
        for index, counts in enumerate(piece_counts(sampled.codes[np.flatnonzero(classes == kind)])):
            totals[index] += counts
            agreeing[index] += _pairs(counts).sum()
    agreeing_at_all = np.array([_pairs(counts).sum() for counts in totals], dtype=np.int64).reshape(-1)
    certain = ~sampled.in_doubt
    number, sure = _numbers_of_pairs(classes), _numbers_of_pairs(classes[certain])
    agree = np.array([agreeing, agreeing_at_all - agreeing, agreeing_at_all])
    widths = np.array([units.sum(), *units], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = widths - np.column_stack([agree.sum(axis=1), agree]) / number[:, None]
        unclear = np.where(number > 0, 1 - sure / number, np.nan)[:, None] * widths
    means[number == 0] = np.nan
    column = Column.of(
        MEAN_DISTANCE,
        means.ravel(),
        np.maximum(0.0, means - unclear - TOTALS).ravel(),
        np.minimum(widths, means + unclear + TOTALS).ravel(),
        scale=1.0,
        method=METHOD,
    )
    names = [ALL_GATES, *(gate.name for gate in sampled.codes.layout)]
    keys = {"pairs": np.repeat([WITHIN, BETWEEN, ALL], len(names)), "gate": np.tile(names, 3)}
    seconds = sampled.seconds + time.perf_counter() - began
    return Findings.of(column, keys=keys, domain=sampled.domain, num_samples=len(sampled), seconds=seconds)


@read_arguments
def class_distances(
    sampled: SampleCodes, classes: Int[np.ndarray, " s"], *, num_classes: Count = NUM_CLASSES
) -> Findings:
    """Return the mean Hamming distance of codes for every two classes.

    Parameters
    ----------
    sampled : SampleCodes
    classes : (s,) int
        The class of every sample.
    num_classes : int
        Maximum number of classes in the table; the largest classes are kept.

    Returns
    -------
    Findings
        ``mean_code_distance`` from the samples of one ``class`` to the samples of the ``other``, for the codes of
        all gates; one row for each of the c x c ordered pairs of classes. Undefined within a class of one sample.
        `mean_code_distances` documents what is certain.

    Notes
    -----
    One pass over the codes and one matrix product; nothing grows with the square of the number of samples.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.analyses.codespace import sample_codes
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = sample_codes(net, [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> rs.codespace.class_distances(sampled, np.array([0, 0, 1]))["mean_code_distance"].value.reshape(2, 2)
    array([[1. , 1.5],
           [1.5, nan]])
    """
    began = time.perf_counter()
    classes = read_labels(classes, num_samples=len(sampled), name="classes")
    kinds, sizes = np.unique(classes, return_counts=True)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:num_classes])
    kinds, sizes = kinds[largest].astype(np.int64), sizes[largest]
    rows = [
        np.concatenate([np.zeros(0), *(part.ravel() for part in piece_counts(sampled.codes[classes == kind]))])
        for kind in kinds
    ]
    width = sampled.codes.layout.num_units
    means = _means(np.array(rows), sizes, width)
    certain = np.array([int((~sampled.in_doubt[classes == kind]).sum()) for kind in kinds])
    with np.errstate(divide="ignore", invalid="ignore"):
        unclear = width * (1 - _products(certain) / _products(sizes))
    column = Column.of(
        MEAN_DISTANCE,
        means.ravel(),
        np.maximum(0.0, means - unclear - TOTALS).ravel(),
        np.minimum(width, means + unclear + TOTALS).ravel(),
        scale=1.0,
        method=METHOD,
    )
    keys = {"class": np.repeat(kinds, len(kinds)), "other": np.tile(kinds, len(kinds))}
    seconds = sampled.seconds + time.perf_counter() - began
    return Findings.of(column, keys=keys, domain=sampled.domain, num_samples=len(sampled), seconds=seconds)


def _pairs(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1) // 2


def _numbers_of_pairs(classes: np.ndarray) -> Int[np.ndarray, "3"]:
    """Return how many pairs of samples are within classes, between them, and in all."""
    within = int(_pairs(np.unique(classes, return_counts=True)[1]).sum())
    everything = len(classes) * (len(classes) - 1) // 2
    return np.array([within, everything - within, everything])


def _products(sizes: np.ndarray) -> Float[np.ndarray, "c c"]:
    """Return how many ordered pairs of different samples there are of two classes."""
    return np.outer(sizes, sizes).astype(np.float64) - np.diag(sizes)


def _means(counts: np.ndarray, sizes: np.ndarray, num_units: int) -> Float[np.ndarray, "c c"]:
    """Return the table of mean distances from counts of pieces, one row per class."""
    # Every sample agrees with itself on every unit.
    agreeing = counts @ counts.T - np.diag(sizes * float(num_units))
    products = _products(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(products > 0, num_units - agreeing / products, np.nan)

"""Mean Hamming distances of codes within and between classes, exactly and without going through pairs.

With p_ck(u) the share of class c on piece k of unit u, the mean distance between a sample of class c and one of class d
is ``sum_u (1 - sum_k p_ck(u) p_dk(u))``. Within a class of s samples, pairs of a sample with itself are taken out:
the mean over different samples is s / (s - 1) times that.
"""

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.codespace.sampled import SampleCodes, piece_counts
from reluscope.arguments import Count, read_arguments, read_labels
from reluscope.findings import Finding

MOST_CLASSES = 20
ROUNDING = 1e-9


@dataclass(frozen=True)
class ClassDistances:
    """Mean distances over pairs of different samples.

    Parameters
    ----------
    classes, sizes : (c,) int64
        The largest classes, by their numbers, and how many samples each has.
    means : (c, c) float64
        Mean distance of a sample of one class to a sample of the other; NaN within a class of one sample.
    num_left_out : int
        Classes that are in the findings and not in the table.
    within, between : Finding or None
        Over all pairs of one class, and of different classes; None without such pairs.
    overall : Finding or None
        Over all pairs; None for a single sample.
    within_by_gate, between_by_gate, overall_by_gate : tuple of Finding
        The same for the codes of each gate; empty without such pairs.
    """

    classes: Int[np.ndarray, " c"]
    sizes: Int[np.ndarray, " c"]
    means: Float[np.ndarray, "c c"]
    num_left_out: int
    within: Finding | None
    between: Finding | None
    overall: Finding | None
    within_by_gate: tuple[Finding, ...]
    between_by_gate: tuple[Finding, ...]
    overall_by_gate: tuple[Finding, ...]


@read_arguments
def class_distances(
    sampled: SampleCodes, classes: Int[np.ndarray, " s"], *, most_classes: Count = MOST_CLASSES
) -> ClassDistances:
    """Return mean Hamming distances of codes within and between classes.

    Parameters
    ----------
    sampled : SampleCodes
    classes : (s,) int
        The class of every sample; all equal where there are no classes.
    most_classes : int
        How many classes get a row of the table; the largest ones do.

    Returns
    -------
    ClassDistances
        EXACT up to the rounding of a quotient. Where rounding could change codes, an ESTIMATE whose interval lets the
        pairs of these samples differ in no unit or in all.

    Notes
    -----
    One pass over the codes and one matrix product; nothing grows with the square of the number of samples.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.analyses.codespace import sample_codes
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = sample_codes(net, [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> found = class_distances(sampled, np.array([0, 0, 1]))
    >>> float(found.within), float(found.between)
    (1.0, 1.5)
    """
    began = time.perf_counter()
    classes = read_labels(classes, num_samples=len(sampled), name="classes")
    kinds, sizes = np.unique(classes, return_counts=True)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:most_classes])
    units = np.array([gate.num_units for gate in sampled.codes.layout], dtype=np.int64)
    agreeing = np.zeros(len(units), dtype=np.int64)  # pairs within classes, summed over units
    totals = [np.zeros((max(2, gate.num_pieces), gate.num_units), dtype=np.int64) for gate in sampled.codes.layout]
    rows = []
    for place, kind in enumerate(kinds):
        tables = piece_counts(sampled.codes[np.flatnonzero(classes == kind)])
        for index, table in enumerate(tables):
            totals[index] += table
            agreeing[index] += _pairs(table).sum()
        if place in largest:
            rows.append(np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]))
    agreeing_at_all = np.array([_pairs(table).sum() for table in totals], dtype=np.int64).reshape(-1)
    certain = ~sampled.in_doubt
    certain_sizes = np.array([int(certain[classes == kind].sum()) for kind in kinds])
    pairs = {"within": int(_pairs(sizes).sum()), "overall": int(_pairs(np.array([len(sampled)]))[0])}
    surely = {"within": int(_pairs(certain_sizes).sum()), "overall": int(_pairs(np.array([certain.sum()]))[0])}
    for known in (pairs, surely):
        known["between"] = known["overall"] - known["within"]
    agree = {"within": agreeing, "overall": agreeing_at_all, "between": agreeing_at_all - agreeing}
    seconds = time.perf_counter() - began

    def finding(kind: str, gates: slice, name: str) -> Finding:
        width = int(units[gates].sum())
        value = width - int(agree[kind][gates].sum()) / pairs[kind]
        unclear = 1.0 - surely[kind] / pairs[kind]
        return sampled.finding(
            value,
            int((~certain).sum()),
            (max(0.0, value - width * unclear), min(float(width), value + width * unclear)),
            name=name,
            definition=f"mean number of units on which the codes of {WHICH[kind]} differ, of {width:,} units",
            domain=f"{sampled.domain}, {pairs[kind]:,} pairs",
            method="sum over units of 1 less the share of pairs on one piece, from counts of pieces",
            tolerance=ROUNDING,
            source="shepeleva2020",
            work={"seconds": seconds},
        )

    def total(kind: str) -> Finding | None:
        return finding(kind, slice(None), NAMES[kind]) if pairs[kind] else None

    def by_gate(kind: str) -> tuple[Finding, ...]:
        if not pairs[kind]:
            return ()
        names = [gate.name for gate in sampled.codes.layout]
        return tuple(
            finding(kind, slice(index, index + 1), f"{NAMES[kind]}, {name}") for index, name in enumerate(names)
        )

    return ClassDistances(
        kinds[largest].astype(np.int64),
        sizes[largest].astype(np.int64),
        _means(np.array(rows), sizes[largest], int(units.sum())),
        len(kinds) - len(largest),
        total("within"),
        total("between"),
        total("overall"),
        by_gate("within"),
        by_gate("between"),
        by_gate("overall"),
    )


NAMES = {
    "within": "mean distance within a class",
    "between": "mean distance between classes",
    "overall": "mean distance between samples",
}
WHICH = {
    "within": "two different samples of one class",
    "between": "two samples of different classes",
    "overall": "two different samples",
}


def _pairs(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1) // 2


def _means(counts: np.ndarray, sizes: np.ndarray, num_units: int) -> np.ndarray:
    """Return the table of mean distances from counts of pieces, one row per class."""
    products = np.outer(sizes, sizes).astype(np.float64)
    agreeing = counts @ counts.T
    itself = np.arange(len(sizes))
    # Every sample agrees with itself on every unit.
    agreeing[itself, itself] -= sizes * num_units
    products[itself, itself] -= sizes
    with np.errstate(invalid="ignore"):
        return num_units - np.where(products > 0, agreeing / np.where(products > 0, products, 1.0), np.nan)

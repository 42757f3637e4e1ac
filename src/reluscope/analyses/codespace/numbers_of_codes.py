"""How many different codes samples have, in all gates, gate by gate and class by class.

Points of equal code lie in one region: the network is one affine map on them. The number of different codes is the
number of regions that hold a point, and so a lower bound on the number of regions.
"""

import numpy as np
from jaxtyping import Int

from reluscope.analyses.codespace.by_gate import by_gate, doubts_by_gate
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes
from reluscope.arguments import read_arguments, read_labels
from reluscope.findings import Column, Findings, Kind, declare

NUM_CODES = declare("num_distinct_codes", "different codes among the samples", kind=Kind.COUNT, source="shepeleva2020")
LARGEST_CELL = declare("largest_cell", "largest number of samples that share one code", kind=Kind.COUNT)
NUM_SAMPLES = declare("num_samples", "samples of the class", kind=Kind.COUNT)


@read_arguments
def distinct_codes(sampled: SampleCodes, classes: Int[np.ndarray, " s"] | None = None) -> Findings:
    """Return the number of different codes of samples, gate by gate, or class by class.

    Parameters
    ----------
    sampled : SampleCodes
        Codes of samples, from `sample_codes`.
    classes : (s,) int, optional
        Classes of the samples: the codes of each class are counted in place of those of each gate.

    Returns
    -------
    Findings
        ``num_distinct_codes`` and ``largest_cell`` of the codes of each ``gate``; the summary is for all gates
        together. With classes ``num_distinct_codes`` and ``num_samples`` of each ``class`` that occurs, for all gates
        together; `occupancy` counts the codes that classes share. If rounding could change the codes of k points (see
        `rounded_forward`), the number is at least the number without those points, and at most k more. For all gates
        together it is also at least the number for the gates without such points, and for any single gate.

    Notes
    -----
    Cost: one pass through a hash table.

    References
    ----------
    Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality besides
    accuracy", 2020.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = rs.codespace.sample_codes(net, [[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0]])
    >>> found = rs.codespace.distinct_codes(sampled)
    >>> print(found.summary.finding("num_distinct_codes"), found.summary.finding("largest_cell"))
    2 (EXACT) 2 (EXACT)
    >>> rs.codespace.distinct_codes(sampled, np.array([0, 1, 1]))["num_distinct_codes"].value
    array([1., 2.])
    """
    return _by_gate(sampled) if classes is None else _by_class(sampled, classes)


def _by_gate(sampled: SampleCodes) -> Findings:
    parts = [sampled.codes.of_gates(gate.name) for gate in sampled.codes.layout]
    groups = [part.groups() for part in (sampled.codes, *parts)]
    doubtful = [sampled.in_doubt, *sampled.doubtful.T]
    clear = _of_clear_gates(sampled)
    largest = np.array([np.bincount(group).max(initial=0) for group in groups])
    doubts = doubts_by_gate(sampled)
    most = np.minimum(largest + doubts, len(sampled))
    most[0] = min(*most, np.bincount(clear).max(initial=0))
    columns = (
        _numbers_of_codes(
            groups, doubtful, [[*zip(groups, doubtful, strict=True), (clear, np.zeros_like(clear, bool))]]
        ),
        Column.of(LARGEST_CELL, largest, np.maximum(largest - doubts, np.minimum(1, largest)), most, method=METHOD),
    )
    return by_gate(sampled, columns, seconds=sampled.seconds)


def _by_class(sampled: SampleCodes, classes: Int[np.ndarray, " s"]) -> Findings:
    classes = read_labels(classes, num_samples=len(sampled), name="classes")
    groups = sampled.codes.groups()
    kinds, sizes = np.unique(classes, return_counts=True)
    members = [np.flatnonzero(classes == kind) for kind in kinds]
    parts = [sampled.codes.of_gates(gate.name).groups() for gate in sampled.codes.layout]
    clear = _of_clear_gates(sampled)
    others = [*zip(parts, sampled.doubtful.T, strict=True), (clear, np.zeros_like(clear, bool))]
    columns = (
        _numbers_of_codes(
            [groups[rows] for rows in members],
            [sampled.in_doubt[rows] for rows in members],
            [[(part[rows], doubt[rows]) for part, doubt in others] for rows in members],
        ),
        Column.of(NUM_SAMPLES, sizes, method="counted"),
    )
    keys = {"class": kinds.astype(np.int64)}
    return Findings.of(*columns, keys=keys, domain=sampled.domain, num_samples=len(sampled), seconds=sampled.seconds)


def _of_clear_gates(sampled: SampleCodes) -> Int[np.ndarray, " s"]:
    """Return the samples by their codes of the gates in which rounding could change none of them."""
    names = [gate.name for gate, doubt in zip(sampled.codes.layout, sampled.doubtful.T, strict=True) if not doubt.any()]
    return sampled.codes.of_gates(*names).groups() if names else np.zeros(len(sampled), dtype=np.int64)


def _numbers_of_codes(
    groups: list[np.ndarray], doubtful: list[np.ndarray], others: list[list[tuple[np.ndarray, np.ndarray]]]
) -> Column:
    """Return how many groups there are; doubtful members may be in any others, or in groups of their own.

    Members that differ in some gates without doubt differ: ``others`` has, for the first places, groups by the codes of
    some of the gates, with the members that are in doubt there.
    """
    value = np.array([len(np.unique(own)) for own in groups])
    unclear = np.array([int(doubt.sum()) for doubt in doubtful])
    certain = value.copy()
    for place in np.flatnonzero(unclear):
        parts = [(groups[place], doubtful[place]), *(others[place] if place < len(others) else ())]
        certain[place] = max(len(np.unique(part[~doubt])) for part, doubt in parts)
    alone = np.array([len(np.unique(own[~doubt])) for own, doubt in zip(groups, doubtful, strict=True)])
    most = np.minimum(alone + unclear, [*map(len, groups)])
    return Column.of(
        NUM_CODES, value, np.maximum(certain, np.minimum(1, value)), np.maximum(most, value), method=METHOD
    )

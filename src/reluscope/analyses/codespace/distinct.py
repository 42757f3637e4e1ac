"""How many different codes samples have, gate by gate, in all and class by class.

Points of equal code lie in one region: the network is one affine map on them. The number of different codes is the
number of regions that hold a point, and so a lower bound on the number of regions.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.analyses.codespace.sampled import SampleCodes, sample_codes
from reluscope.arguments import read_arguments, read_labels
from reluscope.findings import Finding
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.tolerance import Tolerance


@dataclass(frozen=True)
class DistinctCodes:
    """Numbers of different codes over the same points.

    Parameters
    ----------
    num_points : int
    by_gate : tuple of Finding
        In order of evaluation; each counts the codes of one gate.
    total : Finding
        Counts the codes of all gates together.
    most_shared : Finding
        The largest number of points that share one code.
    """

    num_points: int
    by_gate: tuple[Finding, ...]
    total: Finding
    most_shared: Finding


@read_arguments
def distinct_codes(network: Network, x: Points, *, tolerance: Tolerance | None = None) -> DistinctCodes:
    """Count the different codes of a set of points.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    DistinctCodes
        EXACT for these points. Where rounding could change the codes of k points (see `rounded_forward`), an ESTIMATE
        between the number without those points and k more.

    Notes
    -----
    About four forward passes, and one pass through a hash table.

    References
    ----------
    Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality besides
    accuracy", 2020.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> print(distinct_codes(net, [[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0]]).total)
    2 (EXACT)
    """
    return count_distinct(sample_codes(network, x, tolerance=tolerance))


@read_arguments
def count_distinct(sampled: SampleCodes) -> DistinctCodes:
    """Count different codes that are there already; see `distinct_codes`."""
    by_gate = tuple(
        _count(sampled, sampled.codes.of_gates(gate.name).groups(), doubt, f"distinct codes of {gate.name}")
        for gate, doubt in zip(sampled.codes.layout, sampled.doubtful.T, strict=True)
    )
    doubt, groups = sampled.in_doubt, sampled.codes.groups()
    total = _count(sampled, groups, doubt, "distinct codes of all gates")
    most_shared = sampled.finding(
        int(np.bincount(groups).max(initial=0)),
        int(doubt.sum()),
        None,
        name="most samples that share one code",
        definition="largest number of samples in one region",
    )
    return DistinctCodes(len(sampled), by_gate, total, most_shared)


@dataclass(frozen=True)
class ClassCodes:
    """Numbers of different codes class by class.

    Parameters
    ----------
    classes, sizes : (c,) int64
        The classes that occur, ascending, and how many samples each has.
    counts : tuple of Finding
        Different codes of the samples of each class.
    mixed : Finding
        Codes that samples of more than one class share.
    """

    classes: Int[np.ndarray, " c"]
    sizes: Int[np.ndarray, " c"]
    counts: tuple[Finding, ...]
    mixed: Finding


@read_arguments
def count_distinct_by_class(sampled: SampleCodes, classes: Int[np.ndarray, " s"]) -> ClassCodes:
    """Count the different codes of every class, and those that several classes share.

    Parameters
    ----------
    sampled : SampleCodes
    classes : (s,) int

    Returns
    -------
    ClassCodes
        EXACT for these samples unless rounding could change codes; see `distinct_codes`.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = sample_codes(net, [[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0]])
    >>> found = count_distinct_by_class(sampled, np.array([0, 1, 1]))
    >>> [int(count) for count in found.counts], int(found.mixed)
    ([1, 2], 1)
    """
    classes = read_labels(classes, num_samples=len(sampled), name="classes")
    doubt, groups = sampled.in_doubt, sampled.codes.groups()
    kinds, sizes = np.unique(classes, return_counts=True)
    counts = []
    for kind in kinds:
        rows = np.flatnonzero(classes == kind)
        name = f"distinct codes of class {int(kind)}"
        counts.append(_count(sampled, groups[rows], doubt[rows], name, f"{len(rows):,} samples of the class"))
    pairs = np.unique(np.stack([groups, classes.astype(np.int64)]), axis=1)
    unclear = int(doubt.sum())
    shared = int((np.bincount(pairs[0]) > 1).sum())
    mixed = sampled.finding(
        shared,
        unclear,
        (max(0, shared - unclear), shared + unclear),
        name="codes that samples of several classes share",
        definition="number of different codes of samples of more than one class: regions that the code does not "
        "keep apart",
    )
    return ClassCodes(kinds.astype(np.int64), sizes.astype(np.int64), tuple(counts), mixed)


def _count(
    sampled: SampleCodes, groups: np.ndarray, doubt: np.ndarray, name: str, domain: str | None = None
) -> Finding:
    value, unclear = len(np.unique(groups)), int(doubt.sum())
    certain = len(np.unique(groups[~doubt])) if unclear else value
    return sampled.finding(
        value,
        unclear,
        (max(min(1, value), certain), certain + unclear),
        name=name,
        domain=sampled.domain if domain is None else domain,
        definition="number of different codes among the samples",
        source="shepeleva2020",
    )

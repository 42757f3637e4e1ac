"""How samples fill the cells of a network: how many share one, and how much information a code holds.

With n_c of s samples in cell c, the entropy ``H = -sum_c (n_c / s) log2 (n_c / s)`` of the codes is at most log2 s,
which it reaches when every sample has a cell of its own. What a code says about the class of its sample is the mutual
information ``I = H(class) - H(class | code)``; it too is largest when no two samples share a cell.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.analyses.codespace.sampled import SampleCodes
from reluscope.arguments import read_arguments, read_labels
from reluscope.errors import ShapeError
from reluscope.findings import Finding

ROUNDING = 1e-9


@dataclass(frozen=True)
class Occupancy:
    """How samples fill cells.

    Parameters
    ----------
    sizes : (g,) int64
        Samples in each occupied cell of all gates, descending.
    alone : Finding
        Share of samples that have a cell to themselves.
    entropy : Finding
        Of the codes of all gates, in bits.
    entropy_by_gate : tuple of Finding
    information : Finding or None
        What the code of all gates says about the class, in bits; None without classes.
    information_by_gate : tuple of Finding
        Empty without classes.
    """

    sizes: Int[np.ndarray, " g"]
    alone: Finding
    entropy: Finding
    entropy_by_gate: tuple[Finding, ...]
    information: Finding | None
    information_by_gate: tuple[Finding, ...]


@read_arguments
def occupancy(sampled: SampleCodes, classes: Int[np.ndarray, " s"] | None = None) -> Occupancy:
    """Return how samples fill cells, and the entropy of their codes.

    Parameters
    ----------
    sampled : SampleCodes
        Of at least one sample.
    classes : (s,) int, optional

    Returns
    -------
    Occupancy
        EXACT for these samples up to rounding, as numbers about the samples: the entropy of the distribution that they
        were drawn from is larger where many samples are alone. ESTIMATES where rounding could change codes.

    Raises
    ------
    ShapeError
        If there is no sample, or not one class per sample.

    Notes
    -----
    One pass over the codes for each gate, and one for all.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = rs.codespace.sample_codes(net, [[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> found = occupancy(sampled, np.array([0, 0, 1, 1]))
    >>> found.sizes, float(found.alone), float(found.entropy), float(found.information)
    (array([2, 1, 1]), 0.5, 1.5, 1.0)
    """
    if not len(sampled):
        raise ShapeError("expected at least one sample, got no samples")
    if classes is not None:
        classes = read_labels(classes, num_samples=len(sampled), name="classes")
    labels = None if classes is None else np.unique(classes, return_inverse=True)[1].reshape(-1)
    _, code_of, sizes = sampled.codes.unique(return_inverse=True, return_counts=True)
    unclear = int(sampled.in_doubt.sum())
    alone = sampled.finding(
        float((sizes == 1).sum() / len(sampled)),
        unclear,
        None,
        name="samples alone in their cell",
        definition="share of samples whose code no other sample has",
        tolerance=ROUNDING,
        source="shepeleva2020",
    )
    parts = {
        name: part.unique(return_inverse=True)[1]
        for name, part in sampled.codes.by_gate().items()  # views
    }
    doubts = sampled.doubtful.sum(axis=0)
    entropies, informations = [], []
    for index, (name, rows) in enumerate([*parts.items(), ("all gates", code_of)]):
        doubt = unclear if index == len(parts) else int(doubts[index])
        entropies.append(_entropy_finding(sampled, rows, name, doubt))
        if labels is not None:
            informations.append(_information_finding(sampled, rows, labels, name, doubt))
    return Occupancy(
        np.sort(sizes)[::-1],
        alone,
        entropies[-1],
        tuple(entropies[:-1]),
        informations[-1] if informations else None,
        tuple(informations[:-1]),
    )


def entropy(groups: Int[np.ndarray, " s"]) -> float:
    """Return the entropy of a grouping in bits.

    Examples
    --------
    >>> entropy(np.array([0, 0, 1, 2]))
    1.5
    """
    shares = np.bincount(groups) / len(groups)
    shares = shares[shares > 0]
    # Adding zero turns the -0.0 of a single group into 0.0.
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _entropy_finding(sampled: SampleCodes, rows: np.ndarray, name: str, unclear: int) -> Finding:
    return sampled.finding(
        entropy(rows),
        unclear,
        None,
        name=f"entropy of the codes of {name}",
        definition=f"entropy of the samples' codes in bits, at most {np.log2(len(rows)):.4g} for so many samples",
        tolerance=ROUNDING,
        source="shepeleva2020",
    )


def _information_finding(
    sampled: SampleCodes, rows: np.ndarray, labels: np.ndarray, name: str, unclear: int
) -> Finding:
    both = np.unique(rows * (int(labels.max()) + 1) + labels, return_inverse=True)[1].reshape(-1)
    whole = entropy(labels)
    return sampled.finding(
        max(0.0, entropy(rows) + whole - entropy(both)),
        unclear,
        None,
        name=f"information on the class in the codes of {name}",
        definition=f"mutual information of code and class over the samples in bits, at most {whole:.4g}, the entropy "
        "of the classes",
        tolerance=ROUNDING,
    )

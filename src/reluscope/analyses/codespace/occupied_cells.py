"""How samples fill the cells of a network: how many share one, and how much information a code holds.

With n_c of s samples in cell c, the entropy ``H = -sum_c (n_c / s) log2 (n_c / s)`` of the codes is at most log2 s,
which it reaches when every sample has a cell of its own. What a code says about the class of its sample is the mutual
information ``I = H(class) - H(class | code)``; it too is largest when no two samples share a cell.
"""

import numpy as np
from jaxtyping import Int

from reluscope.analyses.codespace.by_gate import by_gate, doubts_by_gate
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes
from reluscope.analyses.samples.measuring import ragged
from reluscope.arguments import read_arguments, read_labels
from reluscope.errors import ShapeError
from reluscope.findings import Column, Findings, Kind, Quantity, declare
from reluscope.geometry.numbers.resolutions import TOTALS

ALONE = declare(
    "share_alone_in_cell", "share of samples whose code no other sample has", kind=Kind.SHARE, source="shepeleva2020"
)
ENTROPY = declare("code_entropy", "entropy of the samples' codes", unit="bits", source="shepeleva2020")
INFORMATION = declare(
    "information_on_class", "mutual information of a sample's code and its class over the samples", unit="bits"
)
NUM_MIXED = declare(
    "num_codes_of_several_classes",
    "different codes of samples of more than one class: regions that the code does not keep apart",
    kind=Kind.COUNT,
)


@read_arguments
def occupancy(sampled: SampleCodes, classes: Int[np.ndarray, " s"] | None = None) -> Findings:
    """Return how samples fill cells, and the entropy of their codes.

    Parameters
    ----------
    sampled : SampleCodes
        Of at least one sample.
    classes : (s,) int, optional

    Returns
    -------
    Findings
        ``share_alone_in_cell`` and ``code_entropy``, and with classes ``information_on_class`` and
        ``num_codes_of_several_classes``, for the codes of each ``gate``; the summary is for all gates together. The
        numbers describe the samples: if many are alone, the entropy of their distribution is larger. The detail
        ``sizes`` gives the number of samples in each occupied cell, descending.

    Raises
    ------
    ShapeError
        If there is no sample, or not one class per sample.

    Notes
    -----
    One pass over the codes for each gate, and one for all. A sample whose code rounding could change leaves one
    cell and enters another: each changes the number of samples alone, and of mixed cells, by at most one.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> sampled = rs.codespace.sample_codes(net, [[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> found = rs.codespace.occupancy(sampled, np.array([0, 0, 1, 1])).summary
    >>> found.details["sizes"][0], [float(found[name].value[0]) for name in found]
    (array([2, 1, 1]), [0.5, 1.5, 1.0, 0.0])
    """
    if not len(sampled):
        raise ShapeError("expected at least one sample, got no samples")
    number = len(sampled)
    doubts = doubts_by_gate(sampled)
    parts = [sampled.codes, *sampled.codes.by_gate().values()]
    rows = [part.unique(return_inverse=True)[1] for part in parts]
    sizes = [np.sort(np.bincount(own))[::-1] for own in rows]
    alone = np.array([(own == 1).sum() / number for own in sizes])
    shift = 2 * doubts / number
    columns = [
        Column.of(ALONE, alone, np.maximum(0, alone - shift), np.minimum(1, alone + shift), method=METHOD),
        _in_bits(ENTROPY, [entropy(own) for own in rows], doubts, np.log2(number)),
    ]
    if classes is not None:
        labels = np.unique(read_labels(classes, num_samples=number, name="classes"), return_inverse=True)[1].reshape(-1)
        whole = entropy(labels)
        kinds = int(labels.max()) + 1
        both = [np.unique(own * kinds + labels, return_inverse=True) for own in rows]
        information = [
            max(0.0, entropy(own) + whole - entropy(together.reshape(-1)))
            for own, (_, together) in zip(rows, both, strict=True)
        ]
        mixed = np.array([int((np.bincount(pairs // kinds) > 1).sum()) for pairs, _ in both])
        columns += [
            _in_bits(INFORMATION, information, doubts, whole),
            Column.of(NUM_MIXED, mixed, np.maximum(0, mixed - doubts), mixed + doubts, method=METHOD),
        ]
    return by_gate(sampled, columns, seconds=sampled.seconds, details={"sizes": ragged(sizes)})


def entropy(groups: Int[np.ndarray, " s"]) -> float:
    """Return the entropy of a grouping in bits."""
    shares = np.bincount(groups) / len(groups)
    shares = shares[shares > 0]
    # Adding zero turns the -0.0 of a single group into 0.0.
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _in_bits(quantity: Quantity, values: list[float], doubts: np.ndarray, most: float) -> Column:
    """Return numbers of bits, exact up to rounding; anything up to the most where codes are in doubt."""
    value = np.array(values)
    lower = np.where(doubts > 0, 0.0, np.maximum(0.0, value - TOTALS))
    upper = np.where(doubts > 0, np.maximum(most, value), value) + TOTALS
    return Column.of(quantity, value, lower, upper, scale=1.0, method=METHOD)

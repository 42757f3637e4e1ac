"""How many different codes a set of points has, gate by gate and in all.

Points of equal code lie in one region: the network is one affine map on them. The number of different codes is the
number of regions that hold a point, and so a lower bound on the number of regions.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from reluscope.analyses.rounding import rounded_forward
from reluscope.codes.packed import Codes
from reluscope.findings import Claim, Finding
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
    began = time.perf_counter()
    points = network.points(x)
    codes = network.codes(points)
    doubtful = rounded_forward(network, points, tolerance=tolerance).doubtful
    common: dict[str, Any] = {
        "domain": f"{len(points):,} samples",
        "method": "float64 forward pass with a running error bound, codes compared exactly",
    }

    def finding(name: str, what: Codes, doubt: np.ndarray) -> Finding:
        value, unclear = len(what.unique()), int(doubt.sum())
        certain = len(what[~doubt].unique()) if unclear else value
        return Finding(
            value,
            Claim.ESTIMATE if unclear else Claim.EXACT,
            name=name,
            interval=(max(1, certain), certain + unclear) if unclear else None,
            definition="number of different codes among the samples",
            source="shepeleva2020",
            num_undecided=unclear,
            work={"seconds": time.perf_counter() - began},
            **common,
        )

    by_gate = tuple(
        finding(f"distinct codes of {name}", part, doubtful[:, index])
        for index, (name, part) in enumerate(codes.by_gate().items())
    )
    doubt = np.asarray(doubtful.any(axis=1))
    total = finding("distinct codes of all gates", codes, doubt)
    _, counts = codes.unique(return_counts=True)
    most = int(counts.max())
    most_shared = Finding(
        most,
        Claim.ESTIMATE if doubt.any() else Claim.EXACT,
        name="most samples that share one code",
        definition="largest number of samples in one region",
        num_undecided=int(doubt.sum()),
        work={"seconds": time.perf_counter() - began},
        **common,
    )
    return DistinctCodes(len(points), by_gate, total, most_shared)

"""The numbers of a partitioned plane: regions, facets, the decision boundary, and how much each class takes."""

from typing import Any

from reluscope.analyses.classification.classes import num_classes
from reluscope.analyses.planes.class_areas import ClassAreas
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.partitions.decision import DecisionBoundary
from reluscope.partitions.table import Partition


def plane_findings(part: Partition, boundary: DecisionBoundary) -> tuple[Finding, Finding, Finding]:
    """Return the number of regions, the number of facets, and the length of the decision boundary.

    Parameters
    ----------
    part : Partition
        Of two dimensions.
    boundary : DecisionBoundary
        Of this partition.

    Returns
    -------
    tuple of Finding
        EXACT if the partition is; else LOWER.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> [str(finding) for finding in plane_findings(part, rs.decision_boundary(part))[:2]]
    ['4 (EXACT)', '4 (EXACT)']
    """
    regions = part.finding()
    claim = Claim.EXACT if regions.claim is Claim.EXACT else Claim.LOWER
    common: dict[str, Any] = {"domain": regions.domain, "tolerance": regions.tolerance, "work": regions.work}
    facets = Finding(
        len(part.facets),
        claim,
        name="facets between regions",
        definition="maximal straight pieces of boundary between two regions",
        method=regions.method,
        num_undecided=regions.num_undecided,
        **common,
    )
    length = Finding(
        boundary.length,
        claim,
        name="length of the decision boundary",
        definition="total length, in coordinates of the domain, of the set where the largest output changes",
        method="ties of affine outputs, region by region",
        num_undecided=regions.num_undecided,
        **{**common, "tolerance": 1e-9 * max(1.0, boundary.length)},
    )
    return regions, facets, length


def class_shares(part: Partition, areas: ClassAreas) -> tuple[Finding, ...]:
    """Return which share of a plane's window each class takes, classes without area left out.

    Parameters
    ----------
    part : Partition
        Of two dimensions, with its network.
    areas : ClassAreas
        Of this partition.

    Returns
    -------
    tuple of Finding
        EXACT if the partition is; else an ESTIMATE, the share of what was reached.

    Raises
    ------
    InputError
        If the partition was loaded without its network.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.analyses.planes import class_areas
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> part = rs.partition(net, rs.Box(0, 1, 2))
    >>> [str(share) for share in class_shares(part, class_areas(part))]
    ['0.5 (EXACT)', '0.5 (EXACT)']
    """
    if part.network is None:
        raise InputError(
            "shares of classes need the network, and this partition was loaded without one: "
            "Partition.load(path, network=net)"
        )
    regions = part.finding()
    sizes = areas.by_class(num_classes(part.network))
    total = float(sizes.sum())
    return tuple(
        Finding(
            float(size / total),
            Claim.EXACT if regions.claim is Claim.EXACT else Claim.ESTIMATE,
            name=f"share of class {one}",
            definition="share of the window's area on which this output is the largest",
            domain=regions.domain,
            method="regions cut along ties of outputs",
            tolerance=1e-9,
            num_undecided=regions.num_undecided,
        )
        for one, size in enumerate(sizes)
        if size > 0
    )

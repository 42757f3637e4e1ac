"""The numbers of a partitioned plane: regions, facets, the decision boundary, and how much each class takes."""

import numpy as np

from reluscope.analyses.classification.classes import num_classes
from reluscope.analyses.planes.class_areas import ClassAreas
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.partitions.decision import DecisionBoundary
from reluscope.partitions.table import Partition

ROUNDING = 1e-10
NUM_REGIONS = declare(
    "num_regions_in_plane", "proper activation regions (full-dimensional) in the window", kind=Kind.COUNT
)
NUM_FACETS = declare(
    "num_facets_in_plane", "maximal straight pieces of boundary between two regions of the window", kind=Kind.COUNT
)
BOUNDARY_LENGTH = declare(
    "decision_boundary_length",
    "total length, in coordinates of the domain, of the set where the largest output changes",
)
AREA_SHARE = declare(
    "share_of_window", "share of the window's area on which this output is the largest", kind=Kind.SHARE
)


@read_arguments
def plane_measures(part: Partition, boundary: DecisionBoundary) -> Findings:
    """Return the number of regions, the number of facets, and the length of the decision boundary.

    Parameters
    ----------
    part : Partition
        Of two dimensions.
    boundary : DecisionBoundary
        Of this partition.

    Returns
    -------
    Findings
        One row: ``num_regions_in_plane``, ``num_facets_in_plane`` and ``decision_boundary_length``. Exact if the
        partition is; else at least so many, and so long.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> found = rs.planes.plane_measures(part, rs.decision_boundary(part))
    >>> print(found.finding("num_regions_in_plane"), found.finding("num_facets_in_plane"))
    4 (EXACT) 4 (EXACT)
    """
    regions = part.finding()
    is_exact = regions.claim is Claim.EXACT
    most = regions.value if is_exact else np.inf if regions.interval is None else regions.interval[1]
    length = boundary.length
    diameter = float(np.linalg.norm(np.ptp(part.vertices, axis=0))) if len(part) else 0.0
    rounding = ROUNDING * max(diameter, length)
    ends = (max(0.0, length - rounding), length + rounding) if is_exact and boundary.is_whole else (length, np.inf)
    return Findings.of(
        Column.of(NUM_REGIONS, [regions.value], [regions.value], [most], method=regions.method),
        Column.of(
            NUM_FACETS, [len(part.facets)], upper=[len(part.facets) if is_exact else np.inf], method=regions.method
        ),
        Column.of(
            BOUNDARY_LENGTH,
            [length],
            [ends[0]],
            [ends[1]],
            scale=diameter,
            method="ties of affine outputs, region by region",
        ),
        domain=regions.domain,
        stopped=part.note,
    )


@read_arguments
def area_shares(part: Partition, areas: ClassAreas) -> Findings:
    """Return which share of a plane's window each class takes, classes without area left out.

    Parameters
    ----------
    part : Partition
        Of two dimensions, with its network.
    areas : ClassAreas
        Of this partition.

    Returns
    -------
    Findings
        ``share_of_window`` of each ``class``: exact if the partition is; else the share of what was reached, between
        ends that give what was not reached to no class or to this one.

    Raises
    ------
    InputError
        If the partition was loaded without its network.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> part = rs.partition(net, rs.Box(0, 1, 2))
    >>> rs.planes.area_shares(part, rs.planes.class_areas(part))["share_of_window"].value
    array([0.5, 0.5])
    """
    if part.network is None:
        raise InputError(
            "shares of classes need the network, and this partition was loaded without one: "
            "Partition.load(path, network=net)"
        )
    regions = part.finding()
    sizes = areas.by_class(num_classes(part.network))
    classes = np.flatnonzero(sizes > 0)
    reached = float(sizes.sum())
    whole = reached if regions.claim is Claim.EXACT else _window_area(part)
    value = sizes[classes] / reached if reached else sizes[classes]
    left = max(0.0, whole - reached)
    lower = np.minimum(value, sizes[classes] / whole) - ROUNDING
    upper = np.maximum(value, (sizes[classes] + left) / whole) + ROUNDING
    column = Column.of(
        AREA_SHARE,
        value,
        np.maximum(0.0, lower),
        np.minimum(1.0, upper),
        method="regions cut along ties of outputs",
    )
    return Findings.of(column, keys={"class": classes}, domain=regions.domain, stopped=part.note)


def _window_area(part: Partition) -> float:
    window = part.window
    return window.volume()

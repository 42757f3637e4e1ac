"""The numbers of a partitioned plane: regions, facets, the decision boundary, and how much each class takes."""

import numpy as np

from reluscope.analyses.classification.class_predictions import num_classes
from reluscope.analyses.planes.areas_in_doubt import areas_in_doubt
from reluscope.analyses.planes.class_areas import ClassAreas
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.geometry.numbers.resolutions import TOTALS
from reluscope.partitions.corner_errors import side_errors, volume_errors
from reluscope.partitions.decisions.decision_boundary import DecisionBoundary
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.tolerance import EPSILON

# Relative to the area of the window: what a class may have that is left out.
NOTHING = 1e-9
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
        partition is; lower bounds if regions are missing; all three unknown if signs are undecided.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> found = rs.planes.plane_measures(part, rs.decision_boundary(part))
    >>> print(found.finding("num_regions_in_plane"), found.finding("num_facets_in_plane"))
    4 (EXACT) 4 (EXACT)
    """
    regions, pairs, length = part.finding(), float(len(part.facets)), boundary.finding()
    fewest, most = (regions.value, regions.value) if regions.interval is None else regions.interval
    facets = left_open(part).ends(pairs, pairs, least=0.0)
    ends = (length.value,) * 2 if length.interval is None else length.interval
    if length.tolerance is not None:
        ends = max(0.0, length.value - length.tolerance), length.value + length.tolerance
    return Findings.of(
        Column.of(NUM_REGIONS, [regions.value], [fewest], [most], method=regions.method),
        Column.of(NUM_FACETS, [pairs], [facets[0]], [facets[1]], method=regions.method),
        Column.of(
            BOUNDARY_LENGTH,
            [length.value],
            [ends[0]],
            [ends[1]],
            scale=float(np.linalg.norm(np.ptp(part.vertices, axis=0))) if len(part) else 0.0,
            method="ties of affine outputs, region by region",
        ),
        domain=regions.domain,
        stop=part.stop,
    )


@read_arguments
def area_shares(part: Partition, areas: ClassAreas) -> Findings:
    """Return the share of each class in the window of a plane, without classes of which no listed region holds any.

    Parameters
    ----------
    part : Partition
        Of two dimensions, with its network.
    areas : ClassAreas
        Of this partition.

    Returns
    -------
    Findings
        ``share_of_window`` of each ``class``: exact if the partition is. Otherwise the share of the reached area,
        with ends that assign the rest to no class or to this one. Where outputs tie within their rounding, either
        class may have the area. If signs stayed undecided a class may have any share.

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
    regions, left = part.finding(), left_open(part)
    sizes = areas.by_class(num_classes(part.network))
    reached = float(sizes.sum())
    whole = reached if left.is_nothing else _window_area(part)
    doubt = np.zeros(len(sizes)) if areas.is_rational or not len(part) else areas_in_doubt(part)
    occurs = (sizes > 0) | (doubt > NOTHING * whole)
    if areas.is_rational:  # a part whose corners are one point in floats is a part
        occurs[areas.classes] = True
    classes = np.flatnonzero(occurs)
    value = sizes[classes] / reached if reached else sizes[classes]
    missing = max(0.0, whole - reached)
    moved = _rounded(areas) + (0.0 if areas.is_rational else _moved(part))
    error = (doubt[classes] + moved) / whole + TOTALS if whole else 0.0
    lower = np.minimum(value, sizes[classes] / whole) - error
    upper = np.maximum(value, (sizes[classes] + missing) / whole) + error
    if not left.is_listed_sure:
        lower, upper = np.zeros(len(classes)), np.ones(len(classes))
    column = Column.of(
        AREA_SHARE,
        value,
        np.maximum(0.0, lower),
        np.minimum(1.0, upper),
        method="regions cut along ties of outputs",
    )
    return Findings.of(column, keys={"class": classes}, domain=regions.domain, stop=part.stop)


def _rounded(areas: ClassAreas) -> float:
    """Return the area that rounding of the corners of polygons may move from one class to another."""
    if not len(areas):
        return 0.0
    ends = np.stack([end.reduceat(areas.corners, areas.offsets[:-1]) for end in (np.minimum, np.maximum)], axis=1)
    return float(volume_errors(4 * EPSILON * np.abs(ends).max(axis=(1, 2)), ends).sum())


def _moved(part: Partition) -> float:
    """Return the area that rounding of corners may move from one region to another."""
    if not len(part):
        return 0.0
    offsets, ids = part.region_vertices
    corners = part.vertices[ids]
    ends = np.stack([reduce.reduceat(corners, offsets[:-1]) for reduce in (np.minimum, np.maximum)], axis=1)
    return float(volume_errors(side_errors(part), ends).sum())


def _window_area(part: Partition) -> float:
    window = part.window
    return window.volume()

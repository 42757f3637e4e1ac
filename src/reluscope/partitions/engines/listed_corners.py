"""Corners of regions that were listed by linear programs: those of the polyhedra of their codes.

Where gates compare entries with each other and jump, no engine keeps corners. In few dimensions each region has few
rows that matter, and its corners are found from all of them, region by region.
"""

from dataclasses import replace

import numpy as np

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.solid_regions import SolidRegions
from reluscope.regions.regions import find_regions

# A few milliseconds each: dimensions in which they are drawn, and regions in a minute or so.
MOST_DIMENSIONS, MOST_REGIONS = 3, 20_000


def with_corners(part: Partition, network: Network) -> Partition:
    """Return a partition of a bounded domain with the corners of its regions; as it is where they are not to be had.

    Parameters
    ----------
    part : Partition
        By the tree.
    network : Network
        On the whole input space.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.networks.building.builder import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.input((2,))
    >>> net = builder.build(builder.top_k(x, 1, 0))
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> part.has_vertices, part.volumes().round(9).tolist()
    (True, [2.0, 2.0])
    """
    domain = part.domain
    if not domain.is_bounded() or not 0 < domain.dim <= MOST_DIMENSIONS or not 0 < len(part) <= MOST_REGIONS:
        return part
    inner, window = (network.restrict(domain), domain.window) if isinstance(domain, Slice) else (network, domain)
    witnesses = part.witnesses
    found = find_regions(inner.at(witnesses, tolerance=part.tolerance), domain=window).regions
    try:
        corners = [np.zeros((0, domain.dim)) if one is None else one.polyhedron.vertices() for one in found]
    except DegenerateGeometryError:  # thinner than floats resolve
        return part
    codes = [one.code.words[0] for one in found if one is not None]
    if min(map(len, corners)) <= domain.dim or not np.array_equal(codes, part.codes.words):
        return part
    if domain.dim == 1:
        corners = [np.sort(one, axis=0) for one in corners]
    number, nothing = len(part), np.zeros(0, dtype=np.int64)
    points = np.concatenate(corners)
    geometry = SolidRegions(
        words=part.codes.words,
        witnesses=witnesses,
        is_bounded=np.ones(number, dtype=bool),
        left=nothing,
        right=nothing,
        regions=np.arange(number),
        cell_offsets=np.cumsum([0, *map(len, corners)]).astype(np.int64),
        corner_ids=np.arange(len(points), dtype=np.int32),
        corners=np.column_stack([points, np.ones(len(points))]),
        num_unmatched=0,
    )
    return replace(part, geometry=geometry)

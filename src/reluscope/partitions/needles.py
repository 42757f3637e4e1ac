"""Volumes of needles: bounded regions that end so far away that floats lose their corners, or take them for directions.

Homogeneous corners are known up to the rounding of what is about a unit away; the farther a corner, the fewer digits
has its last coordinate, by which it is divided. Such regions are measured in rational arithmetic, by their half-spaces.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from reluscope.codes.packing import unpack_pieces
from reluscope.geometry.domains import Box
from reluscope.geometry.proved_programs import nearest
from reluscope.partitions.exact_rows import ExactRows
from reluscope.partitions.first_cells import typical_distance
from reluscope.partitions.solid_regions import SolidRegions

if TYPE_CHECKING:
    from reluscope.partitions.table import Partition

# From so many typical distances on corners have less than ten digits.
FAR = 1e5


def volumes_with_needles(part: "Partition") -> Float[np.ndarray, " r"]:
    """Return the volumes of regions, infinite where they are unbounded.

    Those of needles are NaN where rational arithmetic would cost too much, or there is no network.
    """
    geometry, bounded = part.geometry, part.is_bounded()
    sizes = np.where(bounded, geometry.volumes, np.inf)
    window = part.window
    if not isinstance(geometry, SolidRegions) or isinstance(window, Box) or window.is_bounded():
        return sizes
    network = None if part.network is None else part.network_on_domain
    farthest = np.inf if network is None else FAR * typical_distance(network, window)
    vertices = geometry.cell_vertices
    is_far = np.abs(vertices[:, :-1]).max(axis=1, initial=0.0) >= farthest * vertices[:, -1]
    is_far |= vertices[:, -1] == 0
    owners = np.repeat(geometry.regions, np.diff(geometry.cell_offsets))
    needles = np.flatnonzero(bounded & (np.bincount(owners, weights=is_far, minlength=len(part)) > 0))
    if not len(needles):
        return sizes
    sizes[needles] = np.nan
    if network is not None:
        exact = ExactRows(network, window)
        table = unpack_pieces(part.codes.words[needles], network.layout)
        for row, pieces in zip(needles.tolist(), table, strict=True):
            volume = exact.volume([pieces[network.layout.units(gate)] for gate in range(len(network.layout))])
            sizes[row] = np.nan if volume is None else nearest(volume)
    return sizes

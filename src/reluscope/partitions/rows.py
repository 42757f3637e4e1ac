"""Rows of a partition: one region seen alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.hulls import sides_of_polygon
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.partitions.corner_errors import corner_errors
from reluscope.regions.regions import regions
from reluscope.tolerance import EPSILON

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition

# Sides shorter than so many errors of a corner have no direction.
TURNED = 16.0


@dataclass(frozen=True)
class Row:
    """One region of a partition, seen as a row of its table; all coordinates are those of the domain.

    Parameters
    ----------
    partition : Partition
    index : int
    """

    partition: "Partition"
    index: int

    @property
    def code(self) -> Codes:
        """The code, as a batch of one."""
        return self.partition.codes[self.index : self.index + 1]

    @property
    def witness(self) -> Float[np.ndarray, " d"]:
        """A strictly interior point."""
        return self.partition.witnesses[self.index]

    @property
    def vertices(self) -> Float[np.ndarray, "v d"]:
        """Corners; in the plane in counter-clockwise order."""
        offsets, ids = self.partition.region_vertices
        return self.partition.vertices[ids[offsets[self.index] : offsets[self.index + 1]]]

    @property
    def volume(self) -> float:
        """Volume; area in the plane, length on a line."""
        return float(self.partition.volumes()[self.index])

    @property
    def map(self) -> AffineMaps:
        """The affine map of the network on the region, as a batch of one."""
        return self.partition.linearize([self.index])

    @property
    def polyhedron(self) -> Polyhedron:
        """The region as an intersection of half-spaces.

        On bounded lines and planes those of its sides, with unit normals, which hold at all its corners; elsewhere
        those of all units, for which the partition needs its network.
        """
        part = self.partition
        if not part.has_facet_vertices:
            return regions(part.network_on_domain, self.witness, domain=part.window)[0].polyhedron
        corners = self.vertices
        if corners.shape[1] == 1:
            return Polyhedron(np.array([[1.0], [-1.0]]), np.array([corners.max(), -corners.min()]))
        offsets, ids = part.region_vertices
        errors = corner_errors(part, ids[offsets[self.index] : offsets[self.index + 1]])
        error = max(float(errors.max(initial=0.0)), EPSILON * float(np.abs(corners).max()))
        return Polyhedron(*sides_of_polygon(corners, TURNED * error))

"""Rows of a partition: one region seen alone, and the facets between two."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

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
class Facets:
    """Pieces of boundary between two regions.

    Parameters
    ----------
    left, right : (f,) int64
        Rows of the regions on either side.
    vertices : (f, d) int64
        Rows of the vertices at the ends: two in the plane, one on a line; of no columns in more dimensions.
    flip_offsets : (f + 1,) int64; flips : (flip_offsets[-1], 2) int64
        Units that change their piece across each facet, as gate and unit within the gate. More than one flips on
        degenerate networks.
    """

    left: Int[np.ndarray, " f"]
    right: Int[np.ndarray, " f"]
    vertices: Int[np.ndarray, "f d"]
    flip_offsets: Int[np.ndarray, " f1"]
    flips: Int[np.ndarray, "flips 2"]

    def __len__(self) -> int:
        return len(self.left)

    def flips_at(self, facet: int) -> Int[np.ndarray, "flips 2"]:
        """Return gate and unit of all units that change their piece across one facet."""
        return self.flips[self.flip_offsets[facet] : self.flip_offsets[facet + 1]]

    @property
    def gates(self) -> Int[np.ndarray, " f"]:
        """First gate with a unit that changes its piece across each facet."""
        return self.flips[self.flip_offsets[:-1], 0]


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

"""The table of a partition's regions: the data that engines fill, and what is read of it without more work."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np
from jaxtyping import Bool, Float

from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.table.boundedness import Boundedness, boundedness_of
from reluscope.partitions.table.mosaic import Mosaic
from reluscope.partitions.table.region_geometry import RegionGeometry
from reluscope.stopping import Noted, Stop
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionTable(Noted):
    """One row per region: codes, and what the engine keeps of corners and neighbours; see `Partition` for fields."""

    domain: Domain
    codes: Codes
    geometry: RegionGeometry
    num_undecided: int
    num_open: int
    tolerance: Tolerance
    certified: bool = False
    fingerprint: str
    network: Network | None = None
    stop: Stop | None = None
    work: dict[str, float] = field(default_factory=dict)
    method: str
    num_pending: int = 0
    proof: Certificate | None = None
    jumps: tuple[str, ...] = ()
    confirmed: Bool[np.ndarray, " r"] | None = None

    def __len__(self) -> int:
        """Return how many regions are listed; `finding` also counts open cells that are sure to hold one each."""
        return len(self.codes)

    @property
    def has_vertices(self) -> bool:
        """Whether the vertices and volumes of regions are known; ``method="tree"`` and ``keep="codes"`` keep none."""
        return self.geometry.has_vertices

    @property
    def has_facet_vertices(self) -> bool:
        """Whether it is known which vertices facets end at: on bounded lines and planes, by the engine "incidence"."""
        return self.geometry.has_facet_vertices

    @property
    def mosaic(self) -> Mosaic:
        """Vertices, facets and regions as one complex, with the facets on the domain's boundary.

        Raises
        ------
        InputError
            If it is not known which vertices facets end at.
        """
        if not self.has_facet_vertices:
            raise InputError(
                f"only on bounded lines and planes it is known where facets end, got {self.domain.describe()} by "
                f"{self.method}: partition a Segment or a Plane, and leave method and keep out"
            )
        return cast("Mosaic", self.geometry)

    @property
    def dim(self) -> int:
        """Dimension d of the domain."""
        return self.domain.dim

    @property
    def vertices(self) -> Float[np.ndarray, "v d"]:
        """Vertices; on lines and planes shared by the regions around them.

        Raises
        ------
        InputError
            If no corners are kept: ``method="tree"``, ``keep="codes"``.
        """
        return self.geometry.vertices

    @property
    def region_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of every region as ``(offsets, ids)``.

        Ascending on a line, counter-clockwise in the plane, in no particular order in more dimensions, where the
        directions of unbounded regions are not among them.

        Raises
        ------
        InputError
            If no corners are kept: ``method="tree"``, ``keep="codes"``.
        """
        return self.geometry.region_vertices

    @property
    def witnesses(self) -> Float[np.ndarray, "r d"]:
        """A strictly interior point of every region: the mean of its corners, where they are kept."""
        return self.geometry.witnesses

    @cached_property
    def _boundedness(self) -> Boundedness:
        return boundedness_of(self)

    def is_bounded(self) -> np.ndarray:
        """Return for every region whether it is bounded: whether no direction stays in it; see `boundedness`."""
        return self._boundedness.is_bounded

    @property
    def bounded_domain(self) -> Slice | Box:
        """The domain, where it is bounded: what pictures and lengths need.

        Raises
        ------
        InputError
            If the domain is a whole space or another unbounded polyhedron.
        """
        if isinstance(self.domain, Slice | Box):
            return self.domain
        raise InputError(f"this needs a bounded domain, got {self.domain.describe()}: partition a Box or a Slice")

    @property
    def window(self) -> Box | Polyhedron | Space:
        """The domain in its own coordinates."""
        return self.domain.window if isinstance(self.domain, Slice) else self.domain

    @cached_property
    def network_on_domain(self) -> Network:
        """The network as a function of the domain's coordinates.

        Raises
        ------
        InputError
            If the partition was loaded without its network.
        """
        if self.network is None:
            raise InputError(
                "this needs the network, and the partition was loaded without one: Partition.load(path, network=net)"
            )
        return self.network.restrict(self.domain) if isinstance(self.domain, Slice) else self.network

    @read_arguments
    def require_complete(self, purpose: str) -> None:
        """Raise IncompletePartitionError unless every region of the domain is here."""
        if self.num_open:
            raise IncompletePartitionError(
                f"{purpose} needs every region of the domain, and this partition stopped early ({self.note}) with "
                f"{self.num_open:,} cells unfinished: run it again with a larger budget"
            )

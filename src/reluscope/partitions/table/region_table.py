"""The table of a partition's regions: the data that engines fill, and what is read of it without more work."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from reluscope.arguments import read_arguments
from reluscope.codes.packed import Codes
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.table.boundedness import Boundedness, boundedness
from reluscope.partitions.table.corner_columns import CornerColumns
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.partitions.tree.tree import TreeRegions
from reluscope.partitions.tree.tree_facets import tree_facets
from reluscope.stopping import Noted, Stop
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionTable(Noted):
    """One row per region: codes, and what the engine keeps of corners and neighbours; see `Partition` for fields."""

    domain: Domain
    codes: Codes
    geometry: RegionColumns
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
        return self.geometry.corners is not None

    @property
    def has_facet_vertices(self) -> bool:
        """Whether it is known which vertices facets end at: on bounded lines and planes, by the engine "incidence"."""
        return self.geometry.has_facet_ends

    @property
    def facets_with_ends(self) -> FacetColumns:
        """Facets with the vertices that they end at, also those on the domain's boundary, with ``right`` -1.

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
        return self.facet_columns

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
        return kept_corners(self, "corners of regions").vertices

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
        return kept_corners(self, "corners of regions").region_vertices

    @property
    def witnesses(self) -> Float[np.ndarray, "r d"]:
        """A strictly interior point of every region: the mean of its corners, where they are kept."""
        return self.geometry.witnesses

    @cached_property
    def _boundedness(self) -> Boundedness:
        known = self.geometry
        if self.window.is_bounded():
            return Boundedness.everywhere(len(self))
        if known.is_bounded is not None and known.is_proved is not None:
            return Boundedness(known.is_bounded, known.is_proved)
        if known.is_bounded is not None and self.network is None:  # from a file of an early version
            return Boundedness(known.is_bounded, np.zeros(len(self), dtype=np.bool_))
        return boundedness(self._known_network, self.domain, self.codes.words, tolerance=self.tolerance)

    @cached_property
    def facet_columns(self) -> FacetColumns:
        """Facets as the engine keeps them; those of lists are found by linear programs when first asked for.

        Raises
        ------
        InputError
            If they are not kept, and the partition was loaded without its network.
        """
        if self.geometry.facets is not None:
            return self.geometry.facets
        regions = TreeRegions(self.codes.words, self.witnesses, 0, 0, None)
        found = tree_facets(self._known_network, self.domain, regions, tolerance=self.tolerance)
        return FacetColumns(found.left, found.right, found.num_unmatched)

    @property
    def _known_network(self) -> Network:
        if self.network is None:
            raise InputError(
                "which regions touch and which are bounded is found from the network, and the partition was loaded "
                "without one: Partition.load(path, network=net)"
            )
        return self.network

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
        if isinstance(self.domain, Slice | Box) and self.domain.is_bounded():
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
                f"{self.num_open:,} cells unfinished: run it again with a larger budget",
                self.stop,
            )


def kept_corners(part: RegionTable, what: str, otherwise: str = "") -> CornerColumns:
    """Return the corners of regions; where none are kept, refuse what is made of them."""
    corners = part.geometry.corners
    if corners is not None:
        return corners
    if part.geometry.facets is not None:
        raise InputError(
            f'{what} are not in a partition that keeps codes alone: partition with keep="vertices"{otherwise}'
        )
    raise InputError(
        f"{what} are not known where regions are listed by linear programs, got {part.domain.describe()}: take "
        f'method="cellwise" in up to 10 dimensions ("incidence" for max gates on a bounded domain){otherwise}'
    )

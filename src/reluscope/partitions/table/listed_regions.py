"""The regions of a domain as a list: codes and interior points, and no corners.

This is what a tree of linear programs finds, in any number of dimensions, where regions have too many corners to keep.
Who touches whom costs more linear programs, when it is asked for.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, UInt64

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.table.boundedness import Boundedness, boundedness
from reluscope.partitions.tree.tree import TreeRegions
from reluscope.partitions.tree.tree_facets import TreeFacets, tree_facets
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False, kw_only=True)
class ListedRegions:
    """Regions without corners.

    Without a network it is not known which regions touch and which are bounded.
    """

    words: UInt64[np.ndarray, "r w"]  # packed codes, all different
    witnesses: Float[np.ndarray, "r d"]  # strictly interior points
    domain: Domain
    tolerance: Tolerance
    network: Network | None  # on the whole input space

    kind: ClassVar[str] = "listed"
    has_vertices: ClassVar[bool] = False
    has_facet_vertices: ClassVar[bool] = False

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Regions on both sides of every facet between two, found when first asked for; facets have no ends here."""
        found = self._facets
        return found.left, found.right, np.zeros((len(found), 0), dtype=np.int64)

    @property
    def num_unmatched(self) -> int:
        """Places where one more facet may be, for all that could be decided."""
        return self._facets.num_unmatched

    @property
    def is_bounded(self) -> Bool[np.ndarray, " r"]:
        """Which regions are bounded; found when first asked for, if the domain is not."""
        return self.boundedness.is_bounded

    @cached_property
    def boundedness(self) -> Boundedness:
        """Which regions are bounded, and of which that is proved."""
        window = self.domain.window if isinstance(self.domain, Slice) else self.domain
        if window.is_bounded():
            return Boundedness.everywhere(len(self.words))
        return boundedness(self._known_network, self.domain, self.words, tolerance=self.tolerance)

    @property
    def vertices(self) -> Float[np.ndarray, "v d"]:
        """Refused: corners are not kept."""
        raise self._refusal("corners of regions")

    @property
    def region_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Refused: corners are not kept."""
        raise self._refusal("corners of regions")

    @property
    def volumes(self) -> Float[np.ndarray, " r"]:
        """Refused: volumes are those of the hulls of corners, which are not kept."""
        raise self._refusal("exact volumes", ", or estimate them with rs.region_volumes(part)")

    def recoded(self, kept: np.ndarray, words: np.ndarray) -> "ListedRegions":
        """Return some of the regions under other codes, in increasing order of these."""
        order = np.lexsort(words.T[::-1])
        return replace(self, words=words[order], witnesses=self.witnesses[kept[order]])

    @cached_property
    def _facets(self) -> TreeFacets:
        regions = TreeRegions(self.words, self.witnesses, 0, 0, None)
        return tree_facets(self._known_network, self.domain, regions, tolerance=self.tolerance)

    @property
    def _known_network(self) -> Network:
        if self.network is None:
            raise InputError(
                "which regions touch and which are bounded is found from the network, and the partition was loaded "
                "without one: Partition.load(path, network=net)"
            )
        return self.network

    def _refusal(self, what: str, otherwise: str = "") -> InputError:
        return InputError(
            f"{what} are not known where regions are listed by linear programs, got {self.domain.describe()}: take "
            f'method="cellwise" in up to 10 dimensions ("incidence" for max gates on a bounded domain){otherwise}'
        )

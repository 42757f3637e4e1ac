"""The columns of a table of regions, whatever the engine that fills them."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, UInt64

from reluscope.partitions.table.corner_columns import CornerColumns, SharedCorners
from reluscope.partitions.table.facet_columns import FacetColumns


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionColumns:
    """Codes and interior points of regions, and what is kept beside them; where corners are kept, facets are, too."""

    words: UInt64[np.ndarray, "r w"]  # packed codes, all different
    witnesses: Float[np.ndarray, "r d"]  # strictly interior points
    facets: FacetColumns | None = None
    corners: CornerColumns | None = None
    is_bounded: Bool[np.ndarray, " r"] | None = None  # as far as the engine has seen, see `RegionTable.is_bounded`
    is_proved: Bool[np.ndarray, " r"] | None = None  # where ``is_bounded`` is proved, once asked
    side_errors: Float[np.ndarray, " r"] | None = None  # see `corner_errors.side_errors`; from a file of cells
    in_doubt: Bool[np.ndarray, " r"] | None = None  # whether a sign stayed undecided on the way; None: of any of them

    @classmethod
    def flat(cls, words: np.ndarray, corners: SharedCorners, facets: FacetColumns) -> "RegionColumns":
        """Return regions of a bounded line or plane, with the means of their corners as interior points."""
        is_bounded = np.ones(len(words), dtype=np.bool_)
        return cls(words=words, witnesses=corners.middles, facets=facets, corners=corners, is_bounded=is_bounded)

    @property
    def has_facet_ends(self) -> bool:
        """Whether it is known which vertices facets end at."""
        return self.facets is not None and self.facets.ends is not None

    @property
    def num_unmatched(self) -> int:
        """Number of facets whose other side was not found, among those that are kept."""
        return 0 if self.facets is None else self.facets.num_unmatched

    def without_corners(self) -> "RegionColumns":
        """Return the regions with every pair of neighbours once, and without corners."""
        facets = None if self.facets is None else self.facets.without_ends(len(self.words))
        return replace(self, facets=facets, corners=None)

    def scaled(self, sides: Float[np.ndarray, " d"]) -> "RegionColumns":
        """Return the regions with every coordinate times a power of two of at most 1."""
        corners = None if self.corners is None else self.corners.scaled(sides)
        return replace(self, witnesses=self.witnesses * sides, corners=corners)

    def take(self, kept: np.ndarray) -> "RegionColumns":
        """Return some of the regions, in increasing order."""
        facets, corners = self.facets, self.corners
        if facets is not None:
            facets = facets.take(kept, len(self.words))
            corners, facets = (None, facets) if corners is None else corners.take(kept, facets)
        is_bounded, is_proved, side_errors, in_doubt = (
            None if known is None else known[kept]
            for known in (self.is_bounded, self.is_proved, self.side_errors, self.in_doubt)
        )
        return RegionColumns(
            words=self.words[kept],
            witnesses=self.witnesses[kept],
            facets=facets,
            corners=corners,
            is_bounded=is_bounded,
            is_proved=is_proved,
            side_errors=side_errors,
            in_doubt=in_doubt,
        )

    def recoded(self, kept: np.ndarray, words: np.ndarray) -> "RegionColumns":
        """Return some of the regions, in increasing order, under other codes."""
        return replace(self.take(kept), words=words, is_proved=None)

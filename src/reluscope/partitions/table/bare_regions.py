"""Regions with their neighbours and no vertices: what is kept where only codes were asked for."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from reluscope.errors import InputError
from reluscope.partitions.table.boundedness import Boundedness
from reluscope.partitions.table.joined_solids import distinct_pairs
from reluscope.partitions.table.mosaic import Mosaic
from reluscope.partitions.table.solid_regions import SolidRegions


@dataclass(frozen=True, eq=False, kw_only=True)
class BareRegions:
    """Regions and their neighbours.

    Pairs ``left``, ``right`` share a facet, with left < right, each once.
    """

    words: UInt64[np.ndarray, "r w"]  # packed codes, all different
    witnesses: Float[np.ndarray, "r d"]  # strictly interior points
    is_bounded: Bool[np.ndarray, " r"]  # as far as the engine has seen, see `boundedness`
    left: Int[np.ndarray, " f"]
    right: Int[np.ndarray, " f"]
    num_unmatched: int  # facets whose other side was not found
    is_proved: Bool[np.ndarray, " r"] | None = None  # where ``is_bounded`` is proved, once asked

    kind: ClassVar[str] = "bare"
    has_vertices: ClassVar[bool] = False
    has_facet_vertices: ClassVar[bool] = False

    @classmethod
    def of(cls, regions: Mosaic | SolidRegions) -> "BareRegions":
        """Return regions without their vertices."""
        left, right, _ = regions.sides
        if isinstance(regions, Mosaic):
            left, right = distinct_pairs(left, right, len(regions.words))
        return cls(
            words=regions.words,
            witnesses=regions.witnesses,
            is_bounded=regions.is_bounded,
            left=left,
            right=right,
            num_unmatched=regions.num_unmatched,
        )

    @property
    def boundedness(self) -> Boundedness | None:
        """Which regions are bounded, and of which that is proved; None where it has not been asked yet."""
        return None if self.is_proved is None else Boundedness(self.is_bounded, self.is_proved)

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Regions on both sides of every facet between two; ends of facets are not kept."""
        return self.left, self.right, np.zeros((len(self.left), 0), dtype=np.int64)

    @property
    def vertices(self) -> Float[np.ndarray, "v d"]:
        """Refused: corners are not kept."""
        raise _refusal("corners of regions")

    @property
    def region_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Refused: corners are not kept."""
        raise _refusal("corners of regions")

    @property
    def volumes(self) -> Float[np.ndarray, " r"]:
        """Refused: volumes are those of the hulls of corners, which are not kept."""
        raise _refusal("exact volumes", ", or estimate them with rs.region_volumes(part)")

    def recoded(self, kept: np.ndarray, words: np.ndarray) -> "BareRegions":
        """Return some of the regions, in increasing order, under other codes."""
        place = np.full(len(self.words), -1)
        place[kept] = np.arange(len(kept))
        between = (place[self.left] >= 0) & (place[self.right] >= 0)
        return replace(
            self,
            words=words,
            witnesses=self.witnesses[kept],
            is_bounded=self.is_bounded[kept],
            is_proved=None,
            left=place[self.left[between]],
            right=place[self.right[between]],
        )


def _refusal(what: str, otherwise: str = "") -> InputError:
    return InputError(
        f'{what} are not in a partition that keeps codes alone: partition with keep="vertices"{otherwise}'
    )

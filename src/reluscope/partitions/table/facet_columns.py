"""Which regions share a facet, and which vertices facets end at where that is known."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int
from scipy.sparse import csr_array, get_index_dtype


@dataclass(frozen=True, eq=False)
class FacetColumns:
    """Facets of regions.

    Without ``ends`` every pair of neighbours once, left < right. With ``ends`` every facet, also those on the domain's
    boundary, which come last, with ``right`` -1.
    """

    left: Int[np.ndarray, " f"]
    right: Int[np.ndarray, " f"]
    num_unmatched: int  # facets, or seams, whose other side was not found
    ends: Int[np.ndarray, "f d"] | None = None  # vertices of every facet

    @property
    def known_ends(self) -> Int[np.ndarray, "f d"]:
        """The vertices that facets end at, of facets that have them."""
        assert self.ends is not None
        return self.ends

    @property
    def inner(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Regions on both sides of every facet between two, and its ends, of which there are none if unknown."""
        if self.ends is None:
            return self.left, self.right, np.zeros((len(self.left), 0), dtype=np.int64)
        inner = self.right >= 0
        return self.left[inner], self.right[inner], self.ends[inner]

    def take(self, kept: np.ndarray, number: int) -> "FacetColumns":
        """Return the facets of some of ``number`` regions, in increasing order.

        Facets with ends that bordered on other regions border on the outside.
        """
        place = np.full(number + 1, -1)  # its last entry is for the outside
        place[kept] = np.arange(len(kept))
        left, right = place[self.left], place[self.right]
        if self.ends is None:
            between = (left >= 0) & (right >= 0)
            return replace(self, left=left[between], right=right[between])
        facets = np.flatnonzero((left >= 0) | (right >= 0))
        left, right = left[facets], right[facets]
        left, right = np.where(left < 0, right, left), np.where(left < 0, -1, right)
        return replace(self, left=left, right=right, ends=self.ends[facets])

    def without_ends(self, number: int) -> "FacetColumns":
        """Return every pair of neighbours among ``number`` regions once."""
        if self.ends is None:
            return self
        left, right, _ = self.inner
        return FacetColumns(*distinct_pairs(left, right, number), self.num_unmatched)

    def adjacency(self, number: int) -> csr_array:
        """Return which of ``number`` regions share a facet, as a symmetric matrix (r, r) of bool."""
        # In the type that the matrix has for places: others would be copied.
        left, right = (side.astype(get_index_dtype(maxval=number)) for side in self.inner[:2])
        entries = np.ones(2 * len(left), dtype=bool)
        where = (np.concatenate([left, right]), np.concatenate([right, left]))
        matrix = csr_array((entries, where), shape=(number, number))
        matrix.sum_duplicates()
        return matrix


def distinct_pairs(left: np.ndarray, right: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every pair of different regions once, in order, the smaller one on the left."""
    keys = np.sort((np.minimum(left, right) * number + np.maximum(left, right))[left != right])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return np.divmod(keys, max(1, number))

"""Exact regions by a tree of linear programs: any number of inputs, few units, bounded or unbounded domains.

Depth first, gate by gate: a region of the gates so far is a cell, each of whose units is affine there, and `SignTree`
finds the sign vectors of these affine functions inside it. Cells live in homogeneous coordinates, so that unbounded
ones are cones like all others; where a first layer is narrower than the input, in the coordinates of its units.
"""

import time
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from jaxtyping import Float, Integer

from reluscope.codes.packing import pack_pieces
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.driver.joined_parts import joined_parts
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_items import COUNTERS, Block
from reluscope.partitions.tree.tree_search import search_tree
from reluscope.stopping import Stop


@dataclass(frozen=True, eq=False)
class TreeBatch:
    """Some regions."""

    words: Integer[np.ndarray, "r w"]  # packed codes
    witnesses: Float[np.ndarray, "r n"]  # strictly interior points, in domain coordinates

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class TreeRegions:
    """The regions that a search has found.

    ``num_undecided`` counts questions "does this unit cut this cell?" that rounding left open; they were taken as no.
    Each open cell holds at least one region more.
    """

    words: Integer[np.ndarray, "r w"]  # packed codes, ascending, all different
    witnesses: Float[np.ndarray, "r n"]  # strictly interior points, in domain coordinates
    num_undecided: int
    num_open: int  # cells known not to be finished when work stopped
    stop: Stop | None  # why work stopped early, if it did
    work: dict[str, float] = field(default_factory=dict)  # programs, pivots, nodes, decisions without one, seconds

    def __len__(self) -> int:
        return len(self.words)


def tree_regions(network: Network, domain: Domain, effort: Effort | None = None) -> TreeRegions:
    """Find all full-dimensional activation regions by linear programs, sorted by code.

    A witness farther from all sides than rounding proves its region; that there are no others is proved up to the
    resolution and undecided questions. Ctrl-C keeps what was found. A domain without interior raises.
    """
    began, effort = time.time(), effort or Effort()
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    coordinates = Coordinates.of(network, domain, effort.tolerance)
    found = search_tree(
        coordinates,
        finish=partial(tree_batch, coordinates),
        effort=replace(effort, began=began),
    )
    nothing = TreeBatch(np.zeros((0, network.layout.num_words), dtype=np.uint64), np.zeros((0, domain.dim)))
    together, found = joined_parts(found, lambda batches: _by_code([nothing, *batches]))
    return TreeRegions(
        together.words,
        together.witnesses,
        found.num_undecided,
        sum(found.left),
        found.stop,
        {**dict.fromkeys(COUNTERS, 0), **found.work, "seconds": time.time() - began},
    )


def tree_batch(coordinates: Coordinates, block: Block) -> TreeBatch:
    """Return what is kept of finished cells."""
    words = pack_pieces(block.pieces, coordinates.network.layout, num_codes=len(block.cells))
    return TreeBatch(words, coordinates.points(block.witnesses))


def _by_code(batches: list[TreeBatch]) -> TreeBatch:
    words = np.concatenate([batch.words for batch in batches])
    order = np.lexsort(words.T[::-1]) if words.shape[1] else np.arange(len(words))
    return TreeBatch(words[order], np.concatenate([batch.witnesses for batch in batches])[order])

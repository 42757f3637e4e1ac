"""Numbers of regions cell by cell: finished cells are counted and dropped, so that memory does not grow with them.

Each facet inside a bounded domain is that of two cells, which have the same key for it. The keys of all facets
together, each as often as it occurs, cancel unless a facet lacks its other side.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Int, UInt64

from reluscope.effort import Effort
from reluscope.files import stored
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.rounded_forward import coded_forward
from reluscope.networks.models.stacked_networks import StackedNetworks
from reluscope.networks.network import Network
from reluscope.partitions.cells.cell_batches import Batch
from reluscope.partitions.cells.cell_patches import CellPatch
from reluscope.partitions.cells.cellwise import walk_cells, walk_stacked
from reluscope.partitions.complexes.elongated import in_units, sides_of
from reluscope.partitions.driver.kept_counts import KeptCounts, counted_key
from reluscope.partitions.driver.walk import Walked
from reluscope.tolerance import Tolerance

# Whoever changes how cells are cut or become tasks changes this: what was kept of older counts fits no longer.
SPLIT = 1


@dataclass(frozen=True, eq=False)
class NumberOfCells:
    """How many cells some networks have, and the keys of their inner facets together, by exclusive or.

    Sure are those on whose way no sign stayed undecided, and those whose code the network has at a point inside.
    """

    owners: Int[np.ndarray, " k"]  # numbers of the networks
    numbers: Int[np.ndarray, " k"]
    sure: Int[np.ndarray, " k"]
    doubts: Int[np.ndarray, " k"]  # cells on whose way a sign stayed undecided
    keys: UInt64[np.ndarray, "k 2"]

    @classmethod
    def of(cls, networks: Mapping[int, Network] | StackedNetworks, tolerance: Tolerance, patch: CellPatch) -> Self:
        """Return the numbers of finished cells."""
        is_shown = _are_shown(networks, tolerance, patch)
        one = np.ones(len(patch), dtype=np.int64)
        keys = (patch.owners[patch.facet_cells], patch.facet_keys)
        columns = (one, one * is_shown, one * patch.in_doubt)
        return cls(*_sums(patch.owners, columns), keys=_together(*keys, np.unique(patch.owners)))

    def __len__(self) -> int:
        return int(self.numbers.sum())

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the numbers of all cells of parts."""
        owners, *columns, keys = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("owners", "numbers", "sure", "doubts", "keys")
        )
        return cls(*_sums(owners, columns), keys=_together(owners, keys, np.unique(owners)))


def _are_shown(
    networks: Mapping[int, Network] | StackedNetworks, tolerance: Tolerance, patch: CellPatch
) -> Bool[np.ndarray, " r"]:
    """Return which cells are sure to be regions."""
    is_shown = ~patch.in_doubt
    for owner in np.unique(patch.owners[patch.in_doubt]).tolist():
        asked = np.flatnonzero(patch.in_doubt & (patch.owners == owner))
        middles = patch.middles[asked]
        rounded, codes = coded_forward(networks[owner], middles[:, :-1] / middles[:, -1:], tolerance=tolerance)
        is_shown[asked] = (codes.words == patch.words[asked]).all(axis=1) & ~rounded.doubtful.any(axis=1)
    return is_shown


def _sums(owners: np.ndarray, columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the networks that there are, and the sums of columns over each."""
    found, places = np.unique(owners, return_inverse=True)
    return [found, *(np.bincount(places, column, len(found)).astype(np.int64) for column in columns)]


def _together(owners: np.ndarray, keys: np.ndarray, every: np.ndarray) -> np.ndarray:
    """Return keys together, by exclusive or, for each of some networks."""
    found = np.zeros((len(every), 2), dtype=np.uint64)
    np.bitwise_xor.at(found, np.searchsorted(every, owners), keys)
    return found


class CellCount(NamedTuple):
    """What a count has found, how many of the cells are sure, and whether the other side of every facet was found."""

    walked: Walked
    num_sure: int
    is_closed: bool


def count_cells(
    network: Network, domain: Domain, effort: Effort, *, checkpoint: str | os.PathLike[str] | None = None
) -> CellCount:
    """Count the regions of a bounded domain of a network with pointwise gates, and keep none of them.

    A checkpoint keeps finished tasks' counts and is resumed; InputError if it is of something else.
    """
    units = sides_of(domain)
    domain = domain if units is None else in_units(domain, units)
    inner, window = (network.restrict(domain), domain.window) if isinstance(domain, Slice) else (network, domain)

    def kept(tasks: Sequence[Batch]) -> _KeptCells:
        assert checkpoint is not None
        return _KeptCells(checkpoint, counted_key(network, domain, effort.tolerance, _mark(tasks)), len(tasks))

    walked = walk_cells(
        inner,
        window,
        effort,
        keeps_vertices=False,
        keep=partial(NumberOfCells.of, {0: inner}, effort.tolerance),
        checkpoint=None if checkpoint is None else kept,
    )
    found = NumberOfCells.joined([_nothing(), *walked.parts])
    return CellCount(walked, int(found.sure.sum()), bool(network.jumps) or not found.keys.any())


class StackCount(NamedTuple):
    """What a count of several networks has found, for each."""

    sure: Int[np.ndarray, " k"]
    has_doubts: Bool[np.ndarray, " k"]  # a sign stayed undecided
    is_torn: Bool[np.ndarray, " k"]  # the other side of a facet was not found
    is_whole: Bool[np.ndarray, " k"]  # no cell was left
    walked: Walked


def count_stacked(stack: StackedNetworks, domain: Box | Polyhedron, effort: Effort) -> StackCount:
    """Count the regions of several networks on a bounded domain at once, and keep none of them."""
    walked = walk_stacked(stack, domain, effort, partial(NumberOfCells.of, stack, effort.tolerance))
    found = NumberOfCells.joined([_nothing(), *walked.parts])
    sure, doubts = np.zeros((2, len(stack)), dtype=np.int64)
    is_torn, is_whole = np.zeros(len(stack), dtype=bool), np.ones(len(stack), dtype=bool)
    sure[found.owners], doubts[found.owners] = found.sure, found.doubts
    is_torn[found.owners] = found.keys.any(axis=1)
    for owners in walked.left:
        is_whole[owners] = False
    return StackCount(sure, doubts > 0, is_torn & is_whole & (doubts == 0), is_whole, walked)


class _KeptCells(KeptCounts):
    """What finished tasks have counted, with the keys of facets."""

    def plain_parts(self, parts: list[NumberOfCells]) -> dict[str, Any]:
        found = NumberOfCells.joined([_nothing(), *parts])
        totals = {name: int(getattr(found, name).sum()) for name in ("sure", "doubts")}
        return {**totals, "facets": np.bitwise_xor.reduce(found.keys, axis=0).tobytes().hex()}

    def parts_of(self, plain: Mapping[str, Any], number: int) -> list[NumberOfCells]:
        keys = np.frombuffer(bytes.fromhex(stored.text(plain, "facets")), dtype=np.uint64)
        if keys.shape != (2,):
            raise ValueError("keys of facets that are none")
        sure, doubts = (stored.whole(plain, name) for name in ("sure", "doubts"))
        columns = (np.array([entry]) for entry in (0, number, sure, doubts))
        return [NumberOfCells(*columns, keys=keys[None])]


def _nothing() -> NumberOfCells:
    none = np.zeros(0, dtype=np.int64)
    return NumberOfCells(none, none, none, none, np.zeros((0, 2), dtype=np.uint64))


def _mark(tasks: Sequence[Batch]) -> str:
    """Return what tells one way of breaking up work from another: a hash of the tasks' codes so far."""
    total = hashlib.sha256(f"cells {SPLIT} {len(tasks)}".encode())
    for task in tasks:
        total.update(f"{task.stage} {len(task)}".encode() + np.ascontiguousarray(task.hashes).tobytes())
    return total.hexdigest()

"""Numbers of regions cell by cell: finished cells are counted and dropped, so that memory does not grow with them.

Each facet inside a bounded domain is that of two cells, which have the same key for it. The keys of all facets
together, each as often as it occurs, cancel unless a facet lacks its other side.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt64

from reluscope.effort import Effort
from reluscope.files import stored
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.evaluation.rounded_forward import coded_forward
from reluscope.networks.network import Network
from reluscope.partitions.cells.cell_batches import Batch
from reluscope.partitions.cells.cell_patches import CellPatch
from reluscope.partitions.cells.cellwise import walk_cells
from reluscope.partitions.complexes.elongated import in_units, sides_of
from reluscope.partitions.driver.kept_counts import KeptCounts, counted_key
from reluscope.partitions.driver.walk import Walked
from reluscope.tolerance import Tolerance

# Whoever changes how cells are cut or become tasks changes this: what was kept of older counts fits no longer.
SPLIT = 1


@dataclass(frozen=True, eq=False)
class NumberOfCells:
    """How many cells there are, and the keys of their inner facets together, by exclusive or.

    Sure are those on whose way no sign stayed undecided, and those whose code the network has at a point inside.
    """

    number: int
    sure: int
    keys: UInt64[np.ndarray, "2"]

    @classmethod
    def of(cls, network: Network, tolerance: Tolerance, patch: CellPatch) -> "NumberOfCells":
        """Return the number of finished cells."""
        asked = np.flatnonzero(patch.in_doubt)
        shown = 0
        if len(asked):
            middles = patch.middles[asked]
            rounded, codes = coded_forward(network, middles[:, :-1] / middles[:, -1:], tolerance=tolerance)
            has_it = (codes.words == patch.words[asked]).all(axis=1)
            shown = int(np.count_nonzero(has_it & ~rounded.doubtful.any(axis=1)))
        return cls(len(patch), len(patch) - len(asked) + shown, np.bitwise_xor.reduce(patch.facet_keys, axis=0))

    def __len__(self) -> int:
        return self.number

    def joined(self, other: "NumberOfCells") -> "NumberOfCells":
        """Return the number of these cells and others."""
        return NumberOfCells(self.number + other.number, self.sure + other.sure, self.keys ^ other.keys)


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
        keep=partial(NumberOfCells.of, inner, effort.tolerance),
        checkpoint=None if checkpoint is None else kept,
    )
    found = _together(walked.parts)
    return CellCount(walked, found.sure, bool(network.jumps) or not found.keys.any())  # a jump has no other side


class _KeptCells(KeptCounts):
    """What finished tasks have counted, with the keys of facets."""

    def plain_parts(self, parts: list[NumberOfCells]) -> dict[str, Any]:
        found = _together(parts)
        return {"sure": found.sure, "facets": found.keys.tobytes().hex()}

    def parts_of(self, plain: Mapping[str, Any], number: int) -> list[NumberOfCells]:
        keys = np.frombuffer(bytes.fromhex(stored.text(plain, "facets")), dtype=np.uint64)
        if keys.shape != (2,):
            raise ValueError("keys of facets that are none")
        return [NumberOfCells(number, stored.whole(plain, "sure"), keys)]


def _together(parts: Sequence[NumberOfCells]) -> NumberOfCells:
    return reduce(NumberOfCells.joined, parts, NumberOfCells(0, 0, np.zeros(2, dtype=np.uint64)))


def _mark(tasks: Sequence[Batch]) -> str:
    """Return what tells one way of breaking up work from another: a hash of the tasks' codes so far."""
    total = hashlib.sha256(f"cells {SPLIT} {len(tasks)}".encode())
    for task in tasks:
        total.update(f"{task.stage} {len(task)}".encode() + np.ascontiguousarray(task.hashes).tobytes())
    return total.hexdigest()

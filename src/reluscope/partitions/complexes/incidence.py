"""Exact partition of a bounded domain: gate by gate, depth first over chunks of cells.

A network is affine between two gates, so the zero set of a unit cuts each cell of the previous gates in a straight
piece. Cells are taken through the gates in chunks of hundreds or thousands: values live as long as their chunk, memory
does not grow with depth, and whatever interrupts the work, the regions finished so far are whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import torch

from reluscope.effort import Effort
from reluscope.geometry.cutting.complexes import Complex
from reluscope.geometry.polyhedra.window_shapes import RationalCorners
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network
from reluscope.partitions.complexes.bends import row_bytes
from reluscope.partitions.complexes.certification import Certifier
from reluscope.partitions.complexes.chunks import Chunk, Resolution, SeamNumbers, open_stage, spread
from reluscope.partitions.complexes.cutting import cut
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.complexes.open_bends import open_bends
from reluscope.partitions.driver.walk import Checkpoint, Step, Store, Walked, walk

# Cells of a chunk: few steps and seams, but values that stay in the cache, or at least in little memory.
CHUNK_CELLS, MAX_CHUNK_CELLS, MIN_CELLS = 768, 6144, 4
CACHE_BYTES, CHUNK_BYTES = 32 * 2**20, 512 * 2**20
# Memory of the rows of a chunk whose values are combinations of them.
ROW_BYTES = 2**30
# Memory of what a gate's units see at the vertices of cells that are all kept together.
WHOLE_BYTES = 2**30
# Chunks to find before work is handed out; where most cells are dropped, fewer that are spread, with so many cells.
TASKS, TASK_CELLS = 64, 32

# Chunks whose rounding is measured from a gate on, by the number of the gate, among the work of steps.
MEASURED = "measured from "

# Says for every cell of a chunk whether it is kept, and may count on the work what it knows of the others.
Keep = Callable[[Chunk, dict[str, float]], np.ndarray]


def walk_chunks(
    network: Network,
    cells: Complex,
    corners: RationalCorners,
    inputs: torch.Tensor,
    resolution: Resolution,
    *,
    finish: Callable[[Chunk], Any],
    effort: Effort,
    store: Store | None = None,
    certifier: Certifier | None = None,
    exact_signs: ExactSigns | None = None,
    keep: Keep | None = None,
    has_names: bool = False,
    checkpoint: Checkpoint | None = None,
    rounding: MeasuredRounding | None = None,
    keeps_outputs: bool = False,
    combines: bool = False,
) -> Walked:
    """Take cells, on each of which the network's input is affine, through all gates of a network.

    ``left`` of the result holds the initial cells that unfinished ones lie in. A certifier keeps all cells together,
    without executor or checkpoint. Of cells dropped by ``keep`` nothing is known.
    """
    has_names = has_names or keep is not None
    chunk = Chunk.start(
        network,
        cells,
        corners,
        inputs,
        certifier=certifier,
        exact_signs=exact_signs,
        has_names=has_names,
        rounding=rounding,
        keeps_outputs=keeps_outputs,
        combines=combines,
    )
    has_ties = any(isinstance(stage.gate, Max) for stage in network.stages)
    is_whole = certifier is not None or (has_names and has_ties)
    walked = walk(
        [chunk],
        _Cutting(network, resolution, certifier, is_whole, keep).step,
        split=None if is_whole else _split if keep is None else _split_smaller,
        finish=finish,
        store=store,
        left=attrgetter("roots"),
        effort=effort,
        checkpoint=checkpoint,
    )
    if rounding is None:
        return walked
    gates = [int(word.removeprefix(MEASURED)) for word in walked.work if word.startswith(MEASURED)]
    work = {word: amount for word, amount in walked.work.items() if not word.startswith(MEASURED)}
    return replace(walked, work={**work, **(rounding.work(min(gates)) if gates else {})})


def num_left(walked: Walked, num_domains: int) -> np.ndarray:
    """Return how many cells of each domain a walk has left open."""
    roots = np.concatenate([*walked.left, np.zeros(0, dtype=np.int64)])
    return np.bincount(roots, minlength=num_domains)


@dataclass(frozen=True)
class _Cutting:
    """How a chunk takes a step; a whole one is never spread."""

    network: Network
    resolution: Resolution
    certifier: Certifier | None
    is_whole: bool
    keep: Keep | None

    def step(self, chunk: Chunk, room: float) -> Step:
        """Take a chunk one gate further, or spread it if it is too large, also for the regions that are asked for."""
        most = chunk.cells.num_cells
        if not self.is_whole:
            # A gate is left open at twice as many cells. No floor division: that of infinity is not a number.
            most = int(min(_chunk_cells(self.network, chunk), max(MIN_CELLS, room / 4)))
        work: dict[str, float] = {"evaluated_vertices": 0, "chunks": 0}
        undecided = 0
        if chunk.cells.num_cells <= most:
            work["chunks"] += 1
            if chunk.opened is None:
                work["evaluated_vertices"] += len(chunk.points) if chunk.shares is None else chunk.shares.shape[1]
                begin = open_stage if chunk.shares is None else open_bends
                opened = begin(chunk, self.network.stages[chunk.stage], self.resolution)
                assert opened.opened is not None
                undecided += opened.opened.num_unproved
                if opened.is_measured and not chunk.is_measured:
                    work[f"{MEASURED}{chunk.stage}"] = 1
                chunk = self._kept(opened, work)
            if len(chunk):
                limit = self._most_whole(chunk) if self.is_whole else 2 * most
                chunk, doubts = cut(chunk, self.network, self.resolution, limit, self.certifier)
                undecided += doubts
                if self.is_whole and chunk.opened is not None:
                    raise MemoryError  # what its units see takes more, and none of it is a region
            if chunk.opened is not None:
                chunk = self._kept(chunk, work)
            if undecided:
                chunk = replace(chunk, in_doubt=True)
        is_too_large = not self.is_whole and not chunk.is_finished and chunk.cells.num_cells > most
        chunks = spread(chunk, most)[::-1] if is_too_large else [chunk] if len(chunk) else []
        return Step(chunks, num_undecided=undecided, work=work)

    def _most_whole(self, chunk: Chunk) -> int:
        """Return how many cells a chunk that is not spread may have; it has about as many vertices."""
        return max(MIN_CELLS, WHOLE_BYTES // (8 * self.network.stages[chunk.stage].gate.num_units))

    def _kept(self, chunk: Chunk, work: dict[str, float]) -> Chunk:
        """Return the cells of a chunk that are worth going on with."""
        if self.keep is None or not len(chunk):
            return chunk
        kept = np.flatnonzero(self.keep(chunk, work))
        work["tested_cells"] = work.get("tested_cells", 0) + len(chunk)
        return chunk if len(kept) == len(chunk) else chunk.only(kept)


def _split(chunks: Sequence[Chunk]) -> list[Chunk] | None:
    """Return chunks as tasks, once there are enough; seams made by different tasks must not share numbers."""
    if len(chunks) < TASKS:
        return None
    return [replace(chunk, seam_numbers=SeamNumbers((row + 1) << 40)) for row, chunk in enumerate(chunks)]


def _split_smaller(chunks: Sequence[Chunk]) -> list[Chunk] | None:
    """Return chunks, spread over enough tasks, once they have the cells: where many are dropped, each costs much."""
    total = sum(map(len, chunks))
    if total < TASKS * TASK_CELLS:
        return _split(chunks)
    return _split([part for chunk in chunks for part in spread(chunk, max(TASK_CELLS, total // TASKS))])


def _chunk_cells(network: Network, chunk: Chunk) -> int:
    """Cells that a chunk may have: as many as the cache has room for the values of, and not many fewer elsewhere."""
    if chunk.shares is not None:
        is_large = len(chunk) > MIN_CELLS and not chunk.is_finished
        is_large = is_large and row_bytes(network.stages[chunk.stage], chunk.values, chunk.shares) > ROW_BYTES
        return min(len(chunk) // 2, MAX_CHUNK_CELLS) if is_large else MAX_CHUNK_CELLS
    num_vertices = max(1, len(chunk.points))
    per_cell = network.bytes_per_point * max(1.0, num_vertices / chunk.cells.num_cells)
    fewest = min(max(CHUNK_BYTES / per_cell, 16), CHUNK_CELLS)
    return int(min(max(CACHE_BYTES / per_cell, fewest), MAX_CHUNK_CELLS))

"""Which cells of a chunk a level may touch, and where the others are, proved by bounds of functions on them.

At an opened gate pre-activations are affine on every cell, so that their ranges there are those at its vertices. They
are carried through the rest of the network, first as intervals, then, on the cells that are left, between two linear
functions. All bounds include rounding, and what errors of vertices may change.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from reluscope import _kernels
from reluscope.networks.network import Network
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carrier import Carrier
from reluscope.networks.passes.corner_bounds import CornerBounds
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.partitions.complexes.chunks import Chunk

# A cell is not dropped where the level is nearer than this share of what the function varies by on it: what the
# resolution of the cuts takes for zero is far below.
NEAR = 1e-3
# Cells of one pass, so that its arrays stay in the cache.
BLOCK = 512


# Says from the ends (cells, units) of the last gate which side each cell is on, 0 where that is open.
Settle = Callable[[np.ndarray, np.ndarray], np.ndarray]


def above_or_below(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return 1 where a single unit is above 0, -1 where it is below, and else 0."""
    return np.where(low[:, 0] > 0, 1, np.where(high[:, 0] < 0, -1, 0))


def proved_sides(chunk: Chunk, network: Network, settle: Settle = above_or_below) -> np.ndarray:
    """Return for every cell of a chunk 1 above the level, -1 below it, 0 if the level may touch the cell.

    The chunk must be at an opened gate, and the network end with a level gate (`level_gate`). ``settle`` decides by the
    ends of the gate's units, less some room at each; by default of one unit.
    """
    opened = chunk.opened
    assert opened is not None
    # Before anything is cut, and where a single cell would be tested, there is nothing to gain.
    sides = np.zeros(len(chunk), dtype=np.int8)
    if len(chunk) == 1:
        return sides
    offsets, ids = chunk.cells.cell_vertices()
    _, edges = chunk.cells.boundary(1)
    known = {position: (value, chunk.errors[position]) for position, value in chunk.values.items()}
    error = opened.error + (opened.snapped[:, None] if opened.error.ndim == 2 else opened.snapped)
    pre = torch.from_numpy(opened.pre), torch.from_numpy(error)[None]
    radii = {position: _radius(chunk, value.cpu(), error.cpu(), edges) for position, (value, error) in known.items()}
    radius = _radius(chunk, *pre, edges)

    def bounds(cells: np.ndarray, is_linear: bool) -> FiniteEnds:
        first, corners = _corners_of(cells, offsets, ids)
        start = CornerBounds(first, ANY_ORDER)
        carrier: Carrier = start if is_linear else Intervals(ANY_ORDER)

        def begin(value: torch.Tensor, radius: torch.Tensor) -> Any:
            bound = start.start(value[corners], radius[corners])
            return bound if is_linear else bound.ends

        live = {position: begin(value.cpu(), radii[position]) for position, (value, _) in known.items()}
        arrived = _carried(network, chunk.stage, live, begin(pre[0], radius), carrier)
        return arrived.ends if is_linear else arrived

    for is_linear in (False, True):
        if is_linear and chunk.stage == len(network.stages) - 1:
            break
        left = np.flatnonzero(sides == 0)
        for cells in np.array_split(left, -(-len(left) // BLOCK)) if len(left) else ():
            low, high = (end.numpy().reshape(len(cells), -1) for end in bounds(cells, is_linear))
            margin = NEAR * (high - low)
            sides[cells] = settle(low - margin, high + margin)
    return sides


def _carried(network: Network, index: int, live: Mapping[int, Any], arrived: Any, carrier: Carrier) -> Any:
    """Carry what arrives at a gate to the last gate."""
    values = dict(live)
    for before, stage in zip(network.stages[index:], network.stages[index + 1 :], strict=False):
        values = before.close(values, arrived, carrier)
        arrived, values = stage.advance(values, carrier)
    return arrived


def _radius(chunk: Chunk, value: torch.Tensor, error: torch.Tensor, edges: np.ndarray) -> torch.Tensor:
    """Return how far values at vertices may be from those at the true vertices."""
    flat = value.reshape(len(value), -1).numpy()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    slopes = _kernels.steepest(np.ascontiguousarray(finite), chunk.points, edges)
    moved = torch.from_numpy(chunk.blur[:, None] * slopes).reshape(value.shape)
    return moved + error


def _corners_of(cells: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of some cells, one cell after the other, and where each begins."""
    counts = np.diff(offsets)[cells]
    first = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(offsets[cells] - first[:-1], counts) + np.arange(first[-1])
    return first, ids[places].astype(np.int64)

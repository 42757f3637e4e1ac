"""Values at all vertices of polygons from values at some: most of a forward pass is left out.

Between two gates a network is affine on every cell of a chunk, and a polygon of n corners gives n - 3 of its values
for nothing. Where lines cross there are as many cells as vertices, and most cells have four corners: values are needed
along the border of the chunk and at little else, the others are combinations of them, in a few multiplications for
each entry where a convolution takes hundreds.

A combination ``sum w_i f(p_i)`` with weights of both signs carries ``sum |w_i|`` times the errors of what it is made
of. This *factor* is known of every vertex, and so is its *drift*: up to what a function changes along so much values
may be off because kinks, on the edges of the cells that were crossed on the way, are where they are only up to their
skew. What a gate makes of such values goes on with the same factor and drift, and so do vertices between two such.
Vertices that would pass a limit are evaluated.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope import _kernels
from reluscope.geometry.cutting.complexes import Complex
from reluscope.geometry.cutting.splitting import Placement
from reluscope.networks.passes.stages import Leg

# Errors may grow so many times, and drift to so many times what is known of positions on the average.
MOST_FACTOR, MOST_DRIFT = 8.0, 16.0
# The same of errors where these are measured: they are small.
MOST_MEASURED = 64.0
# Kinks on two edges, each with slopes of both signs on its two sides.
KINKS = 4.0
# A combination pays where an entry takes so many multiplications, a vertex so many, and a forward pass as many in all:
# to find it takes some microseconds a vertex.
WORTH, LEAST_EACH, LEAST = 24, 2**17, 2**18
# Fewer vertices than this are all evaluated.
FEW = 8


@dataclass(frozen=True)
class Spanning:
    """Which vertices are evaluated, and how the values at the others follow."""

    evaluated: Int[np.ndarray, " k"]  # in ascending order
    derived: Int[np.ndarray, " w"]  # all other vertices, in ascending order
    offsets: Int[np.ndarray, " w1"]  # where each derived vertex's ``ids`` begin
    ids: Int[np.ndarray, " n"]  # evaluated vertices that derived ones combine
    weights: Float[np.ndarray, " n"]  # weights of those in the combinations
    factor: Float[np.ndarray, " v"]  # of all vertices
    drift: Float[np.ndarray, " v"]  # of all vertices
    roundings: float  # added to error bounds, times factor, per sum rounding

    def rows(self, value: Tensor) -> Tensor:
        """Return the evaluated ones of values at all vertices."""
        return value.index_select(0, torch.from_numpy(self.evaluated))

    def expanded(self, value: Tensor) -> Tensor:
        """Return values at all vertices from those at the evaluated ones."""
        grown = torch.empty(len(self.factor), *value.shape[1:], dtype=torch.float64)
        grown[torch.from_numpy(self.evaluated)] = value
        flat = grown.reshape(len(grown), -1).numpy()
        _kernels.combine_rows(flat, self.derived, self.offsets, self.ids, self.weights)
        return grown


def spanning_vertices(
    cells: Complex, placement: Placement, length: float, most_factor: float = MOST_FACTOR
) -> Spanning | None:
    """Choose vertices of polygons that determine functions which are affine on every polygon.

    None where all vertices are evaluated. What is as thick as ``length`` is not resolved: a drift of a small part of it
    counts as none.
    """
    if cells.dim != 2 or len(placement.points) < FEW:
        return None
    _, ends = cells.boundary(1)
    kinks = np.zeros(len(placement.points))
    np.maximum.at(kinks, ends, KINKS * np.repeat(placement.skew, 2))
    most = max(MOST_DRIFT * float(placement.blur.mean()), length / MOST_DRIFT)
    evaluated, derived, (offsets, ids), weights, factor, drift, roundings = _kernels.spanning_vertices(
        *cells.cell_vertices(), placement.points, kinks, placement.factor, placement.drift, most_factor, most
    )
    if not len(derived):
        return None
    return Spanning(evaluated, derived, offsets, ids, weights, factor, drift, roundings)


def pays(leg: Leg, number: int) -> bool:
    """Tell whether combinations are cheaper than the way between two gates, for so many vertices."""
    entries = sum(prod(leg.shapes[position]) for position, _ in leg.plan[-1:])
    least = max(WORTH * entries, LEAST_EACH, LEAST / max(number, 1))
    return leg.device.type == "cpu" and leg.products >= least

"""Bounds on many boxes of inputs by the kernels, for networks of matrices in a row: see `box_bounds`."""

from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from jaxtyping import Bool, Float

from reluscope import _kernels
from reluscope.analyses.boxes.output_boxes import half_sides
from reluscope.geometry.numbers.norms import Norm
from reluscope.kernel_threads import kernel_threads
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.dense_layers import DenseLayers
from reluscope.networks.passes.box_forms import SeenRange

# Weights of all boxes from which on threads pay.
THREADED_WEIGHTS = 200_000
# Of norms, as kernels count them.
ORDERS = (1.0, 2.0, np.inf)


FormArrays: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class SeenOnBoxes(NamedTuple):
    """What kernels need again to carry weights back to boxes: ranges of all units, and terms of sums."""

    low: Float[np.ndarray, "k u"]
    high: Float[np.ndarray, "k u"]
    terms: Float[np.ndarray, "k _"]


class LeftBoxes(NamedTuple):
    """Open parts of boxes, each no nearer than its key; few codes are left on leaves."""

    lower: Float[np.ndarray, "k n"]
    upper: Float[np.ndarray, "k n"]
    keys: Float[np.ndarray, " k"]
    is_leaf: Bool[np.ndarray, " k"]
    num_boxes: int  # how many boxes were made
    passed: float  # least key that counts as no nearer than the limit


class DenseBoxes:
    """A network of matrices in a row whose values are bounded on boxes within one given box.

    ``back`` holds the bounds of the box in which all others are.
    """

    def __init__(self, layers: DenseLayers, back: BackwardBounds) -> None:
        self.layers = layers
        units = layers.slopes.shape[1]
        self._least, self._most = np.full(units, -np.inf), np.full(units, np.inf)
        self._last_pieces = np.zeros(units, dtype=np.int32)
        gates = [gate for gate in layers.gates if gate is not None]
        for place, gate, (low, high) in zip(layers.places, gates, back.ranges, strict=True):
            self._least[place], self._most[place] = low.numpy(), high.numpy()
            self._last_pieces[place] = gate.num_pieces - 1
        levels, slopes, starts = (
            np.ascontiguousarray(one) for one in (layers.breakpoints, layers.slopes, layers.intercepts)
        )
        self._arrays = (layers.sizes, layers.weights, layers.biases, levels, slopes, starts)

    def forms(
        self, lower: Float[np.ndarray, "k n"], upper: Float[np.ndarray, "k n"]
    ) -> tuple[FormArrays, list[SeenRange], SeenOnBoxes]:
        """Return forms of the outputs (centres, weights, noise and errors), ranges of units, and what `below` needs."""
        low, high, terms, first, last, centers, errors, weights, noise = _kernels.forms_on_boxes(
            *self._arrays,
            np.ascontiguousarray((lower + upper) / 2),
            half_sides(lower, upper),
            self._least,
            self._most,
            is_carried_back=True,
            num_threads=self._threads(len(lower)),
        )
        last = np.minimum(last, self._last_pieces)
        tables = [torch.from_numpy(table) for table in (low, high, first.astype(np.int64), last.astype(np.int64))]
        ranges = [SeenRange(*(table[:, place] for table in tables)) for place in self.layers.places]
        return (centers, weights, noise, errors), ranges, SeenOnBoxes(low, high, terms)

    def below(
        self,
        lower: Float[np.ndarray, "k n"],
        upper: Float[np.ndarray, "k n"],
        seen: SeenOnBoxes,
        rows: Float[np.ndarray, "t m"],
    ) -> tuple[Float[np.ndarray, "k t n"], Float[np.ndarray, "k t"], Float[np.ndarray, "k t"]]:
        """Return slopes and offsets of functions below rows of the outputs, and constants below them."""
        return _kernels.below_on_boxes(
            *self._arrays,
            np.ascontiguousarray((lower + upper) / 2),
            half_sides(lower, upper),
            *seen,
            np.ascontiguousarray(rows, dtype=np.float64),
            num_threads=self._threads(len(lower)),
        )

    def near(
        self,
        lower: Float[np.ndarray, "k n"],
        upper: Float[np.ndarray, "k n"],
        keys: Float[np.ndarray, " k"],
        seen: tuple[Float[np.ndarray, "k u"], Float[np.ndarray, "k u"]],
        asked: tuple[Float[np.ndarray, " n"], Float[np.ndarray, "t m"], Norm],
        *,
        lengths: tuple[float, float, float],
        most_boxes: int,
        codes: tuple[int, int],
    ) -> LeftBoxes:
        """Return the parts of boxes where an output function may be negative nearer to a point than a limit.

        ``asked``: point, functions, norm. ``lengths``: the limit, what counts as no nearer than it, sides of small
        boxes. ``most_boxes`` are made of each box; ``codes`` is how many may be left on leaves and on small ones.
        """
        x, rows, norm = asked
        arrays = (np.ascontiguousarray(one, dtype=np.float64) for one in (lower, upper, keys, *seen, x, rows))
        kind, ends = ORDERS.index(norm.order), np.array(lengths)
        found = _kernels.near_boxes(*self._arrays, *arrays, kind, ends, most_boxes, *codes)  # pyright: ignore[reportCallIssue]
        return LeftBoxes(*found)

    def _threads(self, number: int) -> int:
        return kernel_threads(number * len(self.layers.weights), THREADED_WEIGHTS)

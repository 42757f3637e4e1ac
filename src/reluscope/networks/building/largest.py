"""The k largest entries along an axis, kept where they are: the activation of TopK autoencoders.

Models take the largest entries out, in an order that is of no use, do something to each, and scatter them into zeros.
What is taken out stands here for its result at full length, zeros included.
"""

from dataclasses import dataclass, replace
from math import prod

import numpy as np
import torch

from reluscope.errors import InputError, UnsupportedOperatorError
from reluscope.networks.building.core import Value, normal_axis
from reluscope.networks.building.functions import Function
from reluscope.networks.building.jumps import Jumps
from reluscope.networks.graph.choosing_gates import TopK

# Entries that are put in order: there are as many rounds of comparisons.
MOST_IN_ORDER = 64


@dataclass(frozen=True)
class Picked:
    """The k largest entries of a value, or their positions, before they are put back in their places."""

    source: Value  # the value that was compared
    top: Value  # gate: largest entries in place, zeros elsewhere
    value: Value  # result computed from it, entry by entry
    k: int
    axis: int
    is_positions: bool = False  # whether these are positions

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what was taken out."""
        return (*self.value.shape[: self.axis], self.k, *self.value.shape[self.axis + 1 :])


class ComparedEntries(Jumps):
    """Methods for gates that compare entries with each other and jump."""

    def top_k(self, x: Value, k: int, axis: int, *, keeps: bool = True) -> Value:
        """Keep the k largest entries along an axis, the lower ones of equal ones, and give 0 elsewhere.

        Without ``keeps`` the largest entries are 1 and not themselves: a mask.
        """
        axis = normal_axis(axis, len(x.shape))
        if not 0 < k <= x.shape[axis]:
            raise InputError(f"expected k from 1 to {x.shape[axis]} at {self.place}, got {k}")
        slope, start = (1.0, 0.0) if keeps else (0.0, 1.0)
        if k == x.shape[axis]:
            return self.scale_shift(x, slope, start)
        positions = torch.arange(prod(x.shape)).reshape(x.shape)
        return self.add_gate(
            TopK,
            x,
            "topk" if keeps else "topk mask",
            breakpoints=torch.zeros(0, 1, dtype=torch.float64),
            slopes=torch.tensor([[0.0], [slope]], dtype=torch.float64),
            intercepts=torch.tensor([[0.0], [start]], dtype=torch.float64),
            groups=positions.movedim(axis, -1).reshape(-1, x.shape[axis]).contiguous(),
            k=k,
        )

    def pick(self, x: Value, k: int, axis: int, *, largest: bool = True) -> tuple[Picked, Picked]:
        """Return the k largest, or smallest, entries along an axis, and their positions."""
        axis = normal_axis(axis, len(x.shape))
        source = x if largest else self.negate(x)
        top = self.top_k(source, k, axis)
        value = top if largest else self.negate(top)
        values = Picked(source, top, value, k, axis)
        return values, replace(values, is_positions=True)

    def in_order(self, picked: Picked) -> Value:
        """Return picked entries in descending order, or ascending ones of the smallest.

        As many rounds of comparisons of neighbours as there are entries, each a gate of maxima: ``n (n - 1) / 2`` units
        for each line of n entries.
        """
        length = picked.source.shape[picked.axis]
        function = self._function_of(picked.value, picked.top)
        if picked.is_positions or function is None or function.slopes.shape[1] > 1:
            raise UnsupportedOperatorError(
                f"expected the largest entries themselves in order, but {self.place} gives their positions, which jump "
                "from point to point, or what became of them: load the part before it"
            )
        if length > MOST_IN_ORDER:
            raise UnsupportedOperatorError(
                f"expected at most {MOST_IN_ORDER} entries to be put in order, but {self.place} compares {length}: "
                "load the part before it"
            )
        lines = self.rearrange(picked.source, lambda positions: np.moveaxis(positions, picked.axis, -1))
        for number in range(length):
            lines = self._round(lines, number % 2, length)
        kept = self.slice(lines, -1, 0, picked.k)
        kept = self.rearrange(kept, lambda positions: np.moveaxis(positions, -1, picked.axis))
        return kept if picked.value == picked.top else self._function(kept, function)

    def _round(self, lines: Value, start: int, length: int) -> Value:
        """Return lines with pairs of neighbours, from a place on, in order."""
        left = torch.arange(start, length - 1, 2)
        if not len(left):
            return lines
        one, two = (self.take(lines, -1, places) for places in (left, left + 1))
        high = self.maximum(one, two)
        low = self.subtract(self.add(one, two), high)
        joined = self.concatenate([lines, high, low], -1)
        index = torch.arange(length)
        index[left], index[left + 1] = length + torch.arange(len(left)), length + len(left) + torch.arange(len(left))
        return self.take(joined, -1, index)

    def put_back(self, values: Picked | float, places: Picked) -> Value:
        """Return picked entries, or one number for all of them, at their places, and zeros elsewhere."""
        if not isinstance(values, Picked):
            mask = self.top_k(places.source, places.k, places.axis, keeps=False)
            return mask if values == 1 else self.scale_shift(mask, values)
        is_same = self._first(values.top.index) == self._first(places.top.index)  # also where it was asked for twice
        if values.is_positions or not places.is_positions or not is_same:
            raise UnsupportedOperatorError(f"{self.place} scatters entries to positions that are not their own")
        if not self._keeps_zero(values.value, values.top):
            raise UnsupportedOperatorError(
                f"{self.place} scatters what is not 0 where an entry is 0: write the activation behind the scattering"
            )
        return values.value

    def masked(self, x: Value, y: Value) -> Value | None:
        """Return the product of two values that are functions of one value, None if it is not piecewise affine."""
        for mask, other in ((x, y), (y, x)):
            node = self.nodes[mask.index]
            if isinstance(node, TopK) and self._is_top_mask(mask):
                source = Value(node.inputs[0], node.shape)
                function = self._function_of(other, source)
                if function is not None and function.is_zero_at_zero:
                    top = self.top_k(source, node.k, self._axis_of(node))
                    return self._function(top, function)
        return super().masked(x, y)

    def is_mask(self, x: Value) -> bool:
        """Whether the values are known to be 0 or 1."""
        return self._is_top_mask(x) or super().is_mask(x)

    def _is_top_mask(self, x: Value) -> bool:
        node = self.nodes[x.index]
        return isinstance(node, TopK) and not bool(node.slopes.any()) and bool(node.intercepts[1] == 1)

    def _axis_of(self, node: TopK) -> int:
        """Return the axis along which entries are compared."""
        step = int(node.groups[0, 1] - node.groups[0, 0])
        return next(axis for axis in range(len(node.shape)) if prod(node.shape[axis + 1 :]) == step)

    def _function_of(self, x: Value, source: Value) -> Function | None:
        """Return the function of a value that another one is, None if it is none that is known."""
        first = self._first(source.index)
        return next((function for one, function in self._functions(x) if self._first(one.index) == first), None)

    def _keeps_zero(self, x: Value, source: Value) -> bool:
        function = self._function_of(x, source)
        return function is not None and function.is_zero_at_zero

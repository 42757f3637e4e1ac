"""Gates that jump: steps, signs, masks and what they choose between.

Whatever depends on one value alone is a function of it, however many operators it was written with: a mask times the
value that it is a mask of is one gate. A gate counts a breakpoint as passed strictly above it, so that a condition such
as ``z >= t`` is read off ``-z``: values at breakpoints are those of the model.
"""

from collections.abc import Iterator, Mapping
from functools import reduce

import torch
from torch import Tensor

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.building.core import Operand, Value, constant
from reluscope.networks.building.entry_functions import entry_function
from reluscope.networks.building.functions import Function
from reluscope.networks.building.gates import Gates
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.operators.elementwise import ScaleShift, Sum

# Breakpoints of a function that was written in several steps, and these steps.
MOST_PIECES, MOST_STEPS = 32, 16
_ZERO, _ONE = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)


class Jumps(Gates):
    """Methods for what is not continuous."""

    def __init__(self, approximate: Mapping[str, int] | None = None) -> None:
        super().__init__(approximate)
        # Values that were made as functions of others, by their positions.
        self._made: dict[int, tuple[Value, Function] | None] = {}
        self._firsts: dict[int, int] = {}

    def compare(self, x: Operand, y: Operand, relation: str) -> Value:
        """Return 1 where ``x relation y`` holds and 0 elsewhere; one side may be a constant.

        ``relation`` is one of ``> >= < <= == !=``.
        """
        if not isinstance(x, Value):
            mirrored = {">": "<", ">=": "<=", "<": ">", "<=": ">="}.get(relation, relation)
            return self.compare(y, x, mirrored)
        if isinstance(y, Value):
            x, y = self.subtract(x, y), 0.0
        level = constant(y)
        x = self.expand(x, torch.broadcast_shapes(x.shape, level.shape))
        return self._function(x, _indicator(self._columns(level, x), relation))

    def sign(self, x: Value) -> Value:
        """Return -1, 0 or 1."""
        above, below = (_indicator(_ZERO, relation) for relation in (">", "<"))
        return self._function(x, above.plus(below.then(-_ONE, _ZERO)))

    def heaviside(self, x: Value, at_zero: Tensor | float) -> Value:
        """Return 0 below zero, 1 above, and a constant at zero."""
        level = constant(at_zero)
        x = self.expand(x, torch.broadcast_shapes(x.shape, level.shape))
        at_it = _indicator(_ZERO, "==").then(self._columns(level, x), _ZERO)
        return self._function(x, _indicator(_ZERO, ">").plus(at_it))

    def hardshrink(self, x: Value, reach: float) -> Value:
        """Return ``x`` where ``|x| > reach``, else 0."""
        level = torch.full((1,), reach, dtype=torch.float64)
        outside = _indicator(level, ">").plus(_indicator(-level, "<"))
        function = outside.product(Function.affine(_ONE, _ZERO))
        assert function is not None
        return self._function(x, function)

    def where(self, mask: Value, x: Operand, y: Operand) -> Value:
        """Return ``x`` where a mask is 1, else ``y``; what is chosen has to depend on the same value as the mask."""
        shape = torch.broadcast_shapes(*(one.shape for one in (mask, x, y) if isinstance(one, Value | Tensor)))
        sides = [self.expand(one, shape) if isinstance(one, Value) else constant(one) for one in (x, y)]
        mask = self.expand(mask, shape)
        source, (chooses, above, below) = self._of_one_value([mask, *sides])
        return self._function(source, chooses.chooses(above, below))

    def masked(self, x: Value, y: Value) -> Value | None:
        """Return the product of two values that are functions of one value, None if it is not piecewise affine."""
        shape = torch.broadcast_shapes(x.shape, y.shape)
        found = self._common([self.expand(one, shape) for one in (x, y)])
        product = None if found is None else found[1][0].product(found[1][1])
        return None if found is None or product is None else self._function(found[0], product)

    def both(self, x: Value, y: Value) -> Value:
        """Return 1 where two masks are 1."""
        product = self.masked(x, y)
        return self.compare(self.add(x, y), 1.5, ">") if product is None else product

    def either(self, x: Value, y: Value) -> Value:
        """Return 1 where one of two masks is 1, or both are."""
        return self.negated(self.both(self.negated(x), self.negated(y)))

    def negated(self, x: Value) -> Value:
        """Return 1 where a mask is 0."""
        return self.subtract(1.0, x)

    def is_mask(self, x: Value) -> bool:
        """Whether the values are known to be 0 or 1."""
        return any(function.is_mask for _, function in self._functions(x))

    def _function(self, x: Value, function: Function) -> Value:
        """Add a function of a value: a gate for open breakpoints, one of ``-x`` for closed ones."""
        function = function.simplified()
        result = self._parts_of(x, function)
        self._made[result.index] = x, function
        return result

    def _parts_of(self, x: Value, function: Function) -> Value:
        if function.is_affine:
            return self._line(x, function)
        if function.opens:
            return self._gate(x, function)
        if function.closes:
            return self._gate(self.negate(x), function.of(Function.affine(-_ONE, _ZERO)))
        parts = [self._function(x, function.part(closed=closed)) for closed in (False, True)]
        return self.add(*parts)

    def _gate(self, x: Value, function: Function) -> Value:
        tables = (function.points, function.slopes, function.intercepts)
        return self.pointwise(x, _kind(function), *tables, may_jump=True)

    def _line(self, x: Value, function: Function) -> Value:
        slope, shift = (
            table[0] if table.shape[1] == 1 else table[0].reshape(x.shape)
            for table in (function.slopes, function.intercepts)
        )
        return self.scale_shift(x, slope, shift)

    def _of_one_value(self, operands: list[Value | Tensor]) -> tuple[Value, list[Function]]:
        """Return the value that some operands are functions of, and the functions; constants are so of any."""
        values = [one for one in operands if isinstance(one, Value)]
        found = self._common(values)
        if found is None:
            raise UnsupportedOperatorError(
                f"expected a choice by a condition on the value that is chosen, but {self.place} chooses by one value "
                "between others, and a gate sees one: write it with relu, abs, maximum or minimum"
            )
        source, functions = found
        known = iter(functions)
        return source, [
            next(known) if isinstance(one, Value) else Function.affine(_ZERO, self._columns(one, source))
            for one in operands
        ]

    def _common(self, values: list[Value]) -> tuple[Value, list[Function]] | None:
        """Return the nearest value that all are functions of, and these functions."""
        ways = [list(self._way(one)) for one in values]
        known = [{self._first(source.index): place for place, (source, _) in enumerate(way)} for way in ways]
        for source, _ in ways[0]:
            first = self._first(source.index)
            if all(first in one for one in known):
                functions = [_along(way[: one[first] + 1]) for way, one in zip(ways, known, strict=True)]
                return None if any(one is None for one in functions) else (source, functions)  # pyright: ignore[reportReturnType]
        return None

    def _first(self, index: int) -> int:
        """Return the first node that computes the same: what is written twice is one value."""
        if index not in self._firsts:
            self._firsts[index] = self._look_for_first(index)
        return self._firsts[index]

    def _look_for_first(self, index: int) -> int:
        node = self.nodes[index]
        if not isinstance(node, ScaleShift | Pointwise):
            return index
        source, tensors = self._first(node.inputs[0]), node.tensors()
        for earlier, other in enumerate(self.nodes[:index]):
            if isinstance(node, TopK) and (not isinstance(other, TopK) or other.k != node.k):
                continue
            if type(other) is type(node) and other.shape == node.shape and self._first(other.inputs[0]) == source:
                theirs = other.tensors()
                if theirs.keys() == tensors.keys() and all(torch.equal(tensors[name], theirs[name]) for name in theirs):
                    return earlier
        return index

    def _functions(self, x: Value) -> Iterator[tuple[Value, Function]]:
        """Yield the values that a value is a function of, itself first, and these functions."""
        way = list(self._way(x))
        for place, (source, _) in enumerate(way):
            function = _along(way[: place + 1])
            if function is None:
                return
            yield source, function

    def _way(self, x: Value) -> Iterator[tuple[Value, Function]]:
        """Yield a value and itself, then again and again the one that it is a function of, and that function."""
        own = Function.affine(_ONE, _ZERO)
        for _ in range(MOST_STEPS):
            yield x, own
            node = self.nodes[x.index]
            if isinstance(node, Sum) and x.index not in self._made:
                self._made[x.index] = self._of_sum(node)
            if x.index in self._made:
                made = self._made[x.index]
            else:
                found = entry_function(node)
                made = None if found is None else (Value(node.inputs[0], x.shape), found)
            if made is None:
                return
            x, own = made

    def _of_sum(self, node: Sum) -> tuple[Value, Function] | None:
        """Return the one value whose functions are added, and their sum."""
        if set(node.input_shapes) != {node.shape}:
            return None
        found = self._common([Value(position, node.shape) for position in node.inputs])
        if found is None:
            return None
        minus = Function.affine(-_ONE, _ZERO)
        signed = [part if sign > 0 else minus.of(part) for part, sign in zip(found[1], node.signs, strict=True)]
        return found[0], reduce(Function.plus, signed)


def _along(way: list[tuple[Value, Function]]) -> Function | None:
    """Return the function at the end of a way, None if it has too many pieces."""
    function = way[0][1]
    for _, own in way[1:]:
        if len(function.points) * len(own.slopes) > MOST_PIECES**2:
            return None
        function = function.of(own)
        if len(function.points) > MOST_PIECES:
            return None
    return function


def _indicator(level: Tensor, relation: str) -> Function:
    """Return the function that is 1 where ``z relation level``, and 0 elsewhere."""
    zero, one = torch.zeros_like(level), torch.ones_like(level)
    if relation in (">", ">="):
        intercepts = torch.stack([zero, one])
        return Function.of_pieces(level[None], torch.zeros_like(intercepts), intercepts, closed=relation == ">=")
    if relation == "==":
        return _indicator(level, ">=").plus(_indicator(level, ">").then(-_ONE, _ZERO))
    opposite = {"<": ">=", "<=": ">", "!=": "=="}[relation]
    return _indicator(level, opposite).then(-_ONE, _ONE)


def _kind(function: Function) -> str:
    """Return what a function is called."""
    if not bool(function.slopes.any()):
        return "step"
    zero_below = not bool(function.slopes[0].any() or function.intercepts.any())
    if function.is_continuous:
        return "piecewise linear"
    return "jumprelu" if len(function.points) == 1 and zero_below and bool((function.slopes[1] == 1).all()) else "where"

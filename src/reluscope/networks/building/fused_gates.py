"""Gates of one value that are written in several steps: ``relu(x - t) - relu(-x - t)`` is one function with two kinks.

Nodes that work entry by entry, have one source and are read by nobody else become one gate, where that is possible
without rounding.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor

from reluscope.networks.building.entry_functions import entry_function
from reluscope.networks.building.functions import Function
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.nodes import Approximate, Node, Pointwise
from reluscope.networks.graph.operators.elementwise import ScaleShift, Sum

# Nodes that are looked at together, and breakpoints of what comes out.
MOST_NODES, MOST_PIECES = 12, 16
_ZERO, _ONE = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
_SAME, _MINUS = Function.affine(_ONE, _ZERO), Function.affine(-_ONE, _ZERO)


class _Cone(NamedTuple):
    """Nodes that are one function of a source."""

    inside: Set[int]
    source: int


def fused(nodes: Sequence[Node], output: int) -> list[Node]:
    """Return nodes in which one gate stands for several, at the place of the last; others stay, needed or not."""
    readers: list[set[int]] = [set() for _ in nodes]
    for position, node in enumerate(nodes):
        for source in node.inputs:
            readers[source].add(position)
    readers[output].add(len(nodes))
    result, taken = list(nodes), set()
    for top in range(len(nodes) - 1, 0, -1):
        if top in taken or not isinstance(nodes[top], Pointwise | Sum) or not readers[top]:
            continue
        for cone in reversed(list(_cones(nodes, readers, top))):
            function = _function(nodes, cone, top)
            if function is None:
                continue
            if function.opens:
                result[top] = _node(nodes, cone, function, top)
            elif function.closes:
                # A gate counts a breakpoint as passed above it: closed ones are those of the negative.
                mirrored = _node(nodes, cone, function.of(_MINUS), top)
                first, shape = min(cone.inside), nodes[top].shape
                result[first] = _scaled(nodes[first].name, cone.source, shape, -_ONE, None)
                result[top] = replace(mirrored, inputs=(first,))
            else:
                continue
            taken |= cone.inside
            break
    return result


def _cones(nodes: Sequence[Node], readers: Sequence[Set[int]], top: int) -> Iterator[_Cone]:
    """Yield nodes up to one, more and more of them, that have one source and at least two gates."""
    inside = {top}
    while len(inside) <= MOST_NODES:
        reads = {source for position in inside for source in nodes[position].inputs} - inside
        if len(reads) == 1 and sum(isinstance(nodes[position], Pointwise) for position in inside) > 1:
            yield _Cone(frozenset(inside), min(reads))
        latest = max(reads)
        is_mine = readers[latest] <= inside and nodes[latest].shape == nodes[top].shape
        if not is_mine or not _is_entrywise(nodes[latest]):
            return
        inside.add(latest)


def _is_entrywise(node: Node) -> bool:
    if isinstance(node, Sum):
        return set(node.input_shapes) == {node.shape}
    if isinstance(node, ScaleShift):
        return node.input_shapes[0] == node.shape
    return isinstance(node, Pointwise) and not isinstance(node, TopK | Approximate)


def _function(nodes: Sequence[Node], cone: _Cone, top: int) -> Function | None:
    """Return the function that a cone is of its source, None where rounding is in the way."""
    functions = {cone.source: _SAME}
    for position in sorted(cone.inside):
        node = nodes[position]
        if not _is_entrywise(node):
            return None
        parts = [functions[source] for source in node.inputs]
        if isinstance(node, Sum):
            signed = [one if sign > 0 else _MINUS.of(one) for one, sign in zip(parts, node.signs, strict=True)]
            found = reduce(Function.plus, signed)
        else:
            own = entry_function(node)
            assert own is not None
            found = own.of(parts[0])
        if len(found.points) > MOST_PIECES:
            return None
        functions[position] = found
    return functions[top] if functions[top].error == 0 else None


def _node(nodes: Sequence[Node], cone: _Cone, function: Function, top: int) -> Node:
    """Return a node that is a function, with open breakpoints, of the source of a cone."""
    shape = nodes[top].shape
    if function.is_affine:
        slope, shift = (
            table[0] if table.shape[1] == 1 else table[0].reshape(shape)
            for table in (function.slopes, function.intercepts)
        )
        return _scaled(nodes[top].name, cone.source, shape, slope, shift)
    last = max(position for position in cone.inside if isinstance(nodes[position], Pointwise))
    gate = nodes[last]
    assert isinstance(gate, Pointwise)
    made = replace(
        gate,
        inputs=(cone.source,),
        shape=shape,
        breakpoints=function.points,
        slopes=function.slopes,
        intercepts=function.intercepts,
    )
    return replace(made, kind="relu" if made.is_relu else "piecewise linear" if made.is_continuous else "where")


def _scaled(name: str, source: int, shape: tuple[int, ...], slope: Tensor, shift: Tensor | None) -> ScaleShift:
    return ScaleShift(name=name, inputs=(source,), shape=shape, input_shapes=(shape,), scale=slope, shift=shift)

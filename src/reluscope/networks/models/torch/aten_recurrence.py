"""``nn.RNN(nonlinearity="relu")`` over sequences of a fixed length."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.building.core import constant
from reluscope.networks.models.operators.recurrence import RecurrentWeights, unrolled
from reluscope.networks.models.torch.aten_site import AtenSite, is_value, lowers


@dataclass(frozen=True)
class LayerStates:
    """Values one after the other along an axis in front of the batch axis: the last states of recurrent layers."""

    parts: tuple[Value, ...]


@lowers("rnn_relu")
def rnn(site: AtenSite, a: SimpleNamespace) -> list[Any]:
    """All layers and directions, step by step: outputs at all steps, and the last states."""
    if is_value(a.hx) or not isinstance(a.input, Value):
        raise site.unsupported("with first states that depend on the input")
    if not a.batch_first:
        raise site.batch_error("has the batch axis second: write it with batch_first=True")
    if a.train and a.dropout:
        raise site.unsupported("with dropout in training mode: call model.eval() first")
    first = constant(a.hx)
    start = site.one_row(first.movedim(1, 0) if first.ndim == 3 else first)
    builder, states = site.builder, []
    steps = [builder.take(a.input, 0, number) for number in range(a.input.shape[0])]
    number = 2 if a.bidirectional else 1
    layers = _weights(list(a.params), has_biases=a.has_biases)
    for layer in range(a.num_layers):
        sides = []
        for side in range(number):
            found = unrolled(site, steps, next(layers), start[layer * number + side], reverse=side == 1)
            states.append(found[0 if side else -1])
            sides.append(found)
        steps = [builder.concatenate(list(parts), -1) if number > 1 else parts[0] for parts in zip(*sides, strict=True)]
    return [_stacked(site, steps), LayerStates(tuple(states))]


def with_states(site: AtenSite, a: SimpleNamespace) -> Any:
    """Lower an operator that takes the last states apart, or moves the batch axis in front of their layers."""
    states = next(one for one in vars(a).values() if isinstance(one, LayerStates)).parts
    if site.operator == "select" and a.dim in (0, -3):
        return states[a.index]
    if site.operator == "slice" and a.dim in (0, -3):
        return LayerStates(states[a.start : a.end : a.step])
    if site.operator == "unbind" and a.dim in (0, -3):
        return list(states)
    if site.operator in ("squeeze", "mean", "sum") and len(states) == 1 and getattr(a, "dim", 0) in (0, [0], -3, [-3]):
        return states[0]
    if site.operator in ("transpose", "swapaxes", "permute", "movedim"):
        order = torch.zeros(len(states), site.batch, 1)
        if site.target(order, *list(vars(a).values())[1:]).shape == (site.batch, len(states), 1):
            return _stacked(site, list(states))
    raise site.batch_error("keeps the layers of last states in front of the batch axis: take one, as in h[-1]")


def _weights(params: list[Any], *, has_biases: bool) -> Iterator[RecurrentWeights]:
    each = 4 if has_biases else 2
    for place in range(0, len(params), each):
        into, back, *biases = (constant(one) for one in params[place : place + each])
        bias: Tensor = sum(biases, torch.zeros(len(into), dtype=torch.float64))
        yield RecurrentWeights(into, back, bias)


def _stacked(site: AtenSite, parts: list[Value]) -> Value:
    rows = [site.builder.reshape(part, (1, *part.shape)) for part in parts]
    return site.builder.concatenate(rows, 0)

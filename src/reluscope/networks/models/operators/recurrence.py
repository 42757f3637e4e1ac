"""Recurrent layers of a fixed length, written out step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reluscope.networks.building.builder import Operand, Value
from reluscope.networks.models.operators.operator_site import OperatorSite


@dataclass(frozen=True)
class RecurrentWeights:
    """Constants of one direction of one layer: ``h = relu(W x + R h + b)``."""

    into: Tensor  # (hidden, inputs)
    back: Tensor  # (hidden, hidden)
    bias: Tensor  # (hidden,)


def unrolled(
    site: OperatorSite, steps: Sequence[Value], weights: RecurrentWeights, start: Operand, *, reverse: bool = False
) -> list[Value]:
    """Return the hidden state after each step, in the order of the steps; ``start`` is that before the first."""
    states: list[Value] = []
    before: Operand = start
    for step in reversed(steps) if reverse else steps:
        fresh = site.builder.linear(step, weights.into, weights.bias)
        if isinstance(before, Value):
            fresh = site.builder.add(fresh, site.builder.linear(before, weights.back))
        elif bool(torch.as_tensor(before).any()):
            fresh = site.builder.add(fresh, torch.as_tensor(before) @ weights.back.T)
        states.append(site.builder.relu(fresh))
        before = states[-1]
    return states[::-1] if reverse else states

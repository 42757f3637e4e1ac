"""Networks given as layers of the rational oracle: built as a network, drawn at random, sliced."""

from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.network import Network
from reluscope.testing import dyadics

GATES = {
    "relu": ([0.0], [0.0, 1.0], [0.0, 0.0]),
    "leaky": ([0.0], [0.25, 1.0], [0.0, 0.0]),
    "abs": ([0.0], [-1.0, 1.0], [0.0, 0.0]),
    "clamp": ([-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]),
    "softshrink": ([-0.5, 0.5], [1.0, 0.0, 1.0], [0.5, 0.0, -0.5]),
}


def network_of(layers: list, num_inputs: int) -> Network:
    """Build the network that layers of the oracle describe; groups of a max of different size are padded."""
    builder = GraphBuilder()
    value = builder.input((num_inputs,))
    for kind, *parameters in layers:
        if kind == "affine":
            weight, bias = (torch.tensor(np.asarray(table, dtype=float)) for table in parameters)
            value = builder.linear(value, weight, bias)
        elif kind == "pointwise":
            value = builder.pointwise(value, "gate", *parameters)
        else:
            (groups,) = parameters
            table = np.full((len(groups), max(map(len, groups))), -1)
            for row, group in enumerate(groups):
                table[row, : len(group)] = group
            value = builder.max_of(value, table, (len(groups),))
    return builder.build(value)


def on_slice(layers: list, domain: Slice) -> list:
    """Return the layers in coordinates of a slice, without rounding."""
    return [("affine", domain.basis.T, domain.origin), *layers]


@st.composite
def gate_layers(draw: Any, num_inputs: int, *, kinds: tuple[str, ...], max_width: int = 5, max_layers: int = 3) -> list:
    """Draw layers with dyadic weights: duplicates, parallels and zero biases come up by themselves, and are planted."""
    layers: list = []
    fan_in = num_inputs
    for _ in range(draw(st.integers(1, max_layers))):
        width = draw(st.integers(1, max_width))
        entries = draw(st.lists(dyadics(), min_size=width * (fan_in + 1), max_size=width * (fan_in + 1)))
        table = np.array(entries).reshape(width, fan_in + 1)
        if draw(st.booleans()):
            table[:, -1] = 0
        if draw(st.booleans()):
            table[draw(st.integers(0, width - 1))] = draw(st.sampled_from([-1.0, 1.0, 2.0])) * table[-1]
        layers.append(("affine", table[:, :-1], table[:, -1]))
        kind = draw(st.sampled_from(kinds))
        if kind == "max":
            candidates = st.lists(st.integers(0, width - 1), min_size=2, max_size=5)
            groups = draw(st.lists(candidates, min_size=1, max_size=3))
            layers.append(("max", groups))
            width = len(groups)
        else:
            layers.append(("pointwise", *GATES[kind]))
        fan_in = width
    return [*layers, ("affine", np.ones((1, fan_in)), np.zeros(1))]


@st.composite
def dyadic_slices(draw: Any, num_inputs: int, dim: int) -> Slice:
    """Draw slices whose lift to input space is exact in float64, orthonormal or skewed."""
    from reluscope.testing import slices

    return draw(slices(num_inputs, dim))

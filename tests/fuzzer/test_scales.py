"""Units of measure of hidden units: the same function, codes and cells, and back again."""

import numpy as np
import pytest

from fuzzer.drawn_cases import draw_case
from fuzzer.layers import DenseLayer, GateModule, exact_layers
from fuzzer.truth import TrueDomain, Truth
from fuzzer.wild_scales import draw_scales, evened, rescale, scalable

GATES = [
    GateModule("relu"),
    GateModule("leaky", (0.25,)),
    GateModule("prelu", ([0.5, -0.5, 0.25, 0.0, 1.0, 2.0],)),
    GateModule("abs"),
    GateModule("maxout", (3,)),
    GateModule("maximum"),
    GateModule("maxpool", (2, 1, 0)),
]


def network(gate, seed=0):
    generator = np.random.default_rng(seed)
    first = DenseLayer(generator.integers(-8, 9, (6, 2)) / 4, generator.integers(-4, 5, 6) / 4)
    width = gate.width(6)
    return (first, gate, DenseLayer(generator.integers(-8, 9, (2, width)) / 4, np.array([0.25, -1.0])))


def truth(layers):
    rows = ((1, 0, 1), (-1, 0, 1), (0, 1, 1), (0, -1, 1))
    return Truth(exact_layers(layers, 2), TrueDomain(2, rows))


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.kind)
def test_the_function_stays(gate):
    layers = network(gate)
    scaled = layers
    for count, place in enumerate(scalable(layers)):
        scaled = rescale(scaled, *place, (-1) ** count * (40 + 50 * count))
    right, found = truth(layers), truth(scaled)
    assert {cell.code: cell.outputs for cell in found.regions} == {cell.code: cell.outputs for cell in right.regions}
    assert found.codes == right.codes
    assert np.abs(scaled[0].weight).max() > 1e10


@pytest.mark.parametrize("kind", ["clamp", "hardtanh", "softshrink", "relu6", "hardsigmoid"])
def test_gates_with_lengths_of_their_own_are_left_alone(kind):
    layers = network(
        GateModule(kind, {"clamp": (-1.0, 1.0), "hardtanh": (-1.0, 1.0), "softshrink": (0.5,)}.get(kind, ()))
    )
    assert not scalable(layers)
    assert draw_scales(np.random.default_rng(0), layers) == layers


def test_shrinking_undoes_it():
    layers = network(GateModule("relu"))
    scaled = rescale(layers, 1, 2, 200)
    found = [each for each in evened(scaled) if np.abs(each[0].weight).max() < 1e3]
    assert len(found) == 1
    assert truth(found[0]).maps == truth(layers).maps


def test_some_cases_have_large_scales_and_none_too_large():
    sizes = []
    for number in range(200):
        case = draw_case("box", np.random.default_rng([5, number]))
        weights = np.concatenate([layer.weight.ravel() for layer in case.layers[::2]])
        sizes.append(np.abs(weights[weights != 0]))
    assert sum(size.max(initial=0) > 1e30 or size.min(initial=1) < 1e-30 for size in sizes) > 20
    assert all(size.max(initial=0) < 1e120 and size.min(initial=1) > 1e-120 for size in sizes)

"""The same function with hidden units in other units of measure.

A gate of positive homogeneity, ``g(c x) = c g(x)`` for ``c > 0``, lets the values that it reads be multiplied by a
power of two, if what reads its results is divided by it: the function, the codes and every region stay what they are,
and no number is rounded. Only sizes change, by which an engine must not be impressed.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import Generator

from fuzzer.layers import DenseLayer, GateModule, Layer

_HOMOGENEOUS = ("relu", "leaky", "prelu", "abs", "maxout", "maximum", "maxpool")
# Networks are refused whose constants or values are beyond 1e120: where both ends of a weight are scaled, by less each.
MAX_ON_ONE_SIDE = 300
MAX_ON_BOTH_SIDES = 150


def units_of_measure(gate: GateModule, width: int) -> list[tuple[list[int], list[int]]]:
    """Return what a gate lets scale together: positions of values it reads, and of its results."""
    results = gate.width(width)
    if gate.kind not in _HOMOGENEOUS:
        return []
    if gate.kind == "maxpool":
        return [(list(range(width)), list(range(results)))]
    if gate.kind == "maximum":
        return [([unit, unit + results], [unit]) for unit in range(results)]
    return [(list(range(unit * gate.group, (unit + 1) * gate.group)), [unit]) for unit in range(results)]


def scalable(layers: Sequence[Layer]) -> list[tuple[int, int]]:
    """Return the positions of gates and numbers of their units of measure that `rescale` takes."""
    return [
        (position, group) for position in range(1, len(layers), 2) for group in range(_num_groups(layers, position))
    ]


def rescale(layers: Sequence[Layer], position: int, group: int, exponent: int) -> tuple[Layer, ...]:
    """Return the layers with one unit of measure of the gate at a position multiplied by a power of two."""
    before, gate, after = layers[position - 1 : position + 2]
    assert isinstance(before, DenseLayer)
    assert isinstance(gate, GateModule)
    assert isinstance(after, DenseLayer)
    read, written = units_of_measure(gate, len(before.bias))[group]
    rows, bias, columns = before.weight.copy(), before.bias.copy(), after.weight.copy()
    rows[read], bias[read] = np.ldexp(rows[read], exponent), np.ldexp(bias[read], exponent)
    columns[:, written] = np.ldexp(columns[:, written], -exponent)
    changed = (DenseLayer(rows, bias), gate, DenseLayer(columns, after.bias))
    return (*layers[: position - 1], *changed, *layers[position + 2 :])


def draw_scales(generator: Generator, layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Draw powers of two for hidden units: for none mostly, for one, for those of one gate, or for each."""
    manner = str(generator.choice(["none", "none", "none", "none", "one", "gate", "each", "each"]))
    most = int(generator.choice([20, 60, MAX_ON_BOTH_SIDES, MAX_ON_ONE_SIDE]))
    places = scalable(layers)
    if not places or manner == "none":
        return tuple(layers)
    chosen = places[int(generator.integers(0, len(places)))]
    common = int(generator.integers(-most, most + 1))
    drawn = tuple(layers)
    for place in places:
        if manner == "each":
            exponent = int(generator.integers(-min(most, MAX_ON_BOTH_SIDES), min(most, MAX_ON_BOTH_SIDES) + 1))
            drawn = rescale(drawn, *place, exponent)
        elif place == chosen or (manner == "gate" and place[0] == chosen[0]):
            drawn = rescale(drawn, *place, common)
    return drawn


def evened(layers: Sequence[Layer]) -> Iterator[tuple[Layer, ...]]:
    """Yield the layers with one unit of measure brought to where the largest number of its rows is from 1 to 2."""
    for position, group in scalable(layers):
        before, gate = layers[position - 1 : position + 1]
        assert isinstance(before, DenseLayer)
        assert isinstance(gate, GateModule)
        read, _ = units_of_measure(gate, len(before.bias))[group]
        exponent = 1 - int(np.frexp(np.abs(before.weight[read]).max())[1])
        if exponent and before.weight[read].any():
            yield rescale(layers, position, group, exponent)


def _num_groups(layers: Sequence[Layer], position: int) -> int:
    before, gate = layers[position - 1 : position + 1]
    assert isinstance(before, DenseLayer)
    assert isinstance(gate, GateModule)
    return len(units_of_measure(gate, len(before.bias)))

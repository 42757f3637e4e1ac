"""Networks made of others: one behind the other, side by side, and their difference. All are exact.

Gates keep their names; a name that is taken gets a number.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import torch

from reluscope.arguments import describe, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.networks.building.builder import GraphBuilder, Value
from reluscope.networks.building.parameters import as_constant
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.network import Network


@read_arguments
def compose(steps: Sequence[Any]) -> Network:
    """Return the network that applies several steps, the first one first.

    Parameters
    ----------
    steps : sequence of Network, or pairs of (m, n) and (m,) arrays
        A pair ``(A, b)`` is the affine map ``x -> A x + b``. Each step takes as many numbers as the one before gives,
        in row-major order where shapes differ. At least one step is a network.

    Returns
    -------
    Network
        With the notes of all networks, and the ``decision`` and ``left_off`` of the last step.

    Raises
    ------
    ShapeError
        If a step takes another number of entries than the one before gives.
    InputError
        If a step is neither, or there is no network. If a network that is not the last step has a function left off.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> relu = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> turned = rs.compose([(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros(2)), relu, (np.ones((1, 2)), np.ones(1))])
    >>> turned([[1.0, 3.0]])  # relu(3) + relu(-1) + 1
    tensor([[4.]], dtype=torch.float64)
    """
    if not any(isinstance(step, Network) for step in steps):
        raise InputError("steps must hold at least one network: give those that load returns")
    read = [step if isinstance(step, Network) else _affine(step) for step in steps]
    _check_ends([step for step in read[:-1] if isinstance(step, Network)])
    first = read[0]
    builder = GraphBuilder()
    value = builder.input(first.input_shape if isinstance(first, Network) else (first[0].shape[1],))
    for step in read:
        size = step.num_inputs if isinstance(step, Network) else step[0].shape[1]
        if prod(value.shape) != size:
            raise ShapeError(f"steps must fit: one takes {size} numbers, and the one before gives {prod(value.shape)}")
        value = _inserted(builder, step, value) if isinstance(step, Network) else _multiplied(builder, step, value)
    last = read[-1]
    return _built(builder, value, read, last if isinstance(last, Network) else None)


@read_arguments
def stack(networks: Sequence[Network]) -> Network:
    """Return the network whose outputs are those of several networks of one input, one after the other.

    Parameters
    ----------
    networks : sequence of Network
        With equally many inputs.

    Returns
    -------
    Network
        Its output is flat: (m_1 + m_2 + ...,).

    Raises
    ------
    ShapeError
        If the networks have different numbers of inputs.
    InputError
        If there is none, or one has a function left off.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> f, g = (rs.load([(np.array([[weight]]), np.zeros(1))]) for weight in (2.0, -1.0))
    >>> rs.stack([f, g])([[3.0]])
    tensor([[ 6., -3.]], dtype=torch.float64)
    """
    _check_side_by_side(networks)
    builder = GraphBuilder()
    x = builder.input(networks[0].input_shape)
    parts = [builder.flatten(_inserted(builder, one, x)) for one in networks]
    return _built(builder, builder.concatenate(parts, 0), networks, None)


@read_arguments
def difference(f: Network, g: Network) -> Network:
    """Return the network ``x -> f(x) - g(x)``.

    Two networks are equal on a domain where its largest and smallest values are 0: `rs.maximize` finds how far they are
    apart, and `rs.verify` proves a bound.

    Parameters
    ----------
    f, g : Network
        With equally many inputs and outputs.

    Returns
    -------
    Network
        Its output has the shape of that of f.

    Raises
    ------
    ShapeError
        If the networks have different numbers of inputs or outputs.
    InputError
        If one has a function left off.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> f = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    >>> g = rs.load([(np.array([[1.0]]), np.zeros(1)), (np.array([[1.0]]), np.zeros(1))])  # max(x, 0)
    >>> print(rs.maximize(rs.difference(f, g), rs.Box([-2.0], [5.0])))
    2 (EXACT)
    """
    _check_side_by_side((f, g))
    if f.num_outputs != g.num_outputs:
        raise ShapeError(f"f and g must have equally many outputs, got {f.num_outputs} and {g.num_outputs}")
    builder = GraphBuilder()
    x = builder.input(f.input_shape)
    first, second = _inserted(builder, f, x), _inserted(builder, g, x)
    return _built(builder, builder.subtract(first, builder.reshape(second, first.shape)), (f, g), None)


def beside_inputs(network: Network) -> Network:
    """Return ``x -> (f(x), x)``, flat: conditions on inputs and outputs are conditions on what it gives."""
    builder = GraphBuilder()
    x = builder.input(network.input_shape)
    parts = [builder.flatten(_inserted(builder, network, x)), builder.flatten(x)]
    return builder.build(builder.concatenate(parts, 0))


def with_class_gates(networks: Sequence[Network]) -> Network:
    """Return the stack of networks and, behind it, their largest scores: the pieces of its last gates are the classes.

    A single output is compared with 0. What is left off behind outputs changes no class and is ignored.
    """
    bare = [replace(one.scores, left_off=None) for one in networks]
    _check_side_by_side(bare)
    builder = GraphBuilder()
    x = builder.input(bare[0].input_shape)
    scores = [builder.flatten(_inserted(builder, one, x)) for one in bare]
    named = builder.named("class")
    largest = [named.relu(own) if own.shape == (1,) else named.reshape(named.amax(own), (1,)) for own in scores]
    return builder.build(builder.concatenate([*scores, *largest], 0))


def with_lead_gates(network: Network) -> Network:
    """Return a network's scores and, behind them, a unit for each pair of classes: active where the later one leads.

    Pairs are ordered as those of `itertools.combinations`. A single score leads where it is positive.
    """
    bare = replace(network.scores, left_off=None)
    builder = GraphBuilder()
    scores = builder.flatten(builder.insert(bare, builder.input(bare.input_shape)))
    pairs = list(combinations(range(bare.num_outputs), 2))
    weight = torch.zeros(max(1, len(pairs)), bare.num_outputs, dtype=torch.float64)
    weight[:, 0] = 1.0
    for row, (one, other) in enumerate(pairs):
        weight[row] = 0.0
        weight[row, [one, other]] = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    leads = builder.named("lead").relu(builder.linear(scores, weight, torch.zeros(len(weight), dtype=torch.float64)))
    return builder.build(builder.concatenate([scores, leads], 0))


def largest_distance(f: Network, g: Network) -> Network:
    """Return the network ``x -> max_j |f_j(x) - g_j(x)|``."""
    apart = difference(f, g)
    builder = GraphBuilder()
    sizes = builder.absolute(builder.flatten(builder.insert(apart, builder.input(f.input_shape))))
    return builder.build(builder.reshape(builder.amax(sizes), (1,)))


def _affine(step: Any) -> tuple[Any, Any]:
    if not isinstance(step, Sequence) or len(step) != 2:
        raise InputError(f"a step must be a network or a pair (A, b), got {describe(step)}")
    weight, bias = as_constant(step[0], "A of a step"), as_constant(step[1], "b of a step")
    if weight.ndim != 2 or bias.shape != weight.shape[:1]:
        raise ShapeError(
            f"A and b of a step must be (m, n) and (m,), got {tuple(weight.shape)} and {tuple(bias.shape)}"
        )
    return weight, bias


def _check_side_by_side(networks: Sequence[Network]) -> None:
    if not networks:
        raise InputError("networks must be at least one: give those that load returns")
    sizes = sorted({one.num_inputs for one in networks})
    if len(sizes) > 1:
        raise ShapeError(f"networks must have equally many inputs, got {sizes[0]} and {sizes[1]}")
    _check_ends(networks)


def _check_ends(networks: Sequence[Network]) -> None:
    """Refuse networks whose last step was left off: what reads them would read something else."""
    for one in networks:
        if one.left_off is not None:
            refuse_left_off("what another network reads", one.left_off, "end the model before it")


def _inserted(builder: GraphBuilder, network: Network, x: Value) -> Value:
    return builder.insert(network, x if x.shape == network.input_shape else builder.reshape(x, network.input_shape))


def _multiplied(builder: GraphBuilder, step: tuple[Any, Any], x: Value) -> Value:
    return builder.linear(x if len(x.shape) == 1 else builder.flatten(x), *step)


def _built(builder: GraphBuilder, value: Value, parts: Sequence[Any], last: Network | None) -> Network:
    """Return the network with the notes of its parts, and what is said of the last one's outputs."""
    found = builder.build(value)
    notes = [note for one in parts if isinstance(one, Network) for note in one.notes]
    found = replace(found, notes=tuple(dict.fromkeys([*notes, *found.notes])))
    return found if last is None else replace(found, decision=last.decision, left_off=last.left_off)

"""Small ReLU networks whose regions are known in closed form or by independent enumeration.

A network is a list of ``(W, b)``: a ReLU follows every layer but the last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from reluscope.arguments import Count, Seed, read_arguments
from reluscope.shown import Shown

Parameters = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, repr=False)
class ReferenceNetwork(Shown):
    """A network with its known counts.

    Parameters
    ----------
    name : str
        Short name.
    parameters : list of (W, b)
        The layers.
    counts : mapping
        Number of linear regions on all of R^n by definition: ``"activation"``, ``"proper_activation"``, ``"convex"``,
        ``"open_connected"``, ``"closed_connected"``, ``"affine"``; only those that are known.
    lo, hi : float
        A box [lo, hi]^n that meets every full-dimensional region.
    """

    name: str
    parameters: Parameters
    counts: Mapping[str, int] = field(default_factory=dict)
    lo: float = -100.0
    hi: float = 100.0

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        return self.parameters[0][0].shape[1]


_DEFINITIONS = ("activation", "proper_activation", "convex", "open_connected", "closed_connected", "affine")


def reference_networks() -> list[ReferenceNetwork]:
    """Return the reference networks.

    Returns
    -------
    list of ReferenceNetwork

    Notes
    -----
    The six counts of ``max(-y, min(0, -x))``, and the definitions, follow Stargalla, Hertrich, Reichman 2025
    (arXiv 2505.16716); the others are elementary.

    Examples
    --------
    >>> import reluscope as rs
    >>> networks = rs.testing.reference_networks()
    >>> [reference.counts["affine"] for reference in networks if reference.name == "absolute value"]
    [2]
    """
    return [
        ReferenceNetwork(
            "max(-y, min(0, -x))",
            _layers(
                ([[1, 0], [0, 1], [0, -1]], [0, 0, 0]),
                ([[-1, 1, -1], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
                ([[1, -1, 1]], [0]),
            ),
            _counts(7, 5, 4, 3, 3, 3),
        ),
        ReferenceNetwork("absolute value", _layers(([[1], [-1]], [0, 0]), ([[1, 1]], [0])), _counts(3, 2, 2, 2, 2, 2)),
        ReferenceNetwork("identity", _layers(([[1], [-1]], [0, 0]), ([[1, -1]], [0])), _counts(3, 2, 1, 1, 1, 1)),
        ReferenceNetwork(
            "hat",
            _layers(([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])),
            {"activation": 4, "proper_activation": 4, "open_connected": 4, "closed_connected": 4, "affine": 3},
        ),
        ReferenceNetwork(
            "opposite quadrants",  # relu(min(x, y)) - relu(min(-x, -y)) with min(x, y) = x - relu(x - y)
            _layers(
                ([[1, 0], [-1, 0], [1, -1], [-1, 1]], [0, 0, 0, 0]),
                ([[1, -1, -1, 0], [-1, 1, 0, -1]], [0, 0]),
                ([[1, -1]], [0]),
            ),
            {"open_connected": 6, "closed_connected": 3, "affine": 3},
        ),
        ReferenceNetwork("zigzag", zigzag_network(), {"activation": 16, "proper_activation": 16}),
        ReferenceNetwork("sawtooth of depth 4", sawtooth_network(4), {}, 0.0, 1.0),
        ReferenceNetwork("no gates", _layers(([[2, -1]], [0.5])), _counts(1, 1, 1, 1, 1, 1)),
    ]


@read_arguments
def pseudo_random_network(num_inputs: Count, widths: Sequence[Count]) -> Parameters:
    """Build a network with portable pseudo-random weights in [-1, 1] and one output.

    Weights are drawn by s <- (1103515245 s + 12345) mod 2^31 with value 2 s / 2^31 - 1 and seed 2018; layers in order,
    W row-major, then b.

    Parameters
    ----------
    num_inputs : int
        Number of inputs.
    widths : sequence of int
        Units per hidden layer.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.testing.pseudo_random_network(1, [3])[0][0].shape
    (3, 1)
    """
    state = 2018

    def draw(count: int) -> np.ndarray:
        nonlocal state
        values = []
        for _ in range(count):
            state = (1103515245 * state + 12345) % 2**31
            values.append(2 * state / 2**31 - 1)
        return np.array(values)

    parameters, fan_in = [], num_inputs
    for width in [*widths, 1]:
        weight = draw(width * fan_in).reshape(width, fan_in)
        parameters.append((weight, draw(width)))
        fan_in = width
    return parameters


@read_arguments
def default_network(sizes: Sequence[Count], seed: Seed = 0) -> Parameters:
    """Build a network initialised as PyTorch does by default: uniform in +-1 / sqrt(fan-in), drawn by numpy.

    Parameters
    ----------
    sizes : sequence of int
        Inputs, hidden widths, outputs.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Examples
    --------
    >>> import reluscope as rs
    >>> [weight.shape for weight, bias in rs.testing.default_network([2, 8, 1])]
    [(8, 2), (1, 8)]
    """
    generator = np.random.default_rng(seed)
    parameters = []
    for fan_in, width in pairwise(sizes):
        bound = 1 / np.sqrt(fan_in)
        parameters.append((generator.uniform(-bound, bound, (width, fan_in)), generator.uniform(-bound, bound, width)))
    return parameters


@read_arguments
def sawtooth_network(depth: Count) -> Parameters:
    """Build the tent map composed ``depth`` times: 2^depth linear pieces on [0, 1] from 2 units per layer.

    Examples
    --------
    >>> import reluscope as rs
    >>> len(rs.testing.sawtooth_network(3))
    4
    """
    fold = [[2.0, -4.0], [2.0, -4.0]]
    layers = [([[1.0], [1.0]], [0.0, -0.5])] + [(fold, [0.0, -0.5])] * (depth - 1) + [(fold[:1], [0.0])]
    return _layers(*layers)


def zigzag_network() -> Parameters:
    """Build a network of two layers of 3 units on one input with (3 + 1)(3 + 1) = 16 regions, the most possible.

    Examples
    --------
    >>> import reluscope as rs
    >>> [weight.shape for weight, bias in rs.testing.zigzag_network()]
    [(3, 1), (3, 3), (1, 3)]
    """
    slopes = np.array([-1.0, 1.5, -2.0])
    return _layers(
        ([[1], [-1], [-1]], [-2, 4, 5]),
        (np.stack([slopes, -slopes, -slopes]), [3.75, -3.5, -3.25]),
        ([[1, 1, 1]], [0]),
    )


def _layers(*layers: tuple) -> Parameters:
    return [(np.array(weight, dtype=float), np.array(bias, dtype=float)) for weight, bias in layers]


def _counts(*numbers: int) -> dict[str, int]:
    return dict(zip(_DEFINITIONS, numbers, strict=True))

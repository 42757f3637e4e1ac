"""Networks of one hidden layer with one output, as numbers: ``f(x) = constant + sum_i output_i gate(w_i x + b_i)``.

Every gate of two pieces that meet at a breakpoint is, up to a shift, ``z -> high z`` for z > 0 and ``z -> low z`` else:
ReLU (0, 1), leaky ReLU (leak, 1), the absolute value (-1, 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from reluscope import Network
from reluscope.arguments import describe, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import Derivatives, Pointwise, Shown, read_layer


@dataclass(frozen=True, eq=False, repr=False)
class ShallowNetwork(Shown):
    """A network of one hidden layer and one output.

    Parameters
    ----------
    weight : (u, n) float64
    bias : (u,) float64
        Pre-activations are ``weight x + bias``.
    low, high : (u,) float64
        Slopes of the output in each unit's pre-activation where that is negative and where it is positive: the output
        weight times the gate's slope.
    constant : float

    Examples
    --------
    >>> net = read_shallow([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-2.0])])
    >>> net(np.array([[-3.0], [0.5]])).tolist()
    [1.0, -1.5]
    """

    weight: Float[np.ndarray, "u n"]
    bias: Float[np.ndarray, " u"]
    low: Float[np.ndarray, " u"]
    high: Float[np.ndarray, " u"]
    constant: float

    @property
    def num_inputs(self) -> int:
        """Number of inputs n."""
        return self.weight.shape[1]

    @property
    def num_units(self) -> int:
        """Number of units u."""
        return len(self.weight)

    @read_arguments
    def __call__(self, x: Float[np.ndarray, "*s n"]) -> Float[np.ndarray, "*s"]:
        """Return the output at some points."""
        if x.ndim == 0 or x.shape[-1] != self.weight.shape[1]:
            raise ShapeError(f"x must have {self.weight.shape[1]} coordinates, got an array of shape {x.shape}")
        pre = x @ self.weight.T + self.bias
        return self.constant + (np.where(pre > 0, self.high, self.low) * pre).sum(axis=-1)


ShallowLike = ShallowNetwork | Network | Sequence[Any]


@read_arguments
def read_shallow(source: ShallowLike, *, leak: float = 0.0) -> ShallowNetwork:
    """Read a network of one hidden layer and one output.

    Parameters
    ----------
    source : Network, or [(W, b), (a, c)]
        As `reluscope.load` takes and returns them. Gates of a network have two pieces.
    leak : float
        Slope of the units where they are negative, for layers given as arrays; a network knows its own.

    Returns
    -------
    ShallowNetwork

    Raises
    ------
    InputError
        If there is another number of hidden layers or outputs, a gate of more pieces, or a shortcut around the gate.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0], [0.0, 1.0]], [0.0, -1.0]), ([[2.0, 3.0]], [-2.0])])
    >>> read_shallow(net).high.tolist()
    [2.0, 3.0]
    """
    if isinstance(source, ShallowNetwork):
        return source
    if isinstance(source, Network):
        return _from_network(source)
    weight, bias, output, constant = _read_layers(source)
    return ShallowNetwork(weight, bias, leak * output[0], output[0], float(constant[0]))


@read_arguments
def layers_module(layers: Sequence[Any], *, leak: float = 0.0) -> nn.Sequential:
    """Return layers ``[(W, b), (a, c)]`` as a module in float64.

    Examples
    --------
    >>> from reluscope_studies.annulus.solutions import cross_polytope_layers
    >>> layers_module(cross_polytope_layers(2))(torch.tensor([[0.25, -0.25]]).double()).item()
    -0.5
    """
    weight, bias, output, constant = _read_layers(layers)
    hidden = nn.Linear(np.shape(weight)[1], np.shape(weight)[0], dtype=torch.float64)
    last = nn.Linear(np.shape(output)[1], np.shape(output)[0], dtype=torch.float64)
    with torch.no_grad():
        for parameter, values in ((hidden.weight, weight), (hidden.bias, bias), (last.weight, output)):
            parameter.copy_(torch.tensor(values, dtype=torch.float64))
        last.bias.copy_(torch.tensor(constant, dtype=torch.float64))
    return nn.Sequential(hidden, nn.LeakyReLU(leak) if leak else nn.ReLU(), last)


def _read_layers(layers: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return W, b, a and c of ``[(W, b), (a, c)]``."""
    if len(layers) != 2 or any(not hasattr(layer, "__len__") or len(layer) != 2 for layer in layers):
        raise InputError(
            f"expected one hidden layer, [(W, b), (a, c)], got {describe(layers)}: for others, see "
            "reluscope.partition and reluscope.decision_boundary"
        )
    (weight, bias), (output, constant) = layers
    weight, bias = read_array(weight, "W", ndim=2), read_array(bias, "b", ndim=1)
    output, constant = read_array(output, "a", ndim=2), read_array(constant, "c", ndim=1)
    if output.shape != (1, len(weight)) or bias.shape != (len(weight),) or constant.shape != (1,):
        raise InputError(
            f"expected W (u, n), b (u,), a (1, u) and c (1,), got {weight.shape}, {bias.shape}, {output.shape} and "
            f"{constant.shape}"
        )
    return weight, bias, output, constant


def _from_network(network: Network) -> ShallowNetwork:
    names = ", ".join(gate.name for gate in network.gates) or "none"
    gate = network.stages[0].gate if len(network.stages) == 1 else None
    if not isinstance(gate, Pointwise) or gate.num_pieces != 2 or network.num_outputs != 1:
        raise InputError(
            "expected one hidden layer of units with two pieces and one output, got the gates "
            f"{names} and {network.num_outputs} outputs: for others, see reluscope.partition and "
            "reluscope.decision_boundary"
        )
    finish = network.finish
    position = network.stages[0].position
    if set(finish.reads) != {position}:
        raise InputError("expected an output that reads the hidden layer alone, and this one has a shortcut around it")
    layer = read_layer(network)
    breakpoint_, (low, high), (_, intercept) = layer.breakpoints[0], layer.slopes, layer.intercepts
    units = torch.eye(gate.num_units, dtype=torch.float64, device=network.device).reshape(1, -1, *gate.shape)
    with torch.no_grad():
        output = finish({position: units}, Derivatives([])).reshape(-1).cpu().numpy()
        constant = float(finish({position: torch.zeros_like(units[0, :1])}))
    weight = np.asarray(layer.weight if isinstance(layer.weight, np.ndarray) else layer.weight.toarray())
    # With the breakpoint t at zero: gate(z) = gate(t) + slope (z - t).
    constant += float(output @ (high * breakpoint_ + intercept))
    return ShallowNetwork(weight, layer.bias - breakpoint_, output * low, output * high, constant)

"""Networks that are one layer after the other, channel by channel: the form in which channels are taken away.

A layer is an affine map followed by at most one pointwise gate and by pooling. Dense layers and convolutions look alike
here: ``weight[o, c]`` holds all numbers by which channel c of the input enters channel o, one for each place (dense) or
for each entry of the kernel (convolution).
"""

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import nn
from torch.nn import functional

from reluscope.analyses.compression.rounded_sums import times_sizes
from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Node, Pointwise
from reluscope.networks.graph.operators.arrange import Reshape
from reluscope.networks.graph.operators.convolution import Convolution
from reluscope.networks.graph.operators.elementwise import ScaleShift
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.network import Network
from reluscope.tolerance import EPSILON

ADVICE = (
    "prune_exact takes networks of Linear, Conv2d without groups, BatchNorm behind these, ReLU, LeakyReLU, PReLU, "
    "ReLU6, Hardtanh, MaxPool2d and Flatten, one after the other"
)


class Kernel(NamedTuple):
    """What a convolution is beside its weights."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ChannelGate:
    """A pointwise gate with one function per channel."""

    index: int  # position among the network's gates
    name: str
    kind: str
    breakpoints: Float[np.ndarray, "p c"]
    slopes: Float[np.ndarray, "q c"]
    intercepts: Float[np.ndarray, "q c"]

    @property
    def steepest(self) -> float:
        """Largest slope in absolute value: how much the gate can enlarge a difference."""
        return float(np.abs(self.slopes).max(initial=0.0))

    @property
    def has_identity(self) -> bool:
        """Whether the gate is the identity above 0, and scales with positive factors."""
        return (
            len(self.breakpoints) == 1
            and not self.breakpoints.any()
            and not self.intercepts.any()
            and bool((self.slopes[1] == 1.0).all())
        )

    def same_function(self, first: int, second: int) -> bool:
        """Whether two channels have one function."""
        tables = (self.breakpoints, self.slopes, self.intercepts)
        return all(bool((table[:, first] == table[:, second]).all()) for table in tables)

    def at(self, channels: np.ndarray) -> "ChannelGate":
        """Return the gate of some channels."""
        tables = (table[:, channels] for table in (self.breakpoints, self.slopes, self.intercepts))
        return ChannelGate(self.index, self.name, self.kind, *tables)


@dataclass(eq=False)
class Layer:
    """An affine map, its gate and the pooling around it.

    `pruning` changes layers in place. ``weight_error`` and ``bias_error`` bound what weight and bias differ by from the
    numbers that they stand for.
    """

    weight: np.ndarray  # (c, d, k), from d channels to c channels
    bias: np.ndarray  # (c,)
    weight_error: np.ndarray  # bounds, like ``weight``
    bias_error: np.ndarray  # bounds, like ``bias``
    input_sizes: np.ndarray  # (d,), bounds on input channels, on the domain
    kernel: Kernel | None  # None of a dense layer
    gate: ChannelGate | None  # None at the end
    pool_before: nn.Module | None  # nn.MaxPool2d before the gate
    pool_after: nn.Module | None  # nn.MaxPool2d after the gate
    shape: tuple[int, ...]  # of the value that the gate sees, channels first
    origin: np.ndarray  # (c,), the channel in the network; -1 for a new one

    @property
    def num_channels(self) -> int:
        """Number of output channels."""
        return len(self.weight)

    @property
    def is_dense(self) -> bool:
        """Whether this is no convolution."""
        return self.kernel is None

    @property
    def row_error(self) -> np.ndarray:
        """How far what goes into the gate may be from what it stands for, by channel."""
        return times_sizes(self.weight_error, self.input_sizes) + self.bias_error

    def drop(self, channels: np.ndarray) -> None:
        """Leave channels out of the output."""
        kept = np.setdiff1d(np.arange(self.num_channels), channels)
        for name in ("weight", "bias", "weight_error", "bias_error", "origin"):
            setattr(self, name, getattr(self, name)[kept])
        if self.gate is not None:
            self.gate = self.gate.at(kept)

    def drop_inputs(self, channels: np.ndarray) -> None:
        """Leave channels out of the input."""
        kept = np.setdiff1d(np.arange(self.weight.shape[1]), channels)
        self.weight, self.weight_error = self.weight[:, kept], self.weight_error[:, kept]
        self.input_sizes = self.input_sizes[kept]


def layers_of(network: Network) -> list[Layer]:
    """Return the layers of a network, with input sizes left at infinity.

    UnsupportedOperatorError if the network is no chain of dense layers, convolutions, pointwise gates and max pooling.
    """
    found: list[Layer] = []
    channels = network.input_shape[0] if len(network.input_shape) > 1 else network.num_inputs
    gates = {stage.position: index for index, stage in enumerate(network.stages)}
    for position, node in enumerate(network.nodes):
        if position == 0:
            continue
        if node.inputs != (position - 1,) or position > network.output:
            raise _refused(node, "it does not read just the value before it")
        if isinstance(node, Linear | Convolution):
            found.append(_layer(node, network.nodes[position - 1], channels))
            channels = found[-1].num_channels
        elif isinstance(node, Reshape):
            if position != network.output and len(node.shape) != 1:
                raise _refused(node, f"it gives the shape {node.shape}, and only flat values are known")
        elif not found or (found[-1].gate is not None and not isinstance(node, Max)):
            raise _refused(node, "it stands before the first layer, or a layer has it behind its gate")
        elif isinstance(node, ScaleShift) and found[-1].pool_before is None:
            _scale(found[-1], node)
        elif isinstance(node, Pointwise):
            found[-1].gate = _channel_gate(node, gates[position], channels)
            found[-1].shape = node.shape
        elif isinstance(node, Max):
            before = network.nodes[position - 1].shape
            which = "pool_before" if found[-1].gate is None else "pool_after"
            if getattr(found[-1], which) is not None:
                raise _refused(node, "there are two of them in a row")
            setattr(found[-1], which, _pooling(node, before))
        else:
            raise _refused(node, "this kind is not known")
    if not found or found[-1].gate is not None or found[-1].pool_before is not None:
        raise UnsupportedOperatorError(f"expected a network that ends with an affine layer, got {network!r}: {ADVICE}")
    return found


def _layer(node: Linear | Convolution, before: Node, channels: int) -> Layer:
    weight = node.weight.cpu().numpy()
    bias = np.zeros(len(weight)) if node.bias is None else node.bias.cpu().numpy().copy()
    kernel = None
    if isinstance(node, Convolution):
        if node.groups != 1 or len(node.stride) != 2:
            raise _refused(node, f"it has {node.groups} groups and {len(node.stride)} spatial axes")
        kernel = Kernel(tuple(weight.shape[2:]), node.stride, node.padding, node.dilation)
    elif len(before.shape) != 1:
        raise _refused(node, f"it reads a value of shape {before.shape}, and only flat values are known")
    weight = weight.reshape(len(weight), channels, -1).copy()
    return Layer(
        weight,
        bias,
        np.zeros_like(weight),
        np.zeros_like(bias),
        np.full(channels, np.inf),
        kernel,
        None,
        None,
        None,
        node.shape,
        np.arange(len(weight)),
    )


def _scale(layer: Layer, node: ScaleShift) -> None:
    """Multiply a scaling by channels, such as a batch norm, into the layer before it."""
    spatial = (1,) * (len(layer.shape) - 1)
    for name, neutral in (("scale", 1.0), ("shift", 0.0)):
        table = getattr(node, name)
        values = np.full((layer.num_channels, *spatial), neutral) if table is None else table.cpu().numpy()
        full = np.broadcast_to(values, layer.shape).reshape(layer.num_channels, -1)
        if (full != full[:, :1]).any():
            raise _refused(node, "it differs from place to place")
        each = full[:, 0]
        if name == "scale":
            weight, bias = layer.weight * each[:, None, None], layer.bias * each
            factor = each[:, None, None]
            layer.weight_error = layer.weight_error * np.abs(factor) + _product_error(layer.weight, factor, weight)
            layer.bias_error = layer.bias_error * np.abs(each) + _product_error(layer.bias, each, bias)
            layer.weight, layer.bias = weight, bias
        else:
            total = layer.bias + each
            # What a sum of two floats is rounded by is itself a float.
            back = total - layer.bias
            layer.bias_error = layer.bias_error + np.abs((layer.bias - (total - back)) + (each - back))
            layer.bias = total


def _product_error(left: np.ndarray, right: np.ndarray, product: np.ndarray) -> np.ndarray:
    exact = (left == 0) | (np.abs(np.frexp(left)[0]) == 0.5) | (np.abs(np.frexp(right)[0]) == 0.5) | (right == 0)
    return np.where(exact, 0.0, np.abs(product) * EPSILON)


def _channel_gate(node: Pointwise, index: int, channels: int) -> ChannelGate:
    if node.kind not in ("relu", "leaky_relu", "prelu", "relu6", "hardtanh"):
        raise _refused(node, f"the gate {node.kind} is not known")
    tables = []
    for table in (node.breakpoints, node.slopes, node.intercepts):
        values = table.cpu().numpy()
        full = np.broadcast_to(values, (len(values), node.num_units)).reshape(len(values), channels, -1)
        if (full != full[:, :, :1]).any():
            raise _refused(node, "its function differs from place to place")
        tables.append(full[:, :, 0].copy())
    return ChannelGate(index, node.name, node.kind, *tables)


def _pooling(node: Max, shape: tuple[int, ...]) -> nn.MaxPool2d:
    """Return the pooling layer that has the windows of a max gate on values (c, h, w)."""
    if len(shape) != 3 or len(node.shape) != 3 or node.shape[0] != shape[0]:
        raise _refused(node, "it is no pooling of images by channels")
    places = torch.arange(1.0, prod(shape) + 1, dtype=torch.float64).reshape(1, *shape)
    wanted = np.sort(np.where(node.index.cpu().numpy() < 0, 0, node.index.cpu().numpy() + 1), axis=1)
    sizes = [size for size in range(1, max(shape[1:]) + 1) if node.num_pieces % size == 0]
    for height in sizes:
        width = node.num_pieces // height
        for padding in {(0, 0), (height // 2, width // 2)}:
            for stride in sorted({1, 2, 3, 4, height}):
                for other in sorted({stride, width}):
                    pool = nn.MaxPool2d((height, width), (stride, other), padding)
                    try:
                        same = tuple(pool(places)[0].shape) == node.shape
                    except RuntimeError:
                        continue
                    if same and np.array_equal(_windows(places, pool), wanted):
                        return pool
    raise _refused(node, "its windows are not those of a MaxPool2d")


def _windows(places: torch.Tensor, pool: nn.MaxPool2d) -> np.ndarray:
    """Return the entries of every window, ascending, 0 for padding."""
    size, stride, padding = pool.kernel_size, pool.stride, pool.padding
    assert isinstance(size, tuple)
    assert isinstance(stride, tuple)
    assert isinstance(padding, tuple)
    patches = functional.unfold(places, size, stride=stride, padding=padding)
    by_channel = patches.reshape(places.shape[1], prod(size), -1).movedim(1, 2).reshape(-1, prod(size))
    return np.sort(by_channel.numpy().astype(np.int64), axis=1)


def _refused(node: Node, why: str) -> UnsupportedOperatorError:
    return UnsupportedOperatorError(f"expected layers that can be pruned, got {node.name} ({type(node).__name__}): "
                                    f"{why}; {ADVICE}")  # fmt: skip

"""The layers that the fuzzer draws: each as PyTorch source text, and in the oracle's exact form.

A network is loaded from the very text that a failure prints, so that a reproduction shows what ran.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fuzzer import true_layers
from fuzzer.modules import Shape, Sides
from reluscope.networks.building.best_pieces import best_pieces


@dataclass(frozen=True)
class DenseLayer:
    """A linear layer."""

    weight: np.ndarray
    bias: np.ndarray

    def source(self) -> str:
        """Return PyTorch source."""
        return f"linear({self.weight.tolist()}, {self.bias.tolist()})"

    def width(self, width: int) -> int:
        """Return how many values it gives from how many."""
        return len(self.bias)

    def exact(self, width: int) -> list[true_layers.Layer]:
        """Return the oracle's form."""
        return [true_layers.Dense(tuple(map(_fractions, self.weight)), _fractions(self.bias))]


@dataclass(frozen=True)
class ConvolutionLayer(DenseLayer):
    """A convolution: its matrix, and what it is made of. What shrinks it makes it a linear layer."""

    shape: Shape
    kernel: np.ndarray
    offsets: np.ndarray
    stride: int

    @classmethod
    def of(cls, shape: Shape, kernel: np.ndarray, offsets: np.ndarray, stride: int) -> "ConvolutionLayer":
        """Return the convolution of pictures of a shape by kernels (o, c, h, w), each with an offset."""
        entries = np.arange(np.prod(shape)).reshape(shape)
        tops, lefts = (
            range(0, side - size + 1, stride) for side, size in zip(shape[1:], kernel.shape[2:], strict=True)
        )
        rows = []
        for weights in kernel:
            for top in tops:
                for left in lefts:
                    row = np.zeros(entries.size)
                    row[entries[:, top : top + weights.shape[1], left : left + weights.shape[2]]] = weights
                    rows.append(row)
        return cls(np.array(rows), np.repeat(offsets, len(tops) * len(lefts)), shape, kernel, offsets, stride)

    @property
    def shape_after(self) -> Shape:
        """The shape of what it gives."""
        height, width = (
            (side - size) // self.stride + 1 for side, size in zip(self.shape[1:], self.kernel.shape[2:], strict=True)
        )
        return len(self.kernel), height, width

    def source(self) -> str:
        """Return PyTorch source."""
        return f"ConvolvedPictures({self.shape}, {self.kernel.tolist()}, {self.offsets.tolist()}, {self.stride})"


@dataclass(frozen=True)
class GateModule:
    """A gate by its kind and parameters."""

    kind: str
    parameters: tuple = ()

    def source(self) -> str:
        """Return PyTorch source."""
        arguments = ", ".join(repr(parameter) for parameter in self.parameters)
        return f"{_SOURCES[self.kind]}({arguments})"

    def width(self, width: int) -> int:
        """Return how many values it gives from how many."""
        if self.kind == "maxpool":
            return len(_windows(width, *self.parameters))
        if self.kind == "pooling":
            return int(np.prod(self.shape_after))
        if self.is_max:
            return width // self.group
        return width

    @property
    def shape_after(self) -> Shape:
        """The shape of the pictures that a pooling gives."""
        (channels, *sides), *sizes = self.parameters[:4]
        height, width = (len(_windows(*each)) for each in zip(sides, *sizes, strict=True))
        return channels, height, width

    @property
    def approximated(self) -> int:
        """By how many pieces a smooth function is replaced; 0 for all others."""
        return PIECES if self.kind in SMOOTH else 0

    @property
    def group(self) -> int:
        """Of how many values the width of a maxout or maximum must be a multiple; 1 for all others."""
        return {"maxout": lambda: self.parameters[0], "maximum": lambda: 2}.get(self.kind, lambda: 1)()

    @property
    def is_max(self) -> bool:
        """Whether units have candidates."""
        return self.kind in ("maxout", "maximum", "maxpool", "pooling", "topk")

    def exact(self, width: int) -> list[true_layers.Layer]:
        """Return the oracle's form of the gate over ``width`` values."""
        if self.kind == "maxpool":
            return [true_layers.TrueLargest(tuple(_windows(width, *self.parameters)))]
        if self.kind == "pooling":
            *sizes, order = self.parameters
            largest = true_layers.TrueLargest(tuple(_patches(*sizes)))
            before, after = (GateModule("relu").exact(number) for number in (width, len(largest.groups)))
            return [*before * (order == "before"), largest, *after * (order == "after")]
        if self.kind == "maxout":
            (k,) = self.parameters
            return [true_layers.TrueLargest(tuple(tuple(range(i, i + k)) for i in range(0, width, k)))]
        if self.kind == "maximum":
            return [true_layers.TrueLargest(tuple((i, i + width // 2) for i in range(width // 2)))]
        if self.kind == "topk":
            (k,) = self.parameters
            return [true_layers.TrueTop(1, k)] if k < width else []
        if self.approximated:
            # The table is what was asked for; whether it is near the function is no matter of regions.
            table = best_pieces(self.kind, self.approximated)
            pieces = zip(_fractions(table.slopes), _fractions(table.intercepts), strict=True)
            return [true_layers.TruePointwise((_fractions(table.points),) * width, (tuple(pieces),) * width)]
        if self.kind == "hardsigmoid":
            # As PyTorch computes it, with the float64 number 1 / 6: (min(max(x, -3), 3) + 3) / 6.
            sixth = Fraction(1.0 / 6.0)
            identity = [[Fraction(int(i == j)) * sixth for j in range(width)] for i in range(width)]
            scale = true_layers.Dense(tuple(map(tuple, identity)), (3 * sixth,) * width)
            return [*GateModule("hardtanh", (-3.0, 3.0)).exact(width), scale]
        units = [_POINTWISE[self.kind](*each) for each in self._by_unit(width)]
        return [true_layers.TruePointwise(tuple(unit[0] for unit in units), tuple(unit[1] for unit in units))]

    def _by_unit(self, width: int) -> list[tuple]:
        if self.kind == "prelu":
            return [(slope,) for slope in self.parameters[0]]
        return [self.parameters] * width


Layer = DenseLayer | GateModule


_SOURCES = {
    "relu": "nn.ReLU",
    "leaky": "nn.LeakyReLU",
    "prelu": "prelu",
    "relu6": "nn.ReLU6",
    "hardtanh": "nn.Hardtanh",
    "clamp": "Clamp",
    "abs": "Absolute",
    "hardsigmoid": "nn.Hardsigmoid",
    "softshrink": "nn.Softshrink",
    "maxout": "Maxout",
    "maximum": "LargerHalf",
    "maxpool": "Pool",
}
GATES = tuple(_SOURCES)
JUMPING = ("step", "jumprelu", "threshold", "topk")
_SOURCES |= {"pooling": "Pooling"}
_SOURCES |= {"step": "StepGate", "jumprelu": "JumpReLU", "threshold": "nn.Threshold", "topk": "TopModule"}
# In so many pieces, as networks with more have too many regions.
PIECES = 4
SMOOTH = ("gelu", "silu", "tanh", "sigmoid", "softplus")
_SOURCES |= dict(zip(SMOOTH, ("nn.GELU", "nn.SiLU", "nn.Tanh", "nn.Sigmoid", "nn.Softplus"), strict=True))


def _bent(slope: float) -> tuple:
    return (Fraction(0),), ((Fraction(slope), Fraction(0)), (Fraction(1), Fraction(0)))


def _jumping(level: float, below: tuple[float, float], above: tuple[float, float]) -> tuple:
    return (Fraction(level),), (tuple(map(Fraction, below)), tuple(map(Fraction, above)))


def _clamped(low: float | None, high: float | None) -> tuple:
    points, pieces = [], [(Fraction(1), Fraction(0))]
    if low is not None:
        points.append(Fraction(low))
        pieces.insert(0, (Fraction(0), Fraction(low)))
    if high is not None:
        points.append(Fraction(high))
        pieces.append((Fraction(0), Fraction(high)))
    return tuple(points), tuple(pieces)


def _shrunk(threshold: float) -> tuple:
    size = Fraction(threshold)
    return (-size, size), ((Fraction(1), size), (Fraction(0), Fraction(0)), (Fraction(1), -size))


_POINTWISE: dict[str, Callable[..., tuple]] = {
    "relu": lambda: _bent(0.0),
    "leaky": _bent,
    "prelu": _bent,
    "relu6": lambda: _clamped(0.0, 6.0),
    "hardtanh": _clamped,
    "clamp": _clamped,
    "abs": lambda: _bent(-1.0),
    "softshrink": _shrunk,
    "step": lambda level: _jumping(level, (0.0, 0.0), (0.0, 1.0)),
    "jumprelu": lambda level: _jumping(level, (0.0, 0.0), (1.0, 0.0)),
    "threshold": lambda level, value: _jumping(level, (0.0, value), (1.0, 0.0)),
}


def _windows(width: int, size: int, stride: int, padding: int) -> list[tuple[int | None, ...]]:
    count = (width + 2 * padding - size) // stride + 1
    starts = [k * stride - padding for k in range(count)]
    return [tuple(i if 0 <= i < width else None for i in range(start, start + size)) for start in starts]


def _patches(shape: Shape, size: Sides, stride: Sides, padding: Sides) -> list[tuple[int | None, ...]]:
    """Return the entries of each window of each channel, None beyond the edges."""
    channels, height, width = shape
    down, along = (_windows(*each) for each in zip((height, width), size, stride, padding, strict=True))
    return [
        tuple(None if i is None or j is None else (channel * height + i) * width + j for i in rows for j in columns)
        for channel in range(channels)
        for rows in down
        for columns in along
    ]


def _fractions(row: np.ndarray) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(entry)) for entry in row)


def network_source(layers: Sequence[Layer], end: str = "") -> str:
    """Return source text of ``rs.load(...)`` for a network, perhaps with a sigmoid, tanh or softmax at its end."""
    hidden, gates = layers[0::2], layers[1::2]
    is_plain = all(type(layer) is DenseLayer for layer in hidden) and not end
    if is_plain and all(isinstance(gate, GateModule) and gate.kind == "relu" for gate in gates):
        pairs = ", ".join(f"({layer.weight.tolist()}, {layer.bias.tolist()})" for layer in hidden)  # pyright: ignore
        return f"rs.load([{pairs}])"
    pieces = {gate.kind: gate.approximated for gate in gates if isinstance(gate, GateModule) and gate.approximated}
    asked = f", approximate={pieces}" if pieces else ""
    if isinstance(layers[0], ConvolutionLayer):  # of which PyTorch does not know how many numbers it reads
        asked += f", input_shape=({layers[0].weight.shape[1]},)"
    modules = [layer.source() for layer in layers] + ([_END_SOURCES[end]] if end else [])
    return f"rs.load(nn.Sequential({', '.join(modules)}){asked})"


_END_SOURCES = {"Sigmoid": "nn.Sigmoid()", "Tanh": "nn.Tanh()", "Softmax": "nn.Softmax(-1)"}


def exact_layers(layers: Sequence[Layer], num_inputs: int) -> list[true_layers.Layer]:
    """Return the oracle's form of a network."""
    found: list[true_layers.Layer] = []
    width = num_inputs
    for layer in layers:
        found += layer.exact(width)
        width = layer.width(width)
    return found

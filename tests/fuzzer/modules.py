"""Modules that PyTorch lacks: gates, windows and choices as the fuzzer draws them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

# Channels, height and width of pictures; two of their sides.
Shape = tuple[int, int, int]
Sides = tuple[int, int]

# What source text of networks names beside PyTorch's own modules.
MODULES = (
    *("linear", "prelu", "Maxout", "LargerHalf", "Pool", "ConvolvedPictures", "Pooling", "Clamp", "Absolute"),
    *("StepGate", "JumpReLU", "TopModule"),
)


class Maxout(nn.Module):
    """The largest of every k neighbouring entries."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u / k) from (s, u)."""
        return x.unflatten(-1, (-1, self.k)).amax(-1)


class LargerHalf(nn.Module):
    """The entrywise larger of the two halves."""

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u / 2) from (s, u)."""
        return torch.maximum(*x.chunk(2, -1))


class Pool(nn.Module):
    """Max-pooling along the only axis."""

    def __init__(self, size: int, stride: int, padding: int) -> None:
        super().__init__()
        self.pool = nn.MaxPool1d(size, stride, padding)

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, windows) from (s, u)."""
        return self.pool(x.unsqueeze(1)).squeeze(1)


class ConvolvedPictures(nn.Module):
    """A convolution of pictures (c, h, w), which come and go as rows of numbers."""

    def __init__(self, shape: Shape, weight: Sequence, bias: Sequence[float], stride: int) -> None:
        super().__init__()
        kernel = _double(weight)
        self.shape = shape
        self.convolution = nn.Conv2d(shape[0], len(kernel), tuple(kernel.shape[2:]), stride, dtype=torch.float64)  # pyright: ignore
        self.convolution.load_state_dict({"weight": kernel, "bias": _double(bias)})

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u) from (s, c h w)."""
        return self.convolution(x.unflatten(-1, self.shape)).flatten(1)


class Pooling(nn.Module):
    """Max-pooling of pictures (c, h, w) that come and go as rows of numbers, with ReLU before or after, or none."""

    def __init__(self, shape: Shape, size: Sides, stride: Sides, padding: Sides, order: str) -> None:
        super().__init__()
        self.shape, self.order = shape, order
        self.pool = nn.MaxPool2d(size, stride, padding)

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u) from (s, c h w)."""
        x = x.relu() if self.order == "before" else x
        x = self.pool(x.unflatten(-1, self.shape)).flatten(1)
        return x.relu() if self.order == "after" else x


class Clamp(nn.Module):
    """``min(max(x, low), high)``; a bound may be missing."""

    def __init__(self, low: float | None, high: float | None) -> None:
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u)."""
        return torch.clamp(x, self.low, self.high)


class Absolute(nn.Module):
    """``|x|``."""

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u)."""
        return x.abs()


class StepGate(nn.Module):
    """1 above a level, 0 below and at it."""

    def __init__(self, level: float) -> None:
        super().__init__()
        self.level = level

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u)."""
        return (x > self.level).to(x.dtype)


class JumpReLU(nn.Module):
    """``x`` above a level, 0 below and at it."""

    def __init__(self, level: float) -> None:
        super().__init__()
        self.level = level

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u)."""
        return x * (x > self.level)


class TopModule(nn.Module):
    """The k largest entries where they are, 0 elsewhere."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def forward(self, x: Tensor) -> Tensor:
        """Return (s, u)."""
        values, places = x.topk(min(self.k, x.shape[-1]), dim=-1)
        return torch.zeros_like(x).scatter(-1, places, values)


def linear(weight: Sequence[Sequence[float]], bias: Sequence[float]) -> nn.Linear:
    """Return a linear layer of given weights in float64."""
    layer = nn.Linear(len(weight[0]), len(weight), dtype=torch.float64)
    layer.load_state_dict({"weight": _double(weight), "bias": _double(bias)})
    return layer


def prelu(slopes: Sequence[float]) -> nn.PReLU:
    """Return a PReLU of given slopes in float64."""
    layer = nn.PReLU(len(slopes), dtype=torch.float64)
    layer.load_state_dict({"weight": _double(slopes)})
    return layer


def _double(entries: Sequence) -> Tensor:
    return torch.tensor(entries, dtype=torch.float64)

"""The fixed list of networks on which limits of time and memory are tried: PyTorch's default initialisation, seed 0."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

import reluscope as rs
from benchmarks.deep_models import resnet_cifar, settled
from benchmarks.models import mlp_module


def _small_conv() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(2048, 100),
        nn.ReLU(),
        nn.Linear(100, 10),
    )


def _deep_q() -> nn.Module:
    layers = [nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6))


class UNet(nn.Module):
    """Two halvings, two doublings, and skips across."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.down = nn.ModuleList([_twice(3, width), _twice(width, 2 * width)])
        self.middle = _twice(2 * width, 4 * width)
        self.widen = nn.ModuleList(
            [nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)]
        )
        self.up = nn.ModuleList([_twice(4 * width, 2 * width), _twice(2 * width, width)])
        self.last = nn.Conv2d(width, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x: Tensor) -> Tensor:
        """Return one value a pixel."""
        first = self.down[0](x)
        second = self.down[1](self.pool(first))
        inner = self.middle(self.pool(second))
        inner = self.up[0](torch.cat([self.widen[0](inner), second], 1))
        return self.last(self.up[1](torch.cat([self.widen[1](inner), first], 1)))


def _twice(before: int, after: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.Conv2d(after, after, 3, padding=1), nn.ReLU()
    )


class PointNet(nn.Module):
    """One network for every point of a cloud, the largest values over all points, and one network behind."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(*_pointwise(3, 64, 128, 1024))
        self.behind = mlp_module(1024, 512, 256, 40)

    def forward(self, x: Tensor) -> Tensor:
        """Return scores of clouds, (n, 3, points)."""
        return self.behind(self.each(x).amax(-1))


def _pointwise(*sizes: int) -> list[nn.Module]:
    return [layer for pair in pairwise(sizes) for layer in (nn.Conv1d(*pair, 1), nn.ReLU())]


class TopKAutoencoder(nn.Module):
    """A sparse autoencoder that keeps its 32 largest features."""

    def __init__(self, inputs: int = 768, features: int = 16_384, kept: int = 32) -> None:
        super().__init__()
        self.encode, self.decode, self.kept = nn.Linear(inputs, features), nn.Linear(features, inputs), kept

    def forward(self, x: Tensor) -> Tensor:
        """Return the input as the kept features see it."""
        found = self.encode(x)
        values, at = found.topk(self.kept, dim=-1)
        return self.decode(torch.zeros_like(found).scatter(-1, at, values))


class Coordinates(nn.Module):
    """Layers of one width that see the input once more in the middle: NeRF's and DeepSDF's form."""

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Sequential(mlp_module(inputs, width, width, width, width), nn.ReLU())
        self.second = nn.Sequential(mlp_module(width + inputs, width, width, width, width), nn.ReLU())
        self.last = nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return density and colour, or distance."""
        return self.last(self.second(torch.cat([self.first(x), x], -1)))


class ManyMaxima(nn.Module):
    """Smallest of largest of neighbours, again and again: the form of two-level lattices."""

    def __init__(self, inputs: int = 2, width: int = 64, groups: int = 24) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, groups * 32))
        self.groups = groups

    def forward(self, x: Tensor) -> Tensor:
        """Return the least of each group, and the largest of those."""
        return self.first(x).unflatten(-1, (self.groups, 32)).amin(-1).amax(-1, keepdim=True)


class Sign(nn.Module):
    """One bit a value, zero counted as positive."""

    def forward(self, x: Tensor) -> Tensor:
        """Return -1 or 1."""
        return torch.sign(torch.sign(x) + 0.1)


def _binarised() -> nn.Module:
    layers = [nn.Conv2d(3, 8, 3), Sign(), nn.Conv2d(8, 16, 2), Sign(), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(16 * 27 * 27, 10))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP 784-3x1024-10": (lambda: mlp_module(784, 1024, 1024, 1024, 10), (784,)),
    "conv with pooling": (_small_conv, (3, 32, 32)),
    "ResNet-18, CIFAR": (lambda: settled(resnet_cifar(), 32), (3, 32, 32)),
    "DQN 4 x 84 x 84": (_deep_q, (4, 84, 84)),
    "U-Net 3 x 128 x 128": (UNet, (3, 128, 128)),
    "PointNet, 1,024 points": (PointNet, (3, 1024)),
    "TopK 768 x 16,384": (TopKAutoencoder, (768,)),
    "NeRF 8 x 256": (lambda: Coordinates(63, 256, 4), (63,)),
    "DeepSDF 8 x 512": (lambda: Coordinates(259, 512, 1), (259,)),
    "loop's controller 2-5x50-1": (lambda: mlp_module(2, 50, 50, 50, 50, 50, 1), (2,)),
    "24 minima of 32, a maximum": (ManyMaxima, (2,)),
    "binarised conv": (_binarised, (3, 30, 30)),
}


def large_network(name: str) -> rs.Network:
    """Return one of `NETWORKS`."""
    make, shape = NETWORKS[name]
    torch.manual_seed(0)
    return rs.load(make(), input_shape=shape)

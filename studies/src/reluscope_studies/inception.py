"""Inception-v3 in plain PyTorch, without its second classifier, with the names of torchvision's parameters.

Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, "Rethinking the Inception architecture for computer vision", 2016.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

# A convolution: its name behind the branch's, channels, kernel (height, width), and stride; it keeps the size where the
# stride is 1.
Step = tuple[str, int, tuple[int, int], int]


class BasicConv2d(nn.Module):
    """A convolution without bias, batch normalisation and ReLU."""

    def __init__(self, reads: int, gives: int, kernel: tuple[int, int], stride: int, padding: tuple[int, int]) -> None:
        super().__init__()
        self.conv = nn.Conv2d(reads, gives, kernel, stride, padding, bias=False)
        self.bn, self.relu = nn.BatchNorm2d(gives, eps=0.001), nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the gate of the normalised convolution."""
        return self.relu(self.bn(self.conv(x)))


class Mixed(nn.Module):
    """Branches of convolutions side by side, and one that pools; a branch may part in two at its end.

    Parameters
    ----------
    reads : int
    branches : mapping
        Steps of every branch; behind "a" and "b" in a step's name the last two stand side by side.
    pooled : int or None
        Channels of the convolution behind an average pooling; None for a maximum pooling of stride 2.
    """

    def __init__(self, reads: int, branches: Mapping[str, Sequence[Step]], pooled: int | None) -> None:
        super().__init__()
        self.order: list[list[str]] = []
        self.gives = 0
        for branch, steps in branches.items():
            names, channels = [], reads
            for end, gives, kernel, stride in steps:
                name = f"{branch}{end}"
                padding = (kernel[0] // 2, kernel[1] // 2) if stride == 1 else (0, 0)
                setattr(self, name, BasicConv2d(channels, gives, kernel, stride, padding))
                names.append(name)
                # Both ends of a parted branch read the step before them.
                channels = channels if end.endswith("a") else gives
                self.gives += gives if end.endswith("a") else 0
            self.order.append(names)
            self.gives += channels
        self.branch_pool = None if pooled is None else BasicConv2d(reads, pooled, (1, 1), 1, (0, 0))
        self.pool = nn.MaxPool2d(3, 2) if pooled is None else nn.AvgPool2d(3, 1, 1)
        self.gives += reads if pooled is None else pooled

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return all branches, one behind the other."""
        found = []
        for names in self.order:
            out = x
            parted = names[-1].endswith("b")
            for name in names[: len(names) - 2 * parted]:
                out = getattr(self, name)(out)
            found += [getattr(self, name)(out) for name in names[-2:]] if parted else [out]
        pooled = self.pool(x)
        return torch.cat([*found, pooled if self.branch_pool is None else self.branch_pool(pooled)], dim=1)


class InceptionV3(nn.Module):
    """Inception-v3.

    Parameters
    ----------
    width : float
        By which all numbers of channels are multiplied, at least one each; 1 in the paper.
    num_classes : int
    """

    def __init__(self, *, width: float = 1.0, num_classes: int = 1000) -> None:
        super().__init__()

        def n(channels: int) -> int:
            return max(1, round(width * channels))

        one, three, tall, wide = (1, 1), (3, 3), (7, 1), (1, 7)
        self.Conv2d_1a_3x3 = BasicConv2d(3, n(32), three, 2, (0, 0))
        self.Conv2d_2a_3x3 = BasicConv2d(n(32), n(32), three, 1, (0, 0))
        self.Conv2d_2b_3x3 = BasicConv2d(n(32), n(64), three, 1, (1, 1))
        self.maxpool1 = nn.MaxPool2d(3, 2)
        self.Conv2d_3b_1x1 = BasicConv2d(n(64), n(80), one, 1, (0, 0))
        self.Conv2d_4a_3x3 = BasicConv2d(n(80), n(192), three, 1, (0, 0))
        self.maxpool2 = nn.MaxPool2d(3, 2)
        double = [("_1", n(64), one, 1), ("_2", n(96), three, 1), ("_3", n(96), three, 1)]
        reads = n(192)
        mixed: dict[str, Mixed] = {}
        for letter, pooled in (("b", 32), ("c", 64), ("d", 64)):
            branches = {
                "branch1x1": [("", n(64), one, 1)],
                "branch5x5": [("_1", n(48), one, 1), ("_2", n(64), (5, 5), 1)],
                "branch3x3dbl": double,
            }
            mixed[f"Mixed_5{letter}"] = Mixed(reads, branches, n(pooled))
            reads = mixed[f"Mixed_5{letter}"].gives
        branches = {
            "branch3x3": [("", n(384), three, 2)],
            "branch3x3dbl": [*double[:2], ("_3", n(96), three, 2)],
        }
        mixed["Mixed_6a"] = Mixed(reads, branches, None)
        reads = mixed["Mixed_6a"].gives
        for letter, channels in (("b", 128), ("c", 160), ("d", 160), ("e", 192)):
            c = n(channels)
            branches = {
                "branch1x1": [("", n(192), one, 1)],
                "branch7x7": [("_1", c, one, 1), ("_2", c, wide, 1), ("_3", n(192), tall, 1)],
                "branch7x7dbl": [
                    ("_1", c, one, 1), ("_2", c, tall, 1), ("_3", c, wide, 1), ("_4", c, tall, 1),
                    ("_5", n(192), wide, 1),
                ],
            }  # fmt: skip
            mixed[f"Mixed_6{letter}"] = Mixed(reads, branches, n(192))
            reads = mixed[f"Mixed_6{letter}"].gives
        branches = {
            "branch3x3": [("_1", n(192), one, 1), ("_2", n(320), three, 2)],
            "branch7x7x3": [
                ("_1", n(192), one, 1), ("_2", n(192), wide, 1), ("_3", n(192), tall, 1), ("_4", n(192), three, 2),
            ],
        }  # fmt: skip
        mixed["Mixed_7a"] = Mixed(reads, branches, None)
        reads = mixed["Mixed_7a"].gives
        for letter in "bc":
            ends = [("a", n(384), (1, 3), 1), ("b", n(384), (3, 1), 1)]
            branches = {
                "branch1x1": [("", n(320), one, 1)],
                "branch3x3": [("_1", n(384), one, 1), *((f"_2{end}", *rest) for end, *rest in ends)],
                "branch3x3dbl": [
                    ("_1", n(448), one, 1), ("_2", n(384), three, 1), *((f"_3{end}", *rest) for end, *rest in ends),
                ],
            }  # fmt: skip
            mixed[f"Mixed_7{letter}"] = Mixed(reads, branches, n(192))
            reads = mixed[f"Mixed_7{letter}"].gives
        self.mixed = list(mixed)
        for name, module in mixed.items():
            self.add_module(name, module)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(reads, num_classes)

    def maps(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last maps, which are averaged."""
        out = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x)))
        out = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(self.maxpool1(out))))
        for name in self.mixed:
            out = getattr(self, name)(out)
        return out

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the last layer reads."""
        return self.avgpool(self.maps(x)).flatten(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        return self.fc(self.features(x))

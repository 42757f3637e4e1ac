"""ResNet-18 and ResNet-152 in plain PyTorch, with the names of torchvision's parameters, so that its weights fit.

He, Zhang, Ren and Sun, "Deep residual learning for image recognition", 2016; in the bottleneck the stride is that of
the 3 x 3 convolution, as in torchvision.
"""

from collections.abc import Sequence

import torch
from torch import nn

STAGES = {"resnet18": (2, 2, 2, 2), "resnet152": (3, 8, 36, 3)}


class _Block(nn.Module):
    """Two convolutions of 3 x 3, or three of 1 x 1, 3 x 3 and 1 x 1, beside what they are added to."""

    def __init__(self, reads: int, channels: int, stride: int, *, is_bottleneck: bool) -> None:
        super().__init__()
        self.is_bottleneck = is_bottleneck
        gives = channels * (4 if is_bottleneck else 1)
        if is_bottleneck:
            self.conv1 = nn.Conv2d(reads, channels, 1, bias=False)
            self.conv2 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
            self.conv3, self.bn3 = nn.Conv2d(channels, gives, 1, bias=False), nn.BatchNorm2d(gives)
        else:
            self.conv1 = nn.Conv2d(reads, channels, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn1, self.bn2, self.relu = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels), nn.ReLU()
        self.downsample = None
        if stride != 1 or reads != gives:
            self.downsample = nn.Sequential(nn.Conv2d(reads, gives, 1, stride, bias=False), nn.BatchNorm2d(gives))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the gate of the sum."""
        beside = x if self.downsample is None else self.downsample(x)
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if self.is_bottleneck:
            out = self.bn3(self.conv3(self.relu(out)))
        return self.relu(out + beside)


class ResNet(nn.Module):
    """A residual network.

    Parameters
    ----------
    stages : sequence of int
        Blocks of each of the four stages.
    is_bottleneck : bool
        Whether blocks have three convolutions.
    base : int
        Channels of the first stage; 64 in the paper.
    num_classes : int

    Examples
    --------
    >>> net = ResNet((1, 1, 1, 1), is_bottleneck=False, base=2, num_classes=3).eval()
    >>> net(torch.zeros(1, 3, 32, 32)).shape, net.features(torch.zeros(1, 3, 32, 32)).shape
    (torch.Size([1, 3]), torch.Size([1, 16]))
    """

    def __init__(self, stages: Sequence[int], *, is_bottleneck: bool, base: int = 64, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, base, 7, 2, 3, bias=False), nn.BatchNorm2d(base), nn.ReLU()
        self.maxpool, self.avgpool = nn.MaxPool2d(3, 2, 1), nn.AdaptiveAvgPool2d(1)
        reads = base
        for stage, number in enumerate(stages):
            blocks = []
            for block in range(number):
                stride = 2 if stage and not block else 1
                blocks.append(_Block(reads, base * 2**stage, stride, is_bottleneck=is_bottleneck))
                reads = base * 2**stage * (4 if is_bottleneck else 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(reads, num_classes)

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the last layer reads."""
        out = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in range(4):
            out = getattr(self, f"layer{stage + 1}")(out)
        return self.avgpool(out).flatten(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        return self.fc(self.features(x))


def resnet(name: str, *, base: int = 64, num_classes: int = 1000) -> ResNet:
    """Return ResNet-18 or ResNet-152, untrained; with fewer channels if the base is smaller."""
    return ResNet(STAGES[name], is_bottleneck=name == "resnet152", base=base, num_classes=num_classes)

"""Deep networks for images, written plainly: default initialisation, seed 0, batch statistics of random images."""

import torch
from torch import Tensor, nn

import reluscope as rs


def _convolution(before: int, after: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    layer = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [layer, nn.BatchNorm2d(after)]


class Residual(nn.Module):
    """A value that a branch is added to, with an activation after the sum or none."""

    def __init__(self, branch: nn.Module, shortcut: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.branch, self.shortcut, self.last = branch, shortcut, last

    def forward(self, x: Tensor) -> Tensor:
        """Return the activation of the sum."""
        return self.last(self.branch(x) + self.shortcut(x))


def _resnet(first: list[nn.Module], classes: int, width: int = 64) -> nn.Sequential:
    layers, before = list(first), width
    for after, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
        for step in (stride, 1):
            branch = [*_convolution(before, after, 3, step), nn.ReLU(), *_convolution(after, after, 3)]
            is_same = step == 1 and before == after
            shortcut = nn.Identity() if is_same else nn.Sequential(*_convolution(before, after, 1, step))
            layers.append(Residual(nn.Sequential(*branch), shortcut, nn.ReLU()))
            before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def resnet_cifar(width: int = 64) -> nn.Sequential:
    """Return a ResNet-18 for 32 x 32 images: 557,056 units."""
    return _resnet([*_convolution(3, width, 3), nn.ReLU()], 10, width)


def resnet_imagenet() -> nn.Sequential:
    """Return a ResNet-18 for 224 x 224 images."""
    return _resnet([*_convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 1000)


def vgg() -> nn.Sequential:
    """Return a VGG-11-BN for 32 x 32 images."""
    layers, before = [], 3
    for entry in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
        layers += [*_convolution(before, entry, 3), nn.ReLU()] if entry else [nn.MaxPool2d(2)]
        before = entry or before
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(before, 10))


def mobilenet() -> nn.Sequential:
    """Return a MobileNetV2 for 32 x 32 images: inverted residuals, ReLU6."""
    layers, before = [*_convolution(3, 32, 3), nn.ReLU6()], 32
    for widen, after, number, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 1),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for step in (stride, *[1] * (number - 1)):
            inner = before * widen
            branch = [*_convolution(before, inner, 1), nn.ReLU6()] if widen > 1 else []
            branch += [*_convolution(inner, inner, 3, step, inner), nn.ReLU6(), *_convolution(inner, after, 1)]
            body = nn.Sequential(*branch)
            is_same = step == 1 and before == after
            layers.append(Residual(body, nn.Identity(), nn.Identity()) if is_same else body)
            before = after
    layers += [*_convolution(before, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 10)]
    return nn.Sequential(*layers)


MODELS = {
    "ResNet-18, CIFAR": (resnet_cifar, 32),
    "VGG-11-BN, CIFAR": (vgg, 32),
    "MobileNetV2, CIFAR": (mobilenet, 32),
    "ResNet-18, 224 x 224": (resnet_imagenet, 224),
}


def settled(module: nn.Module, size: int) -> nn.Module:
    """Return a module whose batch norms have seen some random images, ready to be evaluated."""
    module.train()
    with torch.no_grad():
        for seed in range(3):
            module(torch.rand(16, 3, size, size, generator=torch.Generator().manual_seed(seed)))
    return module.eval()


def deep(name: str) -> rs.Network:
    """Return one of `MODELS`."""
    torch.manual_seed(0)
    make, size = MODELS[name]
    return rs.load(settled(make(), size), input_shape=(3, size, size))

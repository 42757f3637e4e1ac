"""The networks that are timed: PyTorch's default initialisation, seed 0."""

from itertools import pairwise

import numpy as np
import torch

import reluscope as rs


def mlp(*sizes: int) -> rs.Network:
    """Return a multilayer perceptron."""
    return rs.load(mlp_module(*sizes), input_shape=(sizes[0],))


def maxout(inputs: int, units: int, candidates: int, *hidden: int) -> rs.Network:
    """Return max units over affine functions, and ReLU layers behind them."""
    torch.manual_seed(0)
    first = torch.nn.Linear(inputs, units * candidates), torch.nn.Unflatten(1, (units, candidates, 1))
    layers: list[torch.nn.Module] = [*first, torch.nn.MaxPool2d((candidates, 1)), torch.nn.Flatten()]
    for fan_in, fan_out in pairwise((units, *hidden)):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    return rs.load(torch.nn.Sequential(*layers, torch.nn.Linear((units, *hidden)[-1], 1)), input_shape=(inputs,))


def mlp_module(*sizes: int) -> torch.nn.Sequential:
    """Return the same as a PyTorch module."""
    torch.manual_seed(0)
    layers: list[torch.nn.Module] = []
    for fan_in, fan_out in pairwise(sizes):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def tents(times: int, slope: float = 1.93) -> rs.Network:
    """Return a network of four units a layer that folds a square on itself again and again, turned a little between.

    Regions grow nearly fourfold with each layer, and codes by four bits.
    """
    bends, at = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([0.1, -0.5, 0.1, -0.5])
    fold, shift = slope * np.array([[1.0, -2.0, 0.0, 0.0], [0.0, 0.0, 1.0, -2.0]]), np.full(2, -0.1 * slope)
    turn = np.array([[np.cos(0.01), -np.sin(0.01)], [np.sin(0.01), np.cos(0.01)]])
    further = bends @ turn @ fold, bends @ turn @ shift + at
    return rs.load([(bends, at), *[further] * (times - 1), (fold, shift)])


def convolutional() -> rs.Network:
    """Return a network of CIFAR size: 3x3 convolutions of stride 2 (32, 64, 128 channels), 1024 units, 10 outputs."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, 2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3, 2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(64, 128, 3, 2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(128 * 9, 1024),
        torch.nn.ReLU(),
        torch.nn.Linear(1024, 10),
    )
    return rs.load(module, input_shape=(3, 32, 32))


def three_images() -> np.ndarray:
    """Return three uniformly random images of 3 x 32 x 32 entries, seed 0."""
    return np.random.default_rng(0).random((3, 3072))


def forward_at(network: rs.Network, part: rs.Partition):
    """Return a float64 forward pass over as many points as the partition has vertices, through the plain network."""
    domain = part.domain
    restricted = network.restrict(domain) if isinstance(domain, rs.Slice) else network
    points = torch.from_numpy(np.array(part.vertices))
    return lambda: restricted(points)

"""The embedded network of the demo: a small convolutional classifier of scikit-learn's digits.

Trained once by ``scripts/train_demo_network.py`` on the training part; its 1,178 weights lie beside this module as
float32.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from typing import Any

from safetensors.torch import load_file
from torch import Tensor, nn

from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.building.parameters import replace_parameters
from reluscope.networks.building.verification import verify
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

WEIGHTS = "demo_network.safetensors"


class DigitsNetwork(nn.Module):
    """One strided convolution, max pooling, then two linear layers: 8 x 8 images to ten classes."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.Conv2d(1, 8, 4, stride=2, padding=1)
        self.hidden = nn.Linear(32, 24)
        self.scores = nn.Linear(24, 10)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the ten classes, ``(s, 10)``, of images ``(s, 1, 8, 8)`` with entries in [0, 1]."""
        h = self.pool(self.relu(self.filters(x))).flatten(1)
        return self.scores(self.relu(self.hidden(h)))


def demo_network() -> DigitsNetwork:
    """Return the trained network.

    Returns
    -------
    DigitsNetwork
        In evaluation mode.

    Examples
    --------
    >>> import reluscope as rs
    >>> import torch
    >>> rs.datasets.demo_network()(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """
    model = DigitsNetwork()
    with as_file(files("reluscope.datasets") / WEIGHTS) as path:
        model.load_state_dict(load_file(path))
    return model.eval()


def loaded_demo_network(data: Points | None = None) -> Network:
    """Return the trained network as `reluscope.load` does, without importing PyTorch's compiler for it.

    It is checked against the module in float64, at random points and at `data` (s, 1, 8, 8).
    """
    module = demo_network().double().requires_grad_(False)
    network = _DemoTrace(dict(module.named_parameters())).lower()
    return replace(network, verification=verify(network, module, data=data, name="the module in float64"))


@dataclass(frozen=True, eq=False)
class _DemoTrace:
    """What the module's forward pass does, by the names of its weights."""

    parameters: Mapping[str, Tensor]

    def lower(self, state: Mapping[str, Any] | None = None) -> Network:
        """Return the network, with the weights in ``state`` in place of its own."""
        parameters = replace_parameters(self.parameters, state or {})
        builder = GraphBuilder()
        x = builder.input((1, 8, 8))
        h = builder.named("filters").convolution(
            x, parameters["filters.weight"], parameters["filters.bias"], stride=2, padding=1
        )
        h = builder.named("pool").max_pool(builder.named("relu").relu(h), 2)
        h = builder.named("flatten").flatten(h)
        h = builder.named("hidden").linear(h, parameters["hidden.weight"], parameters["hidden.bias"])
        h = builder.named("relu").relu(h)
        h = builder.named("scores").linear(h, parameters["scores.weight"], parameters["scores.bias"])
        return replace(builder.build(h), trace=replace(self, parameters=parameters))

"""The embedded network of the demo: a small convolutional classifier of scikit-learn's digits.

Trained once by ``scripts/train_demo_network.py`` on the training part; its 3,658 weights lie beside this module as
float32.
"""

from importlib.resources import as_file, files

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WEIGHTS = "demo_network.safetensors"


class DigitsNetwork(nn.Module):
    """Two convolutions with max pooling, then two linear layers: 8 x 8 images to ten classes."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 16, 3, padding=1)
        self.third = nn.Linear(64, 32)
        self.last = nn.Linear(32, 10)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the ten classes, ``(s, 10)``, of images ``(s, 1, 8, 8)`` with entries in [0, 1]."""
        h = self.pool(self.relu(self.first(x)))
        h = self.pool(self.relu(self.second(h)))
        return self.last(self.relu(self.third(h.flatten(1))))


def demo_network() -> DigitsNetwork:
    """Return the trained network.

    Returns
    -------
    DigitsNetwork
        In evaluation mode.

    Examples
    --------
    >>> demo_network()(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """
    model = DigitsNetwork()
    with as_file(files(__package__) / WEIGHTS) as path:
        model.load_state_dict(load_file(path))
    return model.eval()

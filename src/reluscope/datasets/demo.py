"""The embedded network of the demo: a small convolutional classifier of scikit-learn's digits.

Trained once by ``scripts/train_demo_network.py`` on the training part; its 1,178 weights lie beside this module as
float32.
"""

from importlib.resources import as_file, files

from safetensors.torch import load_file
from torch import Tensor, nn

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
    >>> import torch
    >>> demo_network()(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """
    model = DigitsNetwork()
    with as_file(files("reluscope.datasets") / WEIGHTS) as path:
        model.load_state_dict(load_file(path))
    return model.eval()

"""Networks that several tests use."""

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from reluscope.networks.building.builder import GraphBuilder


def layers(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(sizes)]


def branched(seed=0):
    """A convolutional graph with a shortcut around two gates, a max gate and a many-piece gate."""
    generator = torch.Generator().manual_seed(seed)

    def weight(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    builder = GraphBuilder()
    x = builder.input((2, 6, 6))
    y = builder.relu(builder.convolution(x, weight(3, 2, 3, 3), weight(3), padding=1))
    y = builder.max_pool(y, 3, 2, 1, ceil_mode=True)
    z = builder.convolution(x, weight(3, 2, 1, 1), stride=2)
    z = builder.pad(z, [(0, 0), (0, y.shape[1] - z.shape[1]), (0, y.shape[2] - z.shape[2])], 1.5)
    y = builder.relu6(builder.add(y, z))
    y = builder.linear(builder.flatten(y), weight(4, 48)[:, : np.prod(y.shape)], weight(4))
    return builder.build(builder.subtract(y, builder.softshrink(y)))


def seeded(make, seed=0):
    torch.manual_seed(seed)
    return make()


class Two(nn.Module):
    """A model with two inputs or two outputs."""

    def __init__(self, of):
        super().__init__()
        self.of = of
        self.layer = nn.Linear(3, 3)

    def forward(self, image):
        y = self.layer(image)
        return {"tuple": (y, y.relu()), "dict": {"logits": y, "features": y.relu()}}[self.of]

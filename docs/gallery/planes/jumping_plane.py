"""A sparse autoencoder that jumps
================================

The latents of a JumpReLU autoencoder are 0 below their thresholds and jump to them. The regions are polygons all the
same; behind the second gate, whose units see what jumped, their sides do not meet across a jump.
"""

import numpy as np
import torch
from torch import nn

import reluscope as rs


class JumpReLU(nn.Module):
    """Values above a threshold, and 0 below."""

    def forward(self, x):
        """Return ``x [x > 1/2]``."""
        return x * (x > 0.5)


torch.manual_seed(3)
model = nn.Sequential(nn.Linear(2, 7), JumpReLU(), nn.Linear(7, 7), JumpReLU(), nn.Linear(7, 2))
net = rs.load(model)
part = rs.partition(net, rs.Box(-4, 4, 2))

figure = rs.plots.partition(part, color=lambda part: np.log10(1e-3 + abs(part.maps.weight.numpy()).max(axis=(1, 2))),
                            label="steepness, as a power of 10")  # fmt: skip
figure

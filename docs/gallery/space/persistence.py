"""Persistence: when pieces and tunnels appear
==============================================

While a level rises over the output of a network of three inputs, pieces of the set below it begin and join, tunnels
open and are filled, and hollows close. A bar is as long as that lasts; the piece with the arrow stays.
"""

import torch

import reluscope as rs

torch.manual_seed(4)
model = torch.nn.Sequential(
    *(torch.nn.Linear(3, 24), torch.nn.ReLU(), torch.nn.Linear(24, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1))
)
for layer in model[::2]:
    torch.nn.init.normal_(layer.weight, std=2 / layer.in_features**0.5)
    torch.nn.init.normal_(layer.bias)

part = rs.partition(rs.load(model, input_shape=(3,)), rs.Box(-3, 3, 3))
figure = rs.plots.persistence(rs.topology.persistence(part))
figure

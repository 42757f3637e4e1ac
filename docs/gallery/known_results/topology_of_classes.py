"""Wider networks reach the topology of the data
==============================================

Guss and Salakhutdinov, "On characterizing the capacity of neural networks using algebraic topology", 2018: a network
separates data only if its decision region has their topology. Masden, and Grigsby, Lindsey and Masden, compute Betti
numbers of decision regions exactly, by the faces of the partition. Here: one class is two rings, so that its region
should have two pieces and two holes; a network of width 32 has them after training, and narrower ones have not.
"""

import numpy as np
import torch
from matplotlib.figure import Figure

import reluscope as rs

angle, radius = np.random.default_rng(0).uniform(0, 2 * np.pi, 1500), np.repeat([0.25, 1.0, 1.75], 500)
x = np.stack([radius * np.cos(angle) + 2.2 * (np.arange(1500) % 2 * 2 - 1), radius * np.sin(angle)], axis=1)
x, y = torch.tensor(x), torch.tensor(radius == 1.0).double()[:, None]
figure = Figure(figsize=(9, 3), layout="constrained")
for axes, width in zip(figure.subplots(1, 3), (4, 8, 32), strict=True):
    torch.manual_seed(0)
    relu, linear = torch.nn.ReLU(), torch.nn.Linear
    model = torch.nn.Sequential(linear(2, width), relu, linear(width, width), relu, linear(width, 1)).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(1500):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(x), y).backward()
        optimizer.step()
    part = rs.partition(rs.load(model, input_shape=(2,)), rs.Box([-4.5, -2.5], [4.5, 2.5]))
    pieces, holes, _ = rs.topology.betti(part, of="class", output=1)["betti_number"].value.astype(int)
    rs.plots.partition(part, color="class", lines=False, axes=axes)
    axes.set_title(f"width {width}: {pieces} pieces, {holes} holes")
figure

"""Contour lines of a network
==========================

Where an output of a network of two inputs has each of several values, over its linear regions: exact polygonal lines
that bend where a unit switches, and never miss a small island between the points of a grid.
"""

import numpy as np
from matplotlib.collections import LineCollection

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 24, 24, 1], seed=3))
box = rs.Box(-3, 3, 2)
part = rs.partition(net, box)
low, high = np.quantile(part.outputs, [0.05, 0.95])

figure = rs.plots.partition(part, color=net(part.witnesses)[:, 0].numpy(), label="output inside the region")
for level in np.linspace(low, high, 7):
    lines = rs.level_set(net, box, level=level)
    for shade, width in (("black", 3.2), ("white", 1.6)):
        ends = lines.vertices[lines.ids.reshape(-1, 2)]
        figure.axes[0].add_collection(LineCollection(ends, colors=shade, linewidths=width, capstyle="round"))
figure

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

figure = rs.plots.partition(part, color="random")
for level, shade in zip(np.linspace(low, high, 7), np.linspace(0.1, 0.7, 7), strict=True):
    lines = rs.level_set(net, box, level=level)
    figure.axes[0].add_collection(
        LineCollection(lines.vertices[lines.ids.reshape(-1, 2)], colors=str(shade), linewidths=2)
    )
figure

"""Regions grow with units, not with depth
========================================

Hanin and Rolnick, "Complexity of linear regions in deep networks" and "Deep ReLU networks have surprisingly few
activation patterns", 2019: at initialisation the number of regions and the size of their boundary depend on the
number of units, and not exponentially on depth. Here: with 96 units networks of one to four layers have 3,250 to
2,356 regions, fewer if they are deep, and the length of the boundary grows in proportion to the units.
"""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

import reluscope as rs


def counted(units, depth, seed):
    """Return the number of regions of a network with initial weights, and the length of their boundaries."""
    draw, sizes = np.random.default_rng(seed), [2, *[units // depth] * depth, 1]
    layers = [(draw.normal(size=(m, n)) * (2 / n) ** 0.5, draw.normal(size=m)) for n, m in pairwise(sizes)]
    part = rs.partition(rs.load(layers), rs.Box(-3, 3, 2))
    one, other = part.vertices[part.facets.vertices].swapaxes(0, 1)
    return len(part), np.linalg.norm(one - other, axis=1).sum()


units = (12, 24, 48, 96)
figure = Figure(figsize=(8, 3.6), layout="constrained")
panels = figure.subplots(1, 2)
for depth in (1, 2, 3, 4):
    found = [np.mean([counted(number, depth, seed) for seed in range(10)], axis=0) for number in units]
    for axes, values in zip(panels, np.transpose(found), strict=True):
        axes.plot(units, values, "o-", label=f"{depth} layer{'s' * (depth > 1)}")
for axes, name in zip(panels, ("linear regions (mean of 10)", "length of boundaries (mean of 10)"), strict=True):
    axes.set(xlabel="units", ylabel=name)
panels[0].legend(frameon=False)
figure

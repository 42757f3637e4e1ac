"""The regions of a layer are a power diagram
===========================================

Balestriero, Cosentino, Aazhang and Baraniuk, "The geometry of deep networks: power diagram subdivision", 2019: the
regions of one layer are the cells of a power diagram. The centre of a cell is the sum of the weights of its active
units, its radius follows from their biases. Here: of 10,000 points, each lies in the region whose centre has the
least power distance.
"""

import numpy as np

import reluscope as rs

layers = rs.testing.default_network([2, 10, 1], seed=0)
weight, bias = layers[0]
part = rs.partition(rs.load(layers), rs.Box(-3, 3, 2))
active = part.codes.to_array().astype(float)
centers, radii = active @ weight, ((active @ weight) ** 2).sum(axis=1) + 2 * active @ bias

points = np.random.default_rng(0).uniform(-3, 3, (10_000, 2))
power = ((points[:, None] - centers) ** 2).sum(axis=2) - radii
assert (power.argmin(axis=1) == part.locate(points)).all()

figure = rs.plots.partition(part, color="random")
figure.axes[0].scatter(*centers.T, color="black", s=14, zorder=5)
figure

"""Regions of space, pulled apart
================================

Every linear region of a network of three inputs is a convex solid. Each is moved away from the middle, and keeps its
size; equal codes would have equal colours in any picture.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([3, 8, 8, 1], seed=3))
part = rs.partition(net, rs.Box(-1, 1, 3))

figure = rs.plots.solid(part, explode=0.7, color="random", view=rs.plots.View(azimuth=-55, elevation=28))
figure

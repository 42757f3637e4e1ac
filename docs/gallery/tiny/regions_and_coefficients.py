"""Regions and their slopes
===========================

Left the regions of a network of two inputs, right a dot for each of them at the slopes of its affine map, in the same
colour. Regions that share a facet are joined.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 8, 8, 1], seed=3))
part = rs.partition(net, rs.Box(-2, 2, 2))

figure = rs.plots.regions_and_coefficients(part)
figure

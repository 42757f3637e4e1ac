"""An output over the plane
==========================

z = f(x, y) for a network of two inputs: flat over every region, and bent where a unit switches.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 16, 16, 1], seed=1))
part = rs.partition(net, rs.Box(-1, 1, 2))

figure = rs.plots.output_surface(part, view=rs.plots.View(azimuth=-50, elevation=32))
figure

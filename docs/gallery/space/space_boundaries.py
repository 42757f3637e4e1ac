"""Boundaries of each layer in space
====================================

The boundaries between the regions of a network of three inputs. Those of the first layer are planes; those of the
second bend where they cross them.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([3, 5, 5, 1], seed=11))
part = rs.partition(net, rs.Box(-1, 1, 3))

figure = rs.plots.boundaries_3d(part, fade=0.25)
figure

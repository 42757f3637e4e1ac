"""Small regions inside large ones
=================================

The regions of a network of three inputs by volume: the larger, the more is seen through them. Small ones crowd where
many boundaries meet.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([3, 10, 10, 1], seed=5))
part = rs.partition(net, rs.Box(-1, 1, 3))

figure = rs.plots.solid(part, fade="volume", color="volume", lines=False)
figure

"""The directions of all hyperplanes at a point
===============================================

Angles between the hyperplanes of all units at one image, gate after gate, and how they are distributed.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
(found,) = rs.local.directions(net, data.points[:1])

figure = rs.plots.directions(found)
figure

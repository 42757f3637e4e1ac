"""Regions by slope
===================

On each region the network is one affine map. Its norm says how fast outputs can change there.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
part = rs.partition(net, rs.Plane(*images, margin=0.25))

figure = rs.plots.partition(part, color="map_norm", label="norm of the local map")
figure

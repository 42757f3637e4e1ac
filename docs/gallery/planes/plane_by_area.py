"""Regions by size
==================

Regions differ in area by many orders of magnitude: most of them are far smaller than a pixel of any grid.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
part = rs.partition(net, rs.Plane(*images, margin=0.25))

figure = rs.plots.partition(part, color="area")
figure

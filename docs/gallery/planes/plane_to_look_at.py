"""A plane in the explorer
==========================

The explorer, as a file: point at a region, turn the wheel to zoom in, choose what colours mean, and fold the plane
layer by layer. In a notebook ``rs.explore(net, data)`` goes on from here, to any depth and to any other plane.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
explorer = rs.explore(net, data)  # explorer.serve() opens it in a browser, explorer.snapshot("plane.html") keeps this

# %%
# The same classes as a picture for paper.

images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
figure = rs.plots.partition(rs.partition(net, rs.Plane(*images, margin=0.25)), color="class", samples=images)
figure

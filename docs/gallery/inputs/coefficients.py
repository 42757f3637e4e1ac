"""The local affine map of an image
===================================

On the region of an image the network is *one* matrix. Its rows, one for each class, are images themselves.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
maps = net.linearize(data.points[[9, 3, 8]], outputs=[3, 5, 8, 9])

rows, columns = ["at a 3", "at a 5", "at an 8"], ["output 3", "output 5", "output 8", "output 9"]
figure = rs.plots.coefficients(maps, shape=(8, 8), rows=rows, columns=columns)
figure

"""Boundaries by layer
======================

The same plane, with every boundary between two regions in the colour of the gate whose units change there. Lines of
the first layer are straight; later ones bend where they cross earlier ones.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
part = rs.partition(net, rs.Plane(*images, margin=0.25))

figure = rs.plots.boundaries(part, samples=images)
figure

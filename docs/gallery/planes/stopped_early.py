"""A partition that was stopped early
=====================================

Work that stops at a budget keeps what is finished. The rest of the plane is hatched, and the number of regions is a
lower bound.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
part = rs.partition(net, rs.Plane(*images, margin=0.25), budget=rs.Budget(regions=2_500))

figure = rs.plots.partition(part, color="random", samples=images)
figure

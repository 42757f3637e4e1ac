"""A plane cut by the first gates alone
=======================================

Work on a plane stopped after 2,500 regions. What is finished is in colours; the rest is drawn in the regions of the
first gate alone, which is done exactly in no time, and in which the others lie.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
plane = rs.Plane(*images, margin=0.25)
part = rs.partition(net, plane, budget=rs.Budget(regions=2_500))
coarse = rs.coarse_partition(net, plane, rs.Budget(regions=1_000))

figure = rs.plots.partition(part, coarse=coarse, samples=images)
figure

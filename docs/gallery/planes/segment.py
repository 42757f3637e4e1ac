"""Regions along a segment
==========================

Along a straight line every output is a piecewise linear function. Below the curves are the regions that the line
crosses, in the colour of their class.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
part = rs.partition(net, rs.Segment(*data.points[[9, 8]]))

figure = rs.plots.partition(part, color="class")
figure

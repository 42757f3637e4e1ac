"""Regions by class
===================

All linear regions of a small convolutional classifier on the plane through three images of digits, each in the colour
of the class that the network sees there. The thick line is the decision boundary: exact straight pieces, not pixels.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]  # a 3, a 5 and an 8
part = rs.partition(net, rs.Plane(*images, margin=0.25))

figure = rs.plots.partition(part, color="class", samples=images, sample_labels=["a 3", "a 5", "an 8"])
figure

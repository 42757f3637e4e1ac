"""Active units of samples
==========================

One row for each of 360 images, sorted by class, and one column for each unit: the piece that the unit uses there.
Patterns that a class has in common are vertical bands.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)

figure = rs.plots.codes(net.codes(data.points), labels=data.labels)
figure

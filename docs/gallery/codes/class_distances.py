"""How far classes are apart in code space
==========================================

The mean number of units that differ between the images of two classes, and within one class on the diagonal.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
sampled = rs.codespace.sample_codes(net, data.points)

figure = rs.plots.class_distances(rs.codespace.class_distances(sampled, data.labels))
figure

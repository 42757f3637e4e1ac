"""A map of code space
======================

Every dot is an image, placed so that distances between dots resemble the number of units that differ. Classes lie
together, although nothing but activation patterns was looked at.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
codes = rs.codespace.sample_codes(net, data.points).codes
placed = rs.codespace.embed(codes)

figure = rs.plots.embeddings([[placed.points]], data.labels, rows=[""], columns=["all gates"])
figure

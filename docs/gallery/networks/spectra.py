"""Singular values, layer after layer
=====================================

By how much each layer stretches directions, at twenty images: medians, with a band between quartiles.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
found = rs.stability.spectra(net, data.points[:20], population=len(data))

figure = rs.plots.spectra(found)
figure

"""Saliency: where a network looks
==================================

Images, the gradients of their class, and each pixel's exact contribution to its score.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points[[9, 3, 8]]
found = rs.sensitivity.saliency(net, images)

figure = rs.plots.saliency(found, images, shape=(8, 8), names=["a 3", "a 5", "an 8"])
figure

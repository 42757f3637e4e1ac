"""Two images that a layer takes for one
========================================

The image that is closest to a target and still has the features of another one, within the region of that image.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
x = data.points[[9, 8, 3, 10]].reshape(4, -1)  # a 3, an 8, a 5 and a 2
box = rs.Box(0, 1, 64)
pairs = [(0, 1), (2, 3)]
found = [rs.preimages.invariant(net, x[a], target=x[b], domain=box, within="region", norm="l2") for a, b in pairs]

figure = rs.plots.invariances(found, shape=(8, 8), names=["a 3 like an 8", "a 5 like a 2"])
figure

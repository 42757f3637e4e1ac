"""The most typical images within a region
==========================================

Within the region of one image, the point that the network is surest of for each class. A red frame with a cross says
that even there another class wins.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
x, box = data.points[[9, 3, 8]].reshape(3, -1), rs.Box(0, 1, 64)
found = rs.local.likeliest_in_regions(net, x, domain=box)
own = net(x).argmax(1).numpy()

rows = ["a 3", "a 5", "an 8"]
figure = rs.plots.likeliest(found.points, found.classes, own, x=x, shape=(8, 8), rows=rows)
figure

"""Boundaries crossed along a path
==================================

How often the linear region changes on two closed ways through three images, found exactly.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
images = data.points.reshape(len(data), -1)
ways = {"images 0, 1, 2": images[:3], "images 3, 4, 5": images[3:6]}
loops = {name: rs.sensitivity.ellipse(*three, num_points=40) for name, three in ways.items()}
met = {name: rs.sensitivity.transitions(net, loop) for name, loop in loops.items()}

figure = rs.plots.transitions(met)
figure

"""Trajectories grow with depth
============================

Raghu, Poole, Kleinberg, Ganguli and Sohl-Dickstein, "On the expressive power of deep neural networks", 2017: the
length of the image of a curve grows exponentially with depth, the faster the larger the weights are. Here: the image
of a circle at each layer of random networks of width 50. Without biases a ReLU keeps lengths at a weight scale of the
square root of 2 or so.
"""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

import reluscope as rs

draw = np.random.default_rng(0)
circle = rs.sensitivity.ellipse(*draw.normal(size=(3, 20)), num_points=60)
figure = Figure(figsize=(6.5, 4), layout="constrained")
axes = figure.add_subplot()
for scale in (1.0, 2.0**0.5, 2.0, 4.0):
    sizes = [20, *[50] * 10, 1]
    layers = [(scale * draw.normal(size=(m, n)) / n**0.5, draw.normal(size=m)) for n, m in pairwise(sizes)]
    net = rs.load(layers)
    images = rs.local.pieces_along(net, *circle.ends()).image_lengths()
    lengths = [float(images.where(gate=gate.name).total("image_length")) for gate in net.gates]
    axes.semilogy(range(1, 11), lengths, "o-", label=f"weight scale {scale:.3g}")
axes.set(xlabel="layer", ylabel="length of the image of the circle")
axes.legend(frameon=False)
figure

"""Six definitions of a linear region
=====================================

The network computes max(-y, min(0, -x)). How many linear regions it has depends on what counts as one: left the
regions with an interior of one code each, right the number under each of six published definitions.
"""

import numpy as np
from matplotlib.figure import Figure

import reluscope as rs

first, second = [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [[-1.0, 1.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
net = rs.load([(first, np.zeros(3)), (second, np.zeros(3)), ([[1.0, -1.0, 1.0]], [0.0])])
square = rs.Box(-1, 1, 2)
counts = {name: rs.count(net, square, definition=name) for name in rs.counting.DEFINITIONS}

figure = Figure(figsize=(8.5, 3.6), layout="constrained")
left, right = figure.subplots(1, 2)
for row, region in enumerate(rs.partition(net, square)):
    left.fill(*region.vertices.T, facecolor=rs.plots.style.category(row), edgecolor="black", linewidth=1.5, alpha=0.7)
left.set(xlabel="x", ylabel="y", xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal", title="regions with an interior")
bars = right.barh([name.replace("_", " ") for name in counts], [int(one) for one in counts.values()], color="#0072B2")
right.bar_label(bars, [str(one) for one in counts.values()], padding=4)
right.invert_yaxis()
right.set(xlabel="regions", xlim=(0, 10))
rs.plots.style.bare(right, "top", "right")
figure

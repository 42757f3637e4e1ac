"""Wide and deep networks with as many units
============================================

Twenty-four units with PyTorch's initial weights on the same square: how they are arranged decides how many regions
they make.
"""

from matplotlib.figure import Figure

import reluscope as rs

figure = Figure(figsize=(10.0, 3.8), layout="constrained")
for axes, hidden in zip(figure.subplots(1, 3), ([24], [12, 12], [8, 8, 8]), strict=True):
    net = rs.load(rs.testing.default_network([2, *hidden, 1], seed=1))
    part = rs.partition(net, rs.Box(-2, 2, 2))
    rs.plots.partition(part, color="random", axes=axes)
    axes.set_title(f"{' + '.join(map(str, hidden))} units\n{rs.plots.say_regions(part)}")
figure

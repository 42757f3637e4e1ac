"""The number of regions and its upper bounds
=============================================

The number of regions of networks 2-w-w-1 with PyTorch's initial weights, counted on the whole plane, below the bounds
that are known before the weights are.
"""

from matplotlib.figure import Figure

import reluscope as rs

widths = [2, 4, 8, 16, 24, 32]
counts, upper, single = [], [], []
for width in widths:
    net = rs.load(rs.testing.default_network([2, width, width, 1], seed=0))
    counts.append(int(rs.count(net, rs.Space(2))))
    upper.append(int(rs.bounds.upper(net)))
    single.append(int(rs.bounds.upper([2, 2 * width])))

figure = Figure(figsize=(6.5, 4.2), layout="constrained")
axes = rs.plots.style.canvas(figure.add_subplot(), (6.5, 4.2))
lines = {"upper bound (best known)": upper, "one layer of as many units, at most": single, "counted": counts}
for index, (name, numbers) in enumerate(lines.items()):
    style = {"color": rs.plots.style.category(index), "linestyle": rs.plots.style.dashes(index)}
    axes.plot(widths, numbers, marker="osD"[index], label=name, **style)
axes.set(xlabel="units in each of two layers", ylabel="linear regions", yscale="log")
axes.legend(frameon=False)
rs.plots.style.bare(axes, "top", "right")
figure

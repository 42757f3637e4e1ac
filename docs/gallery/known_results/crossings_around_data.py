"""Densities of transitions on paths around data
==============================================

Gamba, Chmielewski-Anders, Sullivan, Azizpour and Björkman, "Are all linear regions created equal?", 2022: the density
of transitions on paths between data does not tell how nonlinear a network is there; how far outputs are from linear
does. Here: within a class, between two classes and towards shuffled pixels there are about as many transitions per
unit of length (medians 15.9, 17.5 and 15.9), and outputs are 1.8, 4.4 and 5.0 away from linear.
"""

import numpy as np
from matplotlib.figure import Figure

import reluscope as rs

data, draw = rs.datasets.digits("train"), np.random.default_rng(0)
net, x = rs.load(rs.datasets.demo_network(), data=data.points), data.points.reshape(len(data), -1)
first, second = draw.permutation(len(x))[:600].reshape(2, 300)
alike = data.labels[first] == data.labels[second]
starts, stops = x[first], x[second]
ways = {"one class": (starts[alike], stops[alike]), "two classes": (starts[~alike][:30], stops[~alike][:30])}
ways["shuffled pixels"] = (starts[:30], draw.permuted(stops[:30], axis=1))
measures = {name: rs.local.pieces_along(net, *ends).measures() for name, ends in ways.items()}

figure = Figure(figsize=(8, 3.6), layout="constrained")
for axes, quantity in zip(figure.subplots(1, 2), ("crossing_density", "deviation_from_linear"), strict=True):
    axes.boxplot([found[quantity].value for found in measures.values()], tick_labels=list(measures))
    axes.set_ylabel(quantity.replace("_", " "))
figure

"""Weights from the bends of a network
====================================

Rolnick and Kording, "Reverse-engineering deep ReLU networks", 2020: where a unit of the first layer changes, the
gradient of the output jumps along the unit's weights, wherever that is; jumps by later units have another direction
in each region. Directions that occur again and again are therefore the rows of the first matrix. Here: 60 random
segments recover all 12 rows, up to their lengths: each of these directions occurs 23 times or more, and no other more
than three times.
"""

import numpy as np
from matplotlib.figure import Figure

import reluscope as rs

layers, draw = rs.testing.default_network([10, 12, 12, 1], seed=0), np.random.default_rng(0)
path = rs.local.pieces_along(rs.load(layers), *5 * draw.normal(size=(2, 60, 10)))
jumps = np.diff(path.jacobians()[:, 0], axis=0)[np.diff(path.segments) == 0]
lengths = np.linalg.norm(jumps, axis=1)
jumps = jumps[lengths > 1e-9] / lengths[lengths > 1e-9, None]
number = (np.abs(jumps @ jumps.T) > 1 - 1e-9).sum(axis=1)  # how often each direction occurs
rows = layers[0][0] / np.linalg.norm(layers[0][0], axis=1, keepdims=True)
closest = np.abs(rows @ jumps.T).max(axis=0)  # cosine of the angle to the closest row
assert (closest[number > 3] > 1 - 1e-9).all()
assert (np.abs(rows @ jumps[number > 3].T).max(axis=1) > 1 - 1e-9).all()

figure = Figure(figsize=(6, 3.6), layout="constrained")
axes = figure.add_subplot()
axes.semilogx(number, closest, "o", alpha=0.3)
axes.set(xlabel="times that a direction of jumps occurs", ylabel="cosine to the closest row of the first matrix")
figure

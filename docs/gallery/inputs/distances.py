"""Distances to the decision boundary
=====================================

For eight points the distance to the nearest facet of their region, and to the decision boundary of the whole network.
"""

import numpy as np

import reluscope as rs

net = rs.load(rs.testing.default_network([4, 12, 10, 3], seed=9))
x = np.random.default_rng(0).uniform(0, 1, (8, 4))
norms, options = ("l2", "linf"), {"domain": rs.Box(-2, 2, 4)}
facets = [rs.robustness.boundary_distance(net, x, norm=norm) for norm in norms]
within = [rs.robustness.decision_distance_within(net, x, norm=norm) for norm in norms]
whole = [rs.robustness.decision_distance(net, x, norm=norm, **options) for norm in norms]

figure = rs.plots.robustness(facets, within, whole, [f"sample {row}" for row in range(len(x))])
figure

"""Where a closed loop can be
==========================

A cart on a rail, pushed by a network with saturation: all states after each of 25 steps from a box of first states, as
exact polygons, and some runs of the loop.
"""

import numpy as np

import reluscope as rs

cart = rs.reachability.Plant([[1.0, 0.1], [0.0, 1.0]], [[0.005], [0.1]])
gain = np.array([[-2.0, -3.0]])
brake = rs.load([(np.concatenate([gain, gain]), np.array([1.0, -1.0])), (np.array([[1.0, -1.0]]), np.array([-1.0]))])
found = rs.reach(brake, cart, rs.Box([0.5, -0.5], [1.0, 0.5]), 25)

runs = [np.random.default_rng(0).uniform([0.5, -0.5], [1.0, 0.5], (12, 2))]
for _ in range(25):
    runs.append(runs[-1] @ cart.A.T + brake(runs[-1]).numpy() @ cart.B.T)
figure = rs.plots.reach(found, runs=np.array(runs))
figure

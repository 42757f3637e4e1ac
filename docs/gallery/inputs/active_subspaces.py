"""Active subspaces: directions that matter
===========================================

Eigenvalues of the covariance of the gradients: a few directions carry most of what an output answers to.
"""

import reluscope as rs

data = rs.datasets.digits("test")
net = rs.load(rs.datasets.demo_network(), data=data.points)
trained = rs.sensitivity.active_subspaces(net, data.points[:40])
untrained = rs.load(rs.testing.default_network([64, 32, 10], seed=0))
random = rs.sensitivity.active_subspaces(untrained, data.points[:40].reshape(40, -1))

figure = rs.plots.gradient_eigenvalues({"trained": trained, "at initialisation": random})
figure

"""Where a property is violated
===============================

The regions of a small network on a square, and an input at which its first output reaches a level that it must not
reach: verification finds one such input, or proves that there is none.
"""

import numpy as np

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 12, 10, 2], seed=9))
part = rs.partition(net, rs.Box(-2, 2, 2))
level = float(np.quantile(part.outputs[:, 0], 0.95))
unsafe = rs.Polyhedron([[-1.0, 0.0]], [-level])  # the first output is at least the level
safe = rs.verification.Property([rs.verification.Case([-2.0, -2.0], [2.0, 2.0], [unsafe])])
found = rs.verify(net, safe)

figure = rs.plots.partition(part, samples=found.counterexample.point[None], sample_labels=[str(found)])
figure

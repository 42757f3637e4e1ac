"""The smallest networks that enclose a ball
============================================

Decision regions of two networks of three inputs, found exactly from their weights: with as few units as can be, and
the octahedron of six.
"""

import reluscope as rs

smallest = rs.annulus.decision_region(rs.annulus.expanded_simplex_layers(3))
octahedron = rs.annulus.decision_region(rs.annulus.cross_polytope_layers(3))

figure = rs.plots.decision_polytope(smallest, octahedron, titles=("4 units", "octahedron"))
figure

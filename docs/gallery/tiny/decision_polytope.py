"""The smallest networks that enclose a ball
============================================

Decision regions of two networks of three inputs, found exactly from their weights: with as few units as can be, and
the octahedron of six.
"""

from reluscope_studies import annulus, pictures

smallest = annulus.decision_region(annulus.expanded_simplex_layers(3))
octahedron = annulus.decision_region(annulus.cross_polytope_layers(3))

figure = pictures.decision_polytope(smallest, octahedron, titles=("4 units", "octahedron"))
figure

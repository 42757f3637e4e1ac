"""The smallest network around a disc
=====================================

Points of a disc and of a ring around it, and the exact decision region of a network of three units that tells them
apart.
"""

import reluscope as rs
from reluscope_studies import annulus, pictures

data = rs.datasets.ball_shell(600, 2, radius=0.5, inner=1.05, outer=1.4, seed=0)
region = annulus.decision_region(annulus.expanded_simplex_layers(2, radius=0.5))

figure = pictures.decision_polygon(region, samples=data.points, labels=data.labels, radii=(0.5, 1.05))
figure

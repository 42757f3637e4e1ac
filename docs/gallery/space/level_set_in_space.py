"""The surface of a neural shape
===============================

Where a trained signed distance function is zero, exactly: every polygon lies in one linear region of the network. No
grid is involved, so that no part is missed and no corner is cut; the surface is closed by construction.
"""

import reluscope as rs

net = rs.datasets.surface_network()  # eight layers of 32 units, trained on a ring with a ball on one side
surface = rs.level_set(net, rs.Box(-0.85, 0.85, 3))

figure = rs.plots.level_set(surface, view=rs.plots.View(azimuth=-50, elevation=30))
figure

"""A neural shape that turns
===========================

The exact surface of a trained signed distance function from all sides, coloured by height.
"""

import reluscope as rs

net = rs.datasets.surface_network()
surface = rs.level_set(net, rs.Box(-0.85, 0.85, 3))

film = rs.plots.turntable(
    rs.plots.level_set,
    surface,
    frames=36,
    fps=12,
    pixels=400,
    color=surface.witnesses[:, 2],
    label="height",
    view=rs.plots.View(elevation=35),
)
film

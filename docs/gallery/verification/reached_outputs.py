"""All outputs of a network on a square
====================================

The image of each linear region is a polygon of outputs. Where the network folds its inputs polygons lie over each
other: the darker, the more regions reach an output.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 12, 8, 2], seed=3))
found = rs.image(net, rs.Box(-2, 2, 2))

figure = rs.plots.image(found)
figure

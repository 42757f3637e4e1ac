"""A Boolean function along a direction
=======================================

The hardest function of four inputs takes turns along its best direction: the number of changes is what a network has
to pay for.
"""

import reluscope as rs

function = rs.boolean.BooleanFunction(4, 1785)
direction = rs.boolean.swaps(function).direction

figure = rs.plots.boolean_direction(function, direction)
figure

"""A Boolean function along a direction
=======================================

The hardest function of four inputs takes turns along its best direction: the number of changes is what a network has
to pay for.
"""

from reluscope_studies import boolean, pictures

function = boolean.BooleanFunction(4, 1785)
direction = boolean.swaps(function).direction

figure = pictures.boolean_direction(function, direction)
figure

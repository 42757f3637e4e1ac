"""A network as a quotient of tropical polynomials
==================================================

The exponents of numerator and denominator of a small network in tropical form.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 4, 1], seed=0))
form = rs.tropical.rational_form(net)

figure = rs.plots.newton_polygons(rs.tropical.newton_polygons(form))
figure

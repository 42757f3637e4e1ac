"""Preimages of a layer
=======================

Left the classes of a network of two inputs; in the middle what else gives the same features in its first layer:
nothing, a bounded set, or an unbounded one; right how badly the layer could be inverted.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 5, 3], seed=4))
part = rs.partition(net, rs.Box(-4, 4, 2))
kinds = rs.preimages.classify_at(net, part.witnesses)
spectra = rs.stability.spectra(net, part.witnesses)
conditions = spectra.where(layer=net.gates[0].name)["condition_number"].value

figure = rs.plots.preimages_in_plane(part, kinds, conditions)
figure

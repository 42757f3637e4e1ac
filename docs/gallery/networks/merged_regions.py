"""Merged regions with nearly the same function
===============================================

Regions merged as long as one affine map can stand for all of them within a stated error: thick lines are what is left
of the boundaries.
"""

import reluscope as rs

net = rs.load(rs.testing.default_network([2, 16, 16, 1], seed=2))
part = rs.partition(net, rs.Box(-2, 2, 2))
merged = rs.compression.merge_regions(part, 0.02)

figure = rs.plots.merged_regions(merged)
figure
